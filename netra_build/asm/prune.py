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
from dataclasses import dataclass

from netra_build.asm.lexer import decode_source, lex, macro_names
from netra_build.asm.statement import MACRO_ENDS, Statement

_WORD = re.compile(r"(?:[A-Za-z0-9_.$@?]|\\(?:\(\)|@|[A-Za-z0-9_.$]+)?)+")
_EXPANDED = re.compile(r"\\(?:\(\)|@|[A-Za-z0-9_.$]+)?")
_PARAMETER = re.compile(r"(?:\\\(\))*\\[A-Za-z0-9_.$]+(?:\\\(\))*")
"""A word that is one whole argument: it stands as a word of its own where the macro is called."""


@dataclass(frozen=True)
class _Block:
    """Consecutive lines of a flat unit: one macro's definition, or text between definitions."""

    macro: str
    lines: tuple[str, ...]


def prune_macros(flat: bytes, location: str) -> bytes:
    """Return the flat unit without the macros that nothing reaches; order and text are kept."""
    return prune_statements(lex(flat, location, macro_names(decode_source(flat, location))))


def prune_statements(statements: Iterable[Statement]) -> bytes:
    """Return the flat unit of these statements without the macros that nothing reaches."""
    blocks = list(_blocks(statements))
    waiting = [block for block in blocks if block.macro == block.macro.lower()]
    dropped = [block for block in blocks if block.macro != block.macro.lower()]
    while waiting:
        words, patterns = _words(waiting)
        waiting = [block for block in dropped if _is_named(block.macro, words, patterns)]
        dropped = [block for block in dropped if not _is_named(block.macro, words, patterns)]
    gone = {id(block) for block in dropped}
    kept = [line for block in blocks if id(block) not in gone for line in block.lines]
    return "\n".join([*kept, ""]).encode("utf-8")


def _blocks(statements: Iterable[Statement]) -> Iterable[_Block]:
    """Yield the definitions that stand outside every other body, and the text between them."""
    held: list[str] = []
    macro, depth = "", 0
    for statement in statements:
        starts = statement.name == ".macro"
        if starts and depth == 0 and statement.depth == 0:
            yield _Block("", tuple(held))
            held, macro = [], _defined(statement)
        held.append(statement.text)
        if not macro:
            continue
        depth += starts
        depth -= statement.name in MACRO_ENDS
        if depth == 0:
            yield _Block(macro, tuple(held))
            held, macro = [], ""
    yield _Block(macro if depth else "", tuple(held))


def _defined(statement: Statement) -> str:
    return re.split(r"[\s,]", statement.operands.strip(), maxsplit=1)[0]


def _words(blocks: Iterable[_Block]) -> tuple[set[str], list[re.Pattern[str]]]:
    """Return the whole words of some text, and patterns of the words that expansion completes."""
    words: set[str] = set()
    open_words: set[str] = set()
    for block in blocks:
        for line in block.lines:
            for position, word in enumerate(_WORD.findall(line)):
                if "\\" not in word:
                    words.add(word)
                elif not _PARAMETER.fullmatch(word) and (position == 0 or _fixed(word)):
                    open_words.add(word)
    return words, [_pattern(word) for word in sorted(open_words)]


def _fixed(word: str) -> str:
    """Return the part of a word that no expansion makes."""
    return _EXPANDED.sub("", word)


def _pattern(word: str) -> re.Pattern[str]:
    fixed = [re.escape(part) for part in _EXPANDED.split(word)]
    return re.compile(".*".join(fixed))


def _is_named(macro: str, words: set[str], patterns: list[re.Pattern[str]]) -> bool:
    return macro in words or any(pattern.fullmatch(macro) for pattern in patterns)
