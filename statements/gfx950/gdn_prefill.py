"""The gated-delta-rule prefill: the state before each chunk of 64 tokens, and after the last."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from netra_build.checkasm.numerics.arithmetic import add, exponential, fma, multiply
from netra_build.checkasm.numerics.formats import F32, Bits, from_bf16, round_bf16, to_bf16
from netra_build.checkasm.numerics.inputs import Rng, bf16, floats
from netra_build.checkasm.numerics.scenario import (
    Array,
    Asked,
    Bound,
    Entry,
    Scenario,
    Values,
    junk,
)

from .gdn_shapes import DIM, QK_HEADS, VALUE_HEADS, Ids

CHUNK = 64
CASES = ("random", "ragged", "edges", "growing", "zeros", "strong_decay")
LENGTHS = {
    "ragged": (70, 0, 1, 129),
    "edges": (15, 16, 63, 64, 65),
    "growing": (80,),
    "zeros": (65,),
    "strong_decay": (100,),
}

REASON = "a matrix instruction rounds every 32 products; a bf16 flip of H moves later values"
BOUND = Bound(1, 2.0**-8, REASON)


def prefill(k: F32, v: F32, w: F32, g: F32, state: F32) -> tuple[list[Bits], Bits, F32]:
    """Return the state before each chunk of 64 tokens, v_new [T, 128] and the final state.

    One sequence and value head: ``k``, ``v``, ``w`` are [T, 128] bf16 values, ``g`` [T] float32
    cumulative within a chunk, ``state`` [128 v, 128 k]. Dot products are exact, rounded once.
    """
    states: list[Bits] = []
    corrected = np.zeros(v.shape, np.uint16)
    for start in range(0, len(g), CHUNK):
        part = slice(start, min(start + CHUNK, len(g)))
        last = g[part][-1]
        states.append(to_bf16(state))
        dot = w[part].astype(np.float64) @ round_bf16(state).T.astype(np.float64)
        x = add(v[part], -dot.astype(np.float32))
        corrected[part] = to_bf16(x)
        decay = add(last, -g[part])
        factor = np.where(decay <= 0, exponential(np.minimum(decay, np.float32(0))), np.float32(0))
        scaled = round_bf16(multiply(x, factor[:, None])).astype(np.float64)
        update = (scaled.T @ k[part].astype(np.float64)).astype(np.float32)
        whole = np.full_like(state, exponential(np.asarray([last], np.float32))[0])
        state = fma(state, whole, update)
    return states, corrected, state


def _prefill(asked: Asked) -> Scenario:
    """Return a launch of the prefill recurrence over sequences of the case's lengths."""
    rng, case = asked.rng(), asked.case
    lengths = LENGTHS.get(case, (40 + asked.seed % 60,))
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    chunks = np.concatenate([[0], np.cumsum([-(-n // CHUNK) for n in lengths])]).astype(np.int64)
    total, slots = max(int(ends[-1]), 1), len(lengths) + 1
    kind = "zeros" if case == "zeros" else "random"
    scale = np.float32(DIM**-0.5)
    k = to_bf16(floats(kind, rng, total, QK_HEADS, DIM) * scale)
    v = bf16(kind, rng, total, VALUE_HEADS, DIM)
    w = to_bf16(floats(kind, rng, total, VALUE_HEADS, DIM) * scale)
    g = _cumulative(case, rng, ends)
    state = to_bf16(floats(kind, rng, slots, VALUE_HEADS, DIM, DIM) * np.float32(0.25))
    state_idx = rng.permutation(slots)[: len(lengths)].astype(np.int32)
    values: Values = {
        "k": k,
        "v": v,
        "w": w,
        "v_new": junk("uint16", total, VALUE_HEADS, DIM),
        "g": g,
        "h": junk("uint16", int(chunks[-1]), VALUE_HEADS, DIM, DIM),
        "state": state,
        "state_idx": state_idx,
        "cu_seqlens": ends,
        "chunk_offsets": chunks,
        "T": total,
        "scratch": junk("uint16", 8),
        "profile": junk("uint16", 8),
    }
    expected = _prefilled((k, v, w, g), state, state_idx, ends, chunks)
    grid, bounds = (8, VALUE_HEADS * len(lengths), 1), dict.fromkeys(expected, BOUND)
    return asked.launch(values, grid, (256, 1, 1), expected, bounds)


def _prefilled(
    inputs: tuple[Bits, Bits, Bits, F32], state: Bits, state_idx: Ids, ends: Ids, chunks: Array
) -> dict[str, Array]:
    """Return every array that the prefill writes: sequence by sequence and head by head."""
    k, v, w, g = inputs
    expected = {
        "v_new": junk("uint16", *v.shape),
        "h": junk("uint16", int(chunks[-1]), VALUE_HEADS, DIM, DIM),
        "state": state.copy(),
    }
    for n, slot in enumerate(state_idx):
        rows = slice(ends[n], ends[n + 1])
        for head in range(VALUE_HEADS):
            states, corrected, final = prefill(
                from_bf16(k[rows, head // 2]),
                from_bf16(v[rows, head]),
                from_bf16(w[rows, head]),
                g[rows, head],
                from_bf16(state[slot, head]),
            )
            expected["v_new"][rows, head] = corrected
            expected["state"][slot, head] = to_bf16(final)
            for index, before in enumerate(states):
                expected["h"][chunks[n] + index, head] = before
    return expected


def _cumulative(case: str, rng: Rng, ends: Ids) -> F32:
    """Return log decays [T, heads], cumulative within each chunk of each sequence."""
    low: float | Array = {"growing": -0.1}.get(case, -0.3)
    if case == "strong_decay":
        # From head to head weaker: some chunks decay to a subnormal number, others to zero.
        low = -40.0 * 0.05 ** (np.arange(VALUE_HEADS) / (VALUE_HEADS - 1))
    high = 0.1 if case == "growing" else 0.0
    steps = rng.uniform(low, high, (max(int(ends[-1]), 1), VALUE_HEADS))
    total = np.empty(steps.shape, np.float32)
    for first, last in pairwise(ends):
        for start in range(first, last, CHUNK):
            part = slice(start, min(start + CHUNK, last))
            total[part] = np.cumsum(steps[part], axis=0)
    return total


TACTICS = {"gdn_h_m8192_bv16_varlen": Entry(_prefill, CASES)}
