"""Numbers that inputs are filled with, by case: usual ones, edges of the formats, sums that cancel.

A fill takes a generator and a shape. Reports of products depend on equal bytes for an equal
generator: the order in which a fill draws numbers must not change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.numerics.formats import F32, Bits, Codes, to_bf16, to_e4m3
from netra_build.checkasm.numerics.scenario import Array

Rng = np.random.Generator
Fill = Callable[[Rng, tuple[int, ...]], Array]

LARGEST_CODE = 0x7E
SMALLEST_SUBNORMAL_CODES = 8


def normal(spread: float) -> Fill:
    """Return a fill of normal numbers."""

    def fill(rng: Rng, shape: tuple[int, ...]) -> Array:
        return (rng.standard_normal(shape) * spread).astype(np.float32)

    return fill


def constant(value: float) -> Fill:
    """Return a fill of one number."""

    def fill(rng: Rng, shape: tuple[int, ...]) -> Array:
        return np.full(shape, value, np.float32)

    return fill


def powers(low: float, high: float) -> Fill:
    """Return a fill of positive numbers spread evenly over powers of two, with full mantissas."""

    def fill(rng: Rng, shape: tuple[int, ...]) -> Array:
        return np.exp2(rng.uniform(low, high, shape)).astype(np.float32)

    return fill


def signed_powers(low: float, high: float) -> Fill:
    """Return the same with either sign."""

    def fill(rng: Rng, shape: tuple[int, ...]) -> Array:
        sign = rng.integers(0, 2, shape) * 2 - 1
        return (sign * np.exp2(rng.uniform(low, high, shape))).astype(np.float32)

    return fill


def _signed_zeros(rng: Rng, shape: tuple[int, ...]) -> Array:
    return np.where(rng.integers(0, 2, shape) == 1, -0.0, 0.0).astype(np.float32)


def _at_code_boundaries(rng: Rng, shape: tuple[int, ...]) -> Array:
    """Magnitudes around the largest of a group, so that codes come out near ±448 and at ties."""
    steps = rng.integers(224, 449, shape) / 448.0
    return (steps * (rng.integers(0, 2, shape) * 2 - 1) * 8.0).astype(np.float32)


def _zero_codes(rng: Rng, shape: tuple[int, ...]) -> Array:
    return np.zeros(shape, np.uint8)


def _finite_codes(rng: Rng, shape: tuple[int, ...]) -> Array:
    """Any of the 254 codes that are numbers."""
    codes = rng.integers(0, 254, shape, dtype=np.uint8)
    return np.where(codes >= 127, codes + 1, codes).astype(np.uint8)


def _subnormal_codes(rng: Rng, shape: tuple[int, ...]) -> Array:
    sign = rng.integers(0, 2, shape, dtype=np.uint8) << 7
    size = rng.integers(0, SMALLEST_SUBNORMAL_CODES, shape, dtype=np.uint8)
    return (size | sign).astype(np.uint8)


def _largest_codes(rng: Rng, shape: tuple[int, ...]) -> Array:
    """±448, the two signs about equally often."""
    return (LARGEST_CODE | rng.integers(0, 2, shape, dtype=np.uint8) << 7).astype(np.uint8)


def _equal_codes(rng: Rng, shape: tuple[int, ...]) -> Array:
    return np.full(shape, int(rng.integers(1, 127)), np.uint8)


def _normal_behind_signs(rng: Rng, shape: tuple[int, ...]) -> Array:
    """Normal numbers, drawn after unused signs, as in the published inputs."""
    rng.integers(0, 2, shape)
    return rng.standard_normal(shape).astype(np.float32)


FLOATS: dict[str, Fill] = {
    "random": _normal_behind_signs,
    "zeros": _signed_zeros,
    "subnormals": signed_powers(-133, -60),
    "equal": constant(1.5),
    "largest": signed_powers(40, 57),
    "cancellation": signed_powers(-24, 24),
}
"""Float32 numbers by case, whose products of pairs stay finite."""


def floats(case: str, rng: Rng, *shape: int) -> F32:
    """Return float32 numbers of a case, usual ones where ``FLOATS`` does not name it."""
    return FLOATS.get(case, FLOATS["random"])(rng, shape)


def bf16(case: str, rng: Rng, *shape: int) -> Bits:
    """Return the same as bf16 bits."""
    return to_bf16(floats(case, rng, *shape))


def saturated(values: F32) -> Codes:
    """Return saturated E4M3 codes."""
    return to_e4m3(values, saturate=True)


@dataclass(frozen=True)
class Scaled:
    """How a case fills E4M3 codes, their scales, and float32 numbers that become codes."""

    codes: Fill
    scales: Fill
    floats: Fill


SCALED: dict[str, Scaled] = {
    "random": Scaled(_finite_codes, powers(-12, 2), normal(4.0)),
    "zeros": Scaled(_zero_codes, constant(1.0), _signed_zeros),
    # Large scales: the least thing added to a dot product of zeros shows.
    "zero_codes": Scaled(_zero_codes, powers(38, 46), normal(4.0)),
    # Subnormal codes and scales whose products are float32 subnormals.
    "subnormals": Scaled(_subnormal_codes, powers(-75, -60), signed_powers(-149, -120)),
    "saturation": Scaled(_largest_codes, powers(-2, 2), _at_code_boundaries),
    "equal": Scaled(_equal_codes, constant(0.75), constant(1.5)),
    # Sums of about 2**120, still finite.
    "largest": Scaled(_largest_codes, powers(38, 46), signed_powers(6, 60)),
}
"""Block-scaled numbers by case."""
