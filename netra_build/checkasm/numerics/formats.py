"""Number formats and single-rounded arithmetic, vectorised and exact.

Names: e4m3fn bytes are ``uint8`` codes of OCP FP8 (bias 7, largest 448, no infinities), bf16 bits
are ``uint16``. Everything else is float32. Denormals are kept throughout.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.plain import delivered

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
F32Like = F32 | np.float32
Codes = npt.NDArray[np.uint8]
Bits = npt.NDArray[np.uint16]

E4M3_LARGEST = 448.0
E4M3_NAN = 0x7F


def _e4m3_values() -> F32:
    codes = np.arange(256)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    normal = (8 + mantissa) * np.exp2(exponent - 10.0)
    magnitude = np.where(exponent == 0, mantissa * 2.0**-9, normal)
    magnitude[(codes & 127) == E4M3_NAN] = np.nan
    return np.where(codes >= 128, -magnitude, magnitude).astype(np.float32)


E4M3_VALUES = _e4m3_values()
"""The value of each of the 256 codes; codes 0x7f and 0xff are NaN."""


def from_e4m3(codes: Codes) -> F32:
    """Return the exact values of e4m3fn codes."""
    values: F32 = E4M3_VALUES[codes]
    return values


def to_e4m3(values: F32, *, saturate: bool) -> Codes:
    """Round float32 to the nearest e4m3fn code, ties to even.

    What rounds above 448 becomes NaN, or 448 with ``saturate``; NaN stays NaN.
    """
    exact = np.abs(values.astype(np.float64))
    is_nan = np.isnan(exact)
    exact[is_nan] = 0.0
    if saturate:
        exact = np.minimum(exact, E4M3_LARGEST)
    _, exponent = np.frexp(np.minimum(exact, 2.0**10))
    step = np.exp2(np.maximum(exponent - 1, -6) - 3.0)
    with np.errstate(over="ignore"):
        rounded = np.rint(exact / step) * step
    code = np.searchsorted(E4M3_VALUES[:E4M3_NAN].astype(np.float64), rounded).astype(np.uint8)
    code[(rounded > E4M3_LARGEST) | is_nan] = E4M3_NAN
    signed: Codes = np.where(np.signbit(values), code | np.uint8(0x80), code)
    return signed


def to_bf16(values: F32) -> Bits:
    """Round float32 to bf16 bits, ties to even; a NaN stays a (quiet) NaN."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)
    quiet = bits >> np.uint64(16) | np.uint64(0x40)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)


def from_bf16(bits: Bits) -> F32:
    """Return the exact values of bf16 bits."""
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def round_bf16(values: F32) -> F32:
    """Round float32 to bf16 and back."""
    return from_bf16(to_bf16(values))


def reciprocal(values: F32) -> F32:
    """Return 1/x, correctly rounded: one float64 division has enough bits to round twice."""
    with np.errstate(divide="ignore", over="ignore"):
        return (1.0 / values.astype(np.float64)).astype(np.float32)


def divide(numerator: F32, denominator: F32) -> F32:
    """Return the correctly rounded quotient."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        quotient = numerator.astype(np.float64) / denominator.astype(np.float64)
        return quotient.astype(np.float32)


def exp2(values: F32) -> F32:
    """Return 2**x as v_exp delivers it: correctly rounded, unless ``plain`` says otherwise.

    float64 decides unless its result lies within a few units of the middle between two float32
    numbers; those are computed again with 60 digits.
    """
    with np.errstate(over="ignore", under="ignore"):
        wide = np.exp2(values.astype(np.float64))
        low = np.nextafter(wide, 0.0)
        high = np.nextafter(wide, np.inf)
        for _ in range(3):
            low, high = np.nextafter(low, 0.0), np.nextafter(high, np.inf)
        result = wide.astype(np.float32)
        unsure = low.astype(np.float32) != high.astype(np.float32)
        unsure &= values != np.rint(values)
    for index in np.argwhere(unsure):
        place = tuple(index)
        result[place] = _exp2_exact(float(values[place]))
    return delivered(result, wide)


def _exp2_exact(value: float) -> np.float32:
    """Round 2**value once, from a decimal with 60 digits (the result is never a tie)."""
    with localcontext() as context:
        context.prec = 60
        exact = (Decimal(2).ln() * Decimal(value)).exp()
        middle = np.float32(float(exact))
        neighbours = [np.nextafter(middle, np.float32(way)) for way in (-np.inf, np.inf)]
        finite = [x for x in (middle, *neighbours) if np.isfinite(x)]
        return np.float32(min(finite, key=lambda x: abs(Decimal(float(x)) - exact)))


def fma(a: F32, b: F32, c: F32) -> F32:
    """Return a*b + c with one rounding.

    The product is exact in float64; the sum is rounded to odd there, which keeps the second
    rounding to float32 from seeing a false tie.
    """
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        total = product + addend
        back = total - product
        error = (product - (total - back)) + (addend - back)
        is_even = (total.view(np.int64) & 1) == 0
        inexact = (error != 0) & np.isfinite(total) & np.isfinite(error)
        toward = np.where(error > 0, np.inf, -np.inf)
        odd = np.where(inexact & is_even, np.nextafter(total, toward), total)
        return odd.astype(np.float32)


def multiply(a: F32Like, b: F32Like) -> F32:
    """Return the product rounded once to float32, without numpy's warnings."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return np.multiply(a, b, dtype=np.float32)


def add(a: F32Like, b: F32Like) -> F32:
    """Return the sum rounded once to float32, without numpy's warnings."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.add(a, b, dtype=np.float32)
