"""Matrix products with one rounding: the exact sum of all products and the accumulator."""

from __future__ import annotations

import math

import numpy as np

from netra_build.simulate.arith.single import DEFAULT_NAN, round_sum
from netra_build.simulate.arrays import Array

F32 = np.float32
F64 = np.float64
_UNIT = 2.0**-53


def exact_dot(a: Array, b: Array, c: Array) -> Array:
    """Return float32 of a @ b + c, where the float64 product a @ b is known to be exact.

    Shapes: float64[n, rows, k] @ float64[n, k, columns] + float32[n, rows, columns]; an operand
    that is the same for all n may come once.
    """
    return _canonical(round_sum(multiply(a, b), c.astype(F64)))


def multiply(a: Array, b: Array) -> Array:
    """Return a @ b; a single second operand for all products makes one large product of them."""
    if len(b) == 1 and len(a) > 1:
        n, rows, depth = a.shape
        whole: Array = (a.reshape(n * rows, depth) @ b[0]).reshape(n, rows, b.shape[2])
        return whole
    product: Array = np.matmul(a, b)
    return product


def rounded_dot(a: Array, b: Array, c: Array, significant_bits: int) -> Array:
    """Return the float32 nearest to the exact a @ b + c; each single product must be exact.

    Where the operands' exponents lie close together the float64 product is exact. Elsewhere its
    error has a known bound, and where that leaves two float32 candidates, the products are
    summed exactly one by one. ``significant_bits`` is the width of the operands' mantissas.
    """
    product = multiply(a, b)
    exact_c = c.astype(F64)
    result = round_sum(product, exact_c)
    depth = a.shape[-1]
    allowed = 53 - 2 * significant_bits - int(np.ceil(np.log2(depth + 1)))
    spread = _spread(a, 2)[:, :, None] + _spread(b, 1)[:, None, :]
    inexact = spread > allowed
    if not inexact.any():
        return _canonical(result)
    size = multiply(np.abs(a), np.abs(b)) + np.abs(exact_c)
    bound = size * ((depth + 8) * _UNIT)
    total = product + exact_c
    low, high = (total - bound).astype(F32), (total + bound).astype(F32)
    doubtful = (low.view(np.uint32) != high.view(np.uint32)) & np.isfinite(size) & inexact
    for n, row, column in np.argwhere(doubtful):
        products = (a[n % len(a), row] * b[n % len(b), :, column]).tolist()
        products.append(float(exact_c[n, row, column]))
        result[n, row, column] = _sum_once(products)
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
