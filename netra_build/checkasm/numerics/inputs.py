"""Inputs for contracts: random and extreme cases, made from a seed that a label carries.

A label is ``TACTIC/CASE/SEED``; it is printed with every failure and read back by
``parse_label``, so that one word repeats a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.registry import Argument, Contract, Sizes, contract_of
from netra_build.core.errors import BadInput
from netra_build.core.nearest import nearest_hint

Array = npt.NDArray[Any]
Generator = np.random.Generator
Fill = Callable[[Generator, tuple[int, ...]], Array]

LARGEST_CODE = 0x7E
SMALLEST_SUBNORMAL_CODES = 8
GUARD_BYTE = 0xA5


@dataclass(frozen=True)
class InputSet:
    """Arguments of one launch. Pointers are arrays, outputs among them filled with junk."""

    label: str
    sizes: Sizes
    values: dict[str, Array | int]


def make_inputs(
    contract: Contract, case: str = "random", seed: int = 1, sizes: Sizes | None = None
) -> InputSet:
    """Return the inputs of a case; the same words always give the same bytes.

    ``BadInput`` names the nearest case when there is none of this name.
    """
    if case not in CASES:
        hint = nearest_hint(case, CASES)
        raise BadInput(f'unknown input case "{case}"', location=contract.tactic, hint=hint)
    sizes = sizes or Sizes()
    values: dict[str, Array | int] = {}
    for argument in contract.arguments:
        words = f"{contract.tactic}/{argument.name}/{case}".encode()
        rng = np.random.default_rng([seed, crc32(words)])
        values[argument.name] = _value(contract, argument, case, rng, sizes)
    return InputSet(f"{contract.tactic}/{case}/{seed}", sizes, values)


def parse_label(label: str) -> tuple[Contract, str, int]:
    """Return contract, case and seed of a printed label; ``BadInput`` when it is none."""
    parts = label.split("/")
    if len(parts) != 3 or not parts[2].isdecimal() or len(parts[2]) > 18:
        raise BadInput(f'"{label}" is no input label', expected="TACTIC/CASE/SEED", got=label)
    return contract_of(parts[0]), parts[1], int(parts[2])


def _value(
    contract: Contract, argument: Argument, case: str, rng: Generator, sizes: Sizes
) -> Array | int:
    shape = argument.shape(sizes)
    if argument.kind != "pointer":
        return int(contract.grid(sizes)[0])
    if argument.access == "write":
        count = int(np.prod(shape)) * np.dtype(argument.dtype).itemsize
        junk: Array = np.full(count, GUARD_BYTE, np.uint8).view(argument.dtype).reshape(shape)
        return junk
    if argument.name == "topk_ids":
        return _expert_ids(case, rng, shape, sizes.experts)
    if argument.name == "topk_weights":
        return _routing_weights(case, rng, shape)
    if argument.dtype == "uint8":
        return CASES[case].codes(rng, shape)
    if argument.name.endswith("scale"):
        return CASES[case].scales(rng, shape)
    return CASES[case].floats(rng, shape)


def _expert_ids(case: str, rng: Generator, shape: tuple[int, ...], experts: int) -> Array:
    """Distinct ids per token where there are enough experts, or what the case asks for."""
    tokens, slots = shape
    if case == "repeated_expert":
        ids = np.repeat(rng.integers(0, experts, (tokens, 1)), slots, axis=1)
    elif case == "duplicated_ids":
        ids = rng.integers(0, experts, shape)
        ids[:, slots // 2 :] = ids[:, : slots - slots // 2]
    elif experts < slots:
        ids = rng.integers(0, experts, shape)
    else:
        ids = np.stack([rng.permutation(experts)[:slots] for _ in range(tokens)])
    if case == "last_expert":
        ids[:, -1] = experts - 1
    return ids.astype(np.int32)


def _routing_weights(case: str, rng: Generator, shape: tuple[int, ...]) -> Array:
    """Positive weights that add up to about 1 per token; one-hot where the case asks for it."""
    if case == "one_hot_routing":
        weights: Array = np.zeros(shape, np.float32)
        weights[np.arange(shape[0]), rng.integers(0, shape[1], shape[0])] = 1.0
        return weights
    if case == "zeros":
        return np.zeros(shape, np.float32)
    raw = rng.random(shape) + 0.01
    return np.asarray(raw / raw.sum(-1, keepdims=True), np.float32)


def _finite_codes(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Any of the 254 codes that are numbers."""
    codes = rng.integers(0, 254, shape, dtype=np.uint8)
    return np.where(codes >= 127, codes + 1, codes).astype(np.uint8)


