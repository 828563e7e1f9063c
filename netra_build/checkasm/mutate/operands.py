"""The parts of one instruction as it is written, and the registers and numbers among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_OPEN, _CLOSE = "([", ")]"
_MODIFIER = re.compile(r"[a-z][a-z0-9_]*(:.+)?")
REGISTER = re.compile(r"(?<![A-Za-z0-9_])([sva])(?:(\d+)|\[(\d+):(\d+)\])(?![A-Za-z0-9_\[])")
"""A single register or a tuple, with or without sign, bars or ``neg()`` around it."""

INTEGER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)")
FLOAT = re.compile(r"-?\d+\.\d+")


@dataclass(frozen=True)
class Parts:
    """Mnemonic, operands and the modifiers behind the last operand."""

    mnemonic: str
    operands: tuple[str, ...]
    modifiers: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the instruction as one line."""
        tail = " ".join([", ".join(self.operands), *self.modifiers]).strip()
        return f"{self.mnemonic} {tail}".strip()

    def with_operand(self, at: int, operand: str) -> Parts:
        """Return the parts with one operand replaced."""
        return replace(self, operands=(*self.operands[:at], operand, *self.operands[at + 1 :]))

    def with_modifier(self, at: int, modifier: str) -> Parts:
        """Return the parts with one modifier replaced, or taken out when it is empty."""
        middle = (modifier,) if modifier else ()
        return replace(self, modifiers=(*self.modifiers[:at], *middle, *self.modifiers[at + 1 :]))


def split_instruction(text: str) -> Parts:
    """Split one instruction; words behind the last operand that are no modifiers stay with it."""
    mnemonic, _, rest = text.partition(" ")
    operands = _split(rest.strip(), ",")
    if not operands:
        return Parts(mnemonic, ())
    words = _split(operands[-1], " ")
    if len(words) > 1 and all(_MODIFIER.fullmatch(word) for word in words[1:]):
        return Parts(mnemonic, (*operands[:-1], words[0]), tuple(words[1:]))
    return Parts(mnemonic, tuple(operands))


def _split(text: str, separator: str) -> list[str]:
    """Split outside brackets and parentheses; pieces are stripped, empty ones dropped."""
    pieces, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == separator and depth == 0:
            pieces.append(text[start:at])
            start = at + 1
    return [piece for one in [*pieces, text[start:]] if (piece := one.strip())]


def register_neighbours(operand: str) -> Iterator[str]:
    """Yield an operand with its register one further and one back.

    A tuple moves by its own alignment, so that the assembler takes it: vector tuples by two,
    scalar ones by their width up to four.
    """
    match = REGISTER.search(operand)
    if match is None:
        return
    file = match[1]
    first = int(match[2] or match[3])
    width = 1 if match[2] else int(match[4]) - first + 1
    step = 1 if width == 1 else min(width, 4) if file == "s" else 2
    for moved in (first + step, first - step):
        if moved >= 0:
            name = f"{file}{moved}" if match[2] else f"{file}[{moved}:{moved + width - 1}]"
            yield operand[: match.start()] + name + operand[match.end() :]


def same_base(number: int, written: str) -> str:
    """Return ``number`` in the base, and for hexadecimal with the digits, of ``written``."""
    if "0x" not in written:
        return str(number)
    digits = len(written.lstrip("-")) - 2
    return f"{'-' if number < 0 else ''}{abs(number):#0{digits + 2}x}"
