"""The extend attention kernels: FP8 prefix, then BF16 new tokens.

Launches are ragged batches, edges of tiles and of the window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.arithmetic import multiply
from netra_build.checkasm.numerics.formats import (
    F32,
    Bits,
    Codes,
    from_bf16,
    from_e4m3,
    round_bf16,
    to_bf16,
)
from netra_build.checkasm.numerics.inputs import Rng, saturated
from netra_build.checkasm.numerics.online_softmax import (
    KEYS_PER_PRODUCT,
    OnlineSoftmax,
    attend_prefix,
    hide,
    product,
)
from netra_build.checkasm.numerics.scenario import (
    Asked,
    Entry,
    Scenario,
    Values,
    bits_of,
    junk,
    with_junk_above,
)

from .attention_inputs import NUMBERS, POOL, USUAL, Numbers

BITS = "NETRA_QO_INDPTR_BITS"

EDGES = (0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 200)
TOKENS_MAX = 16
PREFIX_TILE = 64
TAIL_DIMENSIONS = 32


@dataclass(frozen=True)
class ExtendShape:
    """The parameters of an extend kernel: heads, head dimension, groups, the prefix window."""

    query_heads: int
    kv_heads: int
    dimensions: int
    groups: int = 1
    window: int | None = None


GQA4 = ExtendShape(32, 8, 128, window=4095)
GQA8 = ExtendShape(16, 2, 256, groups=2)


@dataclass(frozen=True)
class ExtendInputs:
    """Inputs of an extend kernel.

    q BF16 [tokens, query heads, D]; k_ext, v_ext BF16 [tokens, KV heads, D]; k_buf, v_buf FP8
    [slots, KV heads, D]; qo_indptr, kv_indptr [B + 1]; kv_indices [prefix keys].
    """

    q: Bits
    k_ext: Bits
    v_ext: Bits
    k_buf: Codes
    v_buf: Codes
    qo_indptr: npt.NDArray[np.int64]
    kv_indptr: npt.NDArray[np.int32]
    kv_indices: npt.NDArray[np.int64]
    sm_scale: np.float32


def attention_extend(shape: ExtendShape, inputs: ExtendInputs, out: Bits) -> Bits:
    """Return ``out`` [tokens, query heads, D] in BF16 with the rows of all sequences replaced."""
    result = out.copy()
    q, k_ext, v_ext = (from_bf16(x) for x in (inputs.q, inputs.k_ext, inputs.v_ext))
    for sequence in range(len(inputs.qo_indptr) - 1):
        first, last = (int(x) for x in inputs.qo_indptr[sequence : sequence + 2])
        begin, end = (int(x) for x in inputs.kv_indptr[sequence : sequence + 2])
        slots = inputs.kv_indices[begin:end]
        if first == last:
            continue
        for head in range(shape.query_heads):
            kv = head // (shape.query_heads // shape.kv_heads)
            state = OnlineSoftmax.empty(last - first, shape.dimensions)
            queries = q[first:last, head]
            keys = from_e4m3(inputs.k_buf[slots, kv])
            values = from_e4m3(inputs.v_buf[slots, kv])
            attend_prefix(
                state, queries, keys, values, inputs.sm_scale, tile=PREFIX_TILE, window=shape.window
            )
            attend_new_tokens(
                state, queries, k_ext[first:last, kv], v_ext[first:last, kv], inputs.sm_scale
            )
            result[first:last, head] = to_bf16(state.quotient())
    return result


def attend_new_tokens(
    state: OnlineSoftmax, q: F32, keys: F32, values: F32, scale: np.float32
) -> None:
    """Take in the T new tokens: q, keys, values [T, D] in BF16; token t sees tokens 0 .. t."""
    tokens = len(q)
    scores = multiply(product(q, keys.T, None, TAIL_DIMENSIONS), scale)
    scores = hide(scores, np.tril(np.ones((tokens, tokens), np.bool_)))
    weights = round_bf16(state.probabilities(scores))
    state.accumulator = product(weights, values, state.accumulator, KEYS_PER_PRODUCT)


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

CASES = ("random", *dict.fromkeys((*LENGTHS, *NUMBERS)))


def _extend(asked: Asked, shape: ExtendShape) -> Scenario:
    """Return a launch; both index widths of one kernel get the same numbers."""
    rng = asked.rng()
    fixed = LENGTHS.get(asked.case) or (MIXED if asked.case in NUMBERS else None)
    tokens, prefixes = fixed or _ragged(rng)
    inputs = _inputs(shape, rng, tokens, prefixes, NUMBERS.get(asked.case, USUAL))
    out = junk("uint16", max(sum(tokens), 1), shape.query_heads, shape.dimensions)
    expected = {"out": attention_extend(shape, inputs, out)}
    bits = asked.specialization.get(BITS, 64)
    values = _kernargs(inputs, out, rng, bits, has_bits=shape is GQA8)
    grid = (len(tokens), shape.kv_heads, shape.groups)
    return asked.launch(values, grid, (shape.dimensions * 2, 1, 1), expected)


def _ragged(rng: Rng) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Up to three sequences; tokens 0 to 16, prefixes mostly at an edge."""
    count = int(rng.integers(1, 4))
    tokens = rng.integers(0, TOKENS_MAX + 1, count)
    tokens[0] = max(tokens[0], 1)
    edges = rng.choice(EDGES, count)
    prefixes = np.where(rng.random(count) < 0.7, edges, rng.integers(0, 256, count))
    return tuple(int(t) for t in tokens), tuple(int(p) for p in prefixes)


def _inputs(
    shape: ExtendShape,
    rng: Rng,
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
        k_buf=saturated(numbers.keys(rng, pool)),
        v_buf=saturated(numbers.values(rng, pool)),
        qo_indptr=np.cumsum([0, *tokens], dtype=np.int64),
        kv_indptr=np.cumsum([0, *prefixes]).astype(np.int32),
        kv_indices=rng.integers(0, POOL, keys),
        sm_scale=np.float32(numbers.scale / np.sqrt(shape.dimensions)),
    )


def _kernargs(inputs: ExtendInputs, out: Bits, rng: Rng, bits: int, *, has_bits: bool) -> Values:
    """Return the kernargs in order; the two reserved pointers are null."""
    wide = replace(inputs, kv_indices=with_junk_above(inputs.kv_indices, rng))
    indptr = inputs.qo_indptr
    values: Values = {
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


TACTICS = {
    "attention_gqa4_fp8kv": Entry(lambda asked: _extend(asked, GQA4), CASES),
    "attention_gqa8_fp8kv": Entry(
        lambda asked: _extend(asked, GQA8), CASES, {f"qo{n}": {BITS: n} for n in (32, 64)}
    ),
}
