"""One launch with its expected outputs, and the declaration of a tactic's statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from netra_build.checkasm.numerics.compare import Array, Bound, Comparison, compare_arrays

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
        """Return the launch with these kernargs and expected outputs."""
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
