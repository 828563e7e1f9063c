"""Launches of the router and of the dense candidates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from netra_build.checkasm.numerics.dense import dense_projection
from netra_build.checkasm.numerics.formats import F32, Bits, to_bf16
from netra_build.checkasm.numerics.inputs import CASES
from netra_build.checkasm.numerics.router import router_projection
from netra_build.checkasm.numerics.scenario import Scenario, generator, junk

FLOAT_CASES = ("random", "zeros", "subnormals", "equal", "largest", "cancellation")
CODE_CASES = ("random", "zeros", "subnormals", "saturation", "equal", "largest")
ROUTER_CASES = (*FLOAT_CASES, "exact_zeros")
ROUTER_ROWS = {"random": 3, "largest": 16}
ONE_WAVE = "dense_m1_fp8_one_wave"
FOUR_WAVES = "dense_m1_fp8_four_wave_lds"


def floats(case: str, rng: np.random.Generator, *shape: int) -> F32:
    """Return float32 numbers of a case whose products of pairs stay finite."""
    if case == "zeros":
        return np.where(rng.integers(0, 2, shape) == 1, -0.0, 0.0).astype(np.float32)
    if case == "equal":
        return np.full(shape, 1.5, np.float32)
    sign = rng.integers(0, 2, shape) * 2 - 1
    if case == "subnormals":
        return (sign * np.exp2(rng.uniform(-133, -60, shape))).astype(np.float32)
    if case == "largest":
        return (sign * np.exp2(rng.uniform(40, 57, shape))).astype(np.float32)
    if case == "cancellation":
        return (sign * np.exp2(rng.uniform(-24, 24, shape))).astype(np.float32)
    return rng.standard_normal(shape).astype(np.float32)


def bf16(case: str, rng: np.random.Generator, *shape: int) -> Bits:
    """Return the same as bf16 bits."""
    return to_bf16(floats(case, rng, *shape))


def _exact_zeros(rng: np.random.Generator, rows: int) -> tuple[Bits, Bits]:
    """Return rows whose products cancel two by two within a chain, so that every sum is zero.

    Of four numbers the first two differ from the others in their lowest mantissa bits: a bit of
    one BF16 number that gets into its neighbour of the same dword leaves a sum.
    """
    scale = np.exp2(rng.integers(-8, 8, 512))
    first, odd = rng.integers(129, 131, 512), rng.integers(128, 256, 512)
    second = 259 - first
    numbers = [first * scale, odd * scale, -second * scale, -odd * scale]
    hidden = np.stack(numbers, axis=1).reshape(2048)
    signs = rng.integers(0, 2, (256, 512)) * 2 - 1
    same = rng.integers(128, 256, (256, 512))
    weight = np.stack([second * signs, same, first * signs, same], axis=2).reshape(256, 2048)
    return (
        to_bf16(np.broadcast_to(hidden, (rows, 2048)).astype(np.float32)),
        to_bf16(weight.astype(np.float32)),
    )


def router(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of the router projection, 1 to 16 rows."""
    rng = generator(tactic, case, seed)
    rows = ROUTER_ROWS.get(case, 1 + seed % 2)
    hidden, weight = bf16(case, rng, rows, 2048), bf16(case, rng, 256, 2048)
    if case == "exact_zeros":
        hidden, weight = _exact_zeros(rng, rows)
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values={"out": junk("uint16", rows, 256), "hidden": hidden, "weight": weight},
        grid=(256, rows, 1),
        block=(64, 1, 1),
        expected={"out": router_projection(hidden, weight)},
    )


def dense(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of a dense candidate."""
    fill = CASES[case]
    rng = generator("dense", case, seed)
    values = {
        "activation": fill.codes(rng, (4096,)),
        "activation_scale": fill.scales(rng, (32,)),
        "weight": fill.codes(rng, (2048, 4096)),
        "weight_scale": fill.scales(rng, (16, 32)),
    }
    waves = 4 if tactic == FOUR_WAVES else 1
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values={**values, "out": junk("uint16", 2048)},
        grid=(128 // waves, 1, 1),
        block=(64 * waves, 1, 1),
        expected={"out": dense_projection(*values.values())},
    )