def _subnormal_codes(rng: Generator, shape: tuple[int, ...]) -> Array:
    sign = rng.integers(0, 2, shape, dtype=np.uint8) << 7
    return (rng.integers(0, SMALLEST_SUBNORMAL_CODES, shape, dtype=np.uint8) | sign).astype(
        np.uint8
    )


def _largest_codes(rng: Generator, shape: tuple[int, ...]) -> Array:
    """±448, the two signs about equally often."""
    return (LARGEST_CODE | rng.integers(0, 2, shape, dtype=np.uint8) << 7).astype(np.uint8)


def _equal_codes(rng: Generator, shape: tuple[int, ...]) -> Array:
    return np.full(shape, int(rng.integers(1, 127)), np.uint8)


def _power_scales(low: float, high: float) -> Fill:
    """Scales spread evenly over powers of two, with full mantissas."""

    def fill(rng: Generator, shape: tuple[int, ...]) -> Array:
        return np.exp2(rng.uniform(low, high, shape)).astype(np.float32)

    return fill


def _constant(value: float) -> Fill:
    def fill(rng: Generator, shape: tuple[int, ...]) -> Array:
        return np.full(shape, value, np.float32)

    return fill


def _normal(spread: float) -> Fill:
    def fill(rng: Generator, shape: tuple[int, ...]) -> Array:
        return (rng.standard_normal(shape) * spread).astype(np.float32)

    return fill


def _signed_powers(low: float, high: float) -> Fill:
    """Either sign, magnitudes spread evenly over powers of two."""

    def fill(rng: Generator, shape: tuple[int, ...]) -> Array:
        sign = rng.integers(0, 2, shape) * 2 - 1
        return (sign * np.exp2(rng.uniform(low, high, shape))).astype(np.float32)

    return fill


def _at_code_boundaries(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Magnitudes around the largest of a group, so that codes come out near ±448 and at ties."""
    steps = rng.integers(224, 449, shape) / 448.0
    return (steps * (rng.integers(0, 2, shape) * 2 - 1) * 8.0).astype(np.float32)


def _signed_zeros(rng: Generator, shape: tuple[int, ...]) -> Array:
    return np.where(rng.integers(0, 2, shape) == 1, -0.0, 0.0).astype(np.float32)


@dataclass(frozen=True)
class Case:
    """How a case fills codes, scales and plain float32 arguments."""

    codes: Fill
    scales: Fill
    floats: Fill
    summary: str


_USUAL = (_finite_codes, _power_scales(-12, 2), _normal(4.0))

CASES: dict[str, Case] = {
    "random": Case(*_USUAL, "any number code, scales over 14 powers of two"),
    "zeros": Case(
        lambda rng, shape: np.zeros(shape, np.uint8),
        _constant(1.0),
        _signed_zeros,
        "all codes zero; float inputs are zeros of either sign",
    ),
    "zero_codes": Case(
        lambda rng, shape: np.zeros(shape, np.uint8),
        _power_scales(38, 46),
        _normal(4.0),
        "all codes zero and scales large: the least thing added to a dot product shows",
    ),
    "subnormals": Case(
        _subnormal_codes,
        _power_scales(-75, -60),
        _signed_powers(-149, -120),
        "subnormal codes and scales whose products are float32 subnormals",
    ),
    "saturation": Case(
        _largest_codes, _power_scales(-2, 2), _at_code_boundaries, "codes of ±448 only"
    ),
    "equal": Case(_equal_codes, _constant(0.75), _constant(1.5), "every element alike"),
    "one_hot_routing": Case(*_USUAL, "one routing weight is 1, all others are 0"),
    "repeated_expert": Case(*_USUAL, "all slots of a token name one expert"),
    "duplicated_ids": Case(*_USUAL, "some experts stand in two slots"),
    "last_expert": Case(*_USUAL, "the last slot names the last expert"),
    "largest": Case(
        _largest_codes,
        _power_scales(38, 46),
        _signed_powers(6, 60),
        "sums of about 2**120, still finite",
    ),
}
"""Input cases by name."""
