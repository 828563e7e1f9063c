"""Traits of an instruction that its operands decide: parts of a register, passes, DPP, LDS."""

from __future__ import annotations

_BYTE_SELECT = ("_sr_fp8_", "_sr_bf8_", "_fp4_f", "_fp4_bf")
_EIGHT_BITS = ("0", "1")
"""FP8 and BF8 as ``cbsz`` or ``blgp``; the other formats have 6 or 4 bits."""

_NARROW_PASSES = {"xdl8": "xdl4", "xdl16": "xdl8"}
"""Passes of a matrix instruction of chosen formats when no source has 8 bits."""


def traits_of(
    kind: str,
    traits: frozenset[str],
    mnemonic: str,
    operands: int,
    modifiers: tuple[str, ...],
) -> frozenset[str]:
    """Return the traits of an instruction whose family has ``traits``."""
    if kind == "valu":
        if mnemonic.endswith("_dpp"):
            traits |= {"dpp"}
        if _writes_part(traits, mnemonic, operands, modifiers):
            traits |= {"partial"}
    elif mnemonic.endswith("f8f6f4"):
        given = dict(one.split(":", 1) for one in modifiers if ":" in one)
        if not {given.get("cbsz", "0"), given.get("blgp", "0")} & set(_EIGHT_BITS):
            traits = frozenset(_NARROW_PASSES.get(trait, trait) for trait in traits)
    elif "lds" in modifiers and "load" in traits:
        traits = (traits - {"load"}) | {"lds_dma"}
    return traits


def _writes_part(
    traits: frozenset[str], mnemonic: str, operands: int, modifiers: tuple[str, ...]
) -> bool:
    """Tell whether a VALU instruction writes other than the low part of its register.

    SDWA says so by ``dst_sel``, VOP3 by the last ``op_sel`` element (the last two for byte
    selects). In VOP3P ``op_sel`` selects source halves only. Rounding at random to FP4 writes one
    byte, also at 0.
    """
    if "_sr_pk_fp4_" in mnemonic:
        return True
    for modifier in modifiers:
        if modifier.startswith("dst_sel:"):
            return modifier != "dst_sel:DWORD"
        if modifier.startswith("op_sel:[") and "packed" not in traits:
            bits = modifier[8:-1].split(",")
            first = 2 if any(word in mnemonic for word in _BYTE_SELECT) else operands - 1
            return "1" in bits[first:]
    return False
