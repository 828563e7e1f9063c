"""Number formats and the stored order of weights, vectorised and exact.

Names: e4m3fn bytes are ``uint8`` codes of OCP FP8 (bias 7, largest 448, no infinities), bf16 bits
are ``uint16``. Everything else is float32. Denormals are kept throughout.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
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


def unshuffle_n16k16(stored: Codes) -> Codes:
    """Return the logical codes [..., N, K] of weights that are stored shuffled by n16k16.

    N is a multiple of 16, K of 32. Within 16 rows, each run of 32 K is stored as two halves of
    16 K; within a half, row after row.
    """
    *lead, rows, columns = stored.shape
    tiled = stored.reshape(*lead, rows // 16, columns // 32, 2, 16, 16)
    order = np.moveaxis(tiled, -2, -4)
    return np.ascontiguousarray(order).reshape(stored.shape)
