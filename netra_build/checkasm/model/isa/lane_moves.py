"""How values move between lanes: DPP controls, SDWA selections and cross-lane instructions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.model.arith.integer import sign_extended
from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import instruction, register
from netra_build.checkasm.model.operands import Unsupported
from netra_build.checkasm.model.sources import Form, Get

_SHIFTS = ("row_shl", "row_shr", "row_ror", "row_bcast", "row_newbcast")
_WAVE_SHIFTS = ("wave_shl", "wave_shr", "wave_rol", "wave_ror")
_CONTROLS = ("quad_perm", "row_mirror", "row_half_mirror", *_SHIFTS, *_WAVE_SHIFTS)
DPP_MODIFIERS = (*_CONTROLS, "row_mask", "bank_mask", "bound_ctrl")
SDWA_MODIFIERS = ("dst_sel", "dst_unused", "src0_sel", "src1_sel")

_LANE = np.arange(LANES)
_ROW = _LANE // 16 * 16
_IN_ROW = _LANE % 16


def _in_row(position: Array) -> Array:
    """Lane numbers for positions within the own row; -1 where the position leaves the row."""
    return np.where((position >= 0) & (position < 16), _ROW + position, -1)


def _row_broadcast(last: int) -> Array:
    """row_bcast:15 feeds the next row, row_bcast:31 the upper half; other lanes read nothing."""
    if last == 15:
        return np.where(_ROW >= 16, _ROW - 1, -1)
    return np.where(_LANE >= 32, 31, -1)


def source_lanes(d: Form) -> Array:
    """Return, per lane, the lane that the DPP control reads; -1 when there is none."""
    name = next((each for each in d.modifiers if each in _CONTROLS), "")
    if not name:
        raise Unsupported("the DPP control")
    order = np.array(d.flag_list("quad_perm", 4, 0))
    count = d.number(name) if name in _SHIFTS else 0
    moves: dict[str, Array] = {
        "quad_perm": _LANE // 4 * 4 + order[_LANE % 4],
        "row_mirror": _ROW + 15 - _IN_ROW,
        "row_half_mirror": _LANE // 8 * 8 + 7 - _LANE % 8,
        "row_shl": _in_row(_IN_ROW + count),
        "row_shr": _in_row(_IN_ROW - count),
        "row_ror": _ROW + (_IN_ROW - count) % 16,
        "row_newbcast": _ROW + count % 16,
        "row_bcast": _row_broadcast(count),
        "wave_shl": np.where(_LANE < LANES - 1, _LANE + 1, -1),
        "wave_shr": _LANE - 1,
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
    def read(d: Form) -> Dpp:
        """Decode the control of a DPP instruction."""
        rows, banks = d.number("row_mask", 15), d.number("bank_mask", 15)
        writable = ((rows >> (_LANE // 16)) & 1 & (banks >> (_LANE % 16 // 4))) == 1
        lanes = source_lanes(d)
        return Dpp(np.maximum(lanes, 0), lanes >= 0, writable, "bound_ctrl" in d.modifiers)

    def apply(self, g: Group, row: int, d: Form) -> tuple[Array, Array]:
        """Return the moved uint32[n, 64] operand and the lanes that the result is written to.

        The operand is copied first, so that a result in the same register cannot disturb it.
        """
        if g.vstate[row]:
            g.check_vector(row, d, self._lanes_read(g))
        moved = g.V[row].take(self.source, axis=1)
        valid = self.reads if g.full else self.reads & g.E.take(self.source, axis=1)
        lanes = g.E & self.writable
        if self.zero_fill:
            return np.where(valid, moved, np.uint32(0)), lanes
        return moved, lanes & valid

    def _lanes_read(self, g: Group) -> Array:
        """Return which lanes of the operand matter: bool[n, 64]."""
        wanted = g.E & self.writable & self.reads
        result = np.zeros_like(wanted)
        rows, lanes = np.nonzero(wanted)
        result[rows, self.source[lanes]] = True
        return result & g.E


def _part(selection: str) -> tuple[int, int]:
    """Return first bit and width of a part such as ``BYTE_3``."""
    kind, _, number = selection.partition("_")
    width = {"BYTE": 8, "WORD": 16}[kind]
    return width * int(number), width


def select(bits: Array, selection: str, *, signed: bool) -> Array:
    """Return the selected part of uint32 ``bits``, zero- or sign-extended to 32 bits."""
    if selection == "DWORD":
        return bits
    first, width = _part(selection)
    part = (bits >> np.uint32(first)) & np.uint32((1 << width) - 1)
    return sign_extended(part, width).view(np.uint32) if signed else part


def insert(value: Array, old: Array, selection: str, unused: str) -> Array:
    """Place the low part of uint32 ``value`` into the selected part of a register."""
    if selection == "DWORD":
        return value
    first, width = _part(selection)
    mask = np.uint32((1 << width) - 1)
    placed = (value & mask) << np.uint32(first)
    if unused == "UNUSED_PRESERVE":
        return (old & ~(mask << np.uint32(first))) | placed
    if unused == "UNUSED_SEXT":
        negative = (value >> np.uint32(width - 1)) & np.uint32(1)
        fill = np.uint32((0xFFFFFFFF << first + width) & 0xFFFFFFFF)
        return np.where(negative == 1, placed | fill, placed)
    return placed


def everyone(g: Group) -> Array:
    """Return bool[n, 64], all true: for instructions that ignore EXEC."""
    return np.broadcast_to(np.True_, (g.n, LANES))


def one_lane(g: Group, lane: Array) -> Array:
    """Return bool[n, 64] with one lane per wavefront."""
    result = np.zeros((g.n, LANES), np.bool_)
    result[np.arange(g.n), lane] = True
    return result


def _lane_number(d: Form) -> Get:
    """Return a reader of the lane that each wavefront means: int64[n]."""
    select = d.scalar(d.operands[2], "u32")
    return lambda g: np.broadcast_to(select(g) & np.uint32(63), (g.n,)).astype(np.int64)


def _first_active(g: Group) -> Array:
    """Lane 0 when no lane is active."""
    return np.asarray(np.argmax(g.E, axis=1))


@instruction("v_readfirstlane_b32 v_readlane_b32")
def _build_read_lane(d: Form) -> Run:
    d.allow()
    put = d.scalar_dest(d.operands[0], 1)
    row = d.row(d.operands[1])
    select = _lane_number(d) if d.base == "v_readlane_b32" else _first_active

    def run(g: Group) -> None:
        lane = select(g)
        if g.vstate[row]:
            g.check_vector(row, d, one_lane(g, lane))
        put(g, g.V[row][np.arange(g.n), lane])

    return run


@instruction("v_writelane_b32")
def _build_write_lane(d: Form) -> Run:
    """EXEC does not matter."""
    d.allow()
    row = d.row(d.operands[0])
    value = d.scalar(d.operands[1], "b32")
    select = _lane_number(d)

    def run(g: Group) -> None:
        lane = select(g)
        if g.vstate[row]:
            g.touch_vector(row, d, one_lane(g, lane))
        g.V[row][np.arange(g.n), lane] = value(g)

    return run


def _use(g: Group, d: Form, *rows: int) -> None:
    for row in rows:
        if g.vstate[row]:
            g.check_vector(row, d)
            g.touch_vector(row, d)


def _swap(name: str, first: Array, second: Array) -> None:
    """Exchange lanes ``first`` of the result register with lanes ``second`` of the source."""

    def build(d: Form) -> Run:
        d.allow("bound_ctrl", "fi")
        a, b = d.row(d.operands[0]), d.row(d.operands[1])

        def run(g: Group) -> None:
            if not g.full:
                raise Unsupported("lanes switched off")
            _use(g, d, a, b)
            kept = g.V[a][:, first]
            g.V[a][:, first] = g.V[b][:, second]
            g.V[b][:, second] = kept

        return run

    register(name, build)


_swap("v_permlane32_swap_b32", _LANE[32:], _LANE[:32])
_swap("v_permlane16_swap_b32", _LANE[_LANE // 16 % 2 == 1], _LANE[_LANE // 16 % 2 == 0])


@instruction("v_swap_b32")
def _build_swap(d: Form) -> Run:
    d.allow()
    a, b = d.row(d.operands[0]), d.row(d.operands[1])

    def run(g: Group) -> None:
        _use(g, d, a, b)
        kept = g.V[a].copy()
        np.copyto(g.V[a], g.V[b], where=g.E)
        np.copyto(g.V[b], kept, where=g.E)

    return run
