"""Parts of matrix instructions: from registers to rows, products, and back to registers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.model.arith.ieee import SINGLE, round_sum
from netra_build.checkasm.model.arrays import LANES, Array, Scratch

U = np.uint32
F32 = np.float32
F64 = np.float64
_UNIT = 2.0**-53


@dataclass(frozen=True)
class Tile:
    """One shape: ``size`` rows and columns, depth ``k``, ``blocks`` independent products."""

    size: int
    k: int
    blocks: int = 1

    @property
    def groups(self) -> int:
        """Lane groups: they share a row, or hold one block each."""
        return LANES // self.size

    @property
    def results(self) -> int:
        """Result registers."""
        return self.size * self.size * self.blocks // LANES

    def operand_registers(self, bits: int) -> int:
        """Registers of one operand with elements of ``bits``."""
        per_lane = self.size * self.k * self.blocks // LANES
        return per_lane * bits // 32

    def by_lane_group(self, registers: Array) -> Array:
        """View uint32[registers, n, 64] as [registers, n, groups, size]."""
        return registers.reshape(len(registers), -1, self.groups, self.size)

    def rows(self, parts: Array, scratch: Scratch, *, interleaved: bool) -> Array:
        """Return the dwords of each row, in the order of k: [n * blocks, rows, dwords].

        ``parts`` is uint32[registers, n, groups, rows]. ``interleaved`` operands hold two halves of
        k in each lane. Whole dwords move, since a decoded element is much larger than its code.
        """
        count, n, groups, rows = parts.shape
        packed = scratch.array("packed operand", (n, groups, rows, count), U)
        for at, part in enumerate(parts):
            packed[..., at] = part
        if self.blocks > 1:
            return packed.reshape(n * groups, rows, count)
        halves = 2 if interleaved else 1
        piece = f"V{4 * count // halves}"
        ordered = scratch.array("ordered operand", (n, rows, halves, groups), piece)
        np.copyto(
            ordered, packed.view(piece).reshape(n, groups, rows, halves).transpose(0, 2, 3, 1)
        )
        return ordered.view(U).reshape(n, rows, -1)

    def _result_view(self, registers: Array) -> Array:
        """View result registers [r, n, 64] as [n, blocks, quads, groups, 4, columns].

        The three axes in the middle, taken as one, are the rows.
        """
        if self.size == 4:
            return registers.reshape(4, -1, self.blocks, 1, 1, 4).transpose(1, 2, 3, 4, 0, 5)
        quads = self.size * self.size // LANES // 4
        split = registers.reshape(self.blocks, quads, 4, -1, self.groups, self.size)
        return split.transpose(3, 0, 1, 4, 2, 5)

    def result(self, registers: Array) -> Array:
        """Return result registers [r, n, 64] as [n * blocks, rows, columns]."""
        return self._result_view(registers).reshape(-1, self.size, self.size)

    def put_result(self, registers: Array, matrix: Array) -> None:
        """Fill result registers from [n * blocks, rows, columns].

        One wavefront, row or column may stand for all of them.
        """
        view = self._result_view(registers)
        _, rows, columns = matrix.shape
        outer = (1, 1, 1, 1) if rows == 1 else view.shape[1:5]
        np.copyto(view, matrix.reshape(-1, *outer, columns))


def split_codes(packed: Array, bits: int) -> Array:
    """Split contiguous uint32[..., dwords] into element codes: [..., elements]."""
    if bits == 32:
        return packed
    if bits == 16:
        return packed.view(np.uint16)
    octets = packed.view(np.uint8)
    if bits == 8:
        return octets
    if bits == 4:
        return np.stack([octets & 15, octets >> 4], axis=-1).reshape(*octets.shape[:-1], -1)
    digits = np.unpackbits(octets, axis=-1, bitorder="little")
    weights = np.array([1, 2, 4, 8, 16, 32], np.uint8)
    sixes = digits.reshape(*octets.shape[:-1], -1, 6)
    return np.asarray((sixes * weights).sum(axis=-1), np.uint8)


def distinct(parts: Array) -> Array:
    """Drop rows and wavefronts of [registers, n, groups, size] that all repeat the first one.

    Activations often do: one token fills all rows, and all wavefronts multiply it.
    """
    if _repeats(parts[0, :, 0, 0], parts, parts[:, :1]):
        parts = parts[:, :1]
    if _repeats(parts[0, 0, 0, :], parts, parts[..., :1]):
        parts = parts[..., :1]
    return parts


def _repeats(sample: Array, parts: Array, first: Array) -> bool:
    """True when ``parts`` repeats ``first``; a sample rules out most others quickly."""
    return bool((sample == sample[0]).all() and (parts == first).all())


# Products with one rounding: the exact sum of all products and the accumulator


def exact_dot(a: Array, b: Array, c: Array, unit: float) -> Array:
    """Return float32 of unit * a @ b + c, where the float64 product is known to be exact.

    Shapes: float64[n, rows, k] @ float64[n, k, columns] + float32[n, rows, columns]. What is the
    same for all n, all rows or all columns may come once; then the result has it once, unless
    another operand has all of them.
    """
    return _canonical(_rounded(np.matmul(a, b) * unit, c))


def _rounded(product: Array, c: Array) -> Array:
    """Return float32 of the float64 product + c; without an accumulator nothing can go wrong."""
    if c.any():
        return round_sum(product, c.astype(F64))
    return (product + c).astype(F32, order="C")


def rounded_dot(
    a: Array,
    b: Array,
    c: Array,
    significant_bits: int,
    charge: Callable[[int], None] = lambda _: None,
) -> Array:
    """Return the float32 nearest to the exact a @ b + c; each single product must be exact.

    Where the operands' exponents lie close together the float64 product is exact. Elsewhere its
    error has a known bound, and where that leaves two float32 candidates, the products are
    summed exactly one by one. ``significant_bits`` is the width of the operands' mantissas.
    ``charge`` is told how many results that was done for.
    """
    product = np.matmul(a, b)
    exact_c = c.astype(F64)
    result = _rounded(product, c)
    depth = a.shape[-1]
    allowed = 53 - 2 * significant_bits - int(np.ceil(np.log2(depth + 1)))
    spread = _spread(a, 2)[:, :, None] + _spread(b, 1)[:, None, :]
    inexact = spread > allowed
    if not inexact.any():
        return _canonical(result)
    size = np.matmul(np.abs(a), np.abs(b)) + np.abs(exact_c)
    bound = size * ((depth + 8) * _UNIT)
    total = product + exact_c
    low, high = (total - bound).astype(F32), (total + bound).astype(F32)
    doubtful = (low.view(np.uint32) != high.view(np.uint32)) & np.isfinite(size) & inexact
    n, rows, columns = result.shape
    every_a = np.broadcast_to(a, (n, rows, depth))
    every_b = np.broadcast_to(b, (n, depth, columns))
    every_c = np.broadcast_to(exact_c, result.shape)
    hard = np.argwhere(doubtful)
    charge(len(hard))
    for at, row, column in hard:
        products = (every_a[at, row] * every_b[at, :, column]).tolist()
        products.append(float(every_c[at, row, column]))
        result[at, row, column] = _sum_once(products)
    return _canonical(result)


def _spread(matrix: Array, axis: int) -> Array:
    """Return how far the exponents of the numbers along an axis lie apart: int64."""
    exponent = (np.ascontiguousarray(matrix).view(np.int64) >> 52) & 0x7FF
    highest = exponent.max(axis=axis)
    lowest = np.where(matrix == 0, 0x7FF, exponent).min(axis=axis)
    return np.asarray(np.maximum(highest - lowest, 0))


def _sum_once(terms: list[float]) -> np.float32:
    """Return the float32 nearest to the exact sum: to odd in float64, then to float32."""
    nearest = math.fsum(terms)
    rest = math.fsum([*terms, -nearest])
    if rest and int(np.float64(nearest).view(np.int64)) & 1 == 0:
        nearest = float(np.nextafter(nearest, math.inf if rest > 0 else -math.inf))
    return F32(nearest)


def _canonical(value: Array) -> Array:
    nan = np.isnan(value)
    if not nan.any():
        return value
    return np.where(nan, SINGLE.nan.view(F32), value)
