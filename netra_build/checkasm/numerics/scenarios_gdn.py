"""Launches of the gated-delta-rule kernels: random, ragged and extreme ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from netra_build.checkasm.numerics.formats import F32, Bits, from_bf16, to_bf16
from netra_build.checkasm.numerics.gdn import (
    CHUNK,
    Ids,
    convolve,
    prefill,
    verify,
)
from netra_build.checkasm.numerics.scenario import Array, Bound, Scenario, generator, junk
from netra_build.checkasm.numerics.scenarios_flat import bf16, floats

QK_HEADS = 16
VALUE_HEADS = 32
DIM = 128
TOKENS = 12
CHANNELS = 8192
QKVZ = 12288
STRIDE_V = 8192

RECURRENT_CASES = ("random", "zeros", "subnormals", "large", "slots", "reset", "keep")
REPLAY_CASES = (*RECURRENT_CASES, "lengths", "in_place")
CONV_CASES = ("random", "zeros", "subnormals", "large", "skipped", "fewer", "saturated")
PREFILL_CASES = ("random", "ragged", "edges", "growing", "zeros", "strong_decay")
PREFILL_LENGTHS = {
    "ragged": (70, 0, 1, 129),
    "edges": (15, 16, 63, 64, 65),
    "growing": (80,),
    "zeros": (65,),
    "strong_decay": (100,),
}

Rng = np.random.Generator


@dataclass(frozen=True)
class _Recurrent:
    """The arrays of a recurrent launch; states are bf16 bits [slots, heads, 128, 128]."""

    qn: F32
    kn: F32
    v: Bits
    decay: F32
    beta: F32
    pool: Bits
    initial: Ids
    slots: int

    def run(self, sequence: int, tokens: int, variant: int) -> tuple[Bits, F32]:
        """Return outputs and final state of a sequence."""
        part = slice(sequence * TOKENS, sequence * TOKENS + tokens)
        shared = VALUE_HEADS // QK_HEADS
        slot = int(np.clip(self.initial[sequence], 0, self.slots - 1))
        v = from_bf16(self.v[part, : VALUE_HEADS * DIM]).reshape(tokens, VALUE_HEADS, DIM)
        return verify(
            from_bf16(self.pool[slot]),
            np.repeat(self.qn[part], shared, axis=1),
            np.repeat(self.kn[part], shared, axis=1),
            v,
            self.decay[part],
            self.beta[part],
            variant,
        )


def _recurrent(tactic: str, case: str, seed: int, batch: int) -> tuple[_Recurrent, Rng]:
    rng = generator(tactic, case, seed)
    count, slots = batch * TOKENS, batch + 2
    kind = case if case in ("zeros", "subnormals") else "random"
    size = np.float32(2.0**40 if case == "large" else 1)
    unit = np.float32(1 / 8)
    decay = {"reset": 0.0, "keep": 1.0}.get(case)
    initial = rng.permutation(slots)[:batch].astype(np.int32)
    if case == "slots":
        initial = np.array([-1, slots + 3, -(2**31), 0], np.int32)[:batch]
    arrays = _Recurrent(
        qn=floats(kind, rng, count, QK_HEADS, DIM) * unit,
        kn=floats(kind, rng, count, QK_HEADS, DIM) * unit,
        v=to_bf16(floats(kind, rng, count, STRIDE_V) * size),
        decay=rng.uniform(0.5, 1, (count, VALUE_HEADS)).astype(np.float32),
        beta=rng.uniform(0, 1, (count, VALUE_HEADS)).astype(np.float32),
        pool=to_bf16(floats(kind, rng, slots, VALUE_HEADS, DIM, DIM) * size),
        initial=initial,
        slots=slots,
    )
    if decay is not None:
        arrays.decay[:] = decay
        arrays.beta[:, ::2] = 0
    return arrays, rng


def _waves(specialization: Mapping[str, int], batch: int) -> tuple[tuple[int, int, int], ...]:
    waves = specialization["NETRA_GDN_WAVES_PER_WORKGROUP"]
    return (batch * VALUE_HEADS * 8 // waves, 1, 1), (64 * waves, 1, 1)


def core(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of the recurrent verification."""
    batch = 2 if case == "slots" else 1
    arrays, _ = _recurrent(tactic, case, seed, batch)
    out = np.stack([arrays.run(n, TOKENS, 17)[0] for n in range(batch)])
    grid, block = _waves(specialization, batch)
    values: dict[str, Array | int] = {
        "qn": arrays.qn,
        "kn": arrays.kn,
        "v": arrays.v,
        "decay": arrays.decay,
        "beta": arrays.beta,
        "out": junk("uint16", batch * TOKENS, VALUE_HEADS, DIM),
        "initial_state": arrays.pool,
        "intermediate": junk("uint16", 8),
        "initial_idx": arrays.initial,
        "intermediate_idx": junk("int32", batch),
        "stride_v": STRIDE_V,
        "state_capacity": arrays.slots,
    }
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values=values,
        grid=grid,
        block=block,
        expected={"out": out.reshape(batch * TOKENS, VALUE_HEADS, DIM)},
    )


