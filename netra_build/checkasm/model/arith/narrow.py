"""Narrow floats (f16, bf16, e4m3, e5m2, e2m3, e3m2, e2m1), rounded to nearest even."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from netra_build.checkasm.model.arith.ieee import DOUBLE, F32, F64, SINGLE
from netra_build.checkasm.model.arrays import Array, Scratch

_CHUNK = 1 << 16
"""Codes that are decoded at once: few enough that they stay in the cache between passes."""


def half_to_single(bits: Array) -> Array:
    """Widen f16 bits in the low half of uint32 to float32."""
    return bits.astype(np.uint16).view(np.float16).astype(F32)


def single_to_half(value: Array, *, saturate: bool = False) -> Array:
    """Round float32 or float64 to f16 bits in uint32.

    With ``saturate`` a number that is too large gives the largest f16 instead of infinity.
    """
    bits = value.astype(np.float16).view(np.uint16).astype(np.uint32)
    if not saturate:
        return bits
    over = (bits & np.uint32(0x7FFF) == np.uint32(0x7C00)) & np.isfinite(value)
    return np.where(over, bits - np.uint32(1), bits)


def single_to_half_toward_zero(value: Array) -> Array:
    """Cut float32 to f16 bits in uint32; finite values stay finite."""
    half = value.astype(np.float16)
    bits = half.view(np.uint16).astype(np.uint32)
    over = np.isfinite(value) & (np.abs(half.astype(F32)) > np.abs(value))
    return np.where(over, bits - np.uint32(1), bits)


def bf16_to_single(bits: Array) -> Array:
    """Widen bf16 bits in the low half of uint32 to float32."""
    return (bits << np.uint32(16)).view(F32)


def single_to_bf16(value: Array) -> Array:
    """Round float32 to bf16 bits in uint32; NaN stays NaN and is made quiet."""
    bits = np.asarray(value).view(np.uint32)
    lsb = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + lsb) >> np.uint32(16)
    nan = np.isnan(value)
    if nan.any():
        return np.where(nan, (bits >> np.uint32(16)) | np.uint32(0x40), rounded)
    return rounded


class Minifloat:
    """A float format of at most eight bits. ``special`` says what the top exponent means: "ieee"
    as in e5m2, "nan" for one NaN code per sign as in e4m3, nothing in the others.
    """

    def __init__(self, exponent_bits: int, mantissa_bits: int, bias: int, special: str) -> None:
        self.exponent_bits = exponent_bits
        self.mantissa_bits = mantissa_bits
        self.bias = bias
        self.special = special
        self.sign = 1 << (exponent_bits + mantissa_bits)
        top = self.sign - 1
        if special == "ieee":
            top = ((1 << exponent_bits) - 1 << mantissa_bits) - 1
        elif special == "nan":
            top -= 1
        self.largest_code = top
        self.largest_negative = self.sign + top
        self.nan_code = self.sign - 1
        self.infinity_code = top + 1 if special == "ieee" else self.nan_code

    @lru_cache(maxsize=8)  # noqa: B019 - the few formats live as long as the module
    def values(self) -> Array:
        """Return the value of every code: float64[2 * sign]."""
        codes = np.arange(self.sign)
        fraction = codes & ((1 << self.mantissa_bits) - 1)
        exponent = codes >> self.mantissa_bits
        implied = np.where(exponent > 0, 1 << self.mantissa_bits, 0)
        scale = np.maximum(exponent, 1) - self.bias - self.mantissa_bits
        value = np.ldexp((fraction + implied).astype(F64), scale)
        if self.special == "ieee":
            value[codes > self.largest_code] = np.nan
            value[self.largest_code + 1] = np.inf
        elif self.special == "nan":
            value[self.nan_code] = np.nan
        return np.concatenate([value, -value])

    @property
    def unit(self) -> float:
        """What ``decode_bytes`` counts in."""
        return 2.0 ** (SINGLE.bias - self.bias)

    def decode_bytes(self, codes: Array, result: Array, scratch: Scratch) -> None:
        """Fill float64 ``result`` with the numbers of uint8 codes, in multiples of ``unit``.

        Sign, exponent and fraction move into the fields of a float32, whose bias is larger.
        """
        codes, result = codes.reshape(-1), result.reshape(-1)
        fields = scratch.array("float32 fields", (min(codes.size, _CHUNK),), np.int32)
        shift = np.int32(SINGLE.mantissa_bits - self.mantissa_bits)
        kept = np.int32((self.sign - 1 << int(shift)) - (1 << 31))
        for at in range(0, codes.size, _CHUNK):
            part = codes[at : at + _CHUNK]
            # Specials of either sign are the largest codes, as signed or unsigned numbers.
            if part.view(np.int8).max() > self.largest_code or part.max() > self.largest_negative:
                result[at : at + _CHUNK] = self.decode(part) / self.unit
                continue
            bits = fields[: part.size]
            # The sign is extended, so that the shift takes it to the top as well.
            np.copyto(bits, part.view(np.int8))
            bits <<= shift
            bits &= kept
            result[at : at + _CHUNK] = bits.view(F32)

    def decode(self, codes: Array) -> Array:
        """Return the float64 values of ``codes``."""
        return self.values().take(codes, mode="clip")

    def encode(self, value: Array, *, saturate: bool) -> Array:
        """Round float32 or float64 to codes in uint32, to nearest even, subnormals kept.

        Beyond the largest value: the largest value when ``saturate``, else infinity or, in a
        format without it, NaN. Formats with neither always saturate. Infinities saturate too.
        """
        exact = value.astype(F64)
        negative = np.signbit(exact)
        magnitude = np.abs(exact)
        code = self._nearest_code(magnitude)
        beyond = self.largest_code if saturate or not self.special else self.infinity_code
        # The bits of infinity and NaN count as larger than every number.
        code = np.where(code > self.largest_code, beyond, code)
        nan = np.isnan(magnitude)
        if nan.any():
            code = np.where(nan, self.nan_code if self.special else self.largest_code, code)
        return np.where(negative, code | self.sign, code).astype(np.uint32)

    def _nearest_code(self, magnitude: Array) -> Array:
        """Return the int64 code of float64 numbers of no sign, as if exponents had no end."""
        bits = magnitude.view(np.int64)
        dropped = np.int64(DOUBLE.mantissa_bits - self.mantissa_bits)
        # A carry out of the fraction moves the exponent by itself.
        odd = (bits >> dropped) & 1
        rounded = (bits + ((np.int64(1) << (dropped - 1)) - 1 + odd)) >> dropped
        normal = rounded - ((DOUBLE.bias - self.bias) << self.mantissa_bits)
        tiny = magnitude < 2.0 ** (1 - self.bias)
        if not tiny.any():
            return normal
        steps = np.rint(magnitude[tiny] * 2.0 ** (self.bias - 1 + self.mantissa_bits))
        normal[tiny] = steps.astype(np.int64)
        return normal


E4M3 = Minifloat(4, 3, 7, "nan")
E5M2 = Minifloat(5, 2, 15, "ieee")
E2M3 = Minifloat(2, 3, 1, "")
E3M2 = Minifloat(3, 2, 3, "")
E2M1 = Minifloat(2, 1, 1, "")


def scale_value(codes: Array) -> Array:
    """Return the float64 value of E8M0 scale bytes: 2**(e - 127), 0xff is NaN."""
    value = np.ldexp(1.0, codes.astype(np.int64) - 127)
    return np.where(codes == 0xFF, np.nan, value)
