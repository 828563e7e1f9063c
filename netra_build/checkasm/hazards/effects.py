"""Registers as bits of one integer, and which of them one instruction reads and writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from itertools import product
from operator import or_

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.hazards.instruction_table import FAMILIES_BY_KIND
from netra_build.checkasm.hazards.operand_traits import traits_of
from netra_build.core.texts import split_outside

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
VECTOR_MASK = (1 << SGPR_BASE) - 1
VCC_MASK = 3 << VCC
EXEC_MASK = 3 << EXEC
M0_MASK = 1 << M0
SCC_MASK = 1 << SCC
SCALAR_MASK = ((1 << M0) - 1) ^ VECTOR_MASK
"""Everything a scalar operand can name that a vector instruction can also write."""

_PAIRS = {"vcc": VCC, "exec": EXEC, "flat_scratch": FLAT_SCRATCH, "xnack_mask": XNACK_MASK}
_SINGLE = {"m0": M0, "scc": SCC, "mode": MODE}
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
_FILES = {
    "ttmp": (TTMP_BASE, 16),
    "s": (SGPR_BASE, SGPR_COUNT),
    "a": (AGPR_BASE, 256),
    "v": (VGPR_BASE, 256),
}
_FILE_STARTS = (AGPR_BASE, SGPR_BASE, FLAT_SCRATCH)
_MODIFIED = re.compile(r"^(?:neg|abs|sext)\((.*)\)$")
_CONSTANT = re.compile(
    r"(?:neg\(|abs\(|-?\|)?-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?)[)|]?|off"
    r"|(?:lit|hwreg|sendmsg|gpr_idx|(?:vm|exp|lgkm)cnt)\(.*"
    r"|src_(?:(?:shared|private)_(?:base|limit)|pops_exiting_wave_id)"
)
"""What an operand may be that names no register."""
_NUMBERED = re.compile(r"(v|a|s|ttmp)(?:(\d{1,3})|\[(\d{1,3}):(\d{1,3})\])")


@lru_cache(maxsize=16384)
def operand_mask(text: str) -> int:
    """Return the registers that one printed operand names, 0 for literals and keywords.

    Input modifiers (``-v1``, ``|v1|``, ``neg(v1)``, ``abs(v1)``, ``sext(v1)``) are ignored.
    """
    word = _MODIFIED.sub(r"\1", text.strip()).lstrip("-").strip("|")
    if word in _NAMED:
        return _NAMED[word]
    match = _NUMBERED.fullmatch(word)
    if match is None:
        return 0
    base, limit = _FILES[match[1]]
    first, last = int(match[2] or match[3]), int(match[2] or match[4])
    return ((1 << (last - first + 1)) - 1) << (base + first) if first <= last < limit else 0


def union(masks: Iterable[int]) -> int:
    """Return the registers of several sets."""
    return reduce(or_, masks, 0)


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
    file, base = _file_of(number)
    return _NAME_BY_NUMBER.get(number, f"{file}{number - base}")


def _file_of(number: int) -> tuple[str, int]:
    return next((file, base) for file, (base, _) in _FILES.items() if number >= base)


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
    return ", ".join([_run(first, last) for first, last in runs] + words)


def _run(first: int, last: int) -> str:
    if first == last or first >= FLAT_SCRATCH:
        return ", ".join(register_name(number) for number in range(first, last + 1))
    file, base = _file_of(first)
    return f"{file}[{first - base}:{last - base}]"


_BARE_MODIFIERS = frozenset(
    ("offen", "idxen", "lds", "gds", "glc", "slc", "sc0", "sc1", "nt", "clamp", "tfe", "off0")
)
_SUFFIX = re.compile(r"_(e32|e64|dpp|sdwa|e64_dpp)$")


@dataclass(frozen=True)
class Form:
    """How one mnemonic treats its operands; masks are sets of registers."""

    kind: str
    destinations: int
    tied: bool
    reads: int
    writes: int
    traits: frozenset[str]


UNKNOWN = Form("unknown", 0, False, 0, 0, frozenset())


def base_mnemonic(mnemonic: str) -> str:
    """Return a mnemonic without its encoding suffix."""
    return _SUFFIX.sub("", mnemonic)


def find_form(mnemonic: str) -> Form | None:
    """Return the form of a printed mnemonic, or None when it is not in the table."""
    return _forms().get(mnemonic) or _forms().get(base_mnemonic(mnemonic))


def known_mnemonics() -> frozenset[str]:
    """Return every base mnemonic of the table."""
    return frozenset(_forms())


def expand_braces(text: str) -> Iterator[str]:
    """Yield the words of ``text`` with their braces expanded, as a shell does; none are nested."""
    for word in text.split():
        yield from map("".join, product(*(part.split(",") for part in re.split("[{}]", word))))


@cache
def _forms() -> dict[str, Form]:
    forms: dict[str, Form] = {}
    for kind, families in FAMILIES_BY_KIND.items():
        for one in families:
            reads, writes = (union(map(operand_mask, t.split())) for t in (one.reads, one.writes))
            traits = frozenset(one.traits.split())
            form = Form(kind, one.destinations, one.tied, reads, writes, traits)
            for mnemonic in expand_braces(one.mnemonics):
                if mnemonic in forms:
                    raise ValueError(f'mnemonic "{mnemonic}" stands twice in the instruction table')
                forms[mnemonic] = form
    return forms


@dataclass(frozen=True, slots=True)
class Effects:
    """What one instruction does to registers; every mask is a set of registers.

    ``sources`` and ``destinations`` are the explicit operands in printed order (a tied operand
    is in both), ``reads`` and ``writes`` also hold the implied ones.
    """

    kind: str
    reads: int
    writes: int
    sources: tuple[int, ...]
    destinations: tuple[int, ...]
    traits: frozenset[str]
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]


def decode_effects(instruction: Instruction) -> Effects:
    """Return the effects of one instruction; kind ``unknown`` when the table lacks it."""
    form = find_form(instruction.mnemonic) or UNKNOWN
    operands, modifiers = split_operands(instruction.operands)
    traits = traits_of(form.kind, form.traits, instruction.mnemonic, len(operands), modifiers)
    count, tied = _destination_count(form, instruction.mnemonic, modifiers)
    count *= "lds_dma" not in traits
    tied = tied or ("partial" in traits and not instruction.mnemonic.endswith("_sdwa"))
    masks = tuple(map(operand_mask, operands))
    plain = [text for text, mask in zip(operands, masks, strict=True) if not mask]
    if not instruction.branch_target and not all(map(_CONSTANT.fullmatch, plain)):
        form = UNKNOWN
    destinations, sources = masks[:count], masks if tied and count else masks[count:]
    reads, writes = form.reads | union(sources), form.writes | union(destinations)
    if form.kind in ("valu", "mfma", "vmem", "flat", "ds", "gws"):
        reads |= EXEC_MASK
    if "lds_dma" in traits:
        reads |= M0_MASK
    return Effects(form.kind, reads, writes, sources, destinations, traits, modifiers, operands)


def split_operands(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split printed operands into operands proper and the modifiers behind the last one."""
    if not text:
        return (), ()
    pieces = _split(text, ", ")
    last, *modifiers = _split(pieces[-1], " ")
    starts = ("v[", "a[", "s[", "ttmp[", "-", "|", "neg(", "abs(")
    if last in _BARE_MODIFIERS or (":" in last and not last.startswith(starts)):
        return tuple(pieces[:-1]), (last, *modifiers)
    return (*pieces[:-1], last), tuple(modifiers)


def _split(text: str, separator: str) -> list[str]:
    """Split outside parentheses, so that ``hwreg(A, 0, 4)`` stays one operand and one word."""
    if "(" not in text:
        return text.split(separator)
    return [piece.strip() for piece in split_outside(text, separator[0])]


def _destination_count(form: Form, mnemonic: str, modifiers: tuple[str, ...]) -> tuple[int, bool]:
    """Return how many leading operands are written and whether they are read as well."""
    if "atomic" in form.traits and "sc0" in modifiers:
        return 1, mnemonic.startswith("buffer_")
    tied = form.tied or mnemonic.endswith("_dpp") or "dst_unused:UNUSED_PRESERVE" in modifiers
    if form.kind == "smem" and form.tied and "glc" not in modifiers:
        return 0, False
    return form.destinations, tied and not mnemonic.startswith("v_cmp")
