"""Operand model: the registers that one disassembled instruction reads and writes."""

from __future__ import annotations

from dataclasses import dataclass

from netra_build.asm.objects.disassembly import Instruction
from netra_build.checkasm.hazards.instruction_set import Form, find_form
from netra_build.checkasm.hazards.registers import EXEC_MASK, M0_MASK, operand_mask

_VECTOR_KINDS = frozenset({"valu", "mfma", "vmem", "flat", "ds", "gws"})
_BYTE_SELECT = ("_sr_fp8_", "_sr_bf8_", "_fp4_f", "_fp4_bf")
_BARE_MODIFIERS = frozenset(
    ("offen", "idxen", "lds", "gds", "glc", "slc", "sc0", "sc1", "nt", "clamp", "tfe", "off0")
)
UNKNOWN = Form("unknown", 0, False, 0, 0, frozenset())


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
    pieces = _split_commas(text)
    if not pieces:
        return (), ()
    last, *modifiers = _split_blanks(pieces[-1])
    if ":" in last and not last.startswith(("v[", "a[", "s[", "ttmp[", "-", "|", "neg(", "abs(")):
        return tuple(pieces[:-1]), (last, *modifiers)
    if last in _BARE_MODIFIERS:
        return tuple(pieces[:-1]), (last, *modifiers)
    return (*pieces[:-1], last), tuple(modifiers)


def _split_commas(text: str) -> list[str]:
    if "(" not in text:
        return text.split(", ") if text else []
    pieces, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            pieces.append(text[start:at].strip())
            start = at + 1
    return [*pieces, text[start:].strip()]


def _split_blanks(text: str) -> list[str]:
    """Split at blanks outside parentheses, so that ``hwreg(A, 0, 4)`` stays one word."""
    if "(" not in text:
        return text.split(" ")
    words, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == " " and depth == 0:
            words.append(text[start:at])
            start = at + 1
    return [*words, text[start:]]


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
