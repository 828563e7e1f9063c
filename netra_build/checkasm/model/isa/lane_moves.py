"""DPP controls and SDWA selections: how one operand is rearranged before the operation sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.group import Group
from netra_build.checkasm.model.operands import Decoded, Unsupported
from netra_build.checkasm.model.sources import Get

DPP_MODIFIERS = (
    "quad_perm",
    "row_shl",
    "row_shr",
    "row_ror",
    "wave_shl",
    "wave_shr",
    "wave_rol",
    "wave_ror",
    "row_mirror",
    "row_half_mirror",
    "row_bcast",
    "row_newbcast",
    "row_mask",
    "bank_mask",
    "bound_ctrl",
)
SDWA_MODIFIERS = ("dst_sel", "dst_unused", "src0_sel", "src1_sel")

_LANE = np.arange(LANES)
_ROW = _LANE // 16 * 16
_IN_ROW = _LANE % 16


def _in_row(position: Array) -> Array:
    """Lane numbers for positions within the own row; -1 where the position leaves the row."""
    return np.where((position >= 0) & (position < 16), _ROW + position, -1)


def _in_wave(lane: Array) -> Array:
    return np.where((lane >= 0) & (lane < LANES), lane, -1)


def _row_broadcast(last: int) -> Array:
    """row_bcast:15 feeds the next row, row_bcast:31 the upper half; other lanes read nothing."""
    if last == 15:
        return np.where(_ROW >= 16, _ROW - 1, -1)
    return np.where(_LANE >= 32, 31, -1)


def source_lanes(d: Decoded) -> Array:
    """Return, per lane, the lane that the DPP control reads; -1 when there is none."""
    for name, text in d.modifiers.items():
        if name == "quad_perm":
            order = np.array(d.flag_list(name, 4, 0))
            result: Array = _LANE // 4 * 4 + order[_LANE % 4]
            return result
        if name == "row_mirror":
            return _ROW + 15 - _IN_ROW
        if name == "row_half_mirror":
            return _LANE // 8 * 8 + 7 - _LANE % 8
        if name in (
            "row_shl",
            "row_shr",
            "row_ror",
            "row_bcast",
            "row_newbcast",
        ) or name.startswith("wave_"):
            return _shifted(name, int(text, 0))
    raise Unsupported("the DPP control")


def _shifted(name: str, count: int) -> Array:
    moves: dict[str, Array] = {
        "row_shl": _in_row(_IN_ROW + count),
        "row_shr": _in_row(_IN_ROW - count),
        "row_ror": _ROW + (_IN_ROW - count) % 16,
        "row_newbcast": _ROW + count % 16,
        "row_bcast": _row_broadcast(count),
        "wave_shl": _in_wave(_LANE + 1),
        "wave_shr": _in_wave(_LANE - 1),
        "wave_rol": (_LANE + 1) % LANES,
        "wave_ror": (_LANE - 1) % LANES,
    }
    return moves[name]


@dataclass(frozen=True)
class Dpp:
    """One DPP control."""

    source: Array
    """int64[64]: the source lane per lane, 0 for none."""
    reads: Array
    """bool[64]: lanes that have a source."""
    writable: Array
    """bool[64]: row and bank mask."""
    zero_fill: bool
    """``bound_ctrl:1``: a lane without a source reads zero instead of keeping its old result."""

    @staticmethod
    def read(d: Decoded) -> Dpp:
        """Decode the control of a DPP instruction."""
        rows, banks = d.number("row_mask", 15), d.number("bank_mask", 15)
        writable = ((rows >> (_LANE // 16)) & 1 & (banks >> (_LANE % 16 // 4))) == 1
        lanes = source_lanes(d)
        return Dpp(np.maximum(lanes, 0), lanes >= 0, writable, "bound_ctrl" in d.modifiers)

    def apply(self, g: Group, value: Array) -> tuple[Array, Array]:
        """Return the moved uint32[n, 64] operand and the lanes that the result is written to.

        The operand is copied first, so that a result in the same register cannot disturb it.
        """
        moved = value.take(self.source, axis=1)
        valid = self.reads if g.full else self.reads & g.E.take(self.source, axis=1)
        lanes = g.E & self.writable
        if self.zero_fill:
            return np.where(valid, moved, np.uint32(0)), lanes
        return moved, lanes & valid

    def lanes_read(self, g: Group) -> Array:
        """Return which lanes of the operand matter: bool[n, 64]."""
        wanted = g.E & self.writable & self.reads
        result = np.zeros_like(wanted)
        rows, lanes = np.nonzero(wanted)
        result[rows, self.source[lanes]] = True
        return result & g.E


def move_source(row: int, d: Decoded, dpp: Dpp) -> Get:
    """Return a reader of a register's raw bits that checks the lanes DPP reads."""

    def get(g: Group) -> Array:
        if g.vstate[row]:
            g.check_vector(row, d, dpp.lanes_read(g))
        result: Array = g.V[row]
        return result

    return get


# SDWA


def select(bits: Array, selection: str, *, signed: bool) -> Array:
    """Return the selected part of uint32 ``bits``, zero- or sign-extended to 32 bits."""
    if selection == "DWORD":
        return bits
    kind, _, number = selection.partition("_")
    width = {"BYTE": 8, "WORD": 16}[kind]
    part = (bits >> np.uint32(width * int(number))) & np.uint32((1 << width) - 1)
    if not signed:
        return part
    up = np.int32(32 - width)
    return ((part.view(np.int32) << up) >> up).view(np.uint32)


def insert(value: Array, old: Array, selection: str, unused: str) -> Array:
    """Place the low part of uint32 ``value`` into the selected part of a register."""
    if selection == "DWORD":
        return value
    kind, _, number = selection.partition("_")
    width = {"BYTE": 8, "WORD": 16}[kind]
    shift = np.uint32(width * int(number))
    mask = np.uint32((1 << width) - 1)
    placed = (value & mask) << shift
    if unused == "UNUSED_PRESERVE":
        return (old & ~(mask << shift)) | placed
    if unused == "UNUSED_SEXT":
        top = np.uint32(width * (int(number) + 1))
        negative = (value >> np.uint32(width - 1)) & np.uint32(1)
        fill = np.uint32((0xFFFFFFFF << int(top)) & 0xFFFFFFFF)
        return np.where(negative == 1, placed | fill, placed)
    return placed
