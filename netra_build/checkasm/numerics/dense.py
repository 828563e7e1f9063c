"""What the dense single-token candidates compute: a block-scaled FP8 matrix-vector product."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.numerics.formats import F32, Bits, Codes, add, to_bf16
from netra_build.checkasm.numerics.moe_decode import block_terms


def dense_projection(
    activation: Codes, activation_scale: F32, weight: Codes, weight_scale: F32
) -> Bits:
    """Return bf16 bits [N] of ``weight`` [N, K] (stored shuffled) times ``activation`` [K].

    ``activation_scale`` [K/128], ``weight_scale`` [N/128, K/128]. Per K block, ascending:
    acc = acc + w_scale*(a_scale*dot), each operation rounded; the dot is exact, rounded once.
    """
    total = np.zeros(weight.shape[0], np.float32)
    for term in block_terms(activation, activation_scale, weight, weight_scale):
        total = add(total, term)
    return to_bf16(total)
