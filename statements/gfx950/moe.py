"""The three decode MoE tactics: gate and up projection, SiLU with quantisation, down projection.

A matrix instruction is the exact dot product rounded once to float32; the sigmoid's rcp and exp2
are plain. Silicon may differ in the last bit of those.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.arithmetic import (
    add,
    exp2,
    multiply,
    plain_reciprocal,
    reciprocal,
)
from netra_build.checkasm.numerics.formats import (
    F32,
    Bits,
    Codes,
    round_bf16,
    to_bf16,
    to_e4m3,
)
from netra_build.checkasm.numerics.inputs import SCALED, Rng
from netra_build.checkasm.numerics.scenario import Array, Asked, Entry, Scenario, Values, junk

from .block_scaled import BLOCK, block_terms

AMAX_FLOOR = np.float32(1e-10)
INVERSE_448 = np.uint32(0x3B124925).view(np.float32)
MINUS_LOG2_E = np.float32(-1.442695)

HIDDEN = 2048
INTERMEDIATE = 512
SLOTS = 9
EXPERTS = 12
"""Experts in the memory of a launch; a deployed layer has 257."""

CASES = (
    *("random", "zeros", "zero_codes", "subnormals", "saturation", "equal"),
    *("one_hot_routing", "repeated_expert", "duplicated_ids", "last_expert", "largest"),
)
TOKENS_BY_CASE = {"random": (1, 2, 1), "last_expert": (2,)}
"""Rows of activations, by case and then by seed; one row where a case is not named."""

SURPLUS_BY_CASE = {"equal": 2}
"""Work-groups beyond the last row, for a kernel that is told how many rows there are."""

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


def _gate_up(asked: Asked) -> Scenario:
    tokens = _tokens(asked)
    inputs = {
        "hidden": _codes(asked, "hidden", tokens, HIDDEN),
        "hidden_scale": _scales(asked, "hidden_scale", tokens, HIDDEN // BLOCK),
        "w13": _codes(asked, "w13", EXPERTS, 2 * INTERMEDIATE, HIDDEN),
        "w13_scale": _scales(asked, "w13_scale", EXPERTS, 8, 16),
        "topk_ids": _expert_ids(asked, tokens),
    }
    values: Values = {**inputs, "out": junk("float32", tokens * SLOTS, 2 * INTERMEDIATE)}
    expected = {"out": gate_up(*inputs.values())}
    return asked.launch(values, (576, tokens, 1), (64, 1, 1), expected)


def _silu_quant(asked: Asked) -> Scenario:
    rows = _tokens(asked) * SLOTS
    shape = (rows, 2, INTERMEDIATE)
    numbers = SCALED.get(asked.case, SCALED["random"]).floats(_rng(asked, "in"), shape)
    values: Values = {
        "in": numbers,
        "out": junk("uint8", rows, INTERMEDIATE),
        "scale": junk("float32", rows, 4),
        "rows": rows,
    }
    codes, scale = silu_quant(numbers)
    grid = (rows + SURPLUS_BY_CASE.get(asked.case, 0), 1, 1)
    return asked.launch(values, grid, (64, 1, 1), {"out": codes, "scale": scale})


def _down_reduce(asked: Asked) -> Scenario:
    tokens = _tokens(asked)
    inputs = {
        "act": _codes(asked, "act", tokens, SLOTS, INTERMEDIATE),
        "act_scale": _scales(asked, "act_scale", tokens, SLOTS, 4),
        "w2": _codes(asked, "w2", EXPERTS, HIDDEN, INTERMEDIATE),
        "w2_scale": _scales(asked, "w2_scale", EXPERTS, 16, 4),
        "topk_weights": _routing_weights(asked, tokens),
        "topk_ids": _expert_ids(asked, tokens),
    }
    values: Values = {**inputs, "out": junk("uint16", tokens, HIDDEN)}
    expected = {"out": down_reduce(*inputs.values())}
    return asked.launch(values, (128, tokens, 1), (128, 1, 1), expected)


def _tokens(asked: Asked) -> int:
    by_seed = TOKENS_BY_CASE.get(asked.case, (1,))
    return by_seed[(asked.seed - 1) % len(by_seed)]


def _rng(asked: Asked, argument: str) -> Rng:
    """Return a generator of its own for each argument."""
    words = f"{asked.tactic}/{argument}/{asked.case}".encode()
    return np.random.default_rng([asked.seed, crc32(words)])


def _codes(asked: Asked, argument: str, *shape: int) -> Array:
    return SCALED.get(asked.case, SCALED["random"]).codes(_rng(asked, argument), shape)


def _scales(asked: Asked, argument: str, *shape: int) -> Array:
    return SCALED.get(asked.case, SCALED["random"]).scales(_rng(asked, argument), shape)


def _expert_ids(asked: Asked, tokens: int) -> Array:
    """Distinct ids per token, or those of the case."""
    rng = _rng(asked, "topk_ids")
    if asked.case == "repeated_expert":
        ids = np.repeat(rng.integers(0, EXPERTS, (tokens, 1)), SLOTS, axis=1)
    elif asked.case == "duplicated_ids":
        ids = rng.integers(0, EXPERTS, (tokens, SLOTS))
        ids[:, SLOTS // 2 :] = ids[:, : SLOTS - SLOTS // 2]
    else:
        ids = np.stack([rng.permutation(EXPERTS)[:SLOTS] for _ in range(tokens)])
    if asked.case == "last_expert":
        ids[:, -1] = EXPERTS - 1
    return ids.astype(np.int32)


def _routing_weights(asked: Asked, tokens: int) -> Array:
    """Positive weights that add up to about 1 per token; one-hot where the case asks for it."""
    rng, shape = _rng(asked, "topk_weights"), (tokens, SLOTS)
    if asked.case == "one_hot_routing":
        weights: Array = np.zeros(shape, np.float32)
        weights[np.arange(tokens), rng.integers(0, SLOTS, tokens)] = 1.0
        return weights
    if asked.case == "zeros":
        return np.zeros(shape, np.float32)
    raw = rng.random(shape) + 0.01
    return np.asarray(raw / raw.sum(-1, keepdims=True), np.float32)


TACTICS = {
    "moe_gate_up_decode_m1": Entry(_gate_up, CASES),
    "moe_silu_quant_decode_m1": Entry(_silu_quant, CASES),
    "moe_down_reduce_decode_m1": Entry(_down_reduce, CASES),
}
