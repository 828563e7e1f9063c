"""Outputs that other actions take over: what is said of one does not depend on which ran first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from workshop import entries

from netra_build.build.graph.actions import Action, Graph, Place, Root, Stage
from netra_build.build.record.reasons import Cause
from netra_build.build.record.run_record import RunRecord
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import run_action
from netra_build.core.disk import RealDisk


def fill(inputs: Any, parameters: Any, tools: Any) -> dict[str, bytes]:
    """Return a content for each role."""
    return dict.fromkeys(parameters["roles"], b"x")


FILL = Stage("fill", "FILL", "netra_build.core.errors", fill)


def action(*names: str) -> Action:
    """Return an action that makes these files."""
    outputs = {name: Place(Root.WORK, name) for name in names}
    return FILL.apply("thing", {}, outputs, {"roles": list(names)})


def execution(folder: Path, *actions: Action) -> Execution:
    """Return an execution with the record of the folder as it is on disk."""
    folders = Folders({Root.WORK: folder})
    record = RunRecord(folder / "runs.json", RealDisk(), clock=lambda: 0.0)
    return Execution(Graph("g", actions), folders, RealDisk(), None, runs=record)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder in which one action has made four files."""
    first = execution(tmp_path, action("a", "b", "c", "d"))
    run_action(first.graph.actions[0], first)
    assert first.runs is not None
    first.runs.save()
    return tmp_path


def causes(made: Action, within: Execution) -> list[tuple[Cause, str]]:
    """Return cause and subject of all reasons of an action."""
    assert within.decider is not None
    reasons = within.decider.begin(made, {}).reasons
    return [(reason.cause, reason.name) for reason in reasons]


def test_reasons_are_those_of_the_record_when_the_build_began(folder: Path) -> None:
    one, other = action("a", "b"), action("c")
    untouched = causes(other, execution(folder, one, other))
    assert (Cause.OUTPUT_DROPPED, "a") in untouched
    building = execution(folder, one, other)
    run_action(one, building)
    assert causes(other, building) == untouched


def test_what_was_taken_over_in_part_is_no_longer_on_record(folder: Path) -> None:
    building = execution(folder, action("a", "b"))
    run_action(building.graph.actions[0], building)
    assert building.runs is not None
    building.runs.save()
    record = RunRecord(folder / "runs.json", RealDisk())
    assert [entry.paths for entry in entries(record)] == [(f"{folder}/a", f"{folder}/b")]
    assert record.entry(f"{folder}/c") is None
