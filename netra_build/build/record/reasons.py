"""What an action is made from; why it runs, a closed set of causes with exact words; how it ended.

A reason is made where the decision is made, by comparing what an action would be made from now
with what it was made from last time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from netra_build.build.digests.action_digest import code_digest, code_parts
from netra_build.build.graph.actions import Action, Place
from netra_build.core.canonical_json import Json, canonical_text, plain_text
from netra_build.core.digests import blake3_hex

LONGEST_TEXT = 120
"""Characters of a parameter that are kept as they are; of a longer one its digest is kept."""
MOST_PARTS, DEEPEST = 64, 3
"""How far a parameter is taken apart: into how many named parts, over how many levels."""
SHORT_DIGEST = 12
NOTHING = "nothing"


class Cause(StrEnum):
    """Every cause there is, with its exact words; the values stand in records and in JSON."""

    text: str

    def __new__(cls, value: str, text: str = "") -> Cause:
        """Return the value as a text that knows its words."""
        cause = str.__new__(cls, value)
        cause._value_, cause.text = value, text
        return cause

    FIRST_BUILD = "first_build", "first build"
    NO_RECORD = "no_record", "no record of how it was made"
    RENAMED = "renamed", 'made under a new name, "{old}" -> "{new}"'
    OTHER_STAGE = "other_stage", 'made by another stage, "{old}" -> "{new}"'
    OUTPUT_MISSING = "output_missing", 'output "{name}" is missing'
    OUTPUT_ALTERED = "output_altered", 'output "{name}" was altered {old} -> {new}'
    OUTPUT_ADDED = "output_added", 'output "{name}" is new'
    OUTPUT_DROPPED = "output_dropped", 'output "{name}" is no longer made'
    SEAL_WITHDRAWN = (
        "seal_withdrawn",
        'seal "{name}" was withdrawn, since files before it were made again',
    )
    INPUT_CHANGED = "input_changed", 'input "{name}" changed {old} -> {new}'
    INPUT_MOVED = "input_moved", 'input "{name}" is another file, "{old}" -> "{new}"'
    INPUT_ADDED = "input_added", 'input "{name}" was added, {new}'
    INPUT_REMOVED = "input_removed", 'input "{name}" was removed, {old}'
    INPUT_MISSING = "input_missing", 'input "{name}" is missing'
    INPUT_RENEWED = "input_renewed", 'input "{name}" will be made again first'
    PARAMETER_CHANGED = "parameter_changed", 'parameter "{name}" changed {old} -> {new}'
    PARAMETER_ADDED = "parameter_added", 'parameter "{name}" was added, {new}'
    PARAMETER_REMOVED = "parameter_removed", 'parameter "{name}" was removed, {old}'
    CODE_CHANGED = "code_changed", "code of the stage changed: {name} {old} -> {new}"
    TOOL_CHANGED = "tool_changed", 'tool "{name}" changed {old} -> {new}'
    DEPENDENCY_CHANGED = (
        "dependency_changed",
        "something changed that a SConstruct makes it depend on: {name}",
    )
    ALWAYS = "always", "asked to run always"
    FORGOTTEN = "forgotten", "the build tool lost its own record of it"


class Ending(StrEnum):
    """How an action ended that had something to do."""

    RAN = "ran"
    RESTORED = "restored"
    FAILED = "failed"


class Reason(NamedTuple):
    """One cause, with what it is about and the old and new value where there are such."""

    cause: Cause
    name: str = ""
    old: str = ""
    new: str = ""

    def text(self) -> str:
        """Return the reason in words."""
        return self.cause.text.format(name=self.name, old=self.old, new=self.new)


FORGOTTEN = Reason(Cause.FORGOTTEN)
"""Why something runs for which there is no reason in what it is made of."""


def differences(
    old: Ingredients, new: Ingredients, *, is_renamed: bool = False, is_other_stage: bool = False
) -> list[Reason]:
    """Return one reason per ingredient that is not what it was, in a fixed order.

    Under a new name the inputs have new names too, and another stage has other code: neither is a
    reason of its own.
    """
    found = list(_input_differences(old.inputs, new.inputs, is_renamed))
    found += _parameter_differences(old.parameters, new.parameters)
    if is_other_stage:
        return found
    if old.code_key != new.code_key:
        found += _changes(Cause.CODE_CHANGED, old.code, new.code)
    if old.tools_key != new.tools_key:
        found += _changes(Cause.TOOL_CHANGED, old.tools, new.tools)
    return found


def _input_differences(
    old: Mapping[str, Input], new: Mapping[str, Input], is_renamed: bool
) -> Iterator[Reason]:
    for role in sorted({*old, *new}):
        before, after = old.get(role), new.get(role)
        if before is None and after is not None:
            yield Reason(Cause.INPUT_ADDED, after.name, "", shown_digest(after.digest))
        elif after is None and before is not None:
            yield Reason(Cause.INPUT_REMOVED, before.name, shown_digest(before.digest))
        elif before is not None and after is not None:
            if before.path != after.path and not is_renamed:
                yield Reason(Cause.INPUT_MOVED, role, before.name, after.name)
            if after.digest and before.digest != after.digest:
                digests = shown_digest(before.digest), shown_digest(after.digest)
                yield Reason(Cause.INPUT_CHANGED, after.name, *digests)


def _parameter_differences(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Reason]:
    for name in sorted({*old, *new}):
        if name not in old:
            yield Reason(Cause.PARAMETER_ADDED, name, "", new[name])
        elif name not in new:
            yield Reason(Cause.PARAMETER_REMOVED, name, old[name])
        elif old[name] != new[name]:
            yield Reason(Cause.PARAMETER_CHANGED, name, old[name], new[name])


def _changes(cause: Cause, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Reason]:
    for name in sorted({*old, *new}):
        before, after = old.get(name, NOTHING), new.get(name, NOTHING)
        if before != after:
            yield Reason(cause, name, _value(name, before), _value(name, after))


def _value(name: str, text: str) -> str:
    """Return a value as it is shown: digests are marked and cut, versions are not."""
    is_digest = name.startswith("module ") or name.endswith("_digest")
    return shown_digest(text) if is_digest and text != NOTHING else text


class Input(NamedTuple):
    """Path, name below its root, and BLAKE3 of one input; no digest if it is yet to be made."""

    path: str
    name: str
    digest: str


@dataclass(frozen=True)
class Ingredients:
    """Inputs by role; parameters, code and tools by name; ``*_key`` are digests of the whole."""

    inputs: Mapping[str, Input]
    parameters: Mapping[str, str]
    code_key: str
    code: Mapping[str, str]
    tools_key: str
    tools: Mapping[str, str]


def ingredients_of(
    action: Action,
    path_of: Callable[[Place], str],
    digest_of: Callable[[str, Place], str],
    identity: Callable[[], Mapping[str, str]],
) -> Ingredients:
    """Return the ingredients of ``action``; ``digest_of`` tells the BLAKE3 of an input."""
    tools = identity() if action.stage.uses_tools else {}
    return Ingredients(
        inputs={
            role: Input(path_of(place), place.name, digest_of(role, place))
            for role, place in action.inputs
        },
        parameters=dict(parameter_texts(action.parameters)),
        code_key=code_digest(action.stage.module),
        code=code_parts(action.stage.module),
        tools_key=_tools_key(tuple(tools.items())) if tools else "",
        tools=tools,
    )


def shown_digest(digest: str) -> str:
    """Return a BLAKE3 as it is shown to people."""
    return f"b3:{digest[:SHORT_DIGEST]}" if digest else "not made yet"


def parameter_texts(parameters: Iterable[tuple[str, Json]]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each parameter, objects and lists of named values taken apart."""
    for name, value in parameters:
        if not isinstance(value, dict | list):
            yield name, _text(value)
            continue
        for depth in (DEEPEST, 1, 0):
            parts = list(_parts(name, value, depth))
            if len(parts) <= MOST_PARTS or depth == 0:
                yield from ((part, _text(leaf)) for part, leaf in parts)
                break


def _parts(name: str, value: Json, depth: int) -> Iterator[tuple[str, Json]]:
    below = _members(value) if depth else {}
    if not below:
        yield name, value
    for key, part in below.items():
        yield from _parts(f"{name}.{key}", part, depth - 1)


def _members(value: Json) -> dict[str, Json]:
    """Return the named parts of an object, or of a list of pairs with names that all differ."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        return {}
    pairs = [(pair[0], pair[1]) for pair in value if isinstance(pair, list) and len(pair) == 2]
    named = {name: part for name, part in pairs if isinstance(name, str)}
    return named if len(named) == len(value) else {}


@lru_cache(maxsize=16)
def _tools_key(tools: tuple[tuple[str, str], ...]) -> str:
    return blake3_hex(canonical_text(dict(tools)).encode())


def _text(value: Json) -> str:
    try:
        text = plain_text(value)
    except TypeError:  # lowering takes longer than all the rest, and few values need it
        text = canonical_text(value).rstrip()
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{shown_digest(blake3_hex(text.encode()))} ({len(text)} characters)"
