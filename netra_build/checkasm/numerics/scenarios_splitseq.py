"""Launches of the split-sequence attention kernels: prepare, stage 1 and stage 2."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from netra_build.checkasm.numerics.attention_splitseq import (
    DIMENSIONS,
    KV_HEADS,
    QUERY_HEADS,
    Partials,
    SplitInputs,
    at_scaling,
    exponential,
    prepare,
    stage1,
    stage2,
)
from netra_build.checkasm.numerics.formats import F32, to_bf16
from netra_build.checkasm.numerics.scenario import Array, Scenario, generator, junk
from netra_build.checkasm.numerics.scenarios_attention import (
    NUMBERS,
    POOL,
    USUAL,
    bits_of,
    codes,
    with_junk_above,
)

ROWS_MAX = 16
TABLE_SLOTS = 4160
EDGES = (1, 15, 16, 31, 32, 33, 63, 64, 65, 127, 129)

Lengths = tuple[tuple[int, ...], tuple[int, ...]]

PREPARE: Mapping[str, tuple[int, int]] = {
    "no_token": (9, 0),
    "one_token": (0, 1),
    "all_tokens": (0, ROWS_MAX),
    "long_prefix": (4095, ROWS_MAX),
    "last_slot": (TABLE_SLOTS - 5, 5),
}
"""Prefix and new tokens."""

PREPARE_CASES = ("random", *PREPARE, "negative_slots")

LENGTHS: Mapping[str, Lengths] = {
    "one_split": ((1, 15, 16, 33), (1, 1, 1, 1)),
    "tile_edges": ((31, 32, 33, 63, 64, 65), (1, 1, 2, 3, 2, 3)),
    "empty_splits": ((1, 33, 64, 100), (129, 129, 7, 3)),
    "masks": ((2, 3, 5, 6, 9, 10, 13, 14, 18, 22, 26, 30), (1,) * 12),
    "extents": ((33, 64, 66, 96, 97, 129, 160, 193), (2, 2, 2, 3, 3, 4, 5, 6)),
    "window_lengths": ((4094, 4095, 4096), (3, 16, 129)),
}
"""Keys and splits of each row."""

MERGED: Mapping[str, Lengths] = {
    "more_splits_than_merged": ((4480,), (140,)),
    "far_apart": ((300, 300), (9, 7)),
    "scaled": ((64, 64, 64), (2, 2, 2)),
    "extreme_values": ((96, 40), (3, 1)),
    "ties": (tuple(32 * n for n in (3, 5, 7, 9, 11, 13)), (3, 5, 7, 9, 11, 13)),
}
"""The same, for stage 2 alone."""

STAGE1_CASES = ("random", *LENGTHS, *NUMBERS)
STAGE2_CASES = ("random", *LENGTHS, *MERGED, "zeros", "equal")


def prepare_launch(
    tactic: str, specialization: Mapping[str, int], case: str, seed: int
) -> Scenario:
    """Return a launch of prepare: a table of 4 requests."""
    rng = generator(tactic, case, seed)
    drawn = int(rng.integers(0, TABLE_SLOTS - ROWS_MAX)), int(rng.integers(0, ROWS_MAX + 1))
    prefix, tokens = PREPARE.get(case, drawn)
    table = rng.integers(0, 2**31 - 1, (4, TABLE_SLOTS), dtype=np.int32)
    if case == "negative_slots":
        prefix, tokens = 100, ROWS_MAX
        table[:, prefix : prefix + 3] = -1
    request = rng.integers(0, 4, 1)
    unified, lengths = junk("uint64", TABLE_SLOTS), junk("int32", ROWS_MAX)
    after, seen = prepare(unified, lengths, prefix, table, int(request[0]), tokens)
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values={
            "unified_indices": unified,
            "seq_lens": lengths,
            "prefix_len": np.array([prefix], np.int32),
            "req_to_token": table,
            "req_pool_index": with_junk_above(request, rng),
            "stride": TABLE_SLOTS,
            "M": tokens,
        },
        grid=(1, 1, 1),
        block=(64, 1, 1),
        expected={"unified_indices": after, "seq_lens": seen},
    )


def _rows(case: str, rng: np.random.Generator) -> Lengths:
    fixed = LENGTHS.get(case) or MERGED.get(case)
    if fixed is not None:
        return fixed
    count = int(rng.integers(1, 5))
    keys = rng.choice(EDGES, count)
    keys = np.where(rng.random(count) < 0.6, keys, rng.integers(1, 300, count))
    return tuple(int(n) for n in keys), tuple(int(n) for n in rng.integers(1, 9, count))


def stage1_launch(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of stage 1; the strides of keys, values and partials have gaps."""
    rng = generator(tactic, case, seed)
    inputs = _stage1_inputs(case, rng)
    rows, splits = len(inputs.seq_lens), int(inputs.num_kv_splits.max())
    before = Partials(
        junk("float32", rows, QUERY_HEADS, splits, DIMENSIONS),
        junk("float32", rows, QUERY_HEADS, splits),
    )
    after = stage1(inputs, before)
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values=_stage1_kernargs(inputs, before, rng),
        grid=(rows, KV_HEADS, splits),
        block=(256, 1, 1),
        expected={"mid": after.mid, "lse": after.lse},
    )


