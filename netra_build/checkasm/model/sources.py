"""How an instruction reads operands and writes results: typed access to registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from netra_build.checkasm.model.arith.transcendental import NEAREST
from netra_build.checkasm.model.arrays import Array, lanes_from_masks, masks_from_lanes
from netra_build.checkasm.model.group import Group
from netra_build.checkasm.model.operands import EXEC, Decoded, Operand, Unsupported

Get = Callable[[Group], Array]
Put = Callable[[Group, Array], None]
PutLanes = Callable[[Group, Array, Array], None]

DTYPE: dict[str, np.dtype[Any]] = {
    "u32": np.dtype(np.uint32),
    "b32": np.dtype(np.uint32),
    "i32": np.dtype(np.int32),
    "f32": np.dtype(np.float32),
    "u64": np.dtype(np.uint64),
    "b64": np.dtype(np.uint64),
    "i64": np.dtype(np.int64),
    "f64": np.dtype(np.float64),
}
"""Element type of an operand kind that is not narrower than a register."""

NARROW = ("u16", "b16", "i16", "f16", "bf16")
"""Kinds that use half a register: integers arrive as 32 bits, floats as float32."""

FLOAT_BITS_32 = {
    "0.5": 0x3F000000,
    "1.0": 0x3F800000,
    "2.0": 0x40000000,
    "4.0": 0x40800000,
    "0.15915494": 0x3E22F983,
    "0.15915494309189532": 0x3E22F983,
}
FLOAT_BITS_16 = {
    "0.5": 0x3800,
    "1.0": 0x3C00,
    "2.0": 0x4000,
    "4.0": 0x4400,
    "0.15915494": 0x3118,
    "0.15915494309189532": 0x3118,
}
FLOAT_BITS_64 = {
    "0.5": 0x3FE0000000000000,
    "1.0": 0x3FF0000000000000,
    "2.0": 0x4000000000000000,
    "4.0": 0x4010000000000000,
    "0.15915494": 0x3FC45F306DC9C882,
    "0.15915494309189532": 0x3FC45F306DC9C882,
}


@dataclass(frozen=True)
class Context:
    """What the builders need to know of the kernel."""

    allocated_vgprs: int
    accum_offset: int
    approximation: str = NEAREST
    """Which of the floats next to it stands for a result that the ISA allows to be one unit off."""

    def row(self, operand: Operand, dwords: int = 1) -> int:
        """Return the row of a VGPR or AGPR; ``Unsupported`` outside the allocation."""
        if operand.kind == "v":
            limit, base = min(self.accum_offset, self.allocated_vgprs), 0
        elif operand.kind == "a":
            limit, base = self.allocated_vgprs - self.accum_offset, self.accum_offset
        else:
            raise Unsupported(f'operand "{operand.text}"')
        if operand.index + dwords > limit:
            count = max(limit, 0)
            raise Unsupported(f'"{operand.text}", which lies outside the {count} allocated,')
        if operand.dwords != dwords:
            raise Unsupported(f'the size of operand "{operand.text}"')
        return base + operand.index


def scalar_row(operand: Operand, dwords: int = 1) -> int:
    """Return the number of a scalar register operand; ``Unsupported`` for anything else."""
    if operand.kind != "s" or operand.index + dwords > 128:
        raise Unsupported(f'operand "{operand.text}"')
    if operand.dwords != dwords:
        raise Unsupported(f'the size of operand "{operand.text}"')
    return operand.index


def is_vector(operand: Operand) -> bool:
    """True for a VGPR or AGPR."""
    return operand.kind in ("v", "a")


# Constants


def constant(operand: Operand, kind: str) -> Any:
    """Return a constant operand as the bits that ``kind`` sees."""
    if kind in ("u64", "b64", "i64", "f64"):
        bits = np.uint64(_bits_64(operand, kind))
        return bits.view(DTYPE[kind])
    if kind in NARROW:
        return np.uint32(_bits_16(operand, kind))
    if operand.kind == "float":
        return np.uint32(FLOAT_BITS_32[operand.text.lstrip("-")] | _sign(operand, 31)).view(
            DTYPE[kind]
        )
    return np.uint32(operand.value & 0xFFFFFFFF).view(DTYPE[kind])


def _sign(operand: Operand, bit: int) -> int:
    return (1 << bit) if operand.text.startswith("-") else 0


def _bits_16(operand: Operand, kind: str) -> int:
    if operand.kind != "float":
        return operand.value & 0xFFFF
    if kind == "bf16":
        return (FLOAT_BITS_32[operand.text.lstrip("-")] >> 16) | _sign(operand, 15)
    if kind == "f16":
        return FLOAT_BITS_16[operand.text.lstrip("-")] | _sign(operand, 15)
    raise Unsupported(f'operand "{operand.text}"')


def _bits_64(operand: Operand, kind: str) -> int:
    if operand.kind == "float":
        return FLOAT_BITS_64[operand.text.lstrip("-")] | _sign(operand, 63)
    if not operand.is_literal:
        return operand.value & 0xFFFFFFFFFFFFFFFF
    if kind == "f64":
        return (operand.value & 0xFFFFFFFF) << 32
    if kind == "i64" and operand.value & 0x80000000:
        raise Unsupported(f'the literal "{operand.text}" as a 64-bit integer')
    return operand.value & 0xFFFFFFFFFFFFFFFF


# Scalar operands: arrays of shape [n]


def scalar_source(operand: Operand, kind: str, source: Decoded) -> Get:
    """Return a reader of a scalar operand: shape [n], or a constant."""
    if operand.negate or operand.absolute or operand.sign_extend:
        raise Unsupported(f'operand "{operand.text}"')
    if operand.kind in ("int", "float"):
        value = np.asarray(constant(operand, kind))
        return lambda g: value
    if operand.text == "src_scc":
        return lambda g: g.scc.astype(np.uint32)
    if kind in ("u64", "b64", "i64", "f64"):
        return _scalar_pair(scalar_row(operand, 2), DTYPE[kind], source)
    row = scalar_row(operand)
    dtype = DTYPE[kind]

    def get(g: Group) -> Array:
        if g.sstate[row]:
            g.check_scalar(row, source)
        result: Array = g.S[row].view(dtype)
        return result

    return get


def _scalar_pair(row: int, dtype: np.dtype[Any], source: Decoded) -> Get:
    def get(g: Group) -> Array:
        if g.sstate[row] or g.sstate[row + 1]:
            g.check_scalar(row, source)
            g.check_scalar(row + 1, source)
        high = g.S[row + 1].astype(np.uint64) << np.uint64(32)
        result: Array = (high | g.S[row]).view(dtype)
        return result

    return get


def scalar_dest(operand: Operand, dwords: int, source: Decoded) -> Put:
    """Return a writer of one or two scalar registers from uint32[n] or uint64[n]."""
    row = scalar_row(operand, dwords)
    is_exec = row <= EXEC + 1 and row + dwords > EXEC

    def put(g: Group, value: Array) -> None:
        for at in range(row, row + dwords):
            if g.sstate[at]:
                g.touch_scalar(at, source)
        # Storing into a register keeps the low half of a wide number.
        g.S[row] = value
        if dwords == 2:
            g.S[row + 1] = value >> np.uint64(32)
        if is_exec:
            g.exec_changed()

    return put


# Masks: one bit per lane in a pair of scalar registers


def mask_source(operand: Operand, source: Decoded) -> Get:
    """Return a reader of a lane mask: bool[n, 64]."""
    if operand.kind == "int":
        bits = operand.value & 0xFFFFFFFFFFFFFFFF
        lanes = np.array([[bool(bits >> lane & 1) for lane in range(64)]])
        return lambda g: lanes
    row = scalar_row(operand, 2)

    def get(g: Group) -> Array:
        if g.sstate[row] or g.sstate[row + 1]:
            g.check_scalar(row, source)
            g.check_scalar(row + 1, source)
        return lanes_from_masks(g.S[row], g.S[row + 1])

    return get


def mask_dest(operand: Operand, source: Decoded) -> Put:
    """Return a writer of a lane mask from bool[n, 64]; inactive lanes give zero."""
    row = scalar_row(operand, 2)

    def put(g: Group, value: Array) -> None:
        for at in (row, row + 1):
            if g.sstate[at]:
                g.touch_scalar(at, source)
        lanes = value & g.E if not g.full or value.shape != g.E.shape else value
        g.S[row], g.S[row + 1] = masks_from_lanes(lanes)
        if row == EXEC:
            g.exec_changed()

    return put


# Vector operands: arrays of shape [n, 64], or [n, 1] for a scalar, or a constant


def vector_source(operand: Operand, kind: str, source: Decoded, context: Context) -> Get:
    """Return a reader of a vector instruction's operand, without its modifiers."""
    if operand.kind in ("int", "float"):
        value = np.asarray(constant(operand, kind))
        return lambda g: value
    if not is_vector(operand):
        narrow = "b32" if kind in NARROW else kind
        scalar = scalar_source(operand, narrow, source)
        return lambda g: scalar(g)[:, None]
    if kind in ("u64", "b64", "i64", "f64"):
        return _vector_pair(context.row(operand, 2), DTYPE[kind], source)
    return _register(_VIEW.get(kind, "V"), context.row(operand), source)


