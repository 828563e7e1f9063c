"""The three helpers of the division sequence: scaling, the last step and the special cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from netra_build.checkasm.model.arith import ieee
from netra_build.checkasm.model.arith.ieee import nearest_double, quiet, sum_to_odd
from netra_build.checkasm.model.arrays import Array


@dataclass(frozen=True)
class Precision:
    """The limits of one floating-point type, as the division helpers use them."""

    number: Any
    bits: Any
    mantissa_bits: int
    exponent_mask: int
    bias: int
    scale: int
    """Powers of two by which operands are moved."""
    large_gap: int
    small_numerator: int
    underflow_gap: int
    fma: Callable[[Array, Array, Array], Array]

    def exponent(self, x: Array) -> Array:
        """Return the biased exponent field as int64."""
        field = np.asarray(x).view(self.bits) >> self.bits(self.mantissa_bits)
        result: Array = field.astype(np.int64) & self.exponent_mask
        return result

    def constant(self, pattern: int) -> Any:
        """Return the number with these bits."""
        return self.bits(pattern).view(self.number)

    @property
    def infinity(self) -> int:
        """Bits of +infinity."""
        return self.exponent_mask << self.mantissa_bits

    @property
    def nan(self) -> int:
        """Bits of the positive quiet NaN."""
        return self.infinity | 1 << (self.mantissa_bits - 1)

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << int(8 * np.dtype(self.bits).itemsize - 1)

    def is_tiny(self, numerator: Array, denominator: Array) -> Array:
        """Tell where the exact quotient of two numbers is below the normal range, and not zero."""
        n, n_exponent = np.frexp(np.abs(numerator.astype(np.float64)))
        d, d_exponent = np.frexp(np.abs(denominator.astype(np.float64)))
        gap = n_exponent.astype(np.int64) - d_exponent + self.bias - 1
        result: Array = (np.ldexp(n / d, np.clip(gap, -900, 900)) < 1.0) & (numerator != 0)
        return result


SINGLE = Precision(np.float32, np.uint32, 23, 0xFF, 127, 64, 96, 23, -150, ieee.fma)
DOUBLE = Precision(np.float64, np.uint64, 52, 0x7FF, 1023, 128, 768, 53, -1075, ieee.fma_double)


def div_scale(kind: Precision) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
    """Return the function that scales the numerator or denominator out of dangerous ranges.

    It gives the scaled operand and a flag per lane: the quotient needs scaling back. The ranges
    are those of AMD's description with "denormal" meaning one of the operand's own type; a
    reciprocal below the normal range scales down, since scaling up could only overflow.
    """

    def run(s0: Array, denominator: Array, numerator: Array) -> tuple[Array, Array]:
        s0, d, n = np.broadcast_arrays(s0, denominator, numerator)
        one = np.ones_like(d)
        tiny_d = kind.is_tiny(d, one)
        inverse_tiny, quotient_tiny = kind.is_tiny(one, d), kind.is_tiny(n, d)
        large = kind.exponent(n) - kind.exponent(d) >= kind.large_gap
        up, down = kind.scale, -kind.scale
        power = np.select(
            [
                large,
                tiny_d,
                inverse_tiny & quotient_tiny,
                inverse_tiny,
                quotient_tiny,
                kind.exponent(n) <= kind.small_numerator,
            ],
            [
                np.where(s0 == d, up, 0),
                up,
                np.where(s0 == d, down, 0),
                down,
                np.where(s0 == n, up, 0),
                up,
            ],
            0,
        )
        scaled = np.ldexp(s0, power)
        zero = (d == 0) | (n == 0)
        flag = ~zero & (large | (~tiny_d & quotient_tiny))
        result = np.where(zero, kind.constant(kind.nan), scaled)
        return result.astype(kind.number, copy=False), flag

    return run


def div_fmas(kind: Precision) -> Callable[[Array, Array, Array, Array], Array]:
    """Return the function a * b + c, scaled back where the flag says so.

    The published text gives one direction only; the direction that makes the sequence right
    follows from the size of the estimate in c, as AMD's later manuals say.
    """

    def run(a: Array, b: Array, c: Array, flag: Array) -> Array:
        plain = kind.fma(a, b, c)
        if not np.any(flag):
            return plain
        power = np.where(kind.exponent(c) > kind.bias, kind.scale, -kind.scale)
        a, b, c, power, flag = np.broadcast_arrays(a, b, c, power, flag)
        result = np.array(plain)
        # The scaled result may be subnormal, so it is rounded once, from the exact sum.
        chosen = flag & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
        scaled = _scaled_fma(kind, a[chosen], b[chosen], c[chosen], power[chosen])
        result[chosen] = scaled
        return result

    return run


def _scaled_fma(kind: Precision, a: Array, b: Array, c: Array, power: Array) -> Array:
    if kind.number is np.float32:
        product = a.astype(np.float64) * b
        odd = sum_to_odd(product, c.astype(np.float64))
        return np.ldexp(odd, power).astype(np.float32)
    values = []
    for x, y, z, p in zip(a.tolist(), b.tolist(), c.tolist(), power.tolist(), strict=True):
        exact = (Fraction(x) * Fraction(y) + Fraction(z)) * Fraction(2) ** p
        values.append(nearest_double(exact))
    return np.array(values, np.float64)


def div_fixup(kind: Precision) -> Callable[[Array, Array, Array], Array]:
    """Return the function that settles sign, zeros, infinities, NaNs, overflow and underflow.

    A NaN quotient of two numbers means that the steps before overflowed: it becomes infinite.
    """

    def run(quotient: Array, denominator: Array, numerator: Array) -> Array:
        q, d, n = np.broadcast_arrays(quotient, denominator, numerator)
        sign = (d.view(kind.bits) ^ n.view(kind.bits)) & kind.bits(kind.sign)
        infinity, zero = kind.bits(kind.infinity), kind.bits(0)
        magnitude = np.select(
            [
                (d == 0) | np.isinf(n),
                np.isinf(d) | (n == 0),
                kind.exponent(n) - kind.exponent(d) < kind.underflow_gap,
                np.isnan(q),
            ],
            [infinity, zero, zero, infinity],
            np.abs(q).view(kind.bits),
        ).astype(kind.bits)
        result = (magnitude | sign).view(kind.number)
        invalid = ((d == 0) & (n == 0)) | (np.isinf(d) & np.isinf(n))
        result = np.where(invalid, kind.constant(kind.nan | kind.sign), result)
        result = np.where(np.isnan(d), quiet(d), result)
        return np.where(np.isnan(n), quiet(n), result)

    return run
