"""The disassembler's text as records: instructions with addresses and encoded words, and labels."""

from __future__ import annotations

import re
from dataclasses import dataclass

from netra_build.core.errors import BadInput

_LABEL = re.compile(r"([0-9a-f]{8,16}) <([^<>]*)>:")
_CODE = re.compile(r" ([0-9A-F]{8,16}):((?: [0-9A-F]{8})+)(?: <([^<>]*)>)?(?: ; [^<>]*)?\s*")
"""Behind the words: the target of a branch, or the disassembler's own remark on odd registers."""


@dataclass(frozen=True)
class Instruction:
    """One instruction. ``address`` and ``size_bytes`` are bytes, ``words`` are encoded dwords."""

    address: int
    mnemonic: str
    operands: str
    words: tuple[int, ...]
    size_bytes: int
    text: str
    """Mnemonic and operands as printed."""
    branch_target: str = ""
    """``SYMBOL+0xOFFSET`` that the disassembler prints behind a branch, else empty."""


@dataclass(frozen=True)
class Label:
    """A symbol at an address of the text section."""

    name: str
    address: int


@dataclass(frozen=True)
class Disassembly:
    """All instructions and labels in order of address, as the disassembler printed them."""

    instructions: tuple[Instruction, ...]
    labels: tuple[Label, ...]


def parse_disassembly(text: str, location: str = "disassembly") -> Disassembly:
    """Read what ``llvm-objdump --disassemble`` prints; ``BadInput`` names an unreadable line.

    Runs of zero words that the disassembler abbreviates to ``...`` give no instruction.
    """
    instructions: list[Instruction] = []
    labels: list[Label] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("\t") and line.strip() != "...":
            instructions.append(_instruction(line, f"{location}:{number}"))
        elif match := _LABEL.fullmatch(line):
            labels.append(Label(match[2], int(match[1], 16)))
    return Disassembly(tuple(instructions), tuple(labels))


def _instruction(line: str, location: str) -> Instruction:
    head, separator, tail = line.rpartition("//")
    match = _CODE.fullmatch(tail) if separator else None
    statement = head.strip()
    if match is None or not statement:
        raise BadInput("line is no instruction", location=location)
    words = tuple(int(word, 16) for word in match[2].split())
    mnemonic, _, operands = statement.partition(" ")
    return Instruction(
        address=int(match[1], 16),
        mnemonic=mnemonic,
        operands=operands.strip(),
        words=words,
        size_bytes=4 * len(words),
        text=statement,
        branch_target=match[3] or "",
    )
