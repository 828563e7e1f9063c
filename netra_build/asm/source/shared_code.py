"""What a flat unit says apart from its own names: units that say the same share one assembly.

Two units of one tactic differ in the comment that names the contract, which flattening drops, in
the symbols that the entry macro is called with, and in constants. A constant that nothing reads
cannot change the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"(?:[A-Za-z0-9_.$@?]|\\(?:\(\)|@|[A-Za-z0-9_.$]+)?)+")
_EXPANDED = re.compile(r"\\(?:\(\)|@|[A-Za-z0-9_.$]+)?")
_PARAMETER = re.compile(r"\\[A-Za-z0-9_.$]+(?:\\\(\))?")
"""A word that is one whole argument: it stands as a word of its own where the macro is called."""
_SET = re.compile(r"\s*\.set\s+([A-Za-z_.$][A-Za-z0-9_.$]*)\s*,\s*-?[0-9]+\s*\Z")


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


def _constant(line: str) -> str:
    found = _SET.match(line)
    return found[1] if found else ""


def _read(lines: Iterable[str], names: set[str]) -> set[str]:
    """Return the names that the lines could read, also as words that an expansion completes."""
    read: set[str] = set()
    patterns: set[str] = set()
    for line in lines:
        for word in _WORD.findall(line):
            if "\\" not in word:
                read.add(word)
            elif not _PARAMETER.fullmatch(word):
                fixed = (re.escape(part) for part in _EXPANDED.split(word))
                patterns.add(".*".join(fixed))
    return {name for name in names if name in read or any(re.fullmatch(p, name) for p in patterns)}
