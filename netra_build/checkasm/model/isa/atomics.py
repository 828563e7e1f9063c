"""Read-modify-write operations of global memory and LDS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.model.arith import ieee, narrow
from netra_build.checkasm.model.arrays import U32, Array

Combine = Callable[[Array, Array], Array]
"""Takes what memory holds and the operand, uint32[registers, ...]; returns what it holds next."""

Convert = Callable[[Array], Array]


@dataclass(frozen=True)
class Atomic:
    """One operation. ``width`` is bytes in memory; some have several operands of that width."""

    width: int
    combine: Combine
    operands: int = 1

    @property
    def registers(self) -> int:
        """Registers of one operand, and of the result."""
        return self.width // 4

    def in_turns(self, place: Array, active: Array, turn: Combine) -> Array:
        """Return what memory held before, per lane: uint32[registers, n, 64].

        ``place`` is where each lane accesses memory; ``turn`` does it for the lanes at some rows
        and columns, no two of them at one place.
        """
        before = np.zeros((self.registers, *active.shape), U32)
        rows, lanes = np.nonzero(active)
        for chosen in rounds(place[rows, lanes]):
            row, lane = rows[chosen], lanes[chosen]
            before[:, row, lane] = turn(row, lane)
        return before


def _on(dtype: type[np.generic], fn: Combine) -> Atomic:
    """Lift an operation on numbers of one type to register bits."""
    size = np.dtype(dtype).itemsize // 4

    def combine(old: Array, operand: Array) -> Array:
        a, b = (
            np.ascontiguousarray(np.moveaxis(bits, 0, -1)).view(dtype)[..., 0]
            for bits in (old, operand)
        )
        words = np.ascontiguousarray(fn(a, b)).view(U32).reshape(*a.shape, size)
        return np.asarray(words.transpose(-1, *range(a.ndim)))

    return Atomic(4 * size, combine)


def _increment(old: Array, limit: Array) -> Array:
    return np.asarray(np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1)))


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _halves(widen: Convert, shorten: Convert) -> Atomic:
    def combine(old: Array, operand: Array) -> Array:
        a, b = old[0], operand[0]
        low = shorten(ieee.add(widen(a & U32(0xFFFF)), widen(b & U32(0xFFFF))))
        high = shorten(ieee.add(widen(a >> U32(16)), widen(b >> U32(16))))
        return np.asarray(low | (high << U32(16)))[None]

    return Atomic(4, combine)


def _compare_swap(*, new_first: bool) -> Combine:
    """The operand holds the new value and the expected one: in this order in global memory."""

    def combine(old: Array, operand: Array) -> Array:
        new, expected = np.split(operand, 2) if new_first else np.split(operand, 2)[::-1]
        return np.where(np.all(old == expected, axis=0), new, old)

    return combine


def _mask_or(old: Array, operand: Array) -> Array:
    """Clear the bits of the first operand, then set those of the second."""
    cleared, added = np.split(operand, 2)
    return np.asarray((old & ~cleared) | added)


def _swap(_old: Array, operand: Array) -> Array:
    return operand


_INTEGER: tuple[tuple[str, str, str, Combine], ...] = (
    ("add", "add", "u", np.add),
    ("sub", "sub", "u", np.subtract),
    ("", "rsub", "u", lambda old, operand: operand - old),
    ("smin", "min", "i", np.minimum),
    ("umin", "min", "u", np.minimum),
    ("smax", "max", "i", np.maximum),
    ("umax", "max", "u", np.maximum),
    ("and", "and", "b", np.bitwise_and),
    ("or", "or", "b", np.bitwise_or),
    ("xor", "xor", "b", np.bitwise_xor),
    ("inc", "inc", "u", _increment),
    ("dec", "dec", "u", _decrement),
)
"""Names in global memory and in LDS instructions, type without its size, and meaning."""

_FLOATS = {
    "add_f32": _on(np.float32, ieee.add),
    "add_f64": _on(np.float64, np.add),
    "min_f64": _on(np.float64, np.fmin),
    "max_f64": _on(np.float64, np.fmax),
    "pk_add_f16": _halves(narrow.half_to_single, narrow.single_to_half),
    "pk_add_bf16": _halves(narrow.bf16_to_single, narrow.single_to_bf16),
}
GLOBAL_ATOMICS = dict(_FLOATS)
"""Operations of global memory by the suffix of their mnemonic."""

LDS_ATOMICS = {
    **_FLOATS,
    "min_f32": _on(np.float32, ieee.minimum),
    "max_f32": _on(np.float32, ieee.maximum),
}
"""Operations of LDS by mnemonic without ``ds_`` and ``_rtn``."""

for _bits, _suffix in ((32, ""), (64, "_x2")):
    _size = _bits // 8
    GLOBAL_ATOMICS[f"swap{_suffix}"] = Atomic(_size, _swap)
    LDS_ATOMICS[f"wrxchg_b{_bits}"] = Atomic(_size, _swap)
    GLOBAL_ATOMICS[f"cmpswap{_suffix}"] = Atomic(_size, _compare_swap(new_first=True), 2)
    LDS_ATOMICS[f"cmpst_b{_bits}"] = Atomic(_size, _compare_swap(new_first=False), 2)
    LDS_ATOMICS[f"mskor_b{_bits}"] = Atomic(_size, _mask_or, 2)
    for _global, _local, _sign, _fn in _INTEGER:
        _word = _on(np.dtype(f"{'i' if _sign == 'i' else 'u'}{_size}").type, _fn)
        LDS_ATOMICS[f"{_local}_{_sign}{_bits}"] = _word
        if _global:
            GLOBAL_ATOMICS[f"{_global}{_suffix}"] = _word


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
