"""Drop macros that a flat unit cannot reach, so that what it does not use cannot change it.

A macro counts as reached when its name stands anywhere in text that is reached: as a statement's
first word, as an argument, or as the fixed parts of a word that an expansion completes. More may
be kept than is called. What could be called and still be missed - a name that is put together of
arguments alone and passed on as an argument - is refused by the assembler as unknown, because
only names with a capital letter, which no instruction has, are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from netra_build.asm.source.lexer import decode_source, lex, macro_names
from netra_build.asm.source.macro_blocks import Block, macro_blocks


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


def _reached(macros: set[str], blocks: Iterable[Block]) -> set[str]:
    """Return those of the macros whose name stands in a block, or may when it is expanded."""
    reached: set[str] = set()
    patterns: set[re.Pattern[str]] = set()
    for block in blocks:
        reached |= macros & block.words
        patterns |= block.patterns
    left = macros - reached
    return reached | {macro for macro in left if any(p.fullmatch(macro) for p in patterns)}
