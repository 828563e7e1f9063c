"""Registers as bits of one integer, so that overlap of two sets is one ``&``."""

from __future__ import annotations

import re
from functools import lru_cache

VGPR_BASE = 0
AGPR_BASE = 256
SGPR_BASE = 512
SGPR_COUNT = 102
FLAT_SCRATCH = 614
XNACK_MASK = 616
VCC = 618
TTMP_BASE = 620
M0 = 636
EXEC = 637
SCC = 639
MODE = 640

VGPR_MASK = (1 << 256) - 1
AGPR_MASK = VGPR_MASK << AGPR_BASE
VECTOR_MASK = VGPR_MASK | AGPR_MASK
VCC_MASK = 3 << VCC
EXEC_MASK = 3 << EXEC
M0_MASK = 1 << M0
SCC_MASK = 1 << SCC
MODE_MASK = 1 << MODE
SCALAR_MASK = ((1 << M0) - 1) ^ ((1 << SGPR_BASE) - 1)
"""Everything a scalar operand can name that a vector instruction can also write."""

_PAIRS = {"vcc": VCC, "exec": EXEC, "flat_scratch": FLAT_SCRATCH, "xnack_mask": XNACK_MASK}
_SINGLE = {"m0": M0, "scc": SCC}
_NAME_BY_NUMBER = {
    **{at: f"{name}_lo" for name, at in _PAIRS.items()},
    **{at + 1: f"{name}_hi" for name, at in _PAIRS.items()},
    **{at: name for name, at in _SINGLE.items()},
}
_NAMED = {
    **{name: 1 << number for number, name in _NAME_BY_NUMBER.items()},
    **{name: 3 << at for name, at in _PAIRS.items()},
    "src_vccz": VCC_MASK,
    "src_execz": EXEC_MASK,
    "src_scc": SCC_MASK,
}
_BASE = {"v": (VGPR_BASE, 256), "a": (AGPR_BASE, 256), "s": (SGPR_BASE, SGPR_COUNT)}
_BASE["ttmp"] = (TTMP_BASE, 16)
_FILE_STARTS = (AGPR_BASE, SGPR_BASE, FLAT_SCRATCH)
_NUMBERED = re.compile(r"(v|a|s|ttmp)(?:(\d{1,3})|\[(\d{1,3}):(\d{1,3})\])")


@lru_cache(maxsize=16384)
def operand_mask(text: str) -> int:
    """Return the registers that one printed operand names, 0 for literals and keywords.

    Input modifiers (``-v1``, ``|v1|``, ``neg(v1)``, ``abs(v1)``, ``sext(v1)``) are ignored.
    """
    word = text.strip()
    for prefix in ("neg(", "abs(", "sext("):
        if word.startswith(prefix) and word.endswith(")"):
            word = word[len(prefix) : -1]
    word = word.lstrip("-").strip("|")
    named = _NAMED.get(word)
    if named is not None:
        return named
    match = _NUMBERED.fullmatch(word)
    if match is None:
        return 0
    base, limit = _BASE[match[1]]
    first = int(match[2] if match[2] is not None else match[3])
    last = first if match[2] is not None else int(match[4])
    if not first <= last < limit:
        return 0
    return ((1 << (last - first + 1)) - 1) << (base + first)


def lowest(mask: int) -> int:
    """Return the number of the lowest register in a set that is not empty."""
    return (mask & -mask).bit_length() - 1


def numbers(mask: int) -> tuple[int, ...]:
    """Return the numbers of all registers of a set in ascending order."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)


def highest(mask: int, base: int, count: int) -> int:
    """Return one more than the highest index used of the file at ``base``, 0 when none is."""
    return (mask >> base & ((1 << count) - 1)).bit_length()


def register_name(number: int) -> str:
    """Return the assembler's name of one register."""
    if number == MODE:
        return "mode"
    if number in _NAME_BY_NUMBER:
        return _NAME_BY_NUMBER[number]
    for word, base in (("ttmp", TTMP_BASE), ("s", SGPR_BASE), ("a", AGPR_BASE)):
        if number >= base:
            return f"{word}{number - base}"
    return f"v{number}"


def describe(mask: int) -> str:
    """Return a short list of the registers of a set, runs joined: ``v[0:3], s4, vcc``."""
    words = []
    for whole, name in ((VCC_MASK, "vcc"), (EXEC_MASK, "exec")):
        if mask & whole == whole:
            words.append(name)
            mask &= ~whole
    runs: list[list[int]] = []
    for number in numbers(mask):
        if runs and number == runs[-1][1] + 1 and number not in _FILE_STARTS:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [_run(first, last) for first, last in runs]
    return ", ".join(shown + words)


def _run(first: int, last: int) -> str:
    if first == last or first >= FLAT_SCRATCH:
        return ", ".join(register_name(number) for number in range(first, last + 1))
    name = register_name(first)
    letter = name.rstrip("0123456789")
    index = int(name[len(letter) :])
    return f"{letter}[{index}:{index + last - first}]"
