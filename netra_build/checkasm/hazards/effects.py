"""The registers that one disassembled instruction reads and writes, by the instruction table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.hazards.instruction_table import FAMILIES_BY_KIND, Family
from netra_build.checkasm.hazards.registers import (
    EXEC_MASK,
    M0_MASK,
    MODE_MASK,
    SCC_MASK,
    VCC_MASK,
    operand_mask,
)

_VECTOR_KINDS = frozenset({"valu", "mfma", "vmem", "flat", "ds", "gws"})
_BYTE_SELECT = ("_sr_fp8_", "_sr_bf8_", "_fp4_f", "_fp4_bf")
_BARE_MODIFIERS = frozenset(
    ("offen", "idxen", "lds", "gds", "glc", "slc", "sc0", "sc1", "nt", "clamp", "tfe", "off0")
)


_IMPLIED = {
    "": 0,
    "vcc": VCC_MASK,
    "exec": EXEC_MASK,
    "scc": SCC_MASK,
    "m0": M0_MASK,
    "mode": MODE_MASK,
}
_SUFFIX = re.compile(r"_(e32|e64|dpp|sdwa|e64_dpp)$")


_GLOBAL = re.compile(
    r"(?:global|buffer|flat)_(load|store)_(ubyte|sbyte|byte|ushort|sshort|short|dword)(?:x(\d))?"
)
_LDS = re.compile(r"ds_(read|write)_(?:b|u|i)(8|16|32|64|96|128)(?:_\w+)?")


@dataclass(frozen=True)
class Form:
    """How one mnemonic treats its operands; masks are register sets of ``registers``."""

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
    known = _forms()
    return known.get(mnemonic) or known.get(base_mnemonic(mnemonic))


def known_mnemonics() -> frozenset[str]:
    """Return every base mnemonic of the table."""
    return frozenset(_forms())


def expand_braces(text: str) -> Iterator[str]:
    """Yield the words of ``text`` with their braces expanded, innermost last, as a shell does."""
    for word in text.split():
        yield from _expand_word(word)


@cache
def _forms() -> dict[str, Form]:
    forms: dict[str, Form] = {}
    for kind, families in FAMILIES_BY_KIND.items():
        for family in families:
            for mnemonic in expand_braces(family.mnemonics):
                if mnemonic in forms:
                    raise ValueError(f'mnemonic "{mnemonic}" stands twice in the instruction table')
                forms[mnemonic] = _form(kind, family)
    return forms


def _form(kind: str, family: Family) -> Form:
    return Form(
        kind=kind,
        destinations=family.destinations,
        tied=family.tied,
        reads=_union(family.reads),
        writes=_union(family.writes),
        traits=frozenset(family.traits.split()),
    )


def _union(names: str) -> int:
    result = 0
    for name in names.split():
        result |= _IMPLIED[name]
    return result


def _expand_word(word: str) -> Iterator[str]:
    start = word.find("{")
    if start < 0:
        yield word
        return
    depth, end = 0, start
    for end in range(start, len(word)):
        depth += {"{": 1, "}": -1}.get(word[end], 0)
        if depth == 0:
            break
    else:
        raise ValueError(f'brace of "{word}" is not closed')
    for choice in split_outside(word[start + 1 : end], ",", "{}"):
        for rest in _expand_word(choice + word[end + 1 :]):
            yield word[:start] + rest


def split_outside(text: str, separator: str, brackets: str = "()") -> list[str]:
    """Split at the separators that stand outside brackets; ``brackets`` is one opening and closing
    character, or several opening and then as many closing ones."""
    opening, closing = brackets[: len(brackets) // 2], brackets[len(brackets) // 2 :]
    pieces, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in opening) - (character in closing)
        if character == separator and depth == 0:
            pieces.append(text[start:at])
            start = at + 1
    return [*pieces, text[start:]]


@dataclass(frozen=True, slots=True)
class Effects:
    """What one instruction does to registers; every mask is a set of ``registers`` numbers.

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
    traits = _traits(form, instruction.mnemonic, operands, modifiers)
    count, tied = _destination_count(form, instruction.mnemonic, modifiers)
    if "lds_dma" in traits:
        count = 0
    tied = tied or ("partial" in traits and not instruction.mnemonic.endswith("_sdwa"))
    masks = [operand_mask(operand) for operand in operands]
    destinations = tuple(masks[:count])
    sources = tuple(masks if tied and count else masks[count:])
    reads, writes = form.reads, form.writes
    for mask in sources:
        reads |= mask
    for mask in destinations:
        writes |= mask
    if form.kind in _VECTOR_KINDS:
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
    if ":" in last and not last.startswith(("v[", "a[", "s[", "ttmp[", "-", "|", "neg(", "abs(")):
        return tuple(pieces[:-1]), (last, *modifiers)
    if last in _BARE_MODIFIERS:
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
    if mnemonic.startswith("v_cmp"):
        tied = False
    return form.destinations, tied


def _traits(
    form: Form, mnemonic: str, operands: tuple[str, ...], modifiers: tuple[str, ...]
) -> frozenset[str]:
    traits = form.traits
    if form.kind == "valu":
        if mnemonic.endswith("_dpp"):
            traits |= {"dpp"}
        if _writes_part(form, mnemonic, operands, modifiers):
            traits |= {"partial"}
    elif "lds" in modifiers and "load" in traits:
        traits = (traits - {"load"}) | {"lds_dma"}
    return traits


def _writes_part(
    form: Form, mnemonic: str, operands: tuple[str, ...], modifiers: tuple[str, ...]
) -> bool:
    """Tell whether a VALU instruction writes other than the low part of its register.

    SDWA says so by ``dst_sel``, VOP3 by the last ``op_sel`` element (the last two for byte
    selects). In VOP3P ``op_sel`` selects source halves only.
    """
    for modifier in modifiers:
        if modifier.startswith("dst_sel:"):
            return modifier != "dst_sel:DWORD"
        if modifier.startswith("op_sel:[") and "packed" not in form.traits:
            bits = modifier[8:-1].split(",")
            first = 2 if any(word in mnemonic for word in _BYTE_SELECT) else len(operands) - 1
            return "1" in bits[first:]
    return False


def transfer_bytes(mnemonic: str) -> tuple[str, int] | None:
    """Return the way and the bytes of a lane for a plain transfer, else None."""
    if match := _GLOBAL.match(mnemonic):
        size = {"u": 1, "s": 1, "b": 1, "d": 4}[match[2][0]]
        size = 2 if match[2].endswith("short") else size
        return match[1], size * int(match[3] or 1)
    match = _LDS.fullmatch(mnemonic)
    if match and "_tr_" not in mnemonic:
        return match[1], int(match[2]) // 8
    return None