def replay(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of the state replay; lengths are ragged, some out of range."""
    batch = {"slots": 3, "lengths": 6}.get(case, 1)
    arrays, rng = _recurrent(tactic, case, seed, batch)
    lengths = rng.integers(1, TOKENS + 1, batch).astype(np.int32)
    targets = np.arange(batch, dtype=np.int32)
    if case == "lengths":
        # The last one is full, so that nothing lies behind its tokens.
        lengths = np.array([0, 1, 2, -1, TOKENS + 5, TOKENS], np.int32)
    if case == "slots":
        # The model lays a 4 GiB line through the third of the five slots.
        targets = np.array([-7, 2, arrays.slots + 9], np.int32)
    if case == "in_place":
        targets = arrays.initial.copy()
    final = arrays.pool.copy() if case == "in_place" else junk("uint16", *arrays.pool.shape)
    start = final.copy()
    for n in range(batch):
        tokens = int(np.clip(lengths[n], 0, TOKENS))
        if tokens:
            slot = int(np.clip(targets[n], 0, arrays.slots - 1))
            final[slot] = to_bf16(arrays.run(n, tokens, 13)[1])
    grid, block = _waves(specialization, batch)
    values: dict[str, Array | int] = {
        "qn": arrays.qn,
        "kn": arrays.kn,
        "v": arrays.v,
        "decay": arrays.decay,
        "beta": arrays.beta,
        "output_state": start,
        "initial_state": start if case == "in_place" else arrays.pool,
        "accept_len": lengths,
        "initial_idx": arrays.initial,
        "output_idx": targets,
        "stride_v": STRIDE_V,
        "state_capacity": arrays.slots,
    }
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values=values,
        grid=grid,
        block=block,
        expected={"output_state": final},
    )


def conv(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of the causal convolution; some sequences are to be skipped."""
    rng = generator(tactic, case, seed)
    batch = {"skipped": 4, "fewer": 2}.get(case, 1)
    slots, launched = batch + 1, batch + (case == "fewer")
    kind = case if case in ("zeros", "subnormals") else "random"
    size = np.float32({"large": 2.0**30, "saturated": 64}.get(case, 1))
    qkvz = to_bf16(floats(kind, rng, batch * TOKENS, QKVZ) * size)
    weight = bf16(kind, rng, CHANNELS, 4)
    state = to_bf16(floats(kind, rng, slots, CHANNELS, 3) * size)
    state_idx = rng.permutation(slots)[:batch].astype(np.int32)
    window_idx = rng.permutation(slots)[:batch].astype(np.int32)
    if case == "skipped":
        state_idx[0], window_idx[1] = -1, -1
        state_idx[2] = window_idx[2] = -1
    expected = _convolved(qkvz, weight, state, state_idx, window_idx)
    values: dict[str, Array | int] = {
        "qkvz": qkvz,
        "weight": weight,
        "state": state,
        "state_idx": state_idx,
        "window": junk("uint16", slots, TOKENS, CHANNELS, 3),
        "window_idx": window_idx,
        "out": junk("uint16", batch * TOKENS, CHANNELS),
        "batch": batch,
    }
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values=values,
        grid=(32 * launched, 1, 1),
        block=(256, 1, 1),
        expected=expected,
    )


def _convolved(
    qkvz: Bits, weight: Bits, state: Bits, state_idx: Ids, window_idx: Ids
) -> dict[str, Array]:
    """Return every array that the convolution writes; skipped sequences change nothing."""
    batch = len(state_idx)
    expected = {
        "state": state.copy(),
        "window": junk("uint16", len(state), TOKENS, CHANNELS, 3),
        "out": junk("uint16", batch * TOKENS, CHANNELS),
    }
    for n in range(batch):
        if -1 in (state_idx[n], window_idx[n]):
            continue
        rows = slice(n * TOKENS, (n + 1) * TOKENS)
        inputs, history = from_bf16(qkvz[rows, :CHANNELS]), from_bf16(state[state_idx[n]])
        outputs, windows = convolve(inputs, from_bf16(weight), history)
        expected["out"][rows] = outputs
        expected["window"][window_idx[n]] = windows
        expected["state"][state_idx[n]] = windows[-1]
    return expected


def prefill_h(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of the prefill recurrence over sequences of the case's lengths."""
    rng = generator(tactic, case, seed)
    lengths = PREFILL_LENGTHS.get(case, (40 + seed % 60,))
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
    expected = _prefilled((k, v, w, g), state, state_idx, ends, chunks)
    values: dict[str, Array | int] = {
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
    reason = "a matrix instruction rounds every 32 products; a bf16 flip of H moves later values"
    bound = Bound(1, 2.0**-8, reason)
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values=values,
        grid=(8, VALUE_HEADS * len(lengths), 1),
        block=(256, 1, 1),
        expected=expected,
        bounds=dict.fromkeys(expected, bound),
    )


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
