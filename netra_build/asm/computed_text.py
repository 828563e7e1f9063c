"""The statements of one file that can reach machine code: no debug lines, no debug sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from netra_build.asm.statement import Kind, Statement
from netra_build.core.canonical_json import canonical_text

INCLUDED = "\0"
"""Stands for an include; JSON never holds it bare."""

_DEBUG_LINES = (".file", ".loc", ".cfi_")
_SECTION_DIRECTIVES = frozenset(
    {".section", ".pushsection", ".popsection", ".previous", ".text", ".data", ".bss", ".rodata"}
)
_INERT = (
    ".section",
    ".pushsection",
    *(".byte", ".short", ".long", ".quad", ".ascii", ".asciz", ".string", ".uleb", ".sleb"),
)
_DEBUG_SECTION = re.compile(r'"?\.debug')
_DIRECTIVE, _LABEL = Kind.DIRECTIVE, Kind.LABEL


def computed_text(statements: Sequence[Statement], includes: frozenset[int]) -> str:
    """Return the texts of the statements that can reach machine code, as a canonical JSON list.

    ``includes`` are the places of the includes: ``INCLUDED`` stands for each of them.
    """
    lists: list[list[str]] = [[]]
    for line in _computed_lines(statements, includes):
        if line is None:
            lists.append([])
        else:
            lists[-1].append(line)
    parts = [canonical_text(lines)[1:-2] for lines in lists]
    separated = [item for part in parts for item in (INCLUDED, part)][1:]
    return f"[{','.join(filter(None, separated))}]"


def _computed_lines(
    statements: Sequence[Statement], includes: frozenset[int]
) -> Iterator[str | None]:
    """Yield the text of each such statement, and None for an include."""
    in_debug = False
    for position, statement in enumerate(statements):
        is_directive = statement.kind is _DIRECTIVE
        if is_directive and position in includes:
            yield None
            in_debug = False
            continue
        if is_directive or in_debug:
            in_debug = _in_debug_after(statement, in_debug)
            if in_debug and _is_inert(statement):
                continue
            if is_directive and statement.name.startswith(_DEBUG_LINES):
                continue
        yield statement.text.rstrip(" \t")


def _in_debug_after(statement: Statement, in_debug: bool) -> bool:
    """Follow the current section; whatever could leave a debug section counts as leaving it."""
    if statement.kind is _DIRECTIVE:
        if statement.name in (".section", ".pushsection"):
            return _DEBUG_SECTION.match(statement.operands) is not None
        if statement.name in _SECTION_DIRECTIVES:
            return False
    return in_debug and _is_inert(statement)


def _is_inert(statement: Statement) -> bool:
    """Tell whether a statement inside a debug section can only fill that section."""
    if statement.kind is _LABEL:
        return True
    return statement.kind is _DIRECTIVE and statement.name.startswith(_INERT)
