"""Sums over the lanes of a wavefront in the orders that contracts fix."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.numerics.formats import F32, add


def tree64(lanes: F32) -> F32:
    """Return the sum of the last axis, 64 lanes.

    Within each row of 16 lanes a lane adds the one 8, 4, 2 and 1 before it (+0 where there is
    none), so that lane 15 has the sum; the row sums are added as (R2 + R3) + (R0 + R1).
    """
    rows = lanes.reshape(*lanes.shape[:-1], 4, 16)
    for distance in (8, 4, 2, 1):
        before = np.zeros_like(rows)
        before[..., distance:] = rows[..., :-distance]
        rows = add(rows, before)
    sums = rows[..., 15]
    return add(add(sums[..., 2], sums[..., 3]), add(sums[..., 0], sums[..., 1]))


def xor16(lanes: F32) -> F32:
    """Return the sum of the last axis, 16 lanes: a butterfly of distance 8, 4, 2, 1."""
    index = np.arange(16)
    for distance in (8, 4, 2, 1):
        lanes = add(lanes, lanes[..., index ^ distance])
    first: F32 = lanes[..., 0]
    return first
