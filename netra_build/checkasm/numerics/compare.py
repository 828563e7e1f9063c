"""Comparison of one output with its expectation, bit by bit or within a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.formats import from_bf16
from netra_build.core.errors import BadInput

Array = npt.NDArray[Any]
SHOWN_ELEMENTS = 8
_SIGNED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
_FLOAT_BITS = {"float32", "float16", "float64", "uint16"}


@dataclass(frozen=True)
class Bound:
    """How far an output may be from the expectation, and why.

    An element passes within ``ulps`` representable values, or within ``floor``: an absolute
    distance, one number or one for each element.
    """

    ulps: int = 0
    floor: Any = 0.0
    reason: str = ""


@dataclass(frozen=True)
class Comparison:
    """The verdict on one output: how many elements are beyond the tolerance, and the first ones."""

    output: str
    elements: int
    differing: int
    largest_ulps: int
    first: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        """Tell whether every element is within the tolerance."""
        return self.differing == 0

    def line(self) -> str:
        """Return one line for a report."""
        if self.is_equal:
            return f'output "{self.output}": {self.elements} elements agree'
        places = "; ".join(self.first)
        return (
            f'output "{self.output}": {self.differing} of {self.elements} elements differ, '
            f"by up to {self.largest_ulps} ulp: {places}"
        )


def compare_arrays(name: str, wanted: Array, got: Array, bound: Bound | None = None) -> Comparison:
    """Compare two arrays of one shape and dtype: bit by bit, or within a bound.

    An ulp counts representable values between two numbers (``uint16`` are bf16 bits, ``uint8``
    are compared as codes). Zeros of either sign are 0 ulp apart; an exact comparison covers every
    bit. ``BadInput`` when shape or dtype differ.
    """
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        raise BadInput(
            f'output "{name}" has another shape or type',
            expected=f"{wanted.dtype} {list(wanted.shape)}",
            got=f"{got.dtype} {list(got.shape)}",
        )
    if bound is not None:
        got = np.where(_is_near(wanted, got, bound.floor), wanted, got)
    left, right = _bits(wanted), _bits(got)
    distance = _distance(left, right, str(wanted.dtype))
    differs = left != right if bound is None else distance > bound.ulps
    places = np.argwhere(differs)[:SHOWN_ELEMENTS]
    return Comparison(
        output=name,
        elements=int(wanted.size),
        differing=int(np.count_nonzero(differs)),
        largest_ulps=int(distance.max(initial=0)),
        first=tuple(_shown(tuple(map(int, p)), left, right, distance) for p in places),
    )


def _is_near(wanted: Array, got: Array, floor: Any) -> npt.NDArray[np.bool_]:
    if wanted.dtype == np.uint16:
        wanted, got = from_bf16(wanted), from_bf16(got)
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(wanted.astype(np.float64) - got.astype(np.float64))
        return np.asarray(distance <= np.asarray(floor, np.float64))


def _bits(array: Array) -> Array:
    flat = np.ascontiguousarray(array)
    return flat.view(np.dtype(f"u{flat.dtype.itemsize}")).reshape(array.shape)


def _distance(left: Array, right: Array, dtype: str) -> Array:
    """Return how many representable values lie between two bit patterns."""
    if dtype not in _FLOAT_BITS:
        left, right = left.astype(np.int64), right.astype(np.int64)
        return np.asarray(np.abs(left - right))
    apart: Array = np.abs(_ordered(left) - _ordered(right))
    return apart


def _ordered(bits: Array) -> Array:
    """Map sign-magnitude bits to integers in the order of the numbers they stand for."""
    signed = bits.view(_SIGNED[bits.dtype.itemsize]).astype(np.int64)
    lowest = -(1 << (8 * bits.dtype.itemsize - 1))
    return np.where(signed < 0, lowest - signed, signed)


def _shown(index: tuple[int, ...], left: Array, right: Array, ulps: Array) -> str:
    digits = 2 * left.dtype.itemsize + 2
    expected, got = (f"{int(bits[index]):#0{digits}x}" for bits in (left, right))
    return f"{list(index)} expected {expected}, got {got} ({int(ulps[index])} ulp)"
