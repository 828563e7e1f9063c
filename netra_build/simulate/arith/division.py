"""The three helpers of the division sequence: scaling, the last step and the special cases."""

from __future__ import annotations

import numpy as np

from netra_build.simulate.arith.single import fma, quiet, sum_to_odd
from netra_build.simulate.arrays import Array

F32 = np.float32
F64 = np.float64
_TINY = 2.0**-126
_UP = 2.0**64
_NAN = np.uint32(0x7FC00000)
_DIVIDE_NAN = np.uint32(0xFFC00000)
_SIGN = np.uint32(0x80000000)


def _exponent(x: Array) -> Array:
    """Biased exponent field as int32."""
    return ((np.asarray(x).view(np.uint32) >> np.uint32(23)) & np.uint32(0xFF)).astype(np.int32)


def _is_tiny(x: Array) -> Array:
    result: Array = (x != 0) & (np.abs(x) < _TINY)
    return result


def div_scale(s0: Array, denominator: Array, numerator: Array) -> tuple[Array, Array]:
    """Scale s0, which is the numerator or the denominator, out of the dangerous ranges.

    Returns the scaled operand and a flag per lane: the quotient needs scaling back. The ranges
    are those of AMD's description with "denormal" meaning a float32 one; a reciprocal below the
    normal range scales down by 2**64, since scaling up could only overflow.
    """
    d, n = denominator.astype(F64), numerator.astype(F64)
    gap = _exponent(numerator) - _exponent(denominator)
    inverse_tiny, quotient_tiny = _is_tiny(1.0 / d), _is_tiny(n / d)
    is_denominator, is_numerator = s0 == denominator, s0 == numerator
    large = gap >= 96
    factor = np.select(
        [
            large,
            _is_tiny(d),
            inverse_tiny & quotient_tiny,
            inverse_tiny,
            quotient_tiny,
            _exponent(numerator) <= 23,
        ],
        [
            np.where(is_denominator, _UP, 1.0),
            _UP,
            np.where(is_denominator, 1.0 / _UP, 1.0),
            1.0 / _UP,
            np.where(is_numerator, _UP, 1.0),
            _UP,
        ],
        1.0,
    )
    scaled = (s0.astype(F64) * factor).astype(F32)
    zero = (d == 0) | (n == 0)
    flag = ~zero & (large | (~_is_tiny(d) & quotient_tiny))
    return np.where(zero, _NAN.view(F32), scaled).astype(F32, copy=False), flag


def div_fmas(a: Array, b: Array, c: Array, flag: Array) -> Array:
    """Return a * b + c, scaled back by 2**64 or 2**-64 where ``flag`` says so.

    The published text gives one direction only; the direction that makes the sequence right
    follows from the size of the estimate in c, as AMD's later manuals say.
    """
    plain = fma(a, b, c)
    if not np.any(flag):
        return plain
    factor = np.where(_exponent(c) > 127, _UP, 1.0 / _UP)
    exact = a.astype(F64) * b
    # The scaled result may be subnormal: round once, from the sum rounded to odd.
    total = sum_to_odd(exact, c.astype(F64))
    scaled = (total * factor).astype(F32)
    return np.where(flag, scaled, plain).astype(F32, copy=False)


def div_fixup(quotient: Array, denominator: Array, numerator: Array) -> Array:
    """Give the quotient its sign and settle zeros, infinities, NaNs, overflow and underflow.

    A NaN quotient of two numbers means that the steps before overflowed: it becomes infinite.
    """
    d, n = np.asarray(denominator), np.asarray(numerator)
    sign = (d.view(np.uint32) ^ n.view(np.uint32)) & _SIGN
    size = np.abs(quotient).astype(F32).view(np.uint32)
    infinity, zero = np.uint32(0x7F800000), np.uint32(0)
    magnitude = np.select(
        [
            (d == 0) | np.isinf(n),
            np.isinf(d) | (n == 0),
            _exponent(n) - _exponent(d) < -150,
            np.isnan(quotient),
        ],
        [infinity, zero, zero, infinity],
        size,
    ).astype(np.uint32)
    result = (magnitude | sign).view(F32)
    invalid = ((d == 0) & (n == 0)) | (np.isinf(d) & np.isinf(n))
    result = np.where(invalid, _DIVIDE_NAN.view(F32), result)
    result = np.where(np.isnan(d), quiet(np.broadcast_to(d, result.shape)), result)
    return np.where(np.isnan(n), quiet(np.broadcast_to(n, result.shape)), result)
