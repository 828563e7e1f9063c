"""Stage 2 of split-sequence attention, which merges the partial results of the splits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.arithmetic import (
    LOWEST_LOG,
    add,
    at_scaling,
    divide,
    exponential,
    fma,
    multiply,
)
from netra_build.checkasm.numerics.formats import F32, Bits, to_bf16
from netra_build.checkasm.numerics.inputs import Rng
from netra_build.checkasm.numerics.scenario import Asked, Entry, Scenario, Values, bits_of, junk

from .splitseq_shapes import (
    DIMENSIONS,
    LENGTHS,
    MERGED_LENGTHS,
    QUERY_HEADS,
    Partials,
    chosen_lengths,
    partial_strides,
    split_bounds,
)

SPLITS_MAX = 129

CASES = ("random", *LENGTHS, *MERGED_LENGTHS, "zeros", "equal")


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


def _stage2(asked: Asked) -> Scenario:
    """Return a launch of stage 2, exact given correctly rounded exponentials.

    Partial results of empty splits are random numbers, which must be ignored.
    """
    rng, case = asked.rng(), asked.case
    keys, splits = chosen_lengths(case, rng)
    partials = _partials(case, rng, len(keys), max(splits))
    v_scale = np.float32(0.5 if case in ("ties", "scaled") else rng.uniform(0.25, 4.0))
    lengths, counts = np.array(keys, np.int32), np.array(splits, np.int32)
    values: Values = {
        "mid": partials.mid,
        "lse": partials.lse,
        "out": junk("uint16", len(keys), QUERY_HEADS, DIMENSIONS),
        "v_scale": bits_of(v_scale),
        "seq_lens": lengths,
        "num_kv_splits": counts,
        **partial_strides(max(splits)),
        "o_tok": QUERY_HEADS * DIMENSIONS,
        "o_head": DIMENSIONS,
        "scratch": 0,
        "profile": 0,
    }
    expected = {"out": stage2(partials, v_scale, lengths, counts)}
    return asked.launch(values, (len(keys), QUERY_HEADS, 1), (DIMENSIONS, 1, 1), expected)


def _partials(case: str, rng: Rng, rows: int, splits: int) -> Partials:
    mid: F32 = rng.standard_normal((rows, QUERY_HEADS, splits, DIMENSIONS)).astype(np.float32)
    lse: F32 = (rng.standard_normal((rows, QUERY_HEADS, splits)) * 3).astype(np.float32)
    if case == "zeros":
        mid = np.zeros_like(mid)
    if case == "equal":
        lse = np.full_like(lse, 2.5)
    if case == "far_apart":
        # Weights down to subnormals; values so much larger that every split still counts. The
        # second split is much larger than the first, so that the sum so far is scaled down, too.
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


def _scaled(rng: Rng, rows: int) -> Partials:
    """Return two splits of which one has a weight of about 2**-126 and all of the value.

    There the kernel computes the exponential in another way. Products lie next to the middle
    between two BF16 numbers, so that an error of some units in the weight shows.
    """
    near = at_scaling(LOWEST_LOG + np.arange(-40, 40, dtype=np.float32) * np.float32(2.0**-17))
    lowest = np.concatenate([near, rng.uniform(-88, LOWEST_LOG, len(near)).astype(np.float32)])
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


TACTICS = {"attention_splitseq_stage2": Entry(_stage2, CASES)}
