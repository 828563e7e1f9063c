"""Every reason for running an action, with its exact words, from the difference that causes it."""

from __future__ import annotations

from dataclasses import replace

from netra_build.build.record.reasons import (
    Cause,
    Ingredients,
    Input,
    Reason,
    differences,
    parameter_texts,
)
from netra_build.core.digests import blake3_hex

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
    Cause.DEPENDENCY_CHANGED: "something changed that a SConstruct makes it depend on: NAME",
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
    assert set(Cause) == set(WORDS)
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
