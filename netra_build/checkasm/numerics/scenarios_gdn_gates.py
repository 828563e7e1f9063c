"""Launches of the verify precompute: normalised queries and keys, decay and beta."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from netra_build.checkasm.numerics.formats import F32, multiply, to_bf16
from netra_build.checkasm.numerics.gdn import LOWEST_LOG, at_scaling, exponential, gates, normalise
from netra_build.checkasm.numerics.scenario import Array, Scenario, generator, junk
from netra_build.checkasm.numerics.scenarios_flat import bf16
from netra_build.checkasm.numerics.scenarios_gdn import DIM, QK_HEADS, VALUE_HEADS, Rng

PRECOMPUTE_CASES = (
    *("random", "zeros", "subnormals", "largest", "equal", "gates", "small_gates"),
    *("low_rates", "low_decays", "low_gates", "mixed"),
)


def precompute(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of the verify precompute over a few tokens with padded rows."""
    rng = generator(tactic, case, seed)
    tokens = 1 + (seed + 2) % 5
    width, padded = QK_HEADS * DIM, {"q": 2048 + 64, "k": 2048 + 6, "a": 64, "b": 32}
    rows = {n: bf16(_plain(case, n), rng, tokens, padded[n]) for n in ("q", "k")}
    rows |= {n: to_bf16(_gate_inputs(case, rng, tokens, padded[n])) for n in ("a", "b")}
    a_log = A_LOG.get(case, _usual_logs)(rng)
    dt_bias = to_bf16(rng.uniform(-4, 4, VALUE_HEADS).astype(np.float32))
    dt_bias[:: 1 if case in A_LOG else 2 if case == "gates" else VALUE_HEADS] = 0
    heads = {n: rows[n][:, :width].reshape(tokens, QK_HEADS, DIM) for n in ("q", "k")}
    a, b = rows["a"][:, :VALUE_HEADS], rows["b"][:, :VALUE_HEADS]
    decay, beta = gates(a_log, a, dt_bias, b)
    query_scale = np.float32(DIM**-0.5)
    values: dict[str, Array | int] = {
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
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values=values,
        grid=(QK_HEADS * tokens, 1, 1),
        block=(64, 1, 1),
        expected={
            "qn": (normalise(heads["q"]) * query_scale).astype(np.float32),
            "kn": normalise(heads["k"]),
            "decay": decay,
            "beta": beta,
        },
    )


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
