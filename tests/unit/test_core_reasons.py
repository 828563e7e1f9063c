"""Every reason for running an action, with its exact words, from the difference that causes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import Refused
from netra_build.core.execute import Execution, Folders, run_action, run_graph
from netra_build.core.graph import Action, Graph, Place, Root, Stage
from netra_build.core.ingredients import Ingredients, Input, parameter_texts
from netra_build.core.reasons import TEXTS, Cause, Reason, differences
from netra_build.core.run_record import RunRecord
from netra_build.core.upcoming import State, upcoming
from netra_build.core.why import answer, upcoming_lines

WORDS = {
    Cause.FIRST_BUILD: "first build",
    Cause.NO_RECORD: "no record of how it was made",
    Cause.RENAMED: 'made under a new name, "OLD" -> "NEW"',
    Cause.OTHER_STAGE: 'made by another stage, "OLD" -> "NEW"',
    Cause.OUTPUT_MISSING: 'output "NAME" is missing',
    Cause.OUTPUT_ALTERED: 'output "NAME" was altered OLD -> NEW',
    Cause.OUTPUT_ADDED: 'output "NAME" is new',
    Cause.OUTPUT_DROPPED: 'output "NAME" is no longer made',
    Cause.SEAL_WITHDRAWN: 'seal "NAME" was withdrawn, since files before it were made again',
    Cause.INPUT_CHANGED: 'input "NAME" changed OLD -> NEW',
    Cause.INPUT_MOVED: 'input "NAME" is another file, "OLD" -> "NEW"',
    Cause.INPUT_ADDED: 'input "NAME" was added, NEW',
    Cause.INPUT_REMOVED: 'input "NAME" was removed, OLD',
    Cause.INPUT_MISSING: 'input "NAME" is missing',
    Cause.INPUT_RENEWED: 'input "NAME" will be made again first',
    Cause.PARAMETER_CHANGED: 'parameter "NAME" changed OLD -> NEW',
    Cause.PARAMETER_ADDED: 'parameter "NAME" was added, NEW',
    Cause.PARAMETER_REMOVED: 'parameter "NAME" was removed, OLD',
    Cause.CODE_CHANGED: "code of the stage changed: NAME OLD -> NEW",
    Cause.TOOL_CHANGED: 'tool "NAME" changed OLD -> NEW',
    Cause.ALWAYS: "asked to run always",
    Cause.FORGOTTEN: "the build tool lost its own record of it",
}

ONE, TWO = "1" * 64, "2" * 64
SHOWN_ONE, SHOWN_TWO = "b3:111111111111", "b3:222222222222"
BASE = Ingredients(
    inputs={"unit": Input("build/work/a.s", "a.s", ONE)},
    parameters={"constants.M": "2048"},
    code_key="code 1",
    code={"Python": "cpython 3.11.7", "module netra_build.x": ONE, "library numpy": "2.1.0"},
    tools_key="tools 1",
    tools={"assembler": "llvm-mc", "assembler_version": "22.1.8", "assembler_digest": ONE},
)


def said(new: Ingredients, old: Ingredients = BASE, **options: bool) -> list[str]:
    """Return the differences between two sets of ingredients in words."""
    return [reason.text() for reason in differences(old, new, **options)]


def test_every_cause_has_exactly_these_words():
    assert set(TEXTS) == set(Cause) == set(WORDS)
    assert {cause: Reason(cause, "NAME", "OLD", "NEW").text() for cause in Cause} == WORDS


def test_equal_ingredients_differ_in_nothing():
    assert said(replace(BASE)) == []


def test_a_changed_input_is_named_with_both_digests():
    new = replace(BASE, inputs={"unit": Input("build/work/a.s", "a.s", TWO)})
    assert said(new) == [f'input "a.s" changed {SHOWN_ONE} -> {SHOWN_TWO}']


def test_inputs_come_go_and_move():
    other = Input("build/work/b.s", "b.s", ONE)
    assert said(replace(BASE, inputs={**BASE.inputs, "more": other})) == [
        f'input "b.s" was added, {SHOWN_ONE}'
    ]
    assert said(replace(BASE, inputs={})) == [f'input "a.s" was removed, {SHOWN_ONE}']
    moved = replace(BASE, inputs={"unit": other})
    assert said(moved) == ['input "unit" is another file, "a.s" -> "b.s"']
    assert said(moved, is_renamed=True) == []


def test_parameters_are_named_with_both_values():
    assert said(replace(BASE, parameters={"constants.M": "4096"})) == [
        'parameter "constants.M" changed 2048 -> 4096'
    ]
    assert said(replace(BASE, parameters={"gate": "true"})) == [
        'parameter "constants.M" was removed, 2048',
        'parameter "gate" was added, true',
    ]


def test_code_is_named_by_module_library_and_python():
    code = {"Python": "cpython 3.12.1", "module netra_build.x": TWO, "module netra_build.y": ONE}
    assert said(replace(BASE, code_key="code 2", code=code)) == [
        "code of the stage changed: Python cpython 3.11.7 -> cpython 3.12.1",
        "code of the stage changed: library numpy 2.1.0 -> nothing",
        f"code of the stage changed: module netra_build.x {SHOWN_ONE} -> {SHOWN_TWO}",
        f"code of the stage changed: module netra_build.y nothing -> {SHOWN_ONE}",
    ]
    assert said(replace(BASE, code_key="code 2", code=code), is_other_stage=True) == []


def test_tools_are_named_with_version_and_digest():
    tools = {"assembler": "llvm-mc", "assembler_version": "23.1.0", "assembler_digest": TWO}
    assert said(replace(BASE, tools_key="tools 2", tools=tools)) == [
        f'tool "assembler_digest" changed {SHOWN_ONE} -> {SHOWN_TWO}',
        'tool "assembler_version" changed 22.1.8 -> 23.1.0',
    ]


def test_parameters_are_taken_apart_as_far_as_people_read():
    long, many = "x" * 200, [[f"c{number}", number] for number in range(100)]
    digest = blake3_hex(f'"{long}"'.encode())[:12]
    texts = dict(
        parameter_texts(
            [
                ("constants", [["M", 1], ["N", 2]]),
                ("same", [["M", 1], ["M", 2]]),
                ("object", {"a": {"b": [1, 2]}, "e": {}}),
                ("text", long),
            ]
        )
    )
    assert texts == {
        "constants.M": "1",
        "constants.N": "2",
        "same": '[["M",1],["M",2]]',
        "object.a.b": "[1,2]",
        "object.e": "{}",
        "text": f"b3:{digest} (202 characters)",
    }
    assert list(dict(parameter_texts([("many", many)]))) == ["many"]


# ---- a chain of two actions on a real disk ---------------------------------------------------

SOURCE, MIDDLE, OTHER = (Place(Root.SOURCE, "in"), Place(Root.WORK, "mid"), Place(Root.WORK, "to"))
PRODUCT = Place(Root.OUT, "product")


class Tools:
    """A tool chain with a version."""

    version = "1"

    def identity(self) -> dict[str, str]:
        return {"assembler_version": self.version}


def clip(inputs: Any, parameters: Any, tools: Any) -> dict[str, bytes]:
    """Return what stands before the remark."""
    return {"made": inputs["text"].split(b"#")[0]}


def double(inputs: Any, parameters: Any, tools: Any) -> dict[str, bytes]:
    """Return the input twice, or refuse it."""
    if b"bad" in inputs["text"]:
        raise Refused("bad")
    return {"made": inputs["text"] * parameters.get("times", 2)}


CLIP = Stage("clip", "CLIP", "netra_build.core.nearest", clip)
DOUBLE = Stage("double", "DOUBLE", "netra_build.core.nearest", double, uses_tools=True)


class Workshop:
    """A source, a graph of two actions and their record, built again and again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tools = Tools()
        self.middle, self.product, self.times = MIDDLE, PRODUCT, 2
        self.write("one # remark")

    def write(self, text: str) -> None:
        (self.folder / "in").write_text(text)

    def execution(self) -> Execution:
        record = RunRecord(self.folder / "work" / "runs.json", RealDisk(), clock=lambda: 0.0)
        roots = (Root.SOURCE, ""), (Root.WORK, "work"), (Root.OUT, "out")
        folders = Folders({root: self.folder / name for root, name in roots})
        return Execution(Graph("g", self.actions()), folders, RealDisk(), self.tools, runs=record)

    def actions(self) -> tuple[Action, ...]:
        return (
            CLIP.apply("thing", {"text": SOURCE}, {"made": self.middle}),
            DOUBLE.apply(
                "thing", {"text": self.middle}, {"made": self.product}, {"times": self.times}
            ),
        )

    def build(self) -> None:
        """Run what has to run, as a build tool would, and save the record."""
        execution = self.execution()
        verdicts = upcoming([execution])
        for action in execution.graph.actions:
            if verdicts[str(execution.folders.path(action.outputs[0][1]))].state != "up to date":
                run_action(action, execution)
        execution.runs.save()

    def ahead(self) -> list[str]:
        """Return what a build would do now, in words, without the folder."""
        lines = upcoming_lines(upcoming([self.execution()]).values())
        return [line.replace(f"{self.folder}/", "") for line in lines]

    def why(self) -> list[str]:
        """Return why the product is as it is, in words, without the folder."""
        execution = self.execution()
        path = str(execution.folders.path(self.product))
        lines = answer(path, execution.runs, upcoming([execution])).lines()
        return [line.replace(f"{self.folder}/", "") for line in lines]


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    workshop = Workshop(tmp_path)
    workshop.build()
    return workshop


def b3(text: str) -> str:
    """Return how the digest of a text is shown."""
    return f"b3:{blake3_hex(text.encode())[:12]}"


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
    run_action(execution.graph.actions[1], execution, is_always=True)
    execution.runs.save()
    assert shop.why()[-1] == "    asked to run always"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format":"netra-runs-1"}'])
def test_a_lost_or_damaged_record_is_a_reason(shop: Workshop, text: str) -> None:
    (shop.folder / "work/runs.json").write_text(text)
    assert shop.ahead() == ["netra: 0 would run, 0 may run, 0 up to date, 2 not on record"]
    assert shop.why() == ["out/product: not on record"]
    execution = shop.execution()
    run_graph(execution)
    execution.runs.save()
    assert shop.why()[1:] == [
        "  DOUBLE thing -> product ran in build 1 because",
        "    no record of how it was made",
    ]
