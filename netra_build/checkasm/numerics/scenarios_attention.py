"""Launches of the extend attention kernels: ragged batches, edges of tiles and of the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.attention import (
    GQA4,
    GQA8,
    ExtendInputs,
    ExtendShape,
    attention_extend,
)
from netra_build.checkasm.numerics.formats import F32, Bits, Codes, from_bf16, to_bf16, to_e4m3
from netra_build.checkasm.numerics.scenario import Array, Scenario, generator, junk

GQA4_TACTIC = "attention_gqa4_fp8kv"
BITS = "NETRA_QO_INDPTR_BITS"
POOL = 96
"""Slots of the key and value buffers; prefixes longer than that name slots several times."""

EDGES = (0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 200)
TOKENS_MAX = 16


@dataclass(frozen=True)
class Numbers:
    """How a case fills queries, keys and values, and its factor of the scores."""

    queries: Callable[[np.random.Generator, tuple[int, ...]], F32]
    keys: Callable[[np.random.Generator, tuple[int, ...]], F32]
    values: Callable[[np.random.Generator, tuple[int, ...]], F32]
    scale: float


def normal(spread: float) -> Callable[[np.random.Generator, tuple[int, ...]], F32]:
    """Return a generator of normal numbers."""

    def fill(rng: np.random.Generator, shape: tuple[int, ...]) -> F32:
        return (rng.standard_normal(shape) * spread).astype(np.float32)

    return fill


def constant(value: float) -> Callable[[np.random.Generator, tuple[int, ...]], F32]:
    """Return a generator of one number."""

    def fill(rng: np.random.Generator, shape: tuple[int, ...]) -> F32:
        return np.full(shape, value, np.float32)

    return fill


def _spread(rng: np.random.Generator, shape: tuple[int, ...]) -> F32:
    """Rows (all but the last dimension) of very different size: maxima jump from key to key."""
    size = np.exp2(rng.uniform(-6, 4, (*shape[:-1], 1)))
    return (rng.standard_normal(shape) * size).astype(np.float32)


def _ties(rng: np.random.Generator, shape: tuple[int, ...]) -> F32:
    """Rows that are neighbours in BF16 by turns: the mean of an even number of them is a tie."""
    low = to_bf16((rng.standard_normal(shape[1:]) + 3).astype(np.float32))
    odd = (np.arange(shape[0]) % 2).astype(np.uint16)
    return from_bf16(low[None] + odd.reshape(-1, *[1] * (len(shape) - 1)))


def _largest(rng: np.random.Generator, shape: tuple[int, ...]) -> F32:
    return ((rng.integers(0, 2, shape) * 2 - 1) * rng.uniform(400, 900, shape)).astype(np.float32)


USUAL = Numbers(normal(1.0), normal(1.0), normal(1.0), 1.0)
NUMBERS: Mapping[str, Numbers] = {
    "zeros": Numbers(constant(0.0), constant(0.0), normal(1.0), 1.0),
    "equal": Numbers(constant(0.5), constant(-0.75), normal(1.0), 1.0),
    "subnormals": Numbers(normal(2.0**-8), normal(2.0**-8), normal(2.0**-8), 1.0),
    "saturation": Numbers(_largest, _largest, _largest, 2.0**-14),
    "spread_keys": Numbers(normal(2.0), _spread, normal(1.0), 1.0),
    "one_key_wins": Numbers(normal(4.0), normal(4.0), normal(1.0), 4.0),
    "ties": Numbers(constant(0.0), normal(1.0), _ties, 1.0),
}
LENGTHS: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "no_prefix": ((16, 0, 1, 5), (0, 0, 0, 0)),
    "short_prefixes": ((1, 16, 3, 2), (1, 15, 16, 17)),
    "tile_edges": ((16, 7, 15), (63, 64, 65)),
    "masks": ((1,) * 16, tuple(16 * (i // 4) + i % 4 + 1 for i in range(16))),
    "ties": ((16,), (0,)),
    "no_token": ((0, 2, 0), (70, 3, 5)),
    "window_edges": ((16, 1, 2), (4094, 4095, 4096)),
    "beyond_window": ((16, 16, 16, 2, 9), (4112, 4128, 4145, 4144, 4161)),
}
"""New tokens and prefix keys of each sequence."""

MIXED = ((5, 16), (70, 33))
"""The same, for cases that are about numbers."""

EXTEND_CASES = ("random", *dict.fromkeys((*LENGTHS, *NUMBERS)))


def extend(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of an extend kernel; both index widths of one get the same numbers."""
    rng = generator(tactic, case, seed)
    shape = GQA4 if tactic == GQA4_TACTIC else GQA8
    fixed = LENGTHS.get(case) or (MIXED if case in NUMBERS else None)
    tokens, prefixes = fixed or _ragged(rng)
    inputs = _inputs(shape, rng, tokens, prefixes, NUMBERS.get(case, USUAL))
    out = junk("uint16", max(sum(tokens), 1), shape.query_heads, shape.dimensions)
    expected = attention_extend(shape, inputs, out)
    groups = 1 if shape is GQA4 else 2
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values=_kernargs(inputs, out, rng, specialization.get(BITS, 64), has_bits=groups == 2),
        grid=(len(tokens), shape.kv_heads, groups),
        block=(shape.dimensions * 2, 1, 1),
        expected={"out": expected},
    )


