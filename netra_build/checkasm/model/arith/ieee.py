"""Single and double precision as the vector unit computes them: one rounding, IEEE zeros, its NaNs.

What is not said to be of one precision takes both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from netra_build.checkasm.model.arrays import Array

F32 = np.float32
F64 = np.float64
TIE_MASK = np.int64(0x1FFFFFFF)
"""Bits of a float64 that a float32 does not have."""
TIE = np.int64(0x10000000)
"""Those bits half way between two float32."""
SMALLEST_NORMAL = 2.0**-126


class Precision:
    """A type of numbers: the widths of its fields, and the bits of its special numbers."""

    def __init__(self, bits: Any, mantissa_bits: int, bias: int) -> None:
        self.bits = bits
        self.mantissa_bits = mantissa_bits
        self.bias = bias
        self.infinity = bits(2 * bias + 1 << mantissa_bits)
        self.quiet = bits(1 << mantissa_bits - 1)
        self.nan = self.infinity | self.quiet
        self.sign = bits(bias + 1 << mantissa_bits + 1)

    def exponent(self, x: Array) -> Array:
        """Return the biased exponent field as int64."""
        field = np.asarray(x).view(self.bits) & self.infinity
        return np.asarray(field >> self.bits(self.mantissa_bits), np.int64)


SINGLE = Precision(np.uint32, 23, 127)
DOUBLE = Precision(np.uint64, 52, 1023)
PRECISION: dict[np.dtype[Any], Precision] = {np.dtype(F32): SINGLE, np.dtype(F64): DOUBLE}

# NaN


def is_all_finite(values: Array) -> bool:
    """True when no number is infinite or NaN; seldom false when they are just large.

    The dot product with itself is the cheapest test.
    """
    flat = values.ravel()
    return math.isfinite(flat.dot(flat))


def fix_nan(result: Array, *sources: Array) -> Array:
    """Give NaN results the hardware's bits: the first NaN source made quiet, else positive."""
    if is_all_finite(result):
        return result
    nan = np.isnan(result)
    if not nan.any():
        return result
    # Lanes that are switched off often hold junk, so only the NaNs themselves are looked at.
    kind = PRECISION[result.dtype]
    bits = np.full(np.count_nonzero(nan), kind.nan)
    for source in reversed(sources):
        part = np.broadcast_to(source, result.shape)[nan]
        bits = np.where(np.isnan(part), part.view(bits.dtype) | kind.quiet, bits)
    fixed = np.array(result)
    fixed.view(bits.dtype)[nan] = bits
    return fixed


def quiet(a: Array) -> Array:
    """Return ``a`` with signalling NaNs made quiet."""
    nan = np.isnan(a)
    if not nan.any():
        return a
    kind = PRECISION[a.dtype]
    bits = np.ascontiguousarray(a).view(kind.bits)
    return np.asarray(np.where(nan, bits | kind.quiet, bits).view(a.dtype))


def settled(fn: Callable[..., Array]) -> Callable[..., Array]:
    """Return the function with the hardware's NaNs; the first source that is one decides."""
    return lambda *values: fix_nan(fn(*values), *values)


# Arithmetic


add = settled(np.add)
subtract = settled(np.subtract)
"""A NaN in the subtrahend keeps its sign."""
multiply = settled(np.multiply)


