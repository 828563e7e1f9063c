"""Comparison of outputs with the reference, and guard zones around output buffers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.registry import Tolerance
from netra_build.core.errors import BadInput

Array = npt.NDArray[Any]
GUARD_PATTERN = (0xA5, 0x5A, 0xC3, 0x3C)
SHOWN_ELEMENTS = 8
_SIGNED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
_FLOAT_BITS = {"float32", "float16", "float64", "uint16"}


@dataclass(frozen=True)
class Difference:
    """One element that differs: its index, both values as bits, and their distance in ulps."""

    index: tuple[int, ...]
    expected: str
    got: str
    ulps: int


@dataclass(frozen=True)
class Comparison:
    """The verdict on one output. ``differing`` counts elements beyond the tolerance."""

    output: str
    elements: int
    differing: int
    largest_ulps: int
    first: tuple[Difference, ...]

    @property
    def is_equal(self) -> bool:
        """Tell whether every element is within the tolerance."""
        return self.differing == 0

    def line(self) -> str:
        """Return one line for a report."""
        if self.is_equal:
            return f'output "{self.output}": {self.elements} elements agree'
        places = "; ".join(
            f"{list(d.index)} expected {d.expected}, got {d.got} ({d.ulps} ulp)" for d in self.first
        )
        return (
            f'output "{self.output}": {self.differing} of {self.elements} elements differ, '
            f"by up to {self.largest_ulps} ulp: {places}"
        )


def compare_arrays(name: str, expected: Array, got: Array, tolerance: Tolerance) -> Comparison:
    """Compare two arrays of one shape and dtype, bit by bit or in ulps.

    An ulp counts representable values between two numbers (``uint16`` are bf16 bits, ``uint8``
    are compared as codes). Zeros of either sign are 0 ulp apart; an exact comparison sees every
    bit. ``BadInput`` when shape or dtype differ.
    """
    if expected.shape != got.shape or expected.dtype != got.dtype:
        raise BadInput(
            f'output "{name}" has another shape or type',
            expected=f"{expected.dtype} {list(expected.shape)}",
            got=f"{got.dtype} {list(got.shape)}",
        )
    left, right = _bits(expected), _bits(got)
    distance = _distance(left, right, str(expected.dtype))
    allowed = tolerance.ulps if tolerance.kind == "ulps" else 0
    differs = (distance > allowed) if tolerance.kind == "ulps" else left != right
    places = np.argwhere(differs)[:SHOWN_ELEMENTS]
    return Comparison(
        output=name,
        elements=int(expected.size),
        differing=int(np.count_nonzero(differs)),
        largest_ulps=int(distance.max(initial=0)),
        first=tuple(_difference(tuple(map(int, p)), left, right, distance) for p in places),
    )


def compare_outputs(
    expected: Mapping[str, Array], got: Mapping[str, Array], tolerance: Tolerance
) -> tuple[Comparison, ...]:
    """Compare every expected output; ``BadInput`` when one is missing."""
    results = []
    for name, array in expected.items():
        if name not in got:
            raise BadInput(f'output "{name}" is missing')
        results.append(compare_arrays(name, array, got[name], tolerance))
    return tuple(results)


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


def _difference(index: tuple[int, ...], left: Array, right: Array, ulps: Array) -> Difference:
    digits = 2 * left.dtype.itemsize
    return Difference(
        index,
        f"{int(left[index]):#0{digits + 2}x}",
        f"{int(right[index]):#0{digits + 2}x}",
        int(ulps[index]),
    )


@dataclass(frozen=True)
class Guarded:
    """An output buffer with a pattern before and behind it.

    ``buffer`` is the whole allocation as bytes, ``view`` the output inside it, which starts
    ``start`` bytes into the buffer.
    """

    name: str
    buffer: npt.NDArray[np.uint8]
    start: int
    size: int
    view: Array

    def broken(self) -> tuple[int, ...]:
        """Return the offsets, from the output's start, of the first guard bytes overwritten."""
        wrong = np.flatnonzero(self.buffer != _pattern(self.buffer.size))
        outside = wrong[(wrong < self.start) | (wrong >= self.start + self.size)]
        return tuple(int(at) - self.start for at in outside[:SHOWN_ELEMENTS])

    def fault(self) -> str:
        """Return one line when a guard zone was written, else an empty string."""
        places = self.broken()
        if not places:
            return ""
        shown = ", ".join(str(at) for at in places)
        return f'output "{self.name}": guard zone written at byte {shown} from its start'


def guarded_output(
    name: str, dtype: str, shape: tuple[int, ...], *, before: int = 256, behind: int = 256
) -> Guarded:
    """Return a buffer for an output, filled with the guard pattern everywhere.

    ``before`` and ``behind`` are bytes and multiples of 16, so that the output stays aligned.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = _pattern(before + size + behind)
    view = buffer[before : before + size].view(dtype).reshape(shape)
    return Guarded(name, buffer, before, size, view)


def _pattern(size: int) -> npt.NDArray[np.uint8]:
    repeated = np.resize(np.array(GUARD_PATTERN, np.uint8), max(size, len(GUARD_PATTERN)))
    return np.ascontiguousarray(repeated[:size])
