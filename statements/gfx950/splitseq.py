"""Split-sequence attention: prepare, and stage 1, which attends to the keys of each split.

Outputs are exact in the sense of ``online_softmax``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.arithmetic import LN2, fma, plain_log2
from netra_build.checkasm.numerics.formats import F32, Bits, Codes, from_bf16, from_e4m3, to_bf16
from netra_build.checkasm.numerics.inputs import Rng, saturated
from netra_build.checkasm.numerics.online_softmax import OnlineSoftmax, attend_prefix
from netra_build.checkasm.numerics.scenario import (
    Array,
    Asked,
    Entry,
    Scenario,
    Values,
    bits_of,
    junk,
    with_junk_above,
)

from .attention_inputs import NUMBERS, POOL, USUAL
from .splitseq_shapes import (
    DIMENSIONS,
    KV_HEADS,
    LENGTHS,
    QUERY_HEADS,
    SPLIT_TILE,
    Partials,
    chosen_lengths,
    partial_strides,
    split_bounds,
)

ROWS_MAX = 16
TABLE_SLOTS = 4160


PREPARE: Mapping[str, tuple[int, int]] = {
    "no_token": (9, 0),
    "one_token": (0, 1),
    "all_tokens": (0, ROWS_MAX),
    "long_prefix": (4095, ROWS_MAX),
    "last_slot": (TABLE_SLOTS - 5, 5),
}
"""Prefix and new tokens."""

PREPARE_CASES = ("random", *PREPARE, "negative_slots")


STAGE1_CASES = ("random", *LENGTHS, *NUMBERS)


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
                state = OnlineSoftmax.empty(group, q.shape[2])
                keys, values = (
                    from_e4m3(inputs.k_buf[slots, kv]),
                    from_e4m3(inputs.v_buf[slots, kv]),
                )
                queries = q[row, heads]
                attend_prefix(state, queries, keys, values, inputs.sm_scale, tile=SPLIT_TILE)
                after.mid[row, heads, split] = state.quotient()
                after.lse[row, heads, split] = log_sum_exp(state)
    return after


def log_sum_exp(state: OnlineSoftmax) -> F32:
    """Return m + ln 2 * log2 l: the logarithm plain in FP32, product and sum fused."""
    logarithm = plain_log2(state.denominator())
    return fma(logarithm, np.full_like(logarithm, LN2), state.maximum)


def _prepare(asked: Asked) -> Scenario:
    """Return a launch of prepare: a table of 4 requests."""
    rng = asked.rng()
    drawn = int(rng.integers(0, TABLE_SLOTS - ROWS_MAX)), int(rng.integers(0, ROWS_MAX + 1))
    prefix, tokens = PREPARE.get(asked.case, drawn)
    table = rng.integers(0, 2**31 - 1, (4, TABLE_SLOTS), dtype=np.int32)
    if asked.case == "negative_slots":
        prefix, tokens = 100, ROWS_MAX
        table[:, prefix : prefix + 3] = -1
    request = rng.integers(0, 4, 1)
    unified, lengths = junk("uint64", TABLE_SLOTS), junk("int32", ROWS_MAX)
    after, seen = prepare(unified, lengths, prefix, table, int(request[0]), tokens)
    values: Values = {
        "unified_indices": unified,
        "seq_lens": lengths,
        "prefix_len": np.array([prefix], np.int32),
        "req_to_token": table,
        "req_pool_index": with_junk_above(request, rng),
        "stride": TABLE_SLOTS,
        "M": tokens,
    }
    expected: dict[str, Array] = {"unified_indices": after, "seq_lens": seen}
    return asked.launch(values, (1, 1, 1), (64, 1, 1), expected)


def _stage1(asked: Asked) -> Scenario:
    """Return a launch of stage 1; the strides of keys, values and partials have gaps."""
    rng = asked.rng()
    inputs = _stage1_inputs(asked.case, rng)
    rows, splits = len(inputs.seq_lens), int(inputs.num_kv_splits.max())
    before = Partials(
        junk("float32", rows, QUERY_HEADS, splits, DIMENSIONS),
        junk("float32", rows, QUERY_HEADS, splits),
    )
    after = stage1(inputs, before)
    values = _stage1_kernargs(inputs, before, rng)
    expected = {"mid": after.mid, "lse": after.lse}
    return asked.launch(values, (rows, KV_HEADS, splits), (256, 1, 1), expected)


def _stage1_inputs(case: str, rng: Rng) -> SplitInputs:
    numbers = NUMBERS.get(case, USUAL)
    keys, splits = chosen_lengths(case, rng)
    pool = (POOL, KV_HEADS, DIMENSIONS)
    return SplitInputs(
        q=to_bf16(numbers.queries(rng, (len(keys), QUERY_HEADS, DIMENSIONS))),
        k_buf=saturated(numbers.keys(rng, pool)),
        v_buf=saturated(numbers.values(rng, pool)),
        kv_indices=rng.integers(0, POOL, max(keys)).astype(np.uint64),
        seq_lens=np.array(keys, np.int32),
        num_kv_splits=np.array(splits, np.int32),
        sm_scale=np.float32(numbers.scale / np.sqrt(DIMENSIONS)),
    )


def _spaced(array: Array, gap: int) -> Array:
    """Return rows [.., D] with ``gap`` more elements of junk behind each, as one flat array."""
    wide = junk(str(array.dtype), *array.shape[:-1], array.shape[-1] + gap)
    wide[..., : array.shape[-1]] = array
    return wide.reshape(-1)


def _stage1_kernargs(inputs: SplitInputs, before: Partials, rng: Rng) -> Values:
    """Return the kernargs in order: gaps of 16 elements in q, 32 in keys and 48 in values."""
    splits = before.lse.shape[2]
    return {
        "q": _spaced(inputs.q, 16),
        "k_buf": _spaced(inputs.k_buf, 32),
        "v_buf": _spaced(inputs.v_buf, 48),
        "sm_scale": bits_of(inputs.sm_scale),
        "seq_lens": inputs.seq_lens,
        "kv_indices": with_junk_above(inputs.kv_indices, rng),
        "mid": before.mid,
        "lse": before.lse,
        "num_kv_splits": inputs.num_kv_splits,
        "q_tok": QUERY_HEADS * (DIMENSIONS + 16),
        "q_head": DIMENSIONS + 16,
        "k_tok": KV_HEADS * (DIMENSIONS + 32),
        "k_head": DIMENSIONS + 32,
        "v_tok": KV_HEADS * (DIMENSIONS + 48),
        "v_head": DIMENSIONS + 48,
        **partial_strides(splits),
        "scratch": 0,
        "profile": 0,
    }


TACTICS = {
    "attention_splitseq_prepare": Entry(_prepare, PREPARE_CASES),
    "attention_splitseq_stage1": Entry(_stage1, STAGE1_CASES),
}