def _stage1_inputs(case: str, rng: np.random.Generator) -> SplitInputs:
    numbers = NUMBERS.get(case, USUAL)
    keys, splits = _rows(case, rng)
    pool = (POOL, KV_HEADS, DIMENSIONS)
    return SplitInputs(
        q=to_bf16(numbers.queries(rng, (len(keys), QUERY_HEADS, DIMENSIONS))),
        k_buf=codes(numbers.keys(rng, pool)),
        v_buf=codes(numbers.values(rng, pool)),
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


def _stage1_kernargs(
    inputs: SplitInputs, before: Partials, rng: np.random.Generator
) -> dict[str, Array | int]:
    """Return the kernargs in order: gaps of 16 elements in q, 32 in keys and 48 in values."""
    splits = before.lse.shape[2]
    return {
        "q": _spaced(inputs.q, 16),
        "k_buf": _spaced(inputs.k_buf, 32),
        "v_buf": _spaced(inputs.v_buf, 48),
        "sm_scale": bits_of(inputs.sm_scale),
        "seq_lens": inputs.seq_lens,
        "kv_indices": with_junk_above(inputs.kv_indices.astype(np.int64), rng),
        "mid": before.mid,
        "lse": before.lse,
        "num_kv_splits": inputs.num_kv_splits,
        "q_tok": QUERY_HEADS * (DIMENSIONS + 16),
        "q_head": DIMENSIONS + 16,
        "k_tok": KV_HEADS * (DIMENSIONS + 32),
        "k_head": DIMENSIONS + 32,
        "v_tok": KV_HEADS * (DIMENSIONS + 48),
        "v_head": DIMENSIONS + 48,
        **_partial_strides(splits),
        "scratch": 0,
        "profile": 0,
    }


def _partial_strides(splits: int) -> dict[str, Array | int]:
    return {
        "mid_tok": QUERY_HEADS * splits * DIMENSIONS,
        "mid_head": splits * DIMENSIONS,
        "mid_split": DIMENSIONS,
    }


def stage2_launch(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of stage 2, exact given correctly rounded exponentials.

    Partials of empty splits are random numbers, which must not count.
    """
    rng = generator(tactic, case, seed)
    keys, splits = _rows(case, rng)
    partials = _partials(case, rng, len(keys), max(splits))
    v_scale = np.float32(0.5 if case in ("ties", "scaled") else rng.uniform(0.25, 4.0))
    lengths, counts = np.array(keys, np.int32), np.array(splits, np.int32)
    merged = stage2(partials, v_scale, lengths, counts)
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values={
            "mid": partials.mid,
            "lse": partials.lse,
            "out": junk("uint16", len(keys), QUERY_HEADS, DIMENSIONS),
            "v_scale": bits_of(v_scale),
            "seq_lens": lengths,
            "num_kv_splits": counts,
            **_partial_strides(max(splits)),
            "o_tok": QUERY_HEADS * DIMENSIONS,
            "o_head": DIMENSIONS,
            "scratch": 0,
            "profile": 0,
        },
        grid=(len(keys), QUERY_HEADS, 1),
        block=(DIMENSIONS, 1, 1),
        expected={"out": merged},
    )


def _partials(case: str, rng: np.random.Generator, rows: int, splits: int) -> Partials:
    mid: F32 = rng.standard_normal((rows, QUERY_HEADS, splits, DIMENSIONS)).astype(np.float32)
    lse: F32 = (rng.standard_normal((rows, QUERY_HEADS, splits)) * 3).astype(np.float32)
    if case == "zeros":
        mid = np.zeros_like(mid)
    if case == "equal":
        lse = np.full_like(lse, 2.5)
    if case == "far_apart":
        # Weights down to subnormals; values so much larger that every split still counts. The
        # second split dwarfs the first, so that what was summed before is scaled down, too.
        lse = rng.uniform(-90, 0, lse.shape).astype(np.float32)
        lse[:, :, 0] = rng.uniform(-90, -88, lse[:, :, 0].shape)
        lse[:, :, 1] = 0
        lift = np.exp2(np.minimum(-lse.astype(np.float64) / np.log(2.0), 125.0) - 10)
        mid = (mid * lift[..., None]).astype(np.float32)
    if case == "scaled":
        return _scaled(rng, rows)
    if case == "extreme_values":
        # A division scales such numbers before and after; each head has numbers of one size.
        low = rng.integers(0, 2, (rows, QUERY_HEADS, 1, 1)) == 1
        size = np.where(low, rng.uniform(-140, -98, low.shape), rng.uniform(100, 124, low.shape))
        mid = (mid * np.exp2(size)).astype(np.float32)
    if case == "ties":
        # Equal weights of equal numbers in the middle between two of BF16: any error shows.
        middle = rng.integers(128, 256, (rows, QUERY_HEADS, 1, DIMENSIONS)) * 2 + 1
        mid = np.broadcast_to(middle, mid.shape).astype(np.float32)
        lse = np.zeros_like(lse)
    return Partials(mid, lse)


def _scaled(rng: np.random.Generator, rows: int) -> Partials:
    """Return two splits of which one has a weight of about 2**-126 and all of the value.

    There the exponential takes another path. Products lie next to the middle between two BF16
    numbers, so that an error of some units in the weight shows.
    """
    start = np.float32(-126 * np.log(2.0))
    near = at_scaling(start + np.arange(-40, 40, dtype=np.float32) * np.float32(2.0**-17))
    lowest = np.concatenate([near, rng.uniform(-88, start, len(near)).astype(np.float32)])
    low = rng.choice(lowest, (rows, QUERY_HEADS))
    middle = 1 + (2 * rng.integers(0, 128, (rows, QUERY_HEADS, DIMENSIONS)) + 1) / 256
    value = (middle / exponential(low)[..., None].astype(np.float64)).astype(np.float32)
    mid = np.zeros((rows, QUERY_HEADS, 2, DIMENSIONS), np.float32)
    lse = np.zeros((rows, QUERY_HEADS, 2), np.float32)
    # In half of the heads it is the sum so far that is scaled down, in half the new split.
    place = np.arange(QUERY_HEADS) % 2
    for head, split in enumerate(place):
        mid[:, head, split] = value[:, head]
        lse[:, head, split] = low[:, head]
    return Partials(mid, lse)
