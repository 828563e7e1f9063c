"""Mutants that take out or weaken what orders operations: waits, wait states, barriers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netra_build.checkasm.mutate.mutant import (
    BARRIER_DROP,
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
    """Keep the most that may be outstanding, along the text.

    A jump back makes it an underestimate: then counts that wait on the second turn only are
    judged by the one that never waits.
    """
    for counter, prefixes in (("vmcnt", _VM), ("lgkmcnt", _LGKM)):
        if text.startswith(prefixes):
            outstanding[counter] = min(outstanding[counter] + 1, MOST[counter])
    if text.startswith("s_waitcnt "):
        for match in _COUNT.finditer(text):
            outstanding[match[1]] = min(outstanding[match[1]], int(match[2]))
