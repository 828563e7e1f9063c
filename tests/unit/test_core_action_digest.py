"""The action digest changes with all that can change an output, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from netra_build.build.digests.action_digest import action_digest
from netra_build.build.graph.actions import Action, Inputs, Outputs, Parameters, Place, Root, Stage

A, B = "a" * 64, "b" * 64
MODULE = "netra_build.core.digests"


class Tools:
    """A tool chain that is nothing but its identity."""

    def __init__(self, version: str) -> None:
        self.version = version

    def identity(self) -> dict[str, str]:
        return {"assembler": "as", "assembler_version": self.version}


def nothing(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Make nothing; a digest runs no stage."""
    return {}


STAGE = Stage("link", "LINK", MODULE, nothing, uses_tools=True)
ACTION = Action(
    stage=STAGE,
    subject="kernel",
    outputs=(("linked", Place(Root.WORK, "a/k.hsaco")),),
    inputs=(("object", Place(Root.WORK, "a/k.o")), ("other", Place(Root.SOURCE, "k.s"))),
    parameters=(("flag", 1), ("table", {"one": 1, "two": 2})),
)
DIGESTS = {"object": A, "other": B}
TOOLS = Tools("22")


def digest(action: Action = ACTION, digests: dict[str, str] = DIGESTS, tools: Any = TOOLS) -> str:
    return action_digest(action, digests, tools.identity)


def test_it_is_a_digest_and_always_the_same() -> None:
    assert len(digest()) == 64
    assert digest() == digest()


@pytest.mark.parametrize(
    "other",
    [
        replace(ACTION, subject="another subject"),
        replace(ACTION, outputs=(("linked", Place(Root.OUT, "another/folder/x.hsaco")),)),
        replace(ACTION, inputs=(("object", Place(Root.OUT, "z.o")), ACTION.inputs[1])),
        replace(ACTION, hints=(("main:k.s", Place(Root.SOURCE, "k.s")),)),
        replace(ACTION, stage=replace(STAGE, label="OTHER")),
    ],
    ids=["subject", "output place", "input place", "hints", "label"],
)
def test_what_no_stage_sees_does_not_count(other: Action) -> None:
    assert digest(other) == digest()


@pytest.mark.parametrize(
    "other",
    [
        replace(ACTION, stage=replace(STAGE, name="seal")),
        replace(ACTION, stage=replace(STAGE, module="netra_build.core.errors")),
        replace(ACTION, stage=replace(STAGE, uses_tools=False)),
        replace(ACTION, parameters=(("flag", 2), ACTION.parameters[1])),
        replace(ACTION, parameters=(("flag", True), ACTION.parameters[1])),
        replace(ACTION, parameters=(("flag", "1"), ACTION.parameters[1])),
        replace(ACTION, parameters=(("flag", 1.0), ACTION.parameters[1])),
        replace(ACTION, parameters=(("flag", 1),)),
        replace(ACTION, parameters=(("flags", 1), ACTION.parameters[1])),
        replace(ACTION, parameters=(("flag", 1), ("table", {"two": 2, "one": 1}))),
        replace(ACTION, outputs=(("sealed", Place(Root.WORK, "a/k.hsaco")),)),
        replace(ACTION, outputs=(*ACTION.outputs, ("more", Place(Root.WORK, "m")))),
        replace(ACTION, inputs=ACTION.inputs[:1]),
        replace(ACTION, inputs=(("main", ACTION.inputs[0][1]), ACTION.inputs[1])),
    ],
    ids=[
        "stage name",
        "stage code",
        "no tools",
        "parameter",
        "true for 1",
        "text for 1",
        "float for 1",
        "one parameter less",
        "parameter name",
        "order of keys in a parameter",
        "output role",
        "one output more",
        "one input less",
        "input role",
    ],
)
def test_what_a_stage_sees_counts(other: Action) -> None:
    digests = {**DIGESTS, "main": A}
    assert digest(other, digests) != digest()


def test_contents_of_inputs_and_tools_count() -> None:
    assert digest(digests={"object": B, "other": B}) != digest()
    assert digest(digests={"object": B, "other": A}) != digest()
    assert digest(tools=Tools("23")) != digest()


def test_tools_do_not_count_for_a_stage_that_does_not_use_them() -> None:
    plain = replace(ACTION, stage=replace(STAGE, uses_tools=False))
    assert digest(plain, tools=Tools("23")) == digest(plain)
