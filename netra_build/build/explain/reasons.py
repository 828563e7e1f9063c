"""Why an action runs: a closed set of causes, each with its exact words.

A reason is made where the decision is made, by comparing what an action would be made from now
with what it was made from last time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from netra_build.build.digests.ingredients import Ingredients, Input, shown_digest

NOTHING = "nothing"


class Cause(StrEnum):
    """Every cause there is; the values stand in records and in JSON."""

    FIRST_BUILD = "first_build"
    NO_RECORD = "no_record"
    RENAMED = "renamed"
    OTHER_STAGE = "other_stage"
    OUTPUT_MISSING = "output_missing"
    OUTPUT_ALTERED = "output_altered"
    OUTPUT_ADDED = "output_added"
    OUTPUT_DROPPED = "output_dropped"
    SEAL_WITHDRAWN = "seal_withdrawn"
    INPUT_CHANGED = "input_changed"
    INPUT_MOVED = "input_moved"
    INPUT_ADDED = "input_added"
    INPUT_REMOVED = "input_removed"
    INPUT_MISSING = "input_missing"
    INPUT_RENEWED = "input_renewed"
    PARAMETER_CHANGED = "parameter_changed"
    PARAMETER_ADDED = "parameter_added"
    PARAMETER_REMOVED = "parameter_removed"
    CODE_CHANGED = "code_changed"
    TOOL_CHANGED = "tool_changed"
    DEPENDENCY_CHANGED = "dependency_changed"
    ALWAYS = "always"
    FORGOTTEN = "forgotten"


TEXTS: Mapping[Cause, str] = {
    Cause.FIRST_BUILD: "first build",
    Cause.NO_RECORD: "no record of how it was made",
    Cause.RENAMED: 'made under a new name, "{old}" -> "{new}"',
    Cause.OTHER_STAGE: 'made by another stage, "{old}" -> "{new}"',
    Cause.OUTPUT_MISSING: 'output "{name}" is missing',
    Cause.OUTPUT_ALTERED: 'output "{name}" was altered {old} -> {new}',
    Cause.OUTPUT_ADDED: 'output "{name}" is new',
    Cause.OUTPUT_DROPPED: 'output "{name}" is no longer made',
    Cause.SEAL_WITHDRAWN: 'seal "{name}" was withdrawn, since files before it were made again',
    Cause.INPUT_CHANGED: 'input "{name}" changed {old} -> {new}',
    Cause.INPUT_MOVED: 'input "{name}" is another file, "{old}" -> "{new}"',
    Cause.INPUT_ADDED: 'input "{name}" was added, {new}',
    Cause.INPUT_REMOVED: 'input "{name}" was removed, {old}',
    Cause.INPUT_MISSING: 'input "{name}" is missing',
    Cause.INPUT_RENEWED: 'input "{name}" will be made again first',
    Cause.PARAMETER_CHANGED: 'parameter "{name}" changed {old} -> {new}',
    Cause.PARAMETER_ADDED: 'parameter "{name}" was added, {new}',
    Cause.PARAMETER_REMOVED: 'parameter "{name}" was removed, {old}',
    Cause.CODE_CHANGED: "code of the stage changed: {name} {old} -> {new}",
    Cause.TOOL_CHANGED: 'tool "{name}" changed {old} -> {new}',
    Cause.DEPENDENCY_CHANGED: "something changed that a SConstruct makes it depend on: {name}",
    Cause.ALWAYS: "asked to run always",
    Cause.FORGOTTEN: "the build tool lost its own record of it",
}


class Reason(NamedTuple):
    """One cause, with what it is about and the old and new value where there are such."""

    cause: Cause
    name: str = ""
    old: str = ""
    new: str = ""

    def text(self) -> str:
        """Return the reason in words."""
        return TEXTS[self.cause].format(name=self.name, old=self.old, new=self.new)


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
