"""Double precision: one rounding and quiet NaNs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from netra_build.simulate.arrays import Array

_QUIET = np.uint64(1 << 51)


def quiet(value: Array) -> Array:
    """Return ``value`` with NaNs made quiet."""
    nan = np.isnan(value)
    if not nan.any():
        return value
    bits = np.ascontiguousarray(value).view(np.uint64)
    return np.where(nan, bits | _QUIET, bits).view(np.float64)


def settle(value: Array, *sources: Array) -> Array:
    """Give NaN results the hardware's bits: the first NaN source made quiet, else positive."""
    nan = np.isnan(value)
    if not nan.any():
        return value
    bits = np.full(value.shape, 0x7FF8_0000_0000_0000, np.uint64)
    for source in reversed(sources):
        wide = np.ascontiguousarray(np.broadcast_to(source, value.shape))
        bits = np.where(np.isnan(wide), wide.view(np.uint64) | _QUIET, bits)
    return np.where(nan, bits, np.ascontiguousarray(value).view(np.uint64)).view(np.float64)


def fma(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c with one rounding, lane by lane in exact fractions."""
    a, b, c = np.broadcast_arrays(a, b, c)
    result = np.array(a * b + c)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    for place in map(tuple, np.argwhere(finite)):
        x, y, z = Fraction(float(a[place])), Fraction(float(b[place])), Fraction(float(c[place]))
        exact = x * y + z
        if exact:
            result[place] = nearest_double(exact)
    return settle(result, a, b, c)


def nearest_double(value: Fraction) -> float:
    """Return the double nearest to an exact fraction; too large ones become infinite."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
