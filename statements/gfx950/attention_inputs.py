"""The numbers in queries, keys and values that all attention kernels are tried with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.numerics.formats import F32, from_bf16, to_bf16
from netra_build.checkasm.numerics.inputs import Fill, Rng, constant, normal

POOL = 96
"""Slots of the key and value buffers; prefixes longer than that name slots several times."""


@dataclass(frozen=True)
class Numbers:
    """How a case fills queries, keys and values, and its factor of the scores."""

    queries: Fill
    keys: Fill
    values: Fill
    scale: float


def _spread(rng: Rng, shape: tuple[int, ...]) -> F32:
    """Rows (all but the last dimension) of very different size: maxima jump from key to key."""
    size = np.exp2(rng.uniform(-6, 4, (*shape[:-1], 1)))
    return (rng.standard_normal(shape) * size).astype(np.float32)


def _ties(rng: Rng, shape: tuple[int, ...]) -> F32:
    """Rows that alternate between adjacent BF16 numbers: the mean of an even number is a tie."""
    low = to_bf16((rng.standard_normal(shape[1:]) + 3).astype(np.float32))
    odd = (np.arange(shape[0]) % 2).astype(np.uint16)
    return from_bf16(low[None] + odd.reshape(-1, *[1] * (len(shape) - 1)))


def _beyond_codes(rng: Rng, shape: tuple[int, ...]) -> F32:
    return ((rng.integers(0, 2, shape) * 2 - 1) * rng.uniform(400, 900, shape)).astype(np.float32)


USUAL = Numbers(normal(1.0), normal(1.0), normal(1.0), 1.0)
NUMBERS: Mapping[str, Numbers] = {
    "zeros": Numbers(constant(0.0), constant(0.0), normal(1.0), 1.0),
    "equal": Numbers(constant(0.5), constant(-0.75), normal(1.0), 1.0),
    "subnormals": Numbers(normal(2.0**-8), normal(2.0**-8), normal(2.0**-8), 1.0),
    "saturation": Numbers(_beyond_codes, _beyond_codes, _beyond_codes, 2.0**-14),
    "spread_keys": Numbers(normal(2.0), _spread, normal(1.0), 1.0),
    "one_key_wins": Numbers(normal(4.0), normal(4.0), normal(1.0), 4.0),
    "ties": Numbers(constant(0.0), normal(1.0), _ties, 1.0),
}
