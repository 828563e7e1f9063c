"""Names for the numpy arrays that the functional model passes around."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""An array of any element type; the shape stands in the docstring that uses it."""

LANES = 64
"""Work-items of one wavefront."""

U32 = np.uint32
U64 = np.uint64


class Scratch:
    """Memory that instructions use again and again: fresh pages cost more than a pass over them.

    What ``array`` returns holds anything, and is valid until the same name is asked for again.
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
