"""One assembly file as statements with its includes, macros and include guard, all verified.

What is made of a file is made once, and held as long as there is room.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

from netra_build.asm.source.blocks import Block, macro_blocks
from netra_build.asm.source.include_rules import SETTERS, GuardSpan, Include, verify
from netra_build.asm.source.lexer import Lexed, lex_source, with_macros
from netra_build.asm.source.statement import Kind, Statement
from netra_build.core.canonical_json import plain_text
from netra_build.core.errors import BadInput

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")

MAX_REMEMBERED_BYTES = 256 * 1024
"""Of source text whose statements are held; these take about ten times as much memory."""

_DIRECTIVE, _LABEL = Kind.DIRECTIVE, Kind.LABEL
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
        """What ``computed_text`` makes of the statements."""
        return computed_text(self.statements, frozenset(i.statement_index for i in self.includes))

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
            kept: Sequence[Statement] = self.statements[start:end]
            if gone:
                kept = [self.statements[index] for index in range(start, end) if index not in gone]
            blocks = tuple(macro_blocks(kept))
            pieces.append(Piece(blocks, sum(len(block.text) for block in blocks), include))
            start = end + 1
        return tuple(pieces)


class BoundedCache(Generic[Key, Found]):
    """Remembers a value for each key, up to a sum of costs; safe for many threads."""

    def __init__(self, most: int) -> None:
        """Hold nothing yet, and never more than costs of ``most`` together."""
        self._most = most
        self._held = 0
        self._rows: OrderedDict[Key, tuple[int, Found]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key, cost: int, make: Callable[[], Found]) -> Found:
        """Return the value of ``key``, made on demand; what ``make`` raises is not remembered.

        Two threads may make the same value at once; one that costs more than all is not held.
        """
        with self._lock:
            row = self._rows.get(key)
            if row is not None:
                self._rows.move_to_end(key)
                return row[1]
        made = make()
        with self._lock:
            if cost <= self._most and key not in self._rows:
                self._rows[key] = (cost, made)
                self._held += cost
                while self._held > self._most:
                    self._held -= self._rows.popitem(last=False)[1][0]
        return made

    @property
    def held(self) -> int:
        """The costs of all that is held."""
        return self._held


@dataclass(frozen=True)
class PlainSource:
    """A file as it is when no other file defines macros, and what such macros could change."""

    file: SourceFile
    data: bytes
    lexed: Lexed

    def with_macros(self, macros: Mapping[str, bool]) -> SourceFile:
        """Return the file as it is when other files define ``macros``; ``BadInput`` as before.

        Of the macros only those matter that the file names.
        """
        file, heads = self.file, self.lexed.heads
        used = {head: macros[head] for head in heads & macros.keys() if head not in file.macros}
        if not used:
            return file
        key = file.name, self.data, frozenset(used.items())
        return _files.get(key, len(self.data), lambda: _read_with(self, file.name, self.data, used))


_plain_files: BoundedCache[tuple[str, bytes], PlainSource] = BoundedCache(MAX_REMEMBERED_BYTES)
_files: BoundedCache[tuple[str, bytes, frozenset[tuple[str, bool]]], SourceFile] = BoundedCache(
    MAX_REMEMBERED_BYTES
)


def read_source(name: str, data: bytes, macros: Mapping[str, bool]) -> SourceFile:
    """Lex and verify one file; ``macros`` are those that other files define.

    Raises ``BadInput`` at file and line for what the lexer refuses, and for ``.incbin``, ``.end``,
    an include that is not certain, unbalanced conditions, macros or repeats, and text that could
    become an include when a macro expands.
    """
    try:
        plain = plain_source(name, data)
    except BadInput:
        if not macros:
            raise
        # With the macros another fault may come first, or what looks like a fault calls one.
        return _read_with(None, name, data, macros)
    return plain.with_macros(macros)


def plain_source(name: str, data: bytes) -> PlainSource:
    """Read one file as ``read_source`` does without macros; one that units share is read once."""
    return _plain_files.get((name, data), len(data), lambda: _read_plain(name, data))


def _read_plain(name: str, data: bytes) -> PlainSource:
    lexed = lex_source(data, name, {})
    return PlainSource(_verified(name, lexed.statements, lexed.macros), data, lexed)


def _read_with(
    plain: PlainSource | None, name: str, data: bytes, macros: Mapping[str, bool]
) -> SourceFile:
    """Read a file, again if it was read, that calls macros of others: arguments are text."""
    statements = with_macros(plain.lexed, macros) if plain else None
    if plain is None or statements is None:
        lexed = lex_source(data, name, macros)
        return _verified(name, lexed.statements, lexed.macros)
    # What the walk verifies depends on no blank, and on no call being one.
    return replace(plain.file, statements=statements)


def _verified(
    name: str, statements: tuple[Statement, ...], macros: Mapping[str, bool]
) -> SourceFile:
    return SourceFile(name, statements, *verify(name, statements), macros)


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
