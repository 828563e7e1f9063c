"""Read-modify-write operations of global memory and LDS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.model.arith import narrow, single
from netra_build.checkasm.model.arrays import Array

U = np.uint32
Combine = Callable[[Array, Array], Array]
"""Takes what memory holds and the operand, uint32[registers, k]; returns what it holds next."""

Convert = Callable[[Array], Array]


@dataclass(frozen=True)
class Atomic:
    """One operation. ``width`` is bytes in memory; compare-and-swap has two operands."""

    width: int
    combine: Combine
    operand_registers: int = 0

    @property
    def operands(self) -> int:
        """Registers that hold the operand."""
        return self.operand_registers or self.width // 4


def _on(dtype: type[np.generic], fn: Combine) -> Combine:
    """Lift an operation on numbers of one type to register bits."""

    def combine(old: Array, operand: Array) -> Array:
        size = np.dtype(dtype).itemsize // 4
        a, b = _joined(old, size).view(dtype), _joined(operand, size).view(dtype)
        return _split(np.ascontiguousarray(fn(a, b)), size)

    return combine


def _joined(bits: Array, size: int) -> Array:
    if size == 1:
        return np.ascontiguousarray(bits[0])
    result: Array = bits[0].astype(np.uint64) | bits[1].astype(np.uint64) << np.uint64(32)
    return result


def _split(value: Array, size: int) -> Array:
    if size == 1:
        return value.view(U)[None]
    wide = value.view(np.uint64)
    return np.stack([wide.astype(U), (wide >> np.uint64(32)).astype(U)])


def _increment(old: Array, limit: Array) -> Array:
    result: Array = np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))
    return result


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _halves(widen: Convert, shorten: Convert) -> Combine:
    def combine(old: Array, operand: Array) -> Array:
        a, b = old[0], operand[0]
        low = shorten(single.add(widen(a & U(0xFFFF)), widen(b & U(0xFFFF))))
        high = shorten(single.add(widen(a >> U(16)), widen(b >> U(16))))
        result: Array = (low | (high << U(16)))[None]
        return result

    return combine


def _compare_swap(registers: int) -> Combine:
    """The operand holds the new value first, then the expected one (global memory order)."""

    def combine(old: Array, operand: Array) -> Array:
        new, expected = operand[:registers], operand[registers:]
        equal = np.all(old == expected, axis=0)
        return np.where(equal, new, old)

    return combine


def _subtract_reversed(old: Array, operand: Array) -> Array:
    result: Array = operand - old
    return result


def _swap(_old: Array, operand: Array) -> Array:
    return operand


INTEGER: dict[str, tuple[type[np.generic], type[np.generic], Combine]] = {
    "add": (np.uint32, np.uint64, np.add),
    "sub": (np.uint32, np.uint64, np.subtract),
    "smin": (np.int32, np.int64, np.minimum),
    "umin": (np.uint32, np.uint64, np.minimum),
    "smax": (np.int32, np.int64, np.maximum),
    "umax": (np.uint32, np.uint64, np.maximum),
    "and": (np.uint32, np.uint64, np.bitwise_and),
    "or": (np.uint32, np.uint64, np.bitwise_or),
    "xor": (np.uint32, np.uint64, np.bitwise_xor),
    "inc": (np.uint32, np.uint64, _increment),
    "dec": (np.uint32, np.uint64, _decrement),
}
"""Integer operations by their name in global memory instructions."""

PACKED_F16 = Atomic(4, _halves(narrow.half_to_single, narrow.single_to_half))
PACKED_BF16 = Atomic(4, _halves(narrow.bf16_to_single, narrow.single_to_bf16))
ADD_F32 = Atomic(4, _on(np.float32, single.add))
ADD_F64 = Atomic(8, _on(np.float64, np.add))


def global_atomics() -> dict[str, Atomic]:
    """Return the operations of global memory by the suffix of their mnemonic."""
    table = {
        "swap": Atomic(4, _swap),
        "swap_x2": Atomic(8, _swap),
        "cmpswap": Atomic(4, _compare_swap(1), 2),
        "cmpswap_x2": Atomic(8, _compare_swap(2), 4),
        "add_f32": ADD_F32,
        "add_f64": ADD_F64,
        "min_f64": Atomic(8, _on(np.float64, np.fmin)),
        "max_f64": Atomic(8, _on(np.float64, np.fmax)),
        "pk_add_f16": PACKED_F16,
        "pk_add_bf16": PACKED_BF16,
    }
    for name, (short, long, fn) in INTEGER.items():
        table[name] = Atomic(4, _on(short, fn))
        table[f"{name}_x2"] = Atomic(8, _on(long, fn))
    return table


LDS_INTEGER_NAMES = {
    "add_u": "add",
    "sub_u": "sub",
    "min_i": "smin",
    "min_u": "umin",
    "max_i": "smax",
    "max_u": "umax",
    "and_b": "and",
    "or_b": "or",
    "xor_b": "xor",
    "inc_u": "inc",
    "dec_u": "dec",
}
"""LDS name (without its size) of the integer operations."""


def lds_atomics() -> dict[str, Atomic]:
    """Return the operations of LDS that take one operand, by mnemonic without ``ds_``."""
    table = {
        "add_f32": ADD_F32,
        "add_f64": ADD_F64,
        "min_f32": Atomic(4, _on(np.float32, single.minimum)),
        "max_f32": Atomic(4, _on(np.float32, single.maximum)),
        "min_f64": Atomic(8, _on(np.float64, np.fmin)),
        "max_f64": Atomic(8, _on(np.float64, np.fmax)),
        "rsub_u32": Atomic(4, _on(np.uint32, _subtract_reversed)),
        "rsub_u64": Atomic(8, _on(np.uint64, _subtract_reversed)),
        "pk_add_f16": PACKED_F16,
        "pk_add_bf16": PACKED_BF16,
    }
    for name, plain in LDS_INTEGER_NAMES.items():
        short, long, fn = INTEGER[plain]
        table[f"{name}32"] = Atomic(4, _on(short, fn))
        table[f"{name}64"] = Atomic(8, _on(long, fn))
    return table


def rounds(place: Array) -> list[Array]:
    """Split places into rounds without duplicates, each in order: lists of positions.

    Lanes that share an address take part in different rounds, lowest lane first.
    """
    order = np.argsort(place, kind="stable")
    ordered = place[order]
    fresh = np.ones(len(place), np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    start = np.maximum.accumulate(np.where(fresh, np.arange(len(place)), 0))
    turn = np.arange(len(place)) - start
    return [np.sort(order[turn == k]) for k in range(int(turn.max(initial=-1)) + 1)]
