"""What a restore leaves of the record of runs: the entries that are still true, and the request."""

from __future__ import annotations

from pathlib import Path

import pytest
from workshop import entries

from netra_build.build.graph.actions import Place, Root, Stage
from netra_build.build.record.reasons import Ending, Ingredients
from netra_build.build.record.run_record import Pending, RunRecord
from netra_build.core.disk import RealDisk

STAGE = Stage("work", "WORK", "netra_build.core.errors", lambda i, p, t: {})
EMPTY = Ingredients({}, {}, "", {}, "", {})
ASKED = {"engine build/out": {"graph": "g", "asked": "g"}}
RUNS = [
    ("g", "build/out/same", "build/work/same"),
    ("g", "build/out/other", "build/work/other"),
    ("g", "build/out/former"),
    ("g", "build/elsewhere/product"),
    ("h", "build/out/of_another"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file of a record of one build of two graphs."""
    record = RunRecord(tmp_path / "runs.json", RealDisk(), clock=lambda: 0.0)
    for graph, *outputs in RUNS:
        places = {f"role{index}": Place(Root.OUT, name) for index, name in enumerate(outputs)}
        action = STAGE.apply("subject", {}, places)
        pending = Pending(action, graph, tuple(outputs), EMPTY, (), 0.0)
        record.note(record.noted(pending, dict.fromkeys(outputs, "1" * 64), Ending.RAN), {}, {})
    record.save()
    return record.path


MADE = dict.fromkeys([*RUNS[0][1:], *RUNS[1][1:], "build/out/new"], "2" * 64)


def test_entries_of_other_runs_and_of_former_names_go(path: Path) -> None:
    record = RunRecord(path, RealDisk())
    record.restored(ASKED, MADE, ["build/work/other", "build/out/new"])
    record.save()
    again = RunRecord(path, RealDisk())
    assert [entry.paths for entry in entries(again)] == [
        ("build/elsewhere/product",),
        ("build/out/of_another",),
        ("build/out/same", "build/work/same"),
    ]
    former = again.predecessors("g", "work", "subject")
    assert {entry.paths[0] for entry in former} == {"build/elsewhere/product", "build/out/same"}
    assert again.requests() == ASKED


def test_a_restore_is_no_build(path: Path) -> None:
    record = RunRecord(path, RealDisk())
    record.restored(ASKED, MADE, [])
    record.save()
    record = RunRecord(path, RealDisk(), clock=lambda: 0.0)
    action = STAGE.apply("subject", {}, {"made": Place(Root.OUT, "x")})
    pending = Pending(action, "g", ("build/out/x",), EMPTY, (), 0.0)
    record.note(record.noted(pending, {"build/out/x": "1" * 64}, Ending.RAN), {}, {})
    entry = record.entry("build/out/x")
    assert entry is not None
    assert entry.last == 2


def test_a_restore_into_a_new_folder_leaves_the_request_alone(tmp_path: Path) -> None:
    record = RunRecord(tmp_path / "runs.json", RealDisk())
    record.restored(ASKED, MADE, MADE)
    record.save()
    again = RunRecord(record.path, RealDisk())
    assert (again.requests(), entries(again)) == (ASKED, [])


def test_no_entry_is_read_for_it(path: Path) -> None:
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], *[b"unread"] * (len(lines) - 2), b""]))
    record = RunRecord(path, RealDisk())
    record.restored(ASKED, MADE, RUNS[1][1:])
    record.save()
    assert path.read_bytes().splitlines()[2:] == [b"unread"] * 3
