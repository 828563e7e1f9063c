"""The n16k16 weight shuffle: which byte of a matrix lies where."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.numerics.formats import Codes

TILE_ROWS = 16
TILE_BYTES = 16


def shuffle_n16k16(weights: Codes) -> Codes:
    """Shuffle logical codes [..., N, K] to the stored order of the same shape.

    N must be a multiple of 16, K of 32. Within 16 rows, each run of 32 K is stored as two halves
    of 16 K; within a half, row after row.
    """
    *lead, rows, columns = weights.shape
    tiled = weights.reshape(*lead, rows // 16, 16, columns // 32, 2, 16)
    order = np.moveaxis(tiled, -4, -2)
    return np.ascontiguousarray(order).reshape(weights.shape)


def unshuffle_n16k16(stored: Codes) -> Codes:
    """Return the logical codes [..., N, K] of stored ones."""
    *lead, rows, columns = stored.shape
    tiled = stored.reshape(*lead, rows // 16, columns // 32, 2, 16, 16)
    order = np.moveaxis(tiled, -2, -4)
    return np.ascontiguousarray(order).reshape(stored.shape)


def shuffled_offset(row: int, column: int, columns: int) -> int:
    """Return the byte offset of one logical element in the stored matrix of ``columns`` K."""
    tile, row_in_tile = divmod(row, TILE_ROWS)
    pair, rest = divmod(column, 2 * TILE_BYTES)
    half, byte = divmod(rest, TILE_BYTES)
    return tile * TILE_ROWS * columns + pair * 512 + half * 256 + row_in_tile * 16 + byte
