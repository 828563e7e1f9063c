"""What both stages of split-sequence attention share: shapes, splits and their partial results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.numerics.formats import F32
from netra_build.checkasm.numerics.inputs import Rng
from netra_build.checkasm.numerics.scenario import Values

SPLIT_TILE = 32
DIMENSIONS = 256
QUERY_HEADS = 16
KV_HEADS = 2

EDGES = (1, 15, 16, 31, 32, 33, 63, 64, 65, 127, 129)

Lengths = tuple[tuple[int, ...], tuple[int, ...]]
"""Keys and splits of each row."""

LENGTHS: Mapping[str, Lengths] = {
    "one_split": ((1, 15, 16, 33), (1, 1, 1, 1)),
    "tile_edges": ((31, 32, 33, 63, 64, 65), (1, 1, 2, 3, 2, 3)),
    "empty_splits": ((1, 33, 64, 100), (129, 129, 7, 3)),
    "masks": ((2, 3, 5, 6, 9, 10, 13, 14, 18, 22, 26, 30), (1,) * 12),
    "extents": ((33, 64, 66, 96, 97, 129, 160, 193), (2, 2, 2, 3, 3, 4, 5, 6)),
    "window_lengths": ((4094, 4095, 4096), (3, 16, 129)),
}
MERGED_LENGTHS: Mapping[str, Lengths] = {
    "more_splits_than_merged": ((4480,), (140,)),
    "far_apart": ((300, 300), (9, 7)),
    "scaled": ((64, 64, 64), (2, 2, 2)),
    "extreme_values": ((96, 40), (3, 1)),
    "ties": (tuple(32 * n for n in (3, 5, 7, 9, 11, 13)), (3, 5, 7, 9, 11, 13)),
}
"""Keys and splits of each row, in the further cases of stage 2."""


def split_bounds(keys: int, splits: int, split: int) -> tuple[int, int]:
    """Return first key and end of a split; it is empty when the first is not below the end."""
    wanted = (keys + splits - 1) // splits
    per = (wanted + SPLIT_TILE - 1) // SPLIT_TILE * SPLIT_TILE
    return split * per, min(split * per + per, keys)


@dataclass(frozen=True)
class Partials:
    """What stage 1 writes: mid FP32 [M, 16, splits, 256] and lse FP32 [M, 16, splits]."""

    mid: F32
    lse: F32


def chosen_lengths(case: str, rng: Rng) -> Lengths:
    """Return keys and splits of each row: those of the case, or up to four random ones."""
    if fixed := LENGTHS.get(case) or MERGED_LENGTHS.get(case):
        return fixed
    count = int(rng.integers(1, 5))
    keys = rng.choice(EDGES, count)
    keys = np.where(rng.random(count) < 0.6, keys, rng.integers(1, 300, count))
    return tuple(int(n) for n in keys), tuple(int(n) for n in rng.integers(1, 9, count))


def partial_strides(splits: int) -> Values:
    """Return the kernargs that give the place of a split's partial results."""
    return {
        "mid_tok": QUERY_HEADS * splits * DIMENSIONS,
        "mid_head": splits * DIMENSIONS,
        "mid_split": DIMENSIONS,
    }
