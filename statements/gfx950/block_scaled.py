"""Products of FP8 numbers that have one scale for each block of 128."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.numerics.arithmetic import multiply
from netra_build.checkasm.numerics.formats import F32, Codes, from_e4m3, unshuffle_n16k16

BLOCK = 128


def block_terms(row: Codes, row_scale: F32, stored: Codes, weight_scale: F32) -> list[F32]:
    """Return per K block the float32 vector w_scale*(a_scale*dot) of all N columns.

    A dot of 128 e4m3fn products is a sum of multiples of 2**-18 below 2**25: exact in float64
    in any order.
    """
    weights = unshuffle_n16k16(stored)
    terms = []
    for block in range(row.shape[0] // BLOCK):
        span = slice(block * BLOCK, (block + 1) * BLOCK)
        left = from_e4m3(weights[:, span]).astype(np.float64)
        dot = (left @ from_e4m3(row[span]).astype(np.float64)).astype(np.float32)
        scale = np.repeat(weight_scale[:, block], BLOCK)[: stored.shape[0]]
        terms.append(multiply(scale, multiply(row_scale[block], dot)))
    return terms
