"""The inputs of the gated-delta-rule recurrence: the causal convolution, normalised queries and
keys, decay and beta.

Divisions are correctly rounded, exponentials, logarithm and square root plain (see ``arithmetic``).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from netra_build.checkasm.numerics.arithmetic import (
    LN2,
    LOWEST_LOG,
    add,
    at_scaling,
    divide,
    exponential,
    multiply,
    plain_log2,
    plain_reciprocal,
    plain_square_root,
    tree64,
)
from netra_build.checkasm.numerics.formats import F32, Bits, from_bf16, round_bf16, to_bf16
from netra_build.checkasm.numerics.inputs import Rng, bf16, floats
from netra_build.checkasm.numerics.scenario import Array, Asked, Entry, Scenario, Values, junk

from .gdn_shapes import (
    DIM,
    QK_HEADS,
    TOKENS,
    VALUE_HEADS,
    Ids,
)

CHANNELS = 8192
QKVZ = 12288
EPSILON = np.uint32(0x358637BD).view(np.float32)
SOFTPLUS_LIMIT = 20.0

CONV_CASES = ("random", "zeros", "subnormals", "large", "skipped", "fewer", "saturated")
PRECOMPUTE_CASES = (
    *("random", "zeros", "subnormals", "largest", "equal", "gates", "small_gates"),
    *("low_rates", "low_decays", "low_gates", "mixed"),
)


def normalise(rows: Bits) -> F32:
    """Return rows [..., 128] divided by sqrt(sum of squares + 1e-6), the sum in lane order."""
    values = from_bf16(rows)
    squares = multiply(values, values)
    lanes = add(squares[..., 0::2], squares[..., 1::2])
    norm = plain_square_root(add(tree64(lanes), EPSILON))
    return divide(values, norm[..., None])


def gates(a_log: F32, a: Bits, dt_bias: Bits, b: Bits) -> tuple[F32, F32]:
    """Return decay and beta [tokens, heads] in the contract's rounding order.

    ``a`` and ``b`` are [tokens, heads], ``a_log`` and ``dt_bias`` [heads]. Exponentials, the
    logarithm and the softplus' reciprocal are plain, the quotient of beta is correctly rounded.
    """
    x = add(from_bf16(a), from_bf16(dt_bias))
    e = exponential(x)
    y = add(np.float32(1), e)
    ratio = multiply(e, plain_reciprocal(add(np.float32(-1), y)))
    softplus = multiply(multiply(plain_log2(y), LN2), ratio)
    softplus = np.where(y == 1, e, softplus)
    softplus = np.where(x > np.float32(SOFTPLUS_LIMIT), x, softplus)
    decay = exponential(multiply(-exponential(a_log), softplus))
    wide = from_bf16(b)
    power = exponential(-np.abs(wide))
    numerator = np.where(wide < 0, power, np.float32(1))
    return decay, divide(numerator, add(np.float32(1), power))


def convolve(x: F32, weight: F32, history: F32) -> tuple[Bits, Bits]:
    """Return outputs [T, D] and windows [T, D, 3], bf16 bits, of one sequence.

    ``x`` [T, D], ``weight`` [D, 4] and ``history`` [D, 3] (oldest first) are bf16 values. Products
    are rounded to bf16, added in float32 from left to right; SiLU divides correctly rounded. A
    window is the last three inputs after a token.
    """
    outputs, windows = [], []
    for token in x:
        inputs = np.concatenate([history, token[:, None]], axis=1)
        products = round_bf16(multiply(inputs, weight))
        total = add(add(add(products[:, 0], products[:, 1]), products[:, 2]), products[:, 3])
        denominator = add(np.float32(1), exponential(-total))
        outputs.append(to_bf16(divide(total, denominator)))
        history = inputs[:, 1:]
        windows.append(to_bf16(history))
    return np.stack(outputs), np.stack(windows)


def _precompute(asked: Asked) -> Scenario:
    """Return a launch of the verify precompute over a few tokens with padded rows."""
    rng, case = asked.rng(), asked.case
    tokens = 1 + (asked.seed + 2) % 5
    padded = {"q": 2048 + 64, "k": 2048 + 6, "a": 64, "b": 32}
    rows = {n: bf16(_plain(case, n), rng, tokens, padded[n]) for n in ("q", "k")}
    rows |= {n: to_bf16(_gate_inputs(case, rng, tokens, padded[n])) for n in ("a", "b")}
    a_log = A_LOG.get(case, _usual_logs)(rng)
    dt_bias = to_bf16(rng.uniform(-4, 4, VALUE_HEADS).astype(np.float32))
    dt_bias[:: 1 if case in A_LOG else 2 if case == "gates" else VALUE_HEADS] = 0
    values: Values = {
        "A_log": a_log,
        "a": rows["a"],
        "dt_bias": dt_bias,
        "q": rows["q"],
        "k": rows["k"],
        "b": rows["b"],
        "qn": junk("float32", tokens, QK_HEADS, DIM),
        "kn": junk("float32", tokens, QK_HEADS, DIM),
        "decay": junk("float32", tokens, VALUE_HEADS),
        "beta": junk("float32", tokens, VALUE_HEADS),
        **{f"stride_{name}": padded[name] for name in "qkab"},
    }
    expected = _precomputed(rows, a_log, dt_bias)
    return asked.launch(values, (QK_HEADS * tokens, 1, 1), (64, 1, 1), expected)


def _precomputed(rows: Mapping[str, Bits], a_log: F32, dt_bias: Bits) -> dict[str, Array]:
    """Return every array that the precompute writes."""
    q, k = (rows[n][:, : QK_HEADS * DIM].reshape(-1, QK_HEADS, DIM) for n in ("q", "k"))
    a, b = (rows[n][:, :VALUE_HEADS] for n in ("a", "b"))
    decay, beta = gates(a_log, a, dt_bias, b)
    scaled = (normalise(q) * np.float32(DIM**-0.5)).astype(np.float32)
    return {"qn": scaled, "kn": normalise(k), "decay": decay, "beta": beta}


def _plain(case: str, name: str) -> str:
    if case == "mixed":
        return "largest" if name == "q" else "subnormals"
    return case if case in ("zeros", "subnormals", "largest", "equal") else "random"


def _gate_inputs(case: str, rng: Rng, *shape: int) -> F32:
    if case == "gates":
        special = [-100.0, -88.0, -30.0, -16.0, -1.0, -0.0, 0.0, 1.0, 16.0, 19.875, 20.0, 20.125]
        return rng.choice(np.array([*special, 30.0, 88.0, 100.0], np.float32), shape)
    if case == "small_gates":
        return rng.uniform(-20, -14, shape).astype(np.float32)
    if case == "low_rates":
        return np.exp2(rng.uniform(124, 127.9, shape)).astype(np.float32)
    if case == "low_decays":
        return np.full(shape, 64, np.float32)
    if case == "low_gates":
        return rng.uniform(-92, -86, shape).astype(np.float32)
    return (rng.standard_normal(shape) * 4).astype(np.float32)


def _usual_logs(rng: Rng) -> F32:
    return rng.uniform(-8, 3, VALUE_HEADS).astype(np.float32)


def _high_logs(rng: Rng) -> F32:
    """Return logarithms whose powers bring the power of a low gate back to about one."""
    return rng.uniform(86, 88.5, VALUE_HEADS).astype(np.float32)


def _low_rates(rng: Rng) -> F32:
    """Return logarithms whose powers lie on both sides of where exponentials are scaled.

    Half of them lie as close to the border as floats can, half far below it.
    """
    near = at_scaling(np.arange(-40, 40, dtype=np.float32) * np.float32(2.0**-17) + LOWEST_LOG)
    far = rng.uniform(-90, -87.5, VALUE_HEADS // 2).astype(np.float32)
    return np.concatenate([rng.choice(near, VALUE_HEADS // 2), far])


def _low_decays(rng: Rng) -> F32:
    """Return logarithms for which 64 times their powers lies on both sides of that border."""
    start = np.float32(np.log(-LOWEST_LOG / 64))
    steps = (np.arange(-4000, 4000) * 2.0**-25).astype(np.float32)
    logs = start + steps
    rates = multiply(-exponential(logs), np.float32(64))
    near = logs[np.isin(rates, at_scaling(rates))]
    far = np.log(rng.uniform(87.5, 92, VALUE_HEADS // 2) / 64).astype(np.float32)
    return np.concatenate([rng.choice(near, VALUE_HEADS // 2), far])


A_LOG = {"low_rates": _low_rates, "low_decays": _low_decays, "low_gates": _high_logs}
"""Makers of the logarithms of special cases, which have a bias of zero."""


def _conv(asked: Asked) -> Scenario:
    """Return a launch of the causal convolution; some sequences are to be skipped."""
    rng, case = asked.rng(), asked.case
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
    values: Values = {
        "qkvz": qkvz,
        "weight": weight,
        "state": state,
        "state_idx": state_idx,
        "window": junk("uint16", slots, TOKENS, CHANNELS, 3),
        "window_idx": window_idx,
        "out": junk("uint16", batch * TOKENS, CHANNELS),
        "batch": batch,
    }
    expected = _convolved(qkvz, weight, state, state_idx, window_idx)
    return asked.launch(values, (32 * launched, 1, 1), (256, 1, 1), expected)


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


TACTICS = {
    "gdn_verify_precompute_m12": Entry(_precompute, PRECOMPUTE_CASES),
    "gdn_qkvz_conv_m12": Entry(_conv, CONV_CASES),
}
