"""The flat unit: one self-contained text, so that assembling needs no other file.

Macros that it cannot reach are dropped, so that what it does not use cannot change it. A macro
counts as reached when its name stands anywhere in text that is reached: as a statement's first
word, as an argument, or as the fixed parts of a word that an expansion completes. More may be kept
than is called. What could be called and still be missed - a name that is put together of arguments
alone and passed on as an argument - is refused by the assembler as unknown, because only names
with a capital letter, which no instruction has, are dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from netra_build.asm.source.blocks import Block, macro_blocks
from netra_build.asm.source.closure import Closure, refuse_shared_guards
from netra_build.asm.source.include_rules import Include
from netra_build.asm.source.lexer import lex
from netra_build.asm.source.source_file import Piece, SourceFile, read_source
from netra_build.asm.source.statement import decode_source, macro_names
from netra_build.core.errors import BadInput

MAX_UNIT_BYTES = 32 * 1024 * 1024
ENTRY_COST = 64
"""What opening a file counts towards that size, even when it holds nothing."""


def flatten(instance_source: bytes, closure: Closure, location: str = "unit.s") -> bytes:
    """Return the instance with every include replaced by its text and every comment gone.

    A file met again gives its text again, but for statements under ``.ifndef SYMBOL`` that set
    the symbol at once: those would be skipped. The flat unit and the tree of files give the same
    object. Raises ``BadInput`` for an include outside the closure, a file that includes itself
    under no guard, a unit over ``MAX_UNIT_BYTES``, and what ``read_source`` refuses.
    """
    blocks = flat_blocks(instance_source, closure, location)
    return "".join([block.text for block in blocks]).encode("utf-8")


def flat_blocks(instance_source: bytes, closure: Closure, location: str = "unit.s") -> list[Block]:
    """Return the flat unit as blocks, refused as ``flatten`` says."""
    main = read_source(location, instance_source, closure.macros)
    refuse_shared_guards((*closure.files, main))
    return _Flattening({file.name: file for file in closure.files}).run(main)


def prune_macros(flat: bytes, location: str) -> bytes:
    """Return the flat unit without the macros that nothing reaches; order and text are kept."""
    statements = lex(flat, location, macro_names(decode_source(flat, location)))
    return prune_blocks(macro_blocks(statements))


def prune_blocks(blocks: Iterable[Block]) -> bytes:
    """Return the flat unit of these blocks without the macros that nothing reaches."""
    all_blocks = list(blocks)
    waiting = [block for block in all_blocks if block.macro == block.macro.lower()]
    dropped = [block for block in all_blocks if block.macro != block.macro.lower()]
    while waiting and dropped:
        reached = _reached({block.macro for block in dropped}, waiting)
        waiting = [block for block in dropped if block.macro in reached]
        dropped = [block for block in dropped if block.macro not in reached]
    gone = set(map(id, dropped))
    return "".join([block.text for block in all_blocks if id(block) not in gone]).encode("utf-8")


@dataclass
class _Frame:
    """A file being expanded, and how far it is."""

    file: SourceFile
    pieces: tuple[Piece, ...]
    position: int = 0


class _Flattening:
    """Expands includes with a stack of its own, so that deep chains are no danger."""

    def __init__(self, files: Mapping[str, SourceFile]) -> None:
        self.files = files
        self.seen: set[str] = set()
        self.blocks: list[Block] = []
        self.held = 0
        self.stack: list[_Frame] = []
        self.open_count: Counter[str] = Counter()
        """How often each file is open: a second time its guards skip what they can, and a third
        time would go on for ever."""

    def run(self, main: SourceFile) -> list[Block]:
        self._push(main)
        while self.stack:
            frame = self.stack[-1]
            if frame.position == len(frame.pieces):
                self.stack.pop()
                self.open_count[frame.file.name] -= 1
                continue
            piece = frame.pieces[frame.position]
            frame.position += 1
            self._hold(piece.size, frame)
            self.blocks += piece.blocks
            if piece.include is not None:
                self._enter(frame, piece.include)
        return self.blocks

    def _enter(self, frame: _Frame, include: Include) -> None:
        name, place = include.name, f"{frame.file.name}:{include.line}"
        if name not in self.files:
            raise BadInput(f'included file "{name}" is not in the closure', location=place)
        if self.open_count[name] == 2:
            raise BadInput(
                f'file "{name}" includes itself',
                location=place,
                hint="put the include under the file's own include guard",
            )
        self._hold(ENTRY_COST, frame)
        self._push(self.files[name])

    def _push(self, file: SourceFile) -> None:
        pieces = file.later_pieces if file.name in self.seen else file.first_pieces
        self.seen.add(file.name)
        self.open_count[file.name] += 1
        self.stack.append(_Frame(file, pieces))

    def _hold(self, more: int, frame: _Frame) -> None:
        """Count what the unit holds, so that files that double each other come to an end."""
        self.held += more
        if self.held > MAX_UNIT_BYTES:
            raise BadInput(
                "flat unit is too large",
                location=frame.file.name,
                expected=f"at most {MAX_UNIT_BYTES} bytes",
                got="more",
            )


def _reached(macros: set[str], blocks: Iterable[Block]) -> set[str]:
    """Return those of the macros whose name stands in a block, or may when it is expanded."""
    reached: set[str] = set()
    patterns: set[re.Pattern[str]] = set()
    for block in blocks:
        reached |= macros & block.words
        patterns |= block.patterns
    left = macros - reached
    return reached | {macro for macro in left if any(p.fullmatch(macro) for p in patterns)}
