"""One launch with its expected outputs, how they are compared, and what a statement declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

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


JUNK_BYTE = 0xA5
Values = dict[str, Array | int]
"""Kernargs in order: arrays for pointers, integers for values."""

Extent = tuple[int, int, int]


@dataclass(frozen=True)
class Scenario:
    """One launch.

    ``grid`` counts work-groups, ``block`` work-items. ``expected`` holds every array that the
    kernel writes, as it has to be afterwards, untouched elements included. An output that
    ``bounds`` does not name has to be equal bit by bit.
    """

    label: str
    tactic: str
    specialization: Mapping[str, int]
    values: Mapping[str, Array | int]
    grid: Extent
    block: Extent
    expected: Mapping[str, Array]
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    is_second_nearest: bool = False
    """Whether it is stated for plain results on the other side of the exact number."""

    def by_name(self, arrays: Iterable[Array]) -> dict[str, Array]:
        """Return the arrays after a run, given in the order of the kernargs, by name."""
        pointers = [name for name, value in self.values.items() if not isinstance(value, int)]
        return dict(zip(pointers, arrays, strict=True))

    def written_input(self, outputs: Mapping[str, Array]) -> str:
        """Return the first input that a run has changed, else an empty text.

        An array may have two names, an input's and an output's.
        """
        written = [self.values[name] for name in self.expected]
        for name, value in self.values.items():
            if isinstance(value, int) or any(value is one for one in written):
                continue
            # An input without stores comes back as the same object, which is a quick comparison.
            if not np.may_share_memory(outputs[name], value) and not _same(outputs[name], value):
                return name
        return ""

    def compare(self, outputs: Mapping[str, Array]) -> tuple[Comparison, ...]:
        """Compare the arrays after a run with the expectation, output by output."""
        return tuple(
            compare_arrays(name, wanted, outputs[name], self.bounds.get(name))
            for name, wanted in self.expected.items()
        )


def _same(left: Array, right: Array) -> bool:
    bits = f"u{left.dtype.itemsize}"
    return bool(np.array_equal(left.view(bits), np.ascontiguousarray(right).view(bits)))


@dataclass(frozen=True)
class Asked:
    """The requested launch: tactic id, constants, input case and seed."""

    tactic: str
    specialization: Mapping[str, int]
    case: str
    seed: int

    def rng(self) -> np.random.Generator:
        """Return the generator of this tactic, case and seed."""
        return generator(self.tactic, self.case, self.seed)

    def launch(
        self,
        values: Mapping[str, Array | int],
        grid: Extent,
        block: Extent,
        expected: Mapping[str, Array],
        bounds: Mapping[str, Bound] | None = None,
    ) -> Scenario:
        """Return the launch with these kernargs and expected outputs.

        ``BadInput`` for an output that is not among the arrays.
        """
        for name in expected:
            if isinstance(values.get(name, 0), int):
                raise BadInput(f'expected output "{name}" is no array among the kernargs')
        label = f"{self.tactic}/{self.case}/{self.seed}"
        named = (label, self.tactic, self.specialization)
        return Scenario(*named, values, grid, block, expected, bounds or {})


@dataclass(frozen=True)
class Entry:
    """How a tactic's launches are made, its cases, and its specializations by variant name."""

    make: Callable[[Asked], Scenario]
    cases: tuple[str, ...]
    specializations: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: {"": {}})


def generator(*words: str | int) -> np.random.Generator:
    """Return a random generator seeded by these words."""
    return np.random.default_rng([crc32(str(word).encode()) for word in words])


def junk(dtype: str, *shape: int) -> Array:
    """Return an output buffer that no kernel would write by chance."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    filled: Array = np.full(size, JUNK_BYTE, np.uint8).view(dtype).reshape(shape)
    return filled


def bits_of(value: np.float32) -> int:
    """Return an FP32 number as the integer that its kernarg holds."""
    return int(np.float32(value).view(np.uint32))


def with_junk_above(low: Array, rng: np.random.Generator) -> Array:
    """Return 64-bit numbers whose low dwords are ``low`` and whose high dwords are junk."""
    high = rng.integers(0, 2**31, low.shape, dtype=np.int64) << np.int64(32)
    return low.astype(np.int64) | high
