"""Matrix products with one rounding: the exact sum of all products and the accumulator."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arith.ieee import DEFAULT_NAN, round_sum
from netra_build.checkasm.model.arrays import Array

F32 = np.float32
F64 = np.float64
_UNIT = 2.0**-53


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
    result: Array = np.maximum(highest - lowest, 0)
    return result


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
    return np.where(nan, DEFAULT_NAN.view(F32), value)
