"""Numpy statement of the split-sequence attention kernels: prepare, stage 1 and stage 2.

Rounding points as in :mod:`netra_build.checkasm.numerics.attention`, outputs exact in
the same sense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.attention import (
    KEYS_PER_PRODUCT,
    LOG2E,
    PREFIX_DIMENSIONS,
    OnlineSoftmax,
    product,
    round_fp8,
)
from netra_build.checkasm.numerics.formats import (
    F32,
    Bits,
    Codes,
    add,
    divide,
    exp2,
    fma,
    from_bf16,
    from_e4m3,
    multiply,
    to_bf16,
)
from netra_build.checkasm.numerics.plain import plain_log2

LN2 = np.float32(math.log(2.0))
SPLITS_MAX = 129
SPLIT_TILE = 32
DIMENSIONS = 256
QUERY_HEADS = 16
KV_HEADS = 2


def prepare(
    unified: npt.NDArray[np.uint64],
    seq_lens: npt.NDArray[np.int32],
    prefix: int,
    req_to_token: npt.NDArray[np.int32],
    request: int,
    tokens: int,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]:
    """Return unified and seq_lens after the slots of ``tokens`` new tokens went behind the prefix.

    A slot is the 32-bit pattern of its table entry with a high dword of zero, also where the entry
    is negative.
    """
    unified, seq_lens = unified.copy(), seq_lens.copy()
    row = req_to_token[request, prefix : prefix + tokens]
    unified[prefix : prefix + tokens] = row.astype(np.int64) & 0xFFFFFFFF
    seq_lens[:tokens] = prefix + 1 + np.arange(tokens)
    return unified, seq_lens


def split_bounds(keys: int, splits: int, split: int) -> tuple[int, int]:
    """Return first key and end of a split; it is empty when the first is not below the end."""
    wanted = (keys + splits - 1) // splits
    per = (wanted + SPLIT_TILE - 1) // SPLIT_TILE * SPLIT_TILE
    return split * per, min(split * per + per, keys)


@dataclass(frozen=True)
class SplitInputs:
    """Inputs of stage 1.

    q BF16 [M, 16, 256]; k_buf, v_buf FP8 [slots, 2, 256]; kv_indices [keys]; seq_lens and
    num_kv_splits [M].
    """

    q: Bits
    k_buf: Codes
    v_buf: Codes
    kv_indices: npt.NDArray[np.uint64]
    seq_lens: npt.NDArray[np.int32]
    num_kv_splits: npt.NDArray[np.int32]
    sm_scale: np.float32


@dataclass(frozen=True)
class Partials:
    """What stage 1 writes: mid FP32 [M, 16, splits, 256] and lse FP32 [M, 16, splits]."""

    mid: F32
    lse: F32


def stage1(inputs: SplitInputs, before: Partials) -> Partials:
    """Return the partial outputs of all splits that hold keys; the others stay as they were."""
    after = replace(before, mid=before.mid.copy(), lse=before.lse.copy())
    q = from_bf16(inputs.q)
    group = QUERY_HEADS // KV_HEADS
    for row in range(len(q)):
        count, splits = int(inputs.seq_lens[row]), int(inputs.num_kv_splits[row])
        for split in range(after.lse.shape[2]):
            first, end = split_bounds(count, splits, split)
            if first >= end:
                continue
            slots = (inputs.kv_indices[first:end] & np.uint64(0xFFFFFFFF)).astype(np.int64)
            for kv in range(KV_HEADS):
                heads = slice(group * kv, group * kv + group)
                state = _attend(
                    q[row, heads],
                    from_e4m3(inputs.k_buf[slots, kv]),
                    from_e4m3(inputs.v_buf[slots, kv]),
                    inputs.sm_scale,
                )
                after.mid[row, heads, split] = state.quotient()
                after.lse[row, heads, split] = log_sum_exp(state)
    return after


def log_sum_exp(state: OnlineSoftmax) -> F32:
    """Return m + ln 2 * log2 l: the logarithm plain in FP32, product and sum fused."""
    logarithm = plain_log2(state.denominator())
    return fma(logarithm, np.full_like(logarithm, LN2), state.maximum)


def _attend(q: F32, keys: F32, values: F32, scale: np.float32) -> OnlineSoftmax:
    """Return the state of the query rows after all keys, 32 at a time."""
    state = OnlineSoftmax.empty(len(q), q.shape[1])
    q8 = round_fp8(q)
    for first in range(0, len(keys), SPLIT_TILE):
        tile = slice(first, first + SPLIT_TILE)
        scores = multiply(product(q8, keys[tile].T, None, PREFIX_DIMENSIONS), scale)
        weights = round_fp8(state.probabilities(scores))
        state.accumulator = product(weights, values[tile], state.accumulator, KEYS_PER_PRODUCT)
    return state


def exponential(x: F32) -> F32:
    """Return exp(x) in FP32 with subnormal results kept.

    The argument of the power is rounded once, after x * log2 e; where that is below -126, the
    power is taken 64 higher (which rounds the argument at a coarser place) and scaled back.
    """
    is_low = multiply(x, LOG2E) < np.float32(-126)
    shift = np.where(is_low, np.float32(64), np.float32(0))
    power = exp2(fma(x, np.broadcast_to(LOG2E, x.shape), shift))
    return np.ldexp(power.astype(np.float64), -shift.astype(np.int64)).astype(np.float32)


def at_scaling(x: F32) -> F32:
    """Return those x at the border below which the power is scaled, or one float beside it."""
    border = np.float32(-126)
    beside = [np.nextafter(border, np.float32(way)) for way in (-np.inf, np.inf)]
    return x[np.isin(multiply(x, LOG2E), [border, *beside])]


def stage2(
    partials: Partials,
    v_scale: np.float32,
    seq_lens: npt.NDArray[np.int32],
    num_kv_splits: npt.NDArray[np.int32],
) -> Bits:
    """Return the merged outputs, BF16 [M, 16, 256]."""
    rows = len(seq_lens)
    out = np.zeros((rows, QUERY_HEADS, DIMENSIONS), np.uint16)
    for row in range(rows):
        acc = np.zeros((QUERY_HEADS, DIMENSIONS), np.float32)
        total = np.zeros(QUERY_HEADS, np.float32)
        maximum = np.full(QUERY_HEADS, np.float32(-np.inf))
        for split in range(SPLITS_MAX):
            first, end = split_bounds(int(seq_lens[row]), int(num_kv_splits[row]), split)
            if first >= end:
                continue
            lse, mid = partials.lse[row, :, split], partials.mid[row, :, split]
            new = np.maximum(maximum, lse)
            old, weight = exponential(add(maximum, -new)), exponential(add(lse, -new))
            total = fma(total, old, weight)
            weights = np.broadcast_to(weight[:, None], mid.shape)
            acc = fma(weights, mid, multiply(acc, old[:, None]))
            maximum = new
        out[row] = to_bf16(multiply(divide(acc, total[:, None]), v_scale))
    return out
