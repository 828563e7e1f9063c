"""Mutants of whole statements: those that order operations (waits, wait states, barriers), and the
declarations of a kernel (descriptor directives, metadata)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netra_build.asm.objects.descriptor import ACCUM_GRANULE, SGPR_GRANULE, VGPR_GRANULE
from netra_build.asm.source.statement import Kind
from netra_build.checkasm.mutate.mutant import (
    BARRIER_DROP,
    DESCRIPTOR,
    METADATA,
    NOP_DELETE,
    NOP_SHRINK,
    WAIT_DELETE,
    WAIT_WEAKEN,
    Mutant,
    Source,
)

MOST = {"vmcnt": 63, "lgkmcnt": 15, "expcnt": 7}
"""The count of each counter that means no wait."""

_COUNT = re.compile(r"(vmcnt|lgkmcnt|expcnt)\((\d+)\)")
_VM = ("global_", "buffer_", "flat_", "scratch_")
_LGKM = ("ds_", "s_load_", "s_buffer_load_", "flat_")

PREFIX = ".amdhsa_"
STEPS = {
    "next_free_vgpr": VGPR_GRANULE,
    "next_free_sgpr": SGPR_GRANULE,
    "accum_offset": ACCUM_GRANULE,
    "group_segment_fixed_size": 512,
    "private_segment_fixed_size": 16,
    "kernarg_size": 8,
}
"""Granules of allocation; every other value is one off. Sizes in bytes, counts in registers."""

COUNT_STEPS = {
    ".vgpr_count": VGPR_GRANULE,
    ".agpr_count": ACCUM_GRANULE,
    ".sgpr_count": SGPR_GRANULE,
    ".wavefront_size": 32,
    ".max_flat_workgroup_size": 64,
    ".kernarg_segment_align": 4,
    ".group_segment_fixed_size": 512,
    ".private_segment_fixed_size": 16,
    ".kernarg_segment_size": 8,
    ".offset": 4,
    ".size": 4,
}
OTHER_WORD = {
    "global_buffer": "by_value",
    "by_value": "global_buffer",
    "read_only": "write_only",
    "write_only": "read_write",
    "read_write": "read_only",
}
_DIRECTIVE = re.compile(r"\.amdhsa_(\w+) (\d+)")
_NUMBER = re.compile(r"(\.[a-z_]+): (\d+)\b")
_WORD = re.compile(r"(\.value_kind|\.actual_access): (\w+)")


def ordering_mutants(source: Source) -> Iterator[Mutant]:
    """Yield every mutant of the ordering kinds, in the order of the statements."""
    outstanding = dict.fromkeys(MOST, 0)
    for index in source.instructions():
        text = source.statements[index].text
        for kind, after in _changes(text, outstanding):
            yield Mutant(kind, index, source.statements[index].line, text, after)
        _count(text, outstanding)


def _changes(text: str, outstanding: dict[str, int]) -> Iterator[tuple[str, str]]:
    mnemonic, _, operand = text.partition(" ")
    if mnemonic == "s_waitcnt":
        yield WAIT_DELETE, ""
        for match in _COUNT.finditer(text):
            for count in _larger(match[1], int(match[2]), outstanding[match[1]]):
                after = f"{match[1]}({count})"
                yield WAIT_WEAKEN, text[: match.start()] + after + text[match.end() :]
    elif mnemonic == "s_nop":
        yield NOP_DELETE, ""
        if operand.isdecimal() and int(operand):
            yield NOP_SHRINK, f"s_nop {int(operand) - 1}"
    elif mnemonic == "s_barrier":
        yield BARRIER_DROP, ""


def _larger(counter: str, count: int, outstanding: int) -> Iterator[int]:
    """Yield every larger count that still waits for something, then the one that never waits."""
    yield from range(count + 1, min(outstanding, MOST[counter]))
    if count < MOST[counter]:
        yield MOST[counter]


def _count(text: str, outstanding: dict[str, int]) -> None:
    """Count the most operations that may be outstanding, along the text.

    A backward jump makes it an underestimate: counts that wait only in the second iteration are
    then covered by the mutant that never waits.
    """
    for counter, prefixes in (("vmcnt", _VM), ("lgkmcnt", _LGKM)):
        if text.startswith(prefixes):
            outstanding[counter] = min(outstanding[counter] + 1, MOST[counter])
    if text.startswith("s_waitcnt "):
        for match in _COUNT.finditer(text):
            outstanding[match[1]] = min(outstanding[match[1]], int(match[2]))


def declared_mutants(source: Source) -> Iterator[Mutant]:
    """Yield every mutant of the descriptor and of the metadata, in the order of the statements."""
    for index, statement in enumerate(source.statements):
        if statement.kind is Kind.DIRECTIVE and statement.name.startswith(PREFIX):
            kind, texts = DESCRIPTOR, _directives(statement.text)
        elif statement.kind is Kind.METADATA:
            kind, texts = METADATA, _entries(statement.text)
        else:
            continue
        for after in texts:
            yield Mutant(kind, index, statement.line, statement.text, after)


def _directives(text: str) -> Iterator[str]:
    match = _DIRECTIVE.fullmatch(text)
    if match and match[1] != "code_object_version":
        step = STEPS.get(match[1], 1)
        for value in _neighbours(int(match[2]), step):
            yield f"{PREFIX}{match[1]} {value}"


def _entries(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        if match[1] in COUNT_STEPS:
            for value in _neighbours(int(match[2]), COUNT_STEPS[match[1]]):
                yield f"{text[: match.start(2)]}{value}{text[match.end(2) :]}"
    for match in _WORD.finditer(text):
        if match[2] in OTHER_WORD:
            yield f"{text[: match.start(2)]}{OTHER_WORD[match[2]]}{text[match.end(2) :]}"


def _neighbours(value: int, step: int) -> Iterator[int]:
    """Yield the value one step further and, unless that is negative, one back."""
    yield value + step
    if value >= step:
        yield value - step
