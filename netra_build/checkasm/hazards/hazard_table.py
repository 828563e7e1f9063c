"""Required wait states between dependent instructions, as data, and what they depend on.

Every instruction has facets: a facet's name and the registers that it reads or writes there. A row
of ``ROWS`` joins the facet of a producer with that of a consumer. One wait state is one issued
instruction that is not ``s_nop``; ``s_nop N`` gives N+1.

Every row says where it comes from (``SOURCES``). A test runs the installed ``llc`` on every row of
LLVM and names those for which another LLVM gives other states.

Known differences: newer LLVM requires 1 state after every scalef32 convert; LLVM before the gfx950
fix looked back 19 states instead of 20.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.hazards.effects import (
    EXEC_MASK,
    M0_MASK,
    SCALAR_MASK,
    VCC_MASK,
    VECTOR_MASK,
    Effects,
    union,
)

OVERLAP = "overlap"
PARTIAL = "partial"
EXACT = "exact"
EXACT_OTHER = "exact_other_mnemonic"
OTHER_MNEMONIC = "other_mnemonic"
SAME_MNEMONIC = "same_mnemonic"

SOURCES = {
    "LLVM": ("hazard recogniser of LLVM; CDNA3 and CDNA4 documents", "LLVM 22.1.8 or older"),
    "REPORT": ("report confirmed on hardware; LLVM asks for none", "after LLVM 22.1.8"),
    "CHANGE": ("open change to LLVM, states of a partial overlap; a warning", "after LLVM 22.1.8"),
}
"""Where rows come from, and since which version of LLVM."""


@dataclass(frozen=True)
class Row:
    """``states`` wait states between a producer's registers and a consumer's.

    ``relation`` says how the registers or mnemonics must relate for the row to apply, ``source``
    names one of ``SOURCES``.
    """

    id: str
    producer: str
    consumer: str
    states: int
    relation: str = OVERLAP
    source: str = "LLVM"


_VECTOR_ROWS = (
    Row("valu-vgpr-to-matrix", "valu_vgpr", "matrix_source", 2),
    Row("valu-vgpr-to-dpp", "valu_vgpr", "dpp_source", 2),
    Row("valu-vgpr-to-permlane", "valu_vgpr", "permlane_source", 2),
    Row("valu-vgpr-to-readlane", "valu_vgpr", "readlane_source", 1),
    Row("valu-exec-to-dpp", "valu_exec", "dpp_exec", 5),
    Row("valu-exec-to-permlane", "valu_exec", "permlane_exec", 4),
    Row("valu-exec-to-matrix", "valu_exec", "matrix_exec", 4),
    Row("valu-exec-to-operand", "valu_exec", "exec_operand", 2),
    Row("valu-exec-to-lane", "valu_exec", "lane_exec", 4),
    Row("valu-sgpr-to-valu", "valu_sgpr", "valu_scalar", 2),
    Row("valu-sgpr-to-vmem", "valu_sgpr", "vmem_scalar", 5),
    Row("valu-sgpr-to-lane-select", "valu_sgpr", "lane_select", 4),
    Row("valu-vcc-to-div-fmas", "valu_sgpr", "div_fmas_vcc", 4),
    Row("transcendental-to-valu", "transcendental_vgpr", "plain_valu_read", 1),
    Row("partial-write-to-valu", "partial_vgpr", "valu_read", 1),
    Row("partial-write-to-valu-write", "partial_vgpr", "valu_write", 1),
    Row("dot-to-other-read", "dot_vgpr", "vector_read", 3, OTHER_MNEMONIC),
    Row("dot-to-other-write", "dot_vgpr", "vector_write", 3, OTHER_MNEMONIC),
    Row("dot-to-same-source", "dot_vgpr", "dot_source_ab", 3, SAME_MNEMONIC),
    Row("wide-store-to-valu-write", "wide_store_data", "valu_write", 2),
    Row("wide-store-to-matrix-write", "wide_store_data", "matrix_write", 2),
    Row(
        "buffer-store-sgpr-offset-to-valu-write",
        "sgpr_store_data",
        "valu_write",
        1,
        source="REPORT",
    ),
    Row(
        "buffer-store-sgpr-offset-to-matrix-write",
        "sgpr_store_data",
        "matrix_write",
        1,
        source="REPORT",
    ),
    Row("setreg-to-getreg", "setreg", "getreg", 2),
    Row("setreg-to-setreg", "setreg", "setreg", 2),
    Row("setreg-trapsts-to-rfe", "setreg", "rfe", 1),
    Row("salu-m0-to-use", "salu_m0", "m0_use", 1),
)


_MATRIX_STATES = {
    "xdl2": (5, 4, 3, 1),
    "xdl4": (8, 6, 6, 3),
    "xdl8": (12, 10, 10, 7),
    "xdl16": (20, 18, 18, 15),
    "sgemm2": (4, 0, 2, 0),
    "sgemm8": (10, 0, 8, 0),
    "sgemm16": (18, 0, 16, 0),
    "dgemm4": (0, 0, 0, 0),
    "dgemm16": (0, 0, 0, 0),
}
"""By number family and passes: states of a result in front of its use as a vector or as A or B, as
part of an accumulator of the XDL unit, and of another unit; then states of the accumulator in front
of an overwrite. 0 is no row: float64 results differ by consumer."""


def _matrix_rows(kind: str, use: int, xdl: int, other: int, overwrite: int) -> list[Row]:
    rows = [
        Row(f"{kind}-to-{consumer.replace('_', '-')}", f"{kind}_result", consumer, use)
        for consumer in ("vector_read", "vector_write", "matrix_ab")
    ]
    rows += [
        Row(f"{kind}-to-{name}-accumulator", f"{kind}_result", f"{name}_c", states, PARTIAL)
        for name, states in (("xdl", xdl), ("sgemm", other), ("dgemm", other))
    ]
    other_opcode = (EXACT_OTHER, "CHANGE")
    rows += [
        Row(f"{kind}-to-{name}-opcode", f"{kind}_result", f"{name}_c", states, *other_opcode)
        for name, states in (("xdl", xdl), ("sgemm", other))
    ]
    over = Row(f"{kind}-accumulator-overwrite", f"{kind}_c", "vector_write", overwrite)
    return [row for row in (*rows, over) if row.states]


_ACCUMULATOR_ROWS = (
    Row("dgemm4-to-valu-read", "dgemm4_result", "valu_read", 6),
    Row("dgemm4-to-memory-read", "dgemm4_result", "memory_read", 9),
    Row("dgemm4-to-vector-write", "dgemm4_result", "vector_write", 6),
    Row("dgemm4-to-matrix-ab", "dgemm4_result", "matrix_ab", 6),
    Row("dgemm16-to-valu-read", "dgemm16_result", "valu_read", 19),
    Row("dgemm16-to-memory-read", "dgemm16_result", "memory_read", 18),
    Row("dgemm16-to-vector-write", "dgemm16_result", "vector_write", 11),
    Row("dgemm16-to-matrix-ab", "dgemm16_result", "matrix_ab", 19),
    Row("xdl2-to-same-accumulator", "xdl2_result", "matrix_c", 2, EXACT),
    Row("sgemm2-to-same-accumulator", "sgemm2_result", "matrix_c", 2, EXACT),
    Row("dgemm4-to-same-accumulator", "dgemm4_result", "dgemm_c", 4, EXACT),
    Row("dgemm4-to-dgemm-accumulator", "dgemm4_result", "dgemm_c", 4, PARTIAL),
    Row("dgemm4-to-sgemm-accumulator", "dgemm4_result", "sgemm_c", 4, PARTIAL),
    Row("dgemm16-to-dgemm-accumulator", "dgemm16_result", "dgemm_c", 17, PARTIAL),
    Row("dgemm16-to-sgemm-accumulator", "dgemm16_result", "sgemm_c", 17, PARTIAL),
)

ROWS = (
    *_VECTOR_ROWS,
    *(row for kind, states in _MATRIX_STATES.items() for row in _matrix_rows(kind, *states)),
    *_ACCUMULATOR_ROWS,
)

HWREG_BASE = 1024
"""Hardware register numbers as bits above all registers."""

_TRAPSTS = 3

_MEMORY = ("vmem", "flat", "ds", "gws")

_VALU = ("valu",)
_MATRIX = ("mfma",)


class _Facet(NamedTuple):
    """The registers of ``mask`` that instructions of some kinds read or write; ``trait`` is one
    that they need, ``without`` one that they must not have."""

    name: str
    kinds: tuple[str, ...]
    mask: int
    trait: str = ""
    without: str = ""


_WRITTEN: tuple[_Facet, ...] = (
    _Facet("valu_vgpr", _VALU, VECTOR_MASK, without="dot"),
    _Facet("valu_sgpr", _VALU, SCALAR_MASK),
    _Facet("valu_exec", _VALU, EXEC_MASK),
    _Facet("transcendental_vgpr", _VALU, VECTOR_MASK, "transcendental"),
    _Facet("partial_vgpr", _VALU, VECTOR_MASK, "partial"),
    _Facet("dot_vgpr", _VALU, VECTOR_MASK, "dot"),
    _Facet("salu_m0", ("salu",), M0_MASK),
    _Facet("vector_write", ("valu", *_MEMORY), VECTOR_MASK),
    _Facet("valu_write", _VALU, VECTOR_MASK),
    _Facet("matrix_write", _MATRIX, VECTOR_MASK),
)
_READ: tuple[_Facet, ...] = (
    _Facet("vector_read", ("valu", *_MEMORY), VECTOR_MASK),
    _Facet("valu_read", _VALU, VECTOR_MASK),
    _Facet("valu_scalar", _VALU, SCALAR_MASK),
    _Facet("plain_valu_read", _VALU, VECTOR_MASK, without="transcendental"),
    _Facet("dpp_source", _VALU, VECTOR_MASK, "dpp"),
    _Facet("dpp_exec", _VALU, EXEC_MASK, "dpp"),
    _Facet("permlane_source", _VALU, VECTOR_MASK, "permlane"),
    _Facet("permlane_exec", _VALU, EXEC_MASK, "permlane"),
    _Facet("readlane_source", _VALU, VECTOR_MASK, "readlane"),
    _Facet("lane_exec", _VALU, EXEC_MASK, "readlane"),
    _Facet("lane_exec", _VALU, EXEC_MASK, "writelane"),
    _Facet("div_fmas_vcc", _VALU, VCC_MASK, "div_fmas"),
    _Facet("matrix_source", _MATRIX, VECTOR_MASK),
    _Facet("matrix_exec", _MATRIX, EXEC_MASK),
    _Facet("memory_read", _MEMORY, VECTOR_MASK),
    _Facet("vmem_scalar", ("vmem",), SCALAR_MASK),
    _Facet("m0_use", (*_MEMORY, "message"), M0_MASK),
    _Facet("m0_use", ("salu",), M0_MASK, "indirect_register"),
)


@cache
def _facets_of(facets: tuple[_Facet, ...], kind: str, traits: frozenset[str]) -> list[_Facet]:
    """Return the facets that instructions of this kind and with these traits have."""
    return [
        facet
        for facet in facets
        if kind in facet.kinds
        and (not facet.trait or facet.trait in traits)
        and facet.without not in traits
    ]


def facets_of(instruction: Instruction, effects: Effects) -> dict[str, int]:
    """Return the facets of an instruction, each with the registers that it concerns."""
    kind, traits = effects.kind, effects.traits
    found = {
        **{one.name: effects.writes & one.mask for one in _facets_of(_WRITTEN, kind, traits)},
        **{one.name: effects.reads & one.mask for one in _facets_of(_READ, kind, traits)},
        **_operand_facets(instruction, effects),
    }
    return {name: mask for name, mask in found.items() if mask}


def _operand_facets(instruction: Instruction, effects: Effects) -> dict[str, int]:
    """Return the facets that ask for single operands."""
    found = {
        "lane_select": effects.sources[-1] & SCALAR_MASK if "lane_select" in effects.traits else 0,
        _store_facet(instruction, effects): _wide_store_data(instruction, effects),
        "rfe": 1 << (HWREG_BASE + _TRAPSTS) if instruction.mnemonic == "s_rfe_b64" else 0,
        "exec_operand": union(effects.sources) & EXEC_MASK if effects.kind == "valu" else 0,
    }
    if effects.kind == "mfma":
        kind = next(kind for kind in _MATRIX_STATES if kind in effects.traits)
        ab, c = matrix_sources(effects)
        family = kind.rstrip("0123456789")
        found |= {"matrix_ab": ab, "matrix_c": c, f"{family}_c": c}
        found |= {f"{kind}_result": effects.writes, f"{kind}_c": c}
    if "dot" in effects.traits:
        # The accumulator is tied in front or comes third.
        tied = len(effects.sources) == len(effects.operands)
        first, second = effects.sources[1:3] if tied else effects.sources[:2]
        found["dot_source_ab"] = first | second
    for facet in effects.traits & {"getreg", "setreg"}:
        found[facet] = 1 << (HWREG_BASE + (instruction.words[0] & 0x3F))
    return found


def matrix_sources(effects: Effects) -> tuple[int, int]:
    """Return the A and B registers (with scales and sparse indices) and the accumulator's."""
    sources = effects.sources
    place = 0 if "sparse" in effects.traits else 2
    if len(sources) <= place:
        return effects.reads & VECTOR_MASK, 0
    others = union(mask for number, mask in enumerate(sources) if number != place)
    return others & VECTOR_MASK, sources[place] & VECTOR_MASK


def _is_buffer(instruction: Instruction) -> bool:
    return instruction.mnemonic.startswith(("buffer_", "tbuffer_"))


def _store_facet(instruction: Instruction, effects: Effects) -> str:
    """Return the facet of a store's data, which buffer stores with an SGPR offset read early."""
    is_early = effects.operands and effects.operands[-1].startswith(("s", "ttmp", "m0", "vcc"))
    return "sgpr_store_data" if is_early and _is_buffer(instruction) else "wide_store_data"


def _wide_store_data(instruction: Instruction, effects: Effects) -> int:
    """Return the data registers of a store of more than 64 bits, 0 for narrower ones."""
    if effects.kind not in ("vmem", "flat") or not effects.traits & {"store", "atomic"}:
        return 0
    buffer = _is_buffer(instruction)
    returns = len(effects.destinations)
    place = 0 if buffer else 1
    data = effects.sources[place] if returns == 0 or buffer else effects.sources[1]
    return data if data.bit_count() > 2 else 0
