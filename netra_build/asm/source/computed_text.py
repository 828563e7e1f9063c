"""The statements of one file that can reach machine code: no debug lines, no debug sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from netra_build.asm.source.statement import Kind, Statement
from netra_build.core.canonical_json import plain_text

INCLUDED = "\0"
"""Stands for an include; JSON never holds it bare."""

_DEBUG_LINES = (".file", ".loc", ".cfi_")
_MAY_BE_DEBUG = (*_DEBUG_LINES, ".section", ".pushsection")
"""How a name begins without which nothing is left out."""
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
    if any(name.startswith(_MAY_BE_DEBUG) for name in {one.name for one in statements}):
        lines = list(_computed_lines(statements, includes))
    else:
        lines = [statement.text.rstrip(" \t") for statement in statements]
        for position in includes:
            lines[position] = INCLUDED
    # No statement holds the character, so none is taken for an include.
    return plain_text(lines).replace('"\\u0000"', INCLUDED)


def _computed_lines(statements: Sequence[Statement], includes: frozenset[int]) -> Iterator[str]:
    """Yield the text of each such statement, and ``INCLUDED`` for an include."""
    in_debug = False
    for position, statement in enumerate(statements):
        is_directive = statement.kind is _DIRECTIVE
        if is_directive and position in includes:
            yield INCLUDED
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
