"""One assembly file as statements with its includes, macros and include guard, all verified."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from netra_build.asm.source.include_rules import SETTERS, GuardSpan, Include, verify
from netra_build.asm.source.includes import published_includes
from netra_build.asm.source.lexer import PLAIN_WORD, Block, lex, macro_blocks
from netra_build.asm.source.statement import (
    Kind,
    Statement,
    decode_source,
    macro_names,
)
from netra_build.core.canonical_json import plain_text

MAX_HELD, MAX_HELD_BYTES = 256, 32 * 1024
"""How many files are held, as statements, and how long one of them is at most."""

_DIRECTIVE, _LABEL = Kind.DIRECTIVE, Kind.LABEL
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


@dataclass(frozen=True)
class Piece:
    """Statements of a file between two includes, as the blocks of a flat unit."""

    blocks: tuple[Block, ...]
    size: int
    """Bytes and line ends, counted as characters."""
    include: Include | None
    """What stands behind them; None at the end of the file."""


@dataclass(frozen=True, eq=False)
class SourceFile:
    """One verified file of assembly text. What is made of it is made once, when asked for."""

    name: str
    statements: tuple[Statement, ...]
    includes: tuple[Include, ...]
    guards: tuple[GuardSpan, ...]
    macros: Mapping[str, bool]
    """Every macro that it may define, and whether that one takes the rest of its line."""

    @cached_property
    def settings(self) -> Mapping[str, Sequence[int]]:
        """The lines on which each symbol is set."""
        lines: dict[str, list[int]] = {}
        for statement in self.statements:
            if statement.name in SETTERS:
                symbol = statement.operands.partition(",")[0].strip()
            elif statement.kind is Kind.ASSIGNMENT:
                symbol = statement.name
            else:
                continue
            lines.setdefault(symbol, []).append(statement.line)
        return lines

    @cached_property
    def computed_text(self) -> str:
        """The texts of the statements that can reach machine code, as a canonical JSON list.

        ``INCLUDED`` stands for each include.
        """
        includes = frozenset([include.statement_index for include in self.includes])
        # No statement holds the character, so none is taken for an include.
        lines = list(_computed_lines(self.statements, includes))
        return plain_text(lines).replace('"\\u0000"', INCLUDED)

    @cached_property
    def first_pieces(self) -> tuple[Piece, ...]:
        """The pieces of the file where it is included first."""
        return self._pieces(())

    @cached_property
    def later_pieces(self) -> tuple[Piece, ...]:
        """The pieces of the file where it is included again, without what its guards skip."""
        return self._pieces(self.guards)

    def _pieces(self, skipped: Sequence[GuardSpan]) -> tuple[Piece, ...]:
        """Cut the file at its includes; neither they nor guards stand in a macro's body."""
        gone = {index for guard in skipped for index in range(guard.first, guard.last + 1)}
        includes = [include for include in self.includes if include.statement_index not in gone]
        pieces, start = [], 0
        for include in (*includes, None):
            end = include.statement_index if include else len(self.statements)
            kept = [self.statements[index] for index in range(start, end) if index not in gone]
            blocks = tuple(macro_blocks(kept))
            pieces.append(Piece(blocks, sum(len(block.text) for block in blocks), include))
            start = end + 1
        return tuple(pieces)


class Scan(NamedTuple):
    """What patterns tell of a text before any statement is cut out."""

    includes: tuple[tuple[int, str], ...]
    """Line and name as written of each line that looks like a bare include."""
    macros: Mapping[str, bool]
    """Every macro that it may define, and whether that one takes the rest of its line."""
    words: frozenset[str]
    """Every word that could call a macro of that name."""


def read_source(name: str, data: bytes, macros: Mapping[str, bool]) -> SourceFile:
    """Lex and verify one file; ``macros`` are those that other files define.

    Raises ``BadInput`` at file and line for what ``lex`` and ``verify`` refuse.
    """
    found = scan(name, data)
    used = found.words.intersection(macros).difference(found.macros)
    read = _read if len(data) <= MAX_HELD_BYTES else _read.__wrapped__
    return read(name, data, frozenset([(macro, macros[macro]) for macro in used]))


def scan(name: str, data: bytes) -> Scan:
    """Look through a text; ``BadInput`` for what ``decode_source`` refuses."""
    return (_scan if len(data) <= MAX_HELD_BYTES else _scan.__wrapped__)(name, data)


@lru_cache(maxsize=MAX_HELD)
def _read(name: str, data: bytes, macros: frozenset[tuple[str, bool]]) -> SourceFile:
    statements = lex(data, name, dict(macros))
    return SourceFile(name, statements, *verify(name, statements), scan(name, data).macros)


@lru_cache(maxsize=MAX_HELD)
def _scan(name: str, data: bytes) -> Scan:
    lines = decode_source(data, name)
    text = "\n".join(lines)
    includes = tuple(published_includes(text)) if ".include" in text else ()
    return Scan(includes, macro_names(lines), frozenset(PLAIN_WORD.findall(text)))


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
