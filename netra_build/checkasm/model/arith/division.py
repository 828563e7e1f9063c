"""The three helpers of the division sequence: scaling, the last step and the special cases.

All take both precisions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from netra_build.checkasm.model.arith.ieee import (
    DOUBLE,
    PRECISION,
    SINGLE,
    Precision,
    fma,
    fma_double,
    nearest_double,
    quiet,
    sum_to_odd,
)
from netra_build.checkasm.model.arrays import Array


class _Limits(NamedTuple):
    scale: int
    """Powers of two by which operands are moved."""
    large_gap: int
    small_numerator: int


_LIMITS = {SINGLE: _Limits(64, 96, 23), DOUBLE: _Limits(128, 768, 53)}


def _first(choices: list[tuple[Array, Array | int]], default: Array | int) -> Array:
    """Return, lane by lane, the value of the first choice whose condition holds."""
    return np.select([where for where, _ in choices], [value for _, value in choices], default)


def _is_tiny(numerator: Array, denominator: Array, kind: Precision) -> Array:
    """Tell where the exact quotient of two numbers is below the normal range, and not zero."""
    n, n_exponent = np.frexp(np.abs(numerator.astype(np.float64)))
    d, d_exponent = np.frexp(np.abs(denominator.astype(np.float64)))
    gap = n_exponent.astype(np.int64) - d_exponent + kind.bias - 1
    quotient = np.ldexp(n / d, np.clip(gap, -900, 900))
    return np.asarray((quotient < 1.0) & (numerator != 0))


def div_scale(s0: Array, denominator: Array, numerator: Array) -> tuple[Array, Array]:
    """Scale the numerator or denominator, whichever ``s0`` is, out of dangerous ranges.

    Returns the scaled operand and a flag per lane: the quotient needs scaling back. The ranges
    are those of AMD's description with "denormal" meaning one of the operand's own type; a
    reciprocal below the normal range scales down, since scaling up could only overflow.
    """
    kind = PRECISION[s0.dtype]
    up, large_gap, small_numerator = _LIMITS[kind]
    s0, d, n = np.broadcast_arrays(s0, denominator, numerator)
    one = np.ones_like(d)
    tiny_d, inverse_tiny = _is_tiny(d, one, kind), _is_tiny(one, d, kind)
    quotient_tiny = _is_tiny(n, d, kind)
    large = kind.exponent(n) - kind.exponent(d) >= large_gap
    choices: list[tuple[Array, Array | int]] = [
        (large, np.where(s0 == d, up, 0)),
        (tiny_d, up),
        (inverse_tiny & quotient_tiny, np.where(s0 == d, -up, 0)),
        (inverse_tiny, -up),
        (quotient_tiny, np.where(s0 == n, up, 0)),
        (kind.exponent(n) <= small_numerator, up),
    ]
    scaled = np.ldexp(s0, _first(choices, 0))
    zero = (d == 0) | (n == 0)
    flag = ~zero & (large | (~tiny_d & quotient_tiny))
    return np.where(zero, kind.nan.view(s0.dtype), scaled).astype(s0.dtype, copy=False), flag


def div_fmas(a: Array, b: Array, c: Array, flag: Array) -> Array:
    """Return a * b + c, scaled back where the flag says so.

    The published text gives one direction only; the direction that makes the sequence right
    follows from the size of the estimate in c, as AMD's later manuals say.
    """
    kind = PRECISION[a.dtype]
    plain = fma(a, b, c) if kind is SINGLE else fma_double(a, b, c)
    if not np.any(flag):
        return plain
    scale = _LIMITS[kind].scale
    power = np.where(kind.exponent(c) > kind.bias, scale, -scale)
    a, b, c, power, flag = np.broadcast_arrays(a, b, c, power, flag)
    result = np.array(plain)
    # The scaled result may be subnormal, so it is rounded once, from the exact sum.
    chosen = flag & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    result[chosen] = _scaled_fma(a[chosen], b[chosen], c[chosen], power[chosen])
    return result


def _scaled_fma(a: Array, b: Array, c: Array, power: Array) -> Array:
    if a.dtype == np.float32:
        odd = sum_to_odd(a.astype(np.float64) * b, c.astype(np.float64))
        return np.ldexp(odd, power).astype(np.float32)
    values = []
    for x, y, z, p in zip(a.tolist(), b.tolist(), c.tolist(), power.tolist(), strict=True):
        exact = (Fraction(x) * Fraction(y) + Fraction(z)) * Fraction(2) ** p
        values.append(nearest_double(exact))
    return np.array(values, np.float64)


def div_fixup(quotient: Array, denominator: Array, numerator: Array) -> Array:
    """Settle sign, zeros, infinities, NaNs, overflow and underflow.

    A NaN quotient of two numbers means that the steps before overflowed: it becomes infinite.
    """
    q, d, n = np.broadcast_arrays(quotient, denominator, numerator)
    kind = PRECISION[q.dtype]
    sign = (d.view(kind.bits) ^ n.view(kind.bits)) & kind.sign
    gap, zero = kind.exponent(n) - kind.exponent(d), kind.bits(0)
    choices: list[tuple[Array, Array | int]] = [
        ((d == 0) | np.isinf(n), kind.infinity),
        (np.isinf(d) | (n == 0), zero),
        (gap < -kind.bias - kind.mantissa_bits, zero),
        (np.isnan(q), kind.infinity),
    ]
    magnitude = _first(choices, np.abs(q).view(kind.bits))
    result = (magnitude.astype(kind.bits) | sign).view(q.dtype)
    invalid = ((d == 0) & (n == 0)) | (np.isinf(d) & np.isinf(n))
    result = np.where(invalid, (kind.nan | kind.sign).view(q.dtype), result)
    result = np.where(np.isnan(d), quiet(d), result)
    return np.where(np.isnan(n), quiet(n), result)
