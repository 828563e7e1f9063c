"""Listings that the assembler confirms: what does not assemble back to its own words is marked."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from netra_build.asm.objects.elf import read_elf
from netra_build.asm.tools.programs import AssemblyFailed, Outcome, ToolCrashed, first_tool_error
from netra_build.core.errors import BadInput

Encoded = tuple[str, str]
"""An instruction as it is assembled again, and its words as they are listed."""

REMARK = "does not assemble back to these words"
TOGETHER = 4096
"""Instructions that are assembled at once: each one refused asks for the others again."""

SLOT_BYTES = 16
FILL = 0x5A
MAX_KNOWN = 1 << 16
_LINE = re.compile(r"^\t([a-z][^\t\n]*?) *// [0-9A-F]+:((?: [0-9A-F]{8})+)( <)?(.*)$", re.MULTILINE)
_PLAIN = re.compile(r'[\w .,:()\[\]|+"-]+', re.ASCII)


def confirmed(
    disassemble: Callable[[], Outcome],
    assemble: Callable[[bytes], bytes],
    known: set[Encoded],
    label: str,
) -> str:
    """Return what ``disassemble`` prints, as ``confirm`` does; ``BadInput`` when it refuses.

    A program that crashes does so for what it reads: that is ``BadInput`` at ``label``, too.
    """
    try:
        outcome = disassemble()
        if not outcome.status:
            return confirm(outcome.output.decode("utf-8", "backslashreplace"), assemble, known)
        fact = first_tool_error(outcome.report)
    except ToolCrashed as error:
        fact = f"the tool {error.fact}"
    raise BadInput(f"cannot be disassembled: {fact}", location=label)


def confirm(listing: str, assemble: Callable[[bytes], bytes], known: set[Encoded]) -> str:
    """Return a listing with a remark behind each instruction that ``assemble`` makes otherwise.

    ``known`` holds what agreed before, so that each text is assembled once.
    """
    pairs = dict.fromkeys(map(_encoded, _LINE.finditer(listing)))
    if len(known) > MAX_KNOWN:
        known.clear()
    new = [pair for pair in pairs if pair not in known]
    tried = [pair for pair in new if _PLAIN.fullmatch(pair[0])]
    for at in range(0, len(tried), TOGETHER):
        known |= _agreeing(tried[at : at + TOGETHER], assemble)
    if known.issuperset(new):
        return listing
    return _LINE.sub(lambda m: m[0] if _encoded(m) in known else f"{m[0]} ; {REMARK}", listing)


def _encoded(line: re.Match[str]) -> Encoded:
    """Return the text and the words of a line; a branch with the distance that it encodes."""
    text, words = line[1], line[2]
    if line[3]:
        text = f"{text.rpartition(' ')[0]} {int(words[5:9], 16)}"
    return text, words


def _agreeing(pairs: list[Encoded], assemble: Callable[[bytes], bytes]) -> set[Encoded]:
    while pairs:
        unit = "".join(f"\t{text}\n\t.p2align 4, {FILL}\n" for text, _ in pairs)
        try:
            made = read_elf(assemble(unit.encode()), "unit")
        except AssemblyFailed as error:
            refused = {(d.line - 1) // 2 for d in error.diagnostics if d.severity == "error"}
            pairs = [one for at, one in enumerate(pairs) if at not in refused] if refused else []
            continue
        code = made.content(next(part for part in made.sections if part.text == ".text"))
        slots = zip(pairs, range(0, len(code), SLOT_BYTES), strict=True)
        return {pair for pair, at in slots if code[at : at + SLOT_BYTES] == _slot(pair[1])}
    return set()


def _slot(words: str) -> bytes:
    numbers = [int(word, 16) for word in words.split()]
    return struct.pack(f"<{len(numbers)}I", *numbers).ljust(SLOT_BYTES, bytes([FILL]))