def fma(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c with one rounding."""
    product = np.multiply(a, b, dtype=F64)
    return fix_nan(np.asarray(round_sum(product, np.asarray(c, F64))), a, b, c)


def round_sum(p: Array, c: Array) -> Array:
    """Return the float32 nearest to p + c, both float64 and taken as exact.

    The float64 sum is rounded once more by the conversion; that goes wrong only where it lies
    on a float32 tie or gives a subnormal, and those elements are rounded to odd first.
    """
    s = np.asarray(p + c)
    result = s.astype(F32, order="C")
    doubtful = (s.view(np.int64) & TIE_MASK) == TIE
    doubtful |= np.abs(s) < SMALLEST_NORMAL
    places = np.flatnonzero(doubtful)
    if len(places):
        sums = s.reshape(-1)[places]
        places = places[(sums != 0) & np.isfinite(sums)]
        odd = sum_to_odd(_chosen(p, s.shape, places), _chosen(c, s.shape, places))
        result.reshape(-1)[places] = odd.astype(F32)
    return result


def _chosen(value: Array, shape: tuple[int, ...], places: Array) -> Array:
    return np.broadcast_to(value, shape).reshape(-1)[places]


def sum_to_odd(p: Array, c: Array) -> Array:
    """Return p + c in float64 rounded to odd, so that a narrower rounding of it is exact."""
    s = p + c
    back = s - p
    error = (p - (s - back)) + (c - back)
    bits = s.view(np.int64)
    even = (bits & 1) == 0
    inexact = (error != 0) & np.isfinite(s)
    away = (error > 0) == (s > 0)
    step = np.where(away, np.int64(1), np.int64(-1))
    return np.where(inexact & even, bits + step, bits).view(F64)


def reciprocal_root_double(a: Array) -> Array:
    """Return the double nearest to 1 / sqrt(a), lane by lane."""
    result = np.array(1.0 / np.sqrt(a))
    for place in map(tuple, np.argwhere(np.isfinite(result) & (result > 0))):
        result[place] = _nearest_root(float(a[place]), float(result[place]))
    return fix_nan(result, a)


def _nearest_root(a: float, guess: float) -> float:
    """Step from a near guess to the nearest double; no double is a tie."""
    for direction in (0.0, math.inf):
        step = math.nextafter(guess, direction)
        middle = (Fraction(guess) + Fraction(step)) / 2
        is_below = middle * middle * Fraction(a) < 1
        if is_below == (direction > 0):
            return step
    return guess


def fma_double(a: Array, b: Array, c: Array) -> Array:
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
    return fix_nan(result, a, b, c)


def nearest_double(value: Fraction) -> float:
    """Return the double nearest to an exact fraction; too large ones become infinite."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


# Extremes


def maximum(a: Array, b: Array) -> Array:
    """IEEE maxNum: a NaN loses against a number, +0 is above -0."""
    return _extreme(np.fmax(a, b), a, b, np.bitwise_and)


def minimum(a: Array, b: Array) -> Array:
    """IEEE minNum: a NaN loses against a number, -0 is below +0."""
    return _extreme(np.fmin(a, b), a, b, np.bitwise_or)


def _extreme(result: Array, a: Array, b: Array, merge: np.ufunc) -> Array:
    """Settle zeros (equal operands merge their sign bits) and signalling NaNs."""
    if np.asarray(result).all() and is_all_finite(np.asarray(a + b)):
        return result
    kind = PRECISION[np.asarray(result).dtype]
    ia, ib = np.asarray(a).view(kind.bits), np.asarray(b).view(kind.bits)
    bits = np.where(np.equal(a, b), merge(ia, ib), np.asarray(result).view(kind.bits))
    first, second = np.isnan(a), np.isnan(b)
    if first.any() or second.any():
        for source, nan in ((ib, second), (ia, first)):
            signalling = nan & (source & kind.quiet == 0)
            bits = np.where(signalling | (first & second), source | kind.quiet, bits)
    return np.asarray(bits).view(np.asarray(result).dtype)


def of_three(pick: Callable[[Array, Array], Array]) -> Callable[[Array, Array, Array], Array]:
    """Return an extreme of three, for that of two."""
    return lambda a, b, c: pick(pick(a, b), c)


maximum3, minimum3 = of_three(maximum), of_three(minimum)


def median3(a: Array, b: Array, c: Array) -> Array:
    """The middle one of three; with a NaN among them, the minimum of the three."""
    top = maximum3(a, b, c)
    middle = np.where(top == a, maximum(b, c), np.where(top == b, maximum(a, c), maximum(a, b)))
    nan = np.isnan(a) | np.isnan(b) | np.isnan(c)
    return np.where(nan, minimum3(a, b, c), middle).astype(a.dtype, copy=False)


# Parts and limits


def flush(a: Array) -> Array:
    """Return ``a`` with subnormals replaced by zeros of the same sign."""
    bits = np.asarray(a).view(np.uint32)
    tiny = (bits & SINGLE.infinity) == 0
    if not tiny.any():
        return a
    return np.where(tiny, bits & SINGLE.sign, bits).view(F32)


def clamp_unit(a: Array) -> Array:
    """Clamp to [0, 1]; NaN and -0 become +0."""
    return np.minimum(np.where(a > 0, a, F32(0)), F32(1))


def load_exponent(a: Array, exponent: Array) -> Array:
    """Return a * 2**exponent with one rounding; ``exponent`` is int32."""
    return quiet(np.ldexp(a.astype(F64), np.clip(exponent, -2200, 2200)).astype(a.dtype))


def fraction(a: Array) -> Array:
    """Return a - floor(a), kept below one."""
    below_one = np.nextafter(a.dtype.type(1), a.dtype.type(0))
    return np.asarray(np.minimum(a - np.floor(a), below_one))


def mantissa(a: Array) -> Array:
    """Return the fraction in [0.5, 1) with the sign of ``a``; infinities and NaN pass through."""
    return np.where(np.isfinite(a), np.frexp(a)[0], a)


def exponent(a: Array) -> Array:
    """Return the int32 exponent that belongs to ``mantissa``; 0 for zero, infinities and NaN."""
    return np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(np.int32)
