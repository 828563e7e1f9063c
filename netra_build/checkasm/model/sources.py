"""How an instruction reads operands and writes results: typed access to registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from netra_build.checkasm.model.arith.transcendental import NEAREST
from netra_build.checkasm.model.arrays import LANES, Array, lanes_from_masks, masks_from_lanes
from netra_build.checkasm.model.group import Group
from netra_build.checkasm.model.operands import (
    DTYPE,
    EXEC,
    NARROW,
    WIDE,
    Decoded,
    Operand,
    Unsupported,
    constant,
    is_vector,
    scalar_row,
)

Get = Callable[[Group], Array]
Put = Callable[[Group, Array], None]
PutLanes = Callable[[Group, Array, Array], None]

_VIEW = {"f32": "VF", "i32": "VI"}
"""The view of the register file that holds elements of a kind; ``V`` for other kinds."""


@dataclass(frozen=True)
class Context:
    """Properties of the kernel that its instructions depend on."""

    allocated_vgprs: int
    accum_offset: int
    approximation: str = NEAREST
    """Which of the floats next to it stands for a result that the ISA allows to be one unit off."""


@dataclass(frozen=True)
class Form(Decoded):
    """One instruction of a kernel, with what reads its operands and writes its results."""

    context: Context = field(kw_only=True)

    def row(self, operand: Operand, dwords: int = 1) -> int:
        """Return the row of a VGPR or AGPR; ``Unsupported`` outside the allocation."""
        allocated, base = self.context.allocated_vgprs, self.context.accum_offset
        if operand.kind == "v":
            limit, base = min(base, allocated), 0
        elif operand.kind == "a":
            limit = allocated - base
        else:
            raise Unsupported(f'operand "{operand.text}"')
        if operand.index + dwords > limit:
            count = max(limit, 0)
            raise Unsupported(f'"{operand.text}", which lies outside the {count} allocated,')
        if operand.dwords != dwords:
            raise Unsupported(f'the size of operand "{operand.text}"')
        return base + operand.index

    # Scalar operands: arrays of shape [n], and masks of lanes

    def scalar(self, operand: Operand, kind: str) -> Get:
        """Return a reader of a scalar operand: shape [n], or a constant."""
        if operand.negate or operand.absolute or operand.sign_extend:
            raise Unsupported(f'operand "{operand.text}"')
        if operand.kind in ("int", "float"):
            value = np.asarray(constant(operand, kind))
            return lambda g: value
        if operand.text == "src_scc":
            return lambda g: g.scc.astype(np.uint32)
        row = scalar_row(operand, 2 if kind in WIDE else 1)
        dtype = DTYPE[kind]

        def get(g: Group) -> Array:
            if g.sstate[row]:
                g.check_scalar(row, self)
            result: Array = g.S[row].view(dtype)
            return result

        def get_pair(g: Group) -> Array:
            self.check_pair(g, row)
            high = g.S[row + 1].astype(np.uint64) << np.uint64(32)
            result: Array = (high | g.S[row]).view(dtype)
            return result

        return get_pair if kind in WIDE else get

    def check_pair(self, g: Group, row: int) -> None:
        """Note a read of two scalar registers."""
        if g.sstate[row] or g.sstate[row + 1]:
            g.check_scalar(row, self)
            g.check_scalar(row + 1, self)

    def touch_scalars(self, g: Group, row: int, count: int) -> None:
        """Note a write to scalar registers from ``row`` on."""
        for at in range(row, row + count):
            if g.sstate[at]:
                g.touch_scalar(at, self)

    def scalar_dest(self, operand: Operand, dwords: int) -> Put:
        """Return a writer of one or two scalar registers from uint32[n] or uint64[n]."""
        row = scalar_row(operand, dwords)
        is_exec = row <= EXEC + 1 and row + dwords > EXEC

        def put(g: Group, value: Array) -> None:
            self.touch_scalars(g, row, dwords)
            # Storing into a register keeps the low half of a wide number.
            g.S[row] = value
            if dwords == 2:
                g.S[row + 1] = value >> np.uint64(32)
            if is_exec:
                g.exec_changed()

        return put

    def mask(self, operand: Operand) -> Get:
        """Return a reader of a lane mask in a pair of scalar registers: bool[n, 64]."""
        if operand.kind == "int":
            bits = operand.value & 0xFFFFFFFFFFFFFFFF
            lanes = np.array([[bool(bits >> lane & 1) for lane in range(LANES)]])
            return lambda g: lanes
        row = scalar_row(operand, 2)

        def get(g: Group) -> Array:
            self.check_pair(g, row)
            return lanes_from_masks(g.S[row], g.S[row + 1])

        return get

    def mask_dest(self, operand: Operand) -> Put:
        """Return a writer of a lane mask from bool[n, 64]; inactive lanes give zero."""
        row = scalar_row(operand, 2)

        def put(g: Group, value: Array) -> None:
            self.touch_scalars(g, row, 2)
            lanes = value & g.E if not g.full or value.shape != g.E.shape else value
            g.S[row], g.S[row + 1] = masks_from_lanes(lanes)
            if row == EXEC:
                g.exec_changed()

        return put

    # Vector operands: arrays of shape [n, 64], or [n, 1] for a scalar, or a constant

    def vector(self, operand: Operand, kind: str) -> Get:
        """Return a reader of a vector instruction's operand, without its modifiers."""
        if operand.kind in ("int", "float"):
            value = np.asarray(constant(operand, kind))
            return lambda g: value
        if not is_vector(operand):
            scalar = self.scalar(operand, "b32" if kind in NARROW else kind)
            return lambda g: scalar(g)[:, None]
        if kind not in WIDE:
            return self._register(_VIEW.get(kind, "V"), self.row(operand))
        low, high = self.registers(operand, 2)
        dtype = DTYPE[kind]
        return lambda g: (low(g) | high(g).astype(np.uint64) << np.uint64(32)).view(dtype)

    def registers(self, operand: Operand, count: int) -> list[Get]:
        """Return readers of all registers of an operand as uint32[n, 64]."""
        first = self.row(operand, count)
        return [self._register("V", first + at) for at in range(count)]

    def _register(self, view: str, row: int) -> Get:
        def get(g: Group) -> Array:
            if g.vstate[row]:
                g.check_vector(row, self)
            result: Array = getattr(g, view)[row]
            return result

        return get

    def dest(self, operand: Operand, kind: str) -> Put:
        """Return a writer of a vector result for the active lanes."""
        if kind not in WIDE:
            return self.dests(operand, 1, kind)[0]
        low, high = self.dests(operand, 2, "b32")

        def put_pair(g: Group, value: Array) -> None:
            bits = np.ascontiguousarray(value).view(np.uint64)
            low(g, bits.astype(np.uint32))
            high(g, (bits >> np.uint64(32)).astype(np.uint32))

        return put_pair

    def dests(self, operand: Operand, count: int, kind: str) -> list[Put]:
        """Return writers of the registers of a result, one by one, for the active lanes."""
        first, view = self.row(operand, count), _VIEW.get(kind, "V")
        return [self._put_register(first + at, view) for at in range(count)]

    def _put_register(self, row: int, view: str) -> Put:
        def put(g: Group, value: Array) -> None:
            if g.vstate[row]:
                g.touch_vector(row, self)
            if g.full:
                getattr(g, view)[row] = value
            else:
                np.copyto(getattr(g, view)[row], value, where=g.E)

        return put

    def merging(self, operand: Operand, shift: int, width: int, old: Get | None = None) -> Put:
        """Return a writer of ``width`` bits at ``shift``; the other bits keep what they hold.

        Without ``old`` nothing counts as read: the first of two conversions may write a register
        that was never written.
        """
        row, put = self.row(operand), self.dest(operand, "b32")
        keep = np.uint32(~(((1 << width) - 1) << shift) & 0xFFFFFFFF)

        def merge(g: Group, bits: Array) -> None:
            kept = g.V[row] if old is None else old(g)
            put(g, (kept & keep) | (bits << np.uint32(shift)))

        return merge

    def dest_lanes(self, operand: Operand, kind: str) -> PutLanes:
        """Return a writer of a vector result of one register for chosen lanes, bool[n, 64]."""
        row, view = self.row(operand), _VIEW.get(kind, "V")

        def put(g: Group, value: Array, lanes: Array) -> None:
            if g.vstate[row]:
                g.touch_vector(row, self, lanes)
            np.copyto(getattr(g, view)[row], value, where=lanes)

        return put
