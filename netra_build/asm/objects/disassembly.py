"""The disassembler's text as records: instructions with addresses and encoded words, and labels.

And the lines that show where two code objects differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json
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


def difference_lines(report: Mapping[str, Json]) -> list[str]:
    """Return lines that show the first difference of a report side by side; none if identical."""
    first = report["first_difference"]
    lines: list[str] = []
    if first["text"] is not None:
        lines.append(f"first differing instruction, number {first['text']['index']}:")
        lines += _both_sides(first["text"])
    if first["descriptor"] is not None:
        lines.append(f"descriptor field {first['descriptor']['field']}:")
        lines += _both_sides(first["descriptor"])
    if first["metadata"] is not None:
        lines.append(f"metadata {first['metadata']['path']}:")
        lines += _both_sides(first["metadata"])
    return lines


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


def _both_sides(at: Mapping[str, Json]) -> list[str]:
    golden, generated = (
        "nothing" if at[side] is None else at[side] for side in ("golden", "generated")
    )
    return [f"  golden     {golden}", f"  generated  {generated}"]
