"""Double precision: one rounding and quiet NaNs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from netra_build.checkasm.model.arrays import Array

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


def maximum(a: Array, b: Array) -> Array:
    """IEEE maxNum: a NaN loses against a number, a signalling one wins, +0 is above -0."""
    return _extreme(np.fmax(a, b), a, b, np.bitwise_and)


def minimum(a: Array, b: Array) -> Array:
    """IEEE minNum: a NaN loses against a number, a signalling one wins, -0 is below +0."""
    return _extreme(np.fmin(a, b), a, b, np.bitwise_or)


def _extreme(result: Array, a: Array, b: Array, merge: np.ufunc) -> Array:
    """Settle zeros (equal operands merge their sign bits) and NaNs."""
    wide = [np.ascontiguousarray(source).view(np.uint64) for source in np.broadcast_arrays(a, b)]
    bits = np.where(np.equal(a, b), merge(*wide), np.ascontiguousarray(result).view(np.uint64))
    first, second = (np.isnan(source.view(np.float64)) for source in wide)
    for source, nan in ((wide[1], second), (wide[0], first)):
        signalling = nan & (source & _QUIET == 0)
        bits = np.where(signalling | (first & second), source | _QUIET, bits)
    return bits.view(np.float64)


def reciprocal_root(a: Array) -> Array:
    """Return the double nearest to 1 / sqrt(a), lane by lane."""
    result = np.array(1.0 / np.sqrt(a))
    for place in map(tuple, np.argwhere(np.isfinite(result) & (result > 0))):
        result[place] = _nearest_root(float(a[place]), float(result[place]))
    return settle(result, a)


def _nearest_root(a: float, guess: float) -> float:
    """Step from a near guess to the nearest double; no double is a tie."""
    for direction in (0.0, math.inf):
        step = math.nextafter(guess, direction)
        middle = (Fraction(guess) + Fraction(step)) / 2
        is_below = middle * middle * Fraction(a) < 1
        if is_below == (direction > 0):
            return step
    return guess


def fma(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c with one rounding, lane by lane in exact fractions."""
    a, b, c = np.broadcast_arrays(a, b, c)
    # A product of finite numbers never cancels an infinite addend, however large it is.
    result = np.where(np.isfinite(a) & np.isfinite(b) & np.isinf(c), c, a * b + c)
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
