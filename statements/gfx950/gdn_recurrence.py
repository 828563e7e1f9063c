"""The gated-delta-rule recurrence over the tokens of a draft: verification and state replay.

State products are FP32, the state is rounded to BF16 only where it is stored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.numerics.arithmetic import add, fma, multiply, xor16
from netra_build.checkasm.numerics.formats import F32, Bits, from_bf16, to_bf16
from netra_build.checkasm.numerics.inputs import Rng, floats
from netra_build.checkasm.numerics.scenario import Asked, Entry, Extent, Scenario, Values, junk

from .gdn_shapes import DIM, QK_HEADS, TOKENS, VALUE_HEADS, Ids

STRIDE_V = 8192
COLUMNS = 8
"""Consecutive values of K that one lane owns."""

RECURRENT_CASES = ("random", "zeros", "subnormals", "large", "slots", "reset", "keep")
REPLAY_CASES = (*RECURRENT_CASES, "lengths", "in_place")
WAVES = "NETRA_GDN_WAVES_PER_WORKGROUP"
BY_WAVES = {f"waves{n}": {WAVES: n} for n in (1, 4, 8)}


def verify(
    state: F32, qn: F32, kn: F32, v: F32, decay: F32, beta: F32, variant: int
) -> tuple[Bits, F32]:
    """Run the tokens over ``state`` [heads, 128 v, 128 k]: outputs and the final state.

    ``qn``, ``kn`` are [T, heads, 128] (repeated for value heads), ``v`` [T, heads, 128], ``decay``
    and ``beta`` [T, heads]. Outputs are bf16 bits [T, heads, 128]; the state is never rounded.
    Variant 17 sums a dot product as an even and an odd chain, variant 13 as rounded products
    one after another (k) or as one fma chain (q).
    """
    outputs = np.zeros((len(decay), *state.shape[:2]), np.uint16)
    for token in range(len(decay)):
        state = multiply(state, decay[token][:, None, None])
        rest = add(v[token], -_dot_k(state, kn[token], variant))
        update = multiply(rest, beta[token][:, None])
        key, value = np.broadcast_arrays(kn[token][:, None, :], update[:, :, None])
        state = fma(key, value, state)
        outputs[token] = to_bf16(_dot_q(state, qn[token], variant))
    return outputs, state


def _split(state: F32, vector: F32) -> tuple[F32, F32]:
    """Return both as [heads, rows or 1, 16 lanes, 8 K]."""
    heads, rows, depth = state.shape
    lanes = depth // COLUMNS
    return state.reshape(heads, rows, lanes, COLUMNS), vector.reshape(heads, 1, lanes, COLUMNS)


def _step(p: F32, c: F32, k: int, total: F32) -> F32:
    """Return fma(p[k], c[k], total)."""
    x, y = np.broadcast_arrays(p[..., k], c[..., k])
    return fma(x, y, total)


def _dot_k(state: F32, vector: F32, variant: int) -> F32:
    p, c = _split(state, vector)
    if variant == 17:
        return _dot_even_odd(p, c)
    total = add(multiply(p[..., 0], c[..., 0]), multiply(p[..., 1], c[..., 1]))
    for k in range(2, COLUMNS):
        total = add(total, multiply(p[..., k], c[..., k]))
    return xor16(total)


def _dot_even_odd(p: F32, c: F32) -> F32:
    even, odd = multiply(p[..., 0], c[..., 0]), multiply(p[..., 1], c[..., 1])
    for k in (2, 4, 6):
        even, odd = _step(p, c, k, even), _step(p, c, k + 1, odd)
    return xor16(add(even, odd))


def _dot_q(state: F32, vector: F32, variant: int) -> F32:
    p, c = _split(state, vector)
    if variant == 17:
        return _dot_even_odd(p, c)
    forward = _step(p, c, 1, multiply(p[..., 0], c[..., 0]))
    backward = _step(p, c, 0, multiply(p[..., 1], c[..., 1]))
    swaps = (np.arange(p.shape[1]) // 4 % 2 == 1)[None, :, None]
    total = np.where(swaps, backward, forward)
    for k in range(2, COLUMNS):
        total = _step(p, c, k, total)
    return xor16(total)


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

    def kernargs(self) -> Values:
        """Return the kernargs that both kernels begin with."""
        return {
            "qn": self.qn,
            "kn": self.kn,
            "v": self.v,
            "decay": self.decay,
            "beta": self.beta,
        }


def _recurrent(asked: Asked, batch: int) -> tuple[_Recurrent, Rng]:
    rng, case = asked.rng(), asked.case
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


def _waves(asked: Asked, batch: int) -> tuple[Extent, Extent]:
    """Return grid and block."""
    waves = asked.specialization[WAVES]
    return (batch * VALUE_HEADS * 8 // waves, 1, 1), (64 * waves, 1, 1)


def _core(asked: Asked) -> Scenario:
    batch = 2 if asked.case == "slots" else 1
    arrays, _ = _recurrent(asked, batch)
    out = np.concatenate([arrays.run(n, TOKENS, 17)[0] for n in range(batch)])
    values: Values = {
        **arrays.kernargs(),
        "out": junk("uint16", batch * TOKENS, VALUE_HEADS, DIM),
        "initial_state": arrays.pool,
        "intermediate": junk("uint16", 8),
        "initial_idx": arrays.initial,
        "intermediate_idx": junk("int32", batch),
        "stride_v": STRIDE_V,
        "state_capacity": arrays.slots,
    }
    return asked.launch(values, *_waves(asked, batch), {"out": out})


def _replay(asked: Asked) -> Scenario:
    """Return a launch of the state replay; lengths are ragged, some out of range."""
    case = asked.case
    batch = {"slots": 3, "lengths": 6}.get(case, 1)
    arrays, rng = _recurrent(asked, batch)
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
    start = arrays.pool.copy() if case == "in_place" else junk("uint16", *arrays.pool.shape)
    values: Values = {
        **arrays.kernargs(),
        "output_state": start,
        "initial_state": start if case == "in_place" else arrays.pool,
        "accept_len": lengths,
        "initial_idx": arrays.initial,
        "output_idx": targets,
        "stride_v": STRIDE_V,
        "state_capacity": arrays.slots,
    }
    final = _replayed(arrays, start, lengths, targets)
    return asked.launch(values, *_waves(asked, batch), {"output_state": final})


def _replayed(arrays: _Recurrent, start: Bits, lengths: Ids, targets: Ids) -> Bits:
    """Return the states after the accepted tokens of each sequence; without any, unchanged."""
    final = start.copy()
    for n, length in enumerate(lengths):
        tokens = int(np.clip(length, 0, TOKENS))
        if tokens:
            slot = int(np.clip(targets[n], 0, arrays.slots - 1))
            final[slot] = to_bf16(arrays.run(n, tokens, 13)[1])
    return final


TACTICS = {
    "gdn_verify_core_m12_packed_pair_interleaved": Entry(_core, RECURRENT_CASES, BY_WAVES),
    "gdn_state_replay_m12_fused_exact": Entry(_replay, REPLAY_CASES, BY_WAVES),
}
