"""Why the actions of a small graph run and ran: whole answers, from the change that causes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from workshop import MIDDLE, PRODUCT, SEAL_PLACE, Workshop, b3

from netra_build.build.digests.action_digest import action_digest
from netra_build.build.freshness.freshness import Freshness, OutputRecord
from netra_build.build.graph.actions import Place, Root, Stage
from netra_build.build.record.reasons import Cause, Reason
from netra_build.build.run.executor import Job, perform, run_action, run_graph
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import Refused
from netra_build.inspect.upcoming import State, Verdict, upcoming
from netra_build.inspect.why import Answer, Link, Step


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    workshop = Workshop(tmp_path)
    workshop.build()
    return workshop


def test_before_the_first_build(tmp_path: Path) -> None:
    assert Workshop(tmp_path).ahead() == [
        "CLIP thing -> mid would run now because",
        "  first build",
        "DOUBLE thing -> product would run now because",
        "  first build",
        '  input "mid" will be made again first',
        "netra: 2 would run, 0 may run, 0 up to date",
    ]


def test_after_a_build_nothing_would_run(shop: Workshop) -> None:
    assert shop.ahead() == ["netra: 0 would run, 0 may run, 2 up to date"]
    assert shop.why() == [
        "out/product: up to date",
        "  DOUBLE thing -> product ran in build 1 because",
        "    first build",
    ]


def test_the_chain_goes_back_to_the_source(shop: Workshop) -> None:
    shop.write("two # remark")
    assert shop.ahead() == [
        "CLIP thing -> mid would run now because",
        f'  input "in" changed {b3("one # remark")} -> {b3("two # remark")}',
        "DOUBLE thing -> product may run now because",
        '  input "mid" will be made again first',
        "netra: 1 would run, 1 may run, 0 up to date",
    ]
    shop.build()
    assert shop.why() == [
        "out/product: up to date",
        "  DOUBLE thing -> product ran in build 2 because",
        f'    input "mid" changed {b3("one ")} -> {b3("two ")}',
        "      CLIP thing -> mid ran in build 2 because",
        f'        input "in" changed {b3("one # remark")} -> {b3("two # remark")}',
    ]
    shop.write("three")
    assert shop.why()[0] == "out/product: may run"
    assert shop.why()[-4:] == [
        "  DOUBLE thing -> product may run now because",
        '    input "mid" will be made again first',
        "      CLIP thing -> mid would run now because",
        f'        input "in" changed {b3("two # remark")} -> {b3("three")}',
    ]


def test_a_run_that_gave_the_same_bytes_does_not_hide_the_one_that_changed_them(
    shop: Workshop,
) -> None:
    shop.write("two")
    shop.build()
    shop.write("two# said")  # the middle stays as it is, but for CLIP it is a new run
    execution = shop.execution()
    run_graph(execution)
    execution.runs.save()
    assert shop.why() == [
        "out/product: up to date",
        "  DOUBLE thing -> product ran in build 2 because",
        f'    input "mid" changed {b3("one ")} -> {b3("two")}',
        "      CLIP thing -> mid ran in build 2 because",
        f'        input "in" changed {b3("one # remark")} -> {b3("two")}',
        "  DOUBLE thing -> product ran with the same bytes in build 3 because",
        "    the build tool lost its own record of it",
    ]


def test_an_input_that_was_made_again_since_is_said(shop: Workshop) -> None:
    shop.write("two")
    shop.build()
    shop.write("bad")
    with pytest.raises(Refused):
        shop.build()
    execution = shop.execution()
    run_action(execution.graph.actions[0], execution)
    execution.runs.save()
    assert shop.why() == [
        "out/product: would run",
        "  DOUBLE thing -> product ran in build 2 because",
        f'    input "mid" changed {b3("one ")} -> {b3("two")}',
        "      it was made again since",
        "  DOUBLE thing -> product would run now because",
        f'    input "mid" changed {b3("two")} -> {b3("bad")}',
    ]


def test_outputs_that_are_gone_or_altered(shop: Workshop) -> None:
    (shop.folder / "out/product").unlink()
    (shop.folder / "work/mid").write_text("other")
    assert shop.ahead() == [
        "CLIP thing -> mid would run now because",
        f'  output "mid" was altered {b3("one ")} -> {b3("other")}',
        "DOUBLE thing -> product would run now because",
        '  output "product" is missing',
        '  input "mid" will be made again first',
        "netra: 2 would run, 0 may run, 0 up to date",
    ]
    states = [verdict.state for verdict in upcoming([shop.execution()]).values()]
    assert states == [State.WOULD_RUN, State.MISSING]


def test_a_tool_and_a_parameter(shop: Workshop) -> None:
    shop.tools.version, shop.times = "2", 3
    assert shop.ahead() == [
        "DOUBLE thing -> product would run now because",
        '  parameter "times" changed 2 -> 3',
        '  tool "assembler_version" changed 1 -> 2',
        "netra: 1 would run, 0 may run, 1 up to date",
    ]


def test_a_new_name_is_compared_with_the_old_one(shop: Workshop) -> None:
    shop.middle, shop.product, shop.times = Place(Root.WORK, "mid2"), Place(Root.OUT, "made2"), 5
    assert shop.ahead() == [
        "CLIP thing -> mid2 would run now because",
        '  made under a new name, "mid" -> "mid2"',
        "DOUBLE thing -> made2 would run now because",
        '  made under a new name, "product" -> "made2"',
        '  parameter "times" changed 2 -> 5',
        '  input "mid2" will be made again first',
        "netra: 2 would run, 0 may run, 0 up to date",
    ]
    shop.build()
    assert shop.why()[:2] == [
        "out/made2: up to date",
        "  DOUBLE thing -> made2 ran in build 2 because",
    ]


def test_a_source_that_is_gone(shop: Workshop) -> None:
    (shop.folder / "in").unlink()
    assert shop.ahead()[:2] == [
        "CLIP thing -> mid would run now because",
        '  input "in" is missing',
    ]


def test_a_run_that_was_asked_for_without_need(shop: Workshop) -> None:
    execution = shop.execution()
    perform(Job(execution.graph.actions[1], execution, otherwise=Reason(Cause.ALWAYS)))
    execution.runs.save()
    assert shop.why()[-1] == "    asked to run always"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format":"netra-runs-3"}'])
def test_a_lost_or_damaged_record_is_a_reason(shop: Workshop, text: str) -> None:
    (shop.folder / "work/runs.json").write_text(text)
    assert shop.ahead() == ["netra: 0 would run, 0 may run, 0 up to date, 2 not on record"]
    assert shop.why() == ["out/product: not on record"]
    execution = shop.execution()
    shop.stand(execution)
    assert shop.why(freshness=shop.freshness()) == [
        "out/product: up to date",
        "  no record of how it was made",
    ]
    execution = shop.execution()
    run_graph(execution)
    execution.runs.save()
    assert shop.why()[1:] == [
        "  DOUBLE thing -> product ran in build 1 because",
        "    no record of how it was made",
    ]


def join(inputs: Any, parameters: Any, tools: Any) -> dict[str, bytes]:
    """Return the bytes under each role that is asked for."""
    return dict.fromkeys(parameters["roles"], inputs["text"])


JOIN = Stage("join", "JOIN", "netra_build.core.errors", join)


def test_an_action_of_another_stage_and_with_other_outputs(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.build()
    outputs = {"made": PRODUCT, "more": Place(Root.OUT, "more")}
    shop.last = JOIN.apply("thing", {"text": MIDDLE}, outputs, {"roles": ["made", "more"]})
    assert shop.ahead()[:5] == [
        "JOIN thing -> product and 1 more would run now because",
        '  output "more" is new',
        '  made by another stage, "double" -> "join"',
        '  parameter "roles" was added, ["made","more"]',
        '  parameter "times" was removed, 2',
    ]
    shop.build()
    shop.last = JOIN.apply("thing", {"text": MIDDLE}, {"made": PRODUCT}, {"roles": ["made"]})
    assert shop.ahead()[:3] == [
        "JOIN thing -> product would run now because",
        '  output "more" is no longer made',
        '  parameter "roles" changed ["made","more"] -> ["made"]',
    ]
    shop.build()
    assert shop.ahead() == ["netra: 0 would run, 0 may run, 2 up to date"]
    assert shop.why(outputs["more"]) == ["out/more: made by nothing that was asked for"]


def test_a_seal_that_was_withdrawn_for_the_files_before_it(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.is_sealed = True
    shop.build()
    (tmp_path / "out/product").unlink()
    shop.build()
    assert shop.why(SEAL_PLACE) == [
        "out/seal.json: up to date",
        "  SEAL thing -> seal.json ran in build 1 because",
        "    first build",
        "  SEAL thing -> seal.json ran with the same bytes in build 2 because",
        '    seal "seal.json" was withdrawn, since files before it were made again',
    ]


def test_of_many_changed_modules_the_first_are_shown() -> None:
    reasons = [Reason(Cause.CODE_CHANGED, f"module m{n}", "b3:1", "b3:2") for n in range(7)]
    step = Step("ASM x ran in build 2 because", tuple(Link(reason) for reason in reasons))
    lines = list(Answer("x", "up to date", step, None, None).lines())
    assert lines[:2] == ["x: up to date", "  ASM x ran in build 2 because"]
    assert lines[2] == "    code of the stage changed: module m0 b3:1 -> b3:2"
    assert lines[6] == "    code of the stage changed: module m4 b3:1 -> b3:2"
    assert lines[7:] == ["    ... and 2 more parts of the code"]
    assert len(Answer("x", "", step, None, None).document()["made"]["because"]) == 7


def test_of_many_inputs_to_come_the_first_are_shown(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    names = [f"part{number}" for number in range(5)]
    parts = {name: Place(Root.WORK, name) for name in names}
    shop.last = JOIN.apply("parts", {"text": MIDDLE}, parts, {"roles": names})
    shop.is_sealed = True
    shop.sealed_inputs = parts
    assert shop.ahead()[5:] == [
        "SEAL thing -> seal.json would run now because",
        "  first build",
        *(f'  input "part{number}" will be made again first' for number in range(3)),
        "  ... and 2 more inputs",
        "netra: 3 would run, 0 may run, 0 up to date",
    ]


def test_without_a_record_what_does_not_stand_would_run(shop: Workshop) -> None:
    """The record of outputs decides alone; what depends on it may give the same bytes."""
    shop.stand(shop.execution())
    (shop.folder / "work/runs.json").unlink()
    assert shop.ahead(shop.freshness()) == ["netra: 0 would run, 0 may run, 2 up to date"]
    shop.write("two # remark")
    for verify in (False, True):
        assert shop.ahead(shop.freshness(verify=verify)) == [
            "CLIP thing -> mid would run now because",
            "  no record of how it was made",
            "DOUBLE thing -> product may run now because",
            '  input "mid" will be made again first',
            "netra: 1 would run, 1 may run, 0 up to date",
        ]
    assert shop.why(freshness=shop.freshness()) == [
        "out/product: may run",
        "  DOUBLE thing -> product may run now because",
        '    input "mid" will be made again first',
        "      CLIP thing -> mid would run now because",
        "        no record of how it was made",
    ]
    (shop.folder / "in").unlink()
    assert shop.ahead(shop.freshness())[:3] == [
        "CLIP thing -> mid would run now because",
        "  no record of how it was made",
        '  input "in" is missing',
    ]


def test_what_only_the_record_of_runs_knows_would_run(shop: Workshop) -> None:
    lost = "would run now because", "  the build tool lost its own record of it"
    assert shop.ahead(shop.freshness()) == [
        f"CLIP thing -> mid {lost[0]}",
        lost[1],
        "DOUBLE thing -> product may run now because",
        '  input "mid" will be made again first',
        "netra: 1 would run, 1 may run, 0 up to date",
    ]


def test_a_seal_that_is_withdrawn_and_on_no_record_is_no_first_build(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.is_sealed = True
    shop.build()
    (tmp_path / "work/runs.json").unlink()
    shop.build()
    assert shop.why(SEAL_PLACE)[1:] == [
        "  SEAL thing -> seal.json ran in build 1 because",
        "    no record of how it was made",
    ]


def test_what_the_store_gave_in_a_build_that_ran_nothing_stands(shop: Workshop) -> None:
    """The record of runs tells of other bytes; the record of outputs knows the very action."""
    source, made = shop.folder / "in", shop.folder / "work/mid"
    was_source, was_made = source.read_text(), made.read_text()
    shop.write("two # remark")
    shop.build()
    source.write_text(was_source)
    made.write_text(was_made)
    execution = shop.execution()
    action = execution.graph.actions[0]
    outputs = execution.folders.names(action.outputs)
    record = OutputRecord(shop.folder / "work/outputs.json", RealDisk())
    digest = action_digest(
        action, {"text": blake3_hex(source.read_bytes())}, execution.tools.identity
    )
    record.note({outputs[0]: blake3_hex(made.read_bytes())})
    record.note_action(outputs, digest)

    def verdict() -> Verdict:
        freshness = Freshness(record, RealDisk(), execution.tools.identity())
        return upcoming([execution], freshness)[outputs[0]]

    assert (verdict().state, verdict().reasons, verdict().entry) == (State.UP_TO_DATE, (), None)
    assert upcoming([execution])[outputs[0]].state is State.WOULD_RUN
    record.note_action(outputs, "other")
    assert verdict().state is State.WOULD_RUN
    record.note_action(outputs, digest)
    made.write_text("altered")
    assert verdict().state is State.WOULD_RUN
