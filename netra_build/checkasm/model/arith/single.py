"""Single precision as the vector unit computes it: one rounding, IEEE zeros, AMD's NaNs."""

from __future__ import annotations

import math

import numpy as np

from netra_build.checkasm.model.arrays import Array

F32 = np.float32
F64 = np.float64
QUIET = np.uint32(0x00400000)
DEFAULT_NAN = np.uint32(0x7FC00000)
_TIE_MASK = np.int64(0x1FFFFFFF)
_TIE = np.int64(0x10000000)
_SMALLEST_NORMAL = 2.0**-126
_INFINITY = np.uint32(0x7F800000)
_MAGNITUDE = np.uint32(0x7FFFFFFF)


def is_all_finite(values: Array) -> bool:
    """True when no number is infinite or NaN; seldom false when they are just large.

    The dot product with itself is the cheapest test.
    """
    flat = values.ravel()
    return math.isfinite(flat.dot(flat))


def fix_nan(result: Array, *sources: Array) -> Array:
    """Give NaN results the hardware's bits: the first NaN source made quiet, else 0x7fc00000."""
    if is_all_finite(result):
        return result
    nan = np.isnan(result)
    if not nan.any():
        return result
    # Lanes that are switched off often hold junk, so only the NaNs themselves are looked at.
    bits = np.full(np.count_nonzero(nan), DEFAULT_NAN, np.uint32)
    for source in reversed(sources):
        part = np.broadcast_to(source, result.shape)[nan]
        bits = np.where(np.isnan(part), part.view(np.uint32) | QUIET, bits)
    fixed = np.array(result)
    fixed.view(np.uint32)[nan] = bits
    return fixed


def add(a: Array, b: Array) -> Array:
    """Return a + b."""
    return fix_nan(np.add(a, b), a, b)


def subtract(a: Array, b: Array) -> Array:
    """Return a - b; a NaN in b keeps its sign."""
    return fix_nan(np.subtract(a, b), a, b)


def subtract_reversed(a: Array, b: Array) -> Array:
    """Return b - a."""
    return fix_nan(np.subtract(b, a), a, b)


def multiply(a: Array, b: Array) -> Array:
    """Return a * b."""
    return fix_nan(np.multiply(a, b), a, b)


def multiply_legacy(a: Array, b: Array) -> Array:
    """Return a * b, where zero times anything is zero."""
    return np.where((a == 0) | (b == 0), F32(0), multiply(a, b)).astype(F32, copy=False)


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
    doubtful = (s.view(np.int64) & _TIE_MASK) == _TIE
    doubtful |= np.abs(s) < _SMALLEST_NORMAL
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


def quiet(a: Array) -> Array:
    """Return ``a`` with signalling NaNs made quiet."""
    nan = np.isnan(a)
    if not nan.any():
        return a
    bits = np.ascontiguousarray(a).view(np.uint32)
    return np.where(nan, bits | QUIET, bits).view(F32)


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
    ia, ib = np.asarray(a).view(np.uint32), np.asarray(b).view(np.uint32)
    bits = np.where(np.equal(a, b), merge(ia, ib), np.asarray(result).view(np.uint32))
    merged = bits.view(F32)
    if not np.isnan(merged).any() and not (np.isnan(a).any() or np.isnan(b).any()):
        return merged
    for source in (b, a):
        signalling = np.isnan(source) & (np.asarray(source).view(np.uint32) & QUIET == 0)
        merged = np.where(signalling, quiet(np.broadcast_to(source, merged.shape)), merged)
    both = np.isnan(a) & np.isnan(b)
    return np.where(both, quiet(np.broadcast_to(a, merged.shape)), merged)


def maximum3(a: Array, b: Array, c: Array) -> Array:
    """Maximum of three."""
    return maximum(maximum(a, b), c)


def minimum3(a: Array, b: Array, c: Array) -> Array:
    """Minimum of three."""
    return minimum(minimum(a, b), c)


def median3(a: Array, b: Array, c: Array) -> Array:
    """The middle one of three; with a NaN among them, the minimum of the three."""
    top = maximum3(a, b, c)
    middle = np.where(top == a, maximum(b, c), np.where(top == b, maximum(a, c), maximum(a, b)))
    nan = np.isnan(a) | np.isnan(b) | np.isnan(c)
    return np.where(nan, minimum3(a, b, c), middle).astype(F32, copy=False)


def flush(a: Array) -> Array:
    """Return ``a`` with subnormals replaced by zeros of the same sign."""
    bits = np.asarray(a).view(np.uint32)
    tiny = (bits & _INFINITY) == 0
    if not tiny.any():
        return a
    return np.where(tiny, bits & np.uint32(0x80000000), bits).view(F32)


def clamp_unit(a: Array) -> Array:
    """Clamp to [0, 1]; NaN and -0 become +0."""
    low = np.where(a > 0, a, F32(0))
    return np.minimum(low, F32(1)).astype(F32, copy=False)


def load_exponent(a: Array, exponent: Array) -> Array:
    """Return a * 2**exponent with one rounding; ``exponent`` is int32."""
    bounded = np.clip(exponent, -600, 600)
    return quiet(np.ldexp(a.astype(F64), bounded).astype(F32))


def fraction(a: Array) -> Array:
    """Return a - floor(a), kept below one."""
    below_one = np.nextafter(F32(1), F32(0))
    result: Array = np.minimum(a - np.floor(a), below_one).astype(F32, copy=False)
    return result


def mantissa(a: Array) -> Array:
    """Return the fraction in [0.5, 1) with the sign of ``a``; infinities and NaN pass through."""
    return np.where(np.isfinite(a), np.frexp(a)[0], a).astype(F32, copy=False)


def exponent(a: Array) -> Array:
    """Return the int32 exponent that belongs to ``mantissa``; 0 for zero, infinities and NaN."""
    return np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(np.int32)
