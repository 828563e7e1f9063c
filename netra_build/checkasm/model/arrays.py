"""Numpy arrays as the model uses them: names, scratch memory, lane masks, bytes as elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""An array of any element type; the shape is given in the docstring that uses it."""

LANES = 64
"""Work-items of one wavefront."""

U32 = np.uint32
U64 = np.uint64


class Scratch:
    """Memory that instructions reuse: fresh pages cost more than a pass over them.

    What ``array`` returns holds anything, and is valid until the same name is requested again.
    """

    def __init__(self) -> None:
        self._blocks: dict[str, Array] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """Return a contiguous array in the memory that belongs to ``name``."""
        kind = np.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        block = self._blocks.get(name)
        if block is None or block.size < size:
            block = self._blocks[name] = np.empty(size, np.uint8)
        return block[:size].view(kind).reshape(shape)


def lanes_from_masks(low: Array, high: Array) -> Array:
    """Turn two uint32[waves] mask halves into bool[waves, 64]; bit 0 is lane 0."""
    pair = np.empty((low.shape[0], 2), np.dtype("<u4"))
    pair[:, 0] = low
    pair[:, 1] = high
    return np.unpackbits(pair.view(np.uint8), axis=1, bitorder="little").view(np.bool_)


def masks_from_lanes(lanes: Array) -> tuple[Array, Array]:
    """Turn bool[waves, 64] into the two uint32[waves] halves of the mask."""
    pair = np.packbits(lanes, axis=1, bitorder="little").view(np.dtype("<u4"))
    return pair[:, 0], pair[:, 1]


def first_true(mask: Array) -> tuple[int, int]:
    """Return (wave row, lane) of the first true element of bool[waves, 64]."""
    row, lane = divmod(int(np.argmax(mask)), mask.shape[1])
    return row, lane


_ELEMENTS = {2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
"""A type of each size; nothing is ever computed with it."""


class ByteViews:
    """A uint8 array that can be seen as elements of 2, 4, 8 or 16 bytes."""

    def __init__(self, data: Array) -> None:
        self.data = data
        self._start = data.ctypes.data
        self._views: dict[int, Array] = {}

    def _elements(self, width: int, misaligned: int) -> Array | None:
        """Return the bytes as elements; None when an offset or the array is not aligned.

        ``misaligned`` is the union of the bits of all offsets.
        """
        if (misaligned | self._start) & (width - 1):
            return None
        view = self._views.get(width)
        if view is None:
            whole = self.data[: self.data.size // width * width]
            view = self._views[width] = whole.view(_ELEMENTS[width])
        return view

    def load(self, offset: Array, width: int) -> Array:
        """Return uint32[dwords, *shape]: ``width`` bytes at each int64 offset.

        Narrow values are extended with zeros. Offsets beyond the end read anything.
        """
        if width == 1:
            return self.data.take(offset, mode="clip").astype(np.uint32)[None]
        misaligned = int(np.bitwise_or.reduce(offset, axis=None))
        elements = self._elements(width, misaligned) if width in _ELEMENTS else None
        if elements is not None:
            place = offset >> (width.bit_length() - 1)
            return _as_dwords(elements.take(place, mode="clip"), width)
        words = self._elements(4, misaligned) if width > 4 else None
        if words is not None:
            steps = np.arange(width // 4).reshape(-1, *(1,) * offset.ndim)
            return words.take((offset >> 2) + steps, mode="clip")
        return self._load_bytes(offset, width)

    def _load_bytes(self, offset: Array, width: int) -> Array:
        result = np.zeros((max(1, width // 4), *offset.shape), np.uint32)
        for at in range(width):
            byte = self.data.take(offset + at, mode="clip").astype(np.uint32)
            result[at // 4] |= byte << np.uint32(8 * (at % 4))
        return result

    def store(self, offset: Array, values: Array, width: int) -> None:
        """Store the low ``width`` bytes of uint32[dwords, *shape] at each int64 offset.

        Where offsets meet, the last one in the order of the array wins.
        """
        if not offset.size:
            return
        misaligned = int(np.bitwise_or.reduce(offset, axis=None))
        words = self._elements(4, misaligned) if width >= 4 else None
        if words is not None:
            first = offset >> 2
            for i in range(width // 4):
                words[first + i if i else first] = values[i]
            return
        for at in range(width):
            byte = values[at // 4] >> np.uint32(8 * (at % 4))
            self.data[offset + at] = byte.astype(np.uint8)


def _as_dwords(loaded: Array, width: int) -> Array:
    """Turn elements of ``width`` bytes into uint32[dwords, *shape]."""
    if width <= 4:
        return loaded.astype(np.uint32, copy=False)[None]
    split = loaded.view(np.uint32).reshape(*loaded.shape, width // 4)
    return split.transpose(loaded.ndim, *range(loaded.ndim))
