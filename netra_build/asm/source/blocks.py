"""Assembly text by its words: blocks of macros, and what a unit says apart from its own names.

Each macro's definition is a block, and so is the text between two. Units that say the same share
one assembly: two units of one tactic differ in the symbols that the entry macro is called with,
and in constants. A constant that nothing reads cannot change the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from netra_build.asm.source.statement import MACRO_ENDS, Statement

_WORD = re.compile(r"(?:[A-Za-z0-9_.$@?]|\\(?:\(\)|@|[A-Za-z0-9_.$]+)?)+")
_BOUNDS = MACRO_ENDS | {".macro"}
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_.$@?]+")
_EXPANDED = re.compile(r"\\(?:\(\)|@|[A-Za-z0-9_.$]+)?")
_PARAMETER = re.compile(r"(?:\\\(\))*\\[A-Za-z0-9_.$]+(?:\\\(\))*")
"""A word that is one whole argument: it stands as a word of its own where the macro is called."""
_SET = re.compile(r"\s*\.set\s+([A-Za-z_.$][A-Za-z0-9_.$]*)\s*,\s*-?[0-9]+\s*\Z")


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive lines of a unit: one macro's definition, or text between definitions."""

    macro: str
    """The macro's name; empty for text between definitions."""
    text: str
    """The lines, each with its end."""

    @property
    def words(self) -> frozenset[str]:
        """The words that stand here whole, whatever a macro's arguments are.

        Those with a capital letter, that is: only macros that have one are ever looked for.
        """
        return self._words[0]

    @property
    def patterns(self) -> frozenset[re.Pattern[str]]:
        """Patterns of the words that expansion completes."""
        return self._words[1]

    @cached_property
    def _words(self) -> tuple[frozenset[str], frozenset[re.Pattern[str]]]:
        lines = self.text.split("\n")
        plain = [line for line in lines if "\\" not in line and not line.islower()]
        words = set(_PLAIN_WORD.findall("\n".join(plain)))
        open_words: set[str] = set()
        for line in lines:
            if "\\" not in line:
                continue
            for position, word in enumerate(_WORD.findall(line)):
                if "\\" not in word:
                    words.add(word)
                elif not _PARAMETER.fullmatch(word) and (position == 0 or _fixed(word)):
                    open_words.add(word)
        return frozenset(words), frozenset(map(_pattern, open_words))


def macro_blocks(statements: Sequence[Statement]) -> Iterator[Block]:
    """Yield the definitions that stand outside every other body, and the text between them."""
    start, macro, depth = 0, "", 0
    for index, statement in enumerate(statements):
        if statement.name not in _BOUNDS:
            continue
        starts = statement.name == ".macro"
        if starts and depth == 0 and statement.depth == 0:
            if start < index:
                yield _block("", statements[start:index])
            start, macro = index, _defined(statement)
        if not macro:
            continue
        depth += 1 if starts else -1
        if depth == 0:
            yield _block(macro, statements[start : index + 1])
            start, macro = index + 1, ""
    if start < len(statements):
        yield _block(macro if depth else "", statements[start:])


def shared_text(flat: bytes, symbols: Sequence[str], constants: Iterable[str]) -> bytes:
    """Return the flat unit with its symbols numbered and without constants that nothing reads.

    ``symbols`` are those of the macro call, ``constants`` the names that the unit sets first.
    """
    lines = flat.decode("utf-8").split("\n")
    settable = set(constants)
    set_at = {index: found for index, line in enumerate(lines) if (found := _constant(line))}
    first = {index: name for index, name in set_at.items() if name in settable}
    once = {name for name in first.values() if list(set_at.values()).count(name) == 1}
    others = [line for index, line in enumerate(lines) if first.get(index) not in once]
    read = _read(others, once)
    kept = [line for index, line in enumerate(lines) if first.get(index) not in once - read]
    number = {symbol: f"?symbol{index}?" for index, symbol in enumerate(symbols)}
    text = "\n".join(kept)
    return _WORD.sub(lambda word: number.get(word[0], word[0]), text).encode("utf-8")


def _block(macro: str, statements: Sequence[Statement]) -> Block:
    lines = [statement.text for statement in statements]
    return Block(macro, "\n".join([*lines, ""]))


def _defined(statement: Statement) -> str:
    return re.split(r"[\s,]", statement.operands.strip(), maxsplit=1)[0]


def _fixed(word: str) -> str:
    """Return the part of a word that no expansion makes."""
    return _EXPANDED.sub("", word)


def _pattern(word: str) -> re.Pattern[str]:
    fixed = [re.escape(part) for part in _EXPANDED.split(word)]
    return re.compile(".*".join(fixed))


def _constant(line: str) -> str:
    found = _SET.match(line)
    return found[1] if found else ""


def _read(lines: Iterable[str], names: set[str]) -> set[str]:
    """Return the names that the lines could read, also as words that an expansion completes."""
    read: set[str] = set()
    open_words: set[str] = set()
    for line in lines:
        for word in _WORD.findall(line):
            if "\\" not in word:
                read.add(word)
            elif not _PARAMETER.fullmatch(word):
                open_words.add(word)
    patterns = list(map(_pattern, open_words))
    return {name for name in names if name in read or any(p.fullmatch(name) for p in patterns)}