def bits_register(row: int, source: Decoded) -> Get:
    """Return a reader of one register as uint32[n, 64]."""
    return _register("V", row, source)


_VIEW = {"f32": "VF", "i32": "VI"}
"""The view of the register file that holds elements of a kind; ``V`` for other kinds."""


def _register(view: str, row: int, source: Decoded) -> Get:
    def get(g: Group) -> Array:
        if g.vstate[row]:
            g.check_vector(row, source)
        result: Array = getattr(g, view)[row]
        return result

    return get


def _vector_pair(row: int, dtype: np.dtype[Any], source: Decoded) -> Get:
    def get(g: Group) -> Array:
        if g.vstate[row]:
            g.check_vector(row, source)
        if g.vstate[row + 1]:
            g.check_vector(row + 1, source)
        high = g.V[row + 1].astype(np.uint64) << np.uint64(32)
        result: Array = (high | g.V[row]).view(dtype)
        return result

    return get


def vector_dest(operand: Operand, kind: str, source: Decoded, context: Context) -> Put:
    """Return a writer of a vector result for the active lanes."""
    put_lanes = vector_dest_lanes(operand, kind, source, context)
    if kind in ("u64", "b64", "i64", "f64"):
        return lambda g, value: put_lanes(g, value, g.E)
    row = context.row(operand)
    view = _VIEW.get(kind, "V")

    def put(g: Group, value: Array) -> None:
        if g.vstate[row]:
            g.touch_vector(row, source)
        if g.full:
            getattr(g, view)[row] = value
        else:
            np.copyto(getattr(g, view)[row], value, where=g.E)

    return put


def vector_dest_lanes(operand: Operand, kind: str, source: Decoded, context: Context) -> PutLanes:
    """Return a writer of a vector result for chosen lanes, bool[n, 64]."""
    wide = kind in ("u64", "b64", "i64", "f64")
    row = context.row(operand, 2 if wide else 1)
    view = _VIEW.get(kind, "V")

    def put(g: Group, value: Array, lanes: Array) -> None:
        if g.vstate[row]:
            g.touch_vector(row, source, lanes)
        np.copyto(getattr(g, view)[row], value, where=lanes)

    def put_pair(g: Group, value: Array, lanes: Array) -> None:
        for at in (row, row + 1):
            if g.vstate[at]:
                g.touch_vector(at, source, lanes)
        bits = np.ascontiguousarray(value).view(np.uint64)
        low = (bits & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        high = (bits >> np.uint64(32)).astype(np.uint32)
        np.copyto(g.V[row], low, where=lanes)
        np.copyto(g.V[row + 1], high, where=lanes)

    return put_pair if wide else put
