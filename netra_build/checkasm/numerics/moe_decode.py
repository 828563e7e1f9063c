"""What the three decode MoE tactics compute, in the contract's rounding order.

Model: a matrix instruction is the exact dot product rounded once to float32; the sigmoid's rcp and
exp2 are plain (see ``plain``). Silicon may differ in the last bit of those.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.formats import (
    F32,
    Bits,
    Codes,
    add,
    exp2,
    from_e4m3,
    multiply,
    reciprocal,
    round_bf16,
    to_bf16,
    to_e4m3,
)
from netra_build.checkasm.numerics.layouts import unshuffle_n16k16
from netra_build.checkasm.numerics.plain import plain_reciprocal

BLOCK = 128
AMAX_FLOOR = np.float32(1e-10)
INVERSE_448 = np.uint32(0x3B124925).view(np.float32)
MINUS_LOG2_E = np.float32(-1.442695)

Ids = npt.NDArray[np.int32]


def gate_up(hidden: Codes, hidden_scale: F32, w13: Codes, w13_scale: F32, topk_ids: Ids) -> F32:
    """Return float32 [T*slots, N]: each token's row times its experts' gate and up weights.

    ``hidden`` [T, K] codes, ``hidden_scale`` [T, K/128], ``w13`` [E, N, K] codes as stored
    (shuffled), ``w13_scale`` [E, N/128, K/128], ``topk_ids`` [T, slots]. Per K block, ascending:
    acc = acc + w_scale*(a_scale*dot), each operation rounded.
    """
    tokens, slots = topk_ids.shape
    out = np.empty((tokens * slots, w13.shape[1]), np.float32)
    for token in range(tokens):
        for slot in range(slots):
            expert = int(topk_ids[token, slot])
            terms = block_terms(hidden[token], hidden_scale[token], w13[expert], w13_scale[expert])
            acc = np.zeros(w13.shape[1], np.float32)
            for term in terms:
                acc = add(acc, term)
            out[token * slots + slot] = acc
    return out


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


def silu_quant(gate_up_rows: F32) -> tuple[Codes, F32]:
    """Return codes [rows, I] and scales [rows, I/128] of SiLU(gate)*up.

    ``gate_up_rows`` is [rows, 2, I]. SiLU stays float32, only its product with up is rounded to
    bf16; the reciprocal of a scale is correctly rounded and the conversion does not saturate.
    """
    gate, up = gate_up_rows[:, 0], gate_up_rows[:, 1]
    sigmoid = plain_reciprocal(add(np.float32(1), exp2(multiply(gate, MINUS_LOG2_E))))
    product = round_bf16(multiply(multiply(sigmoid, gate), up))
    return group_quant(product)


def group_quant(values: F32, *, saturate: bool = False) -> tuple[Codes, F32]:
    """Quantise float32 [rows, K] by groups of 128: codes of the same shape, scales [rows, K/128].

    scale = max(amax, 1e-10) * (1/448), a multiplication; code = e4m3fn(value * (1/scale)).
    """
    groups = values.reshape(*values.shape[:-1], -1, BLOCK)
    amax = np.maximum(np.abs(groups).max(-1), AMAX_FLOOR).astype(np.float32)
    scale = multiply(amax, INVERSE_448)
    scaled = multiply(groups, reciprocal(scale)[..., None])
    return to_e4m3(scaled, saturate=saturate).reshape(values.shape), scale


def down_reduce(
    act: Codes, act_scale: F32, w2: Codes, w2_scale: F32, topk_weights: F32, topk_ids: Ids
) -> Bits:
    """Return bf16 bits [T, N]: routed rows times down weights, summed with the routing weights.

    ``act`` [T, slots, K] codes, ``act_scale`` [T, slots, K/128], ``w2`` [E, N, K] as stored,
    ``w2_scale`` [E, N/128, K/128], ``topk_weights`` and ``topk_ids`` [T, slots]. Slots ascending
    outside, K blocks ascending inside: acc = acc + rw*(w_scale*(a_scale*dot)).
    """
    tokens, slots = topk_ids.shape
    out = np.empty((tokens, w2.shape[1]), np.uint16)
    for token in range(tokens):
        acc = np.zeros(w2.shape[1], np.float32)
        for slot in range(slots):
            expert = int(topk_ids[token, slot])
            for term in block_terms(
                act[token, slot], act_scale[token, slot], w2[expert], w2_scale[expert]
            ):
                acc = add(acc, multiply(topk_weights[token, slot], term))
        out[token] = to_bf16(acc)
    return out