def _ragged(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Up to three sequences; tokens 0 to 16, prefixes mostly at an edge."""
    count = int(rng.integers(1, 4))
    tokens = rng.integers(0, TOKENS_MAX + 1, count)
    tokens[0] = max(tokens[0], 1)
    edges = rng.choice(EDGES, count)
    prefixes = np.where(rng.random(count) < 0.7, edges, rng.integers(0, 256, count))
    return tuple(int(t) for t in tokens), tuple(int(p) for p in prefixes)


def _inputs(
    shape: ExtendShape,
    rng: np.random.Generator,
    tokens: tuple[int, ...],
    prefixes: tuple[int, ...],
    numbers: Numbers,
) -> ExtendInputs:
    total, keys = max(sum(tokens), 1), max(sum(prefixes), 1)
    new = (total, shape.kv_heads, shape.dimensions)
    pool = (POOL, shape.kv_heads, shape.dimensions)
    return ExtendInputs(
        q=to_bf16(numbers.queries(rng, (total, shape.query_heads, shape.dimensions))),
        k_ext=to_bf16(numbers.keys(rng, new)),
        v_ext=to_bf16(numbers.values(rng, new)),
        k_buf=codes(numbers.keys(rng, pool)),
        v_buf=codes(numbers.values(rng, pool)),
        qo_indptr=np.cumsum([0, *tokens], dtype=np.int64),
        kv_indptr=np.cumsum([0, *prefixes]).astype(np.int32),
        kv_indices=rng.integers(0, POOL, keys),
        sm_scale=np.float32(numbers.scale / np.sqrt(shape.dimensions)),
    )


def codes(values: F32) -> Codes:
    """Return saturated E4M3 codes."""
    return to_e4m3(values, saturate=True)


def bits_of(value: np.float32) -> int:
    """Return an FP32 number as the integer that its kernarg holds."""
    return int(np.float32(value).view(np.uint32))


def with_junk_above(low: npt.NDArray[np.int64], rng: np.random.Generator) -> Array:
    """Return 64-bit numbers whose low dwords are ``low`` and whose high dwords mean nothing."""
    high = rng.integers(0, 2**31, low.shape, dtype=np.int64) << np.int64(32)
    return low | high


def _kernargs(
    inputs: ExtendInputs, out: Bits, rng: np.random.Generator, bits: int, *, has_bits: bool
) -> dict[str, Array | int]:
    """Return the kernargs in order; the two reserved pointers lead nowhere."""
    wide = replace(inputs, kv_indices=with_junk_above(inputs.kv_indices, rng))
    indptr = inputs.qo_indptr
    values: dict[str, Array | int] = {
        "q": wide.q,
        "k_ext": wide.k_ext,
        "v_ext": wide.v_ext,
        "out": out,
        "k_buf": wide.k_buf,
        "v_buf": wide.v_buf,
        "qo_indptr": indptr.astype(np.int32) if bits == 32 else with_junk_above(indptr, rng),
        "kv_indptr": wide.kv_indptr,
        "kv_indices": wide.kv_indices,
        "sm_scale": bits_of(wide.sm_scale),
    }
    if has_bits:
        values["qo_bits"] = bits
    return {**values, "scratch": 0, "profile": 0}
