"""One launch with its expected outputs: what a kernel is run with and compared against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.compare import Comparison, compare_arrays
from netra_build.checkasm.numerics.formats import from_bf16
from netra_build.checkasm.numerics.registry import Tolerance

Array = npt.NDArray[Any]
JUNK_BYTE = 0xA5
EXACT = Tolerance()


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
class Scenario:
    """One launch. ``values`` are the kernargs in order: arrays for pointers, integers for values.

    ``grid`` counts work-groups, ``block`` work-items. ``expected`` holds every array that the
    kernel writes, as it has to be afterwards, untouched elements included. An output that
    ``bounds`` does not name has to be equal bit by bit.
    """

    label: str
    tactic: str
    specialization: Mapping[str, int]
    values: Mapping[str, Array | int]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    expected: Mapping[str, Array]
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    is_second_nearest: bool = False
    """Whether it is stated for plain results on the other side of the exact number."""

    def compare(self, outputs: Mapping[str, Array]) -> tuple[Comparison, ...]:
        """Compare the arrays after a run with the expectation, output by output."""
        results = []
        for name, wanted in self.expected.items():
            bound = self.bounds.get(name)
            got = outputs[name]
            if bound is None:
                results.append(compare_arrays(name, wanted, got, EXACT))
                continue
            tolerance = Tolerance("ulps", bound.ulps, bound.reason)
            near = np.where(_is_near(wanted, got, bound.floor), wanted, got)
            results.append(compare_arrays(name, wanted, near, tolerance))
        return tuple(results)


Maker = Callable[[str, Mapping[str, int], str, int], Scenario]
"""Takes tactic id, constants, input case and seed."""


@dataclass(frozen=True)
class Entry:
    """What makes the launches of a tactic, its cases, and its specializations by variant name."""

    make: Maker
    cases: tuple[str, ...]
    specializations: Mapping[str, Mapping[str, int]]


def generator(*words: str | int) -> np.random.Generator:
    """Return a generator of its own for these words."""
    return np.random.default_rng([crc32(str(word).encode()) for word in words])


def junk(dtype: str, *shape: int) -> Array:
    """Return an output buffer that no kernel would write by chance."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    filled: Array = np.full(size, JUNK_BYTE, np.uint8).view(dtype).reshape(shape)
    return filled


def _is_near(wanted: Array, got: Array, floor: Any) -> npt.NDArray[np.bool_]:
    if wanted.dtype == np.uint16:
        wanted, got = from_bf16(wanted), from_bf16(got)
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(wanted.astype(np.float64) - got.astype(np.float64))
        return np.asarray(distance <= np.asarray(floor, np.float64))
