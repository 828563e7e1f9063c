"""The numpy statements of attention: against hand-made numbers and a plain second statement."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kernel_statements import named_in, stated_in
from ml_dtypes import bfloat16, float8_e4m3fn

from netra_build.checkasm.numerics.arithmetic import exponential

ExtendInputs, ExtendShape, attention_extend = named_in(
    "attention", "ExtendInputs", "ExtendShape", "attention_extend"
)
Partials, split_bounds = named_in("splitseq_shapes", "Partials", "split_bounds")
SplitInputs, prepare, stage1 = named_in("splitseq", "SplitInputs", "prepare", "stage1")
stage2 = stated_in("splitseq_merge").stage2

SHAPE = ExtendShape(2, 1, 32)
WINDOWED = ExtendShape(2, 1, 32, window=2)


def bf16(values: np.ndarray) -> np.ndarray:
    """Return BF16 bits."""
    return np.asarray(values).astype(bfloat16).view(np.uint16)


def fp8(values: np.ndarray) -> np.ndarray:
    """Return E4M3 codes."""
    return np.asarray(values).astype(float8_e4m3fn).view(np.uint8)


def numbers(bits: np.ndarray) -> np.ndarray:
    """Return BF16 bits as numbers."""
    return bits.view(bfloat16).astype(np.float64)


def inputs(seed: int, tokens: list[int], prefixes: list[int], scale: float = 0.5) -> ExtendInputs:
    """Return random inputs of the small shape."""
    rng = np.random.default_rng(seed)
    total, pool = sum(tokens), 20
    return ExtendInputs(
        q=bf16(rng.standard_normal((total, 2, 32))),
        k_ext=bf16(rng.standard_normal((total, 1, 32))),
        v_ext=bf16(rng.standard_normal((total, 1, 32))),
        k_buf=fp8(rng.standard_normal((pool, 1, 32))),
        v_buf=fp8(rng.standard_normal((pool, 1, 32))),
        qo_indptr=np.cumsum([0, *tokens]),
        kv_indptr=np.cumsum([0, *prefixes]).astype(np.int32),
        kv_indices=rng.integers(0, pool, max(sum(prefixes), 1)),
        sm_scale=np.float32(scale),
    )


def plain_row(
    q: np.ndarray, keys: list[np.ndarray], values: list[np.ndarray], scale: float
) -> np.ndarray:
    """Return softmax attention of one query over all keys at once, in float64."""
    scores = [float(q @ key) * scale for key in keys]
    largest = max(scores)
    weights = [math.exp(score - largest) for score in scores]
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


def plain(given: ExtendInputs, window: int | None = None) -> np.ndarray:
    """Return all outputs without any rounding but those of the inputs; q is not rounded to FP8."""
    q, k_ext, v_ext = (numbers(x) for x in (given.q, given.k_ext, given.v_ext))
    k_buf, v_buf = (x.view(float8_e4m3fn).astype(np.float64) for x in (given.k_buf, given.v_buf))
    out = np.zeros(q.shape)
    for at in range(len(given.qo_indptr) - 1):
        first, last = given.qo_indptr[at : at + 2]
        slots = given.kv_indices[given.kv_indptr[at] : given.kv_indptr[at + 1]]
        for token in range(first, last):
            t = token - first
            seen = [
                slot
                for j, slot in enumerate(slots)
                if window is None or len(slots) + t <= j + window
            ]
            keys = [k_buf[s, 0] for s in seen] + list(k_ext[first : token + 1, 0])
            values = [v_buf[s, 0] for s in seen] + list(v_ext[first : token + 1, 0])
            for head in range(2):
                out[token, head] = plain_row(q[token, head], keys, values, float(given.sm_scale))
    return out


@pytest.mark.parametrize(
    ("tokens", "prefixes"), [([3, 2], [0, 5]), ([1, 4], [70, 64]), ([16], [129])]
)
def test_the_statement_is_near_plain_attention(tokens: list[int], prefixes: list[int]) -> None:
    """FP8 rounds queries and weights by up to 2^-4: outputs move by a fraction of the values."""
    given = inputs(1, tokens, prefixes)
    found = numbers(attention_extend(SHAPE, given, np.zeros_like(given.q)))
    distance = np.abs(found - plain(given))
    assert distance.max() < 0.25
    assert distance.mean() < 0.03


def test_new_tokens_alone_agree_to_bf16() -> None:
    given = inputs(2, [16, 1, 7], [0, 0, 0])
    found = numbers(attention_extend(SHAPE, given, np.zeros_like(given.q)))
    assert np.abs(found - plain(given)).max() < 2.0**-7


def test_the_second_statement_can_tell_a_difference() -> None:
    given = inputs(1, [3, 2], [0, 5])
    scaled = inputs(1, [3, 2], [0, 5], scale=2.0)
    found = numbers(attention_extend(SHAPE, scaled, np.zeros_like(given.q)))
    assert np.abs(found - plain(given)).max() > 0.5


def test_a_single_token_returns_its_own_value() -> None:
    given = inputs(3, [1], [0])
    found = attention_extend(SHAPE, given, np.zeros_like(given.q))
    assert (found[0] == given.v_ext[0, 0]).all()


def test_a_sequence_without_tokens_leaves_the_output() -> None:
    given = inputs(4, [1, 0], [0, 6])
    out = np.full((3, 2, 32), 7, np.uint16)
    found = attention_extend(SHAPE, given, out)
    assert (found[1:] == 7).all()
    assert (out == 7).all()


def test_the_window_counts_from_the_end_of_the_prefix() -> None:
    """Prefix of 3, window 2: token 0 sees keys 1 and 2, token 1 key 2; zero queries weigh alike."""
    given = inputs(5, [2], [3])
    values = np.zeros((20, 1, 32))
    values[10, 0, 0], values[11, 0, 1], values[12, 0, 2] = 1, 1, 1
    given = ExtendInputs(
        **{
            **vars(given),
            "q": np.zeros_like(given.q),
            "v_ext": np.zeros_like(given.v_ext),
            "v_buf": fp8(values),
            "kv_indices": np.array([10, 11, 12]),
        }
    )
    found = numbers(attention_extend(WINDOWED, given, np.zeros_like(given.q)))
    third = float(np.float32(1 / 3).astype(bfloat16))
    assert found[0, 0, :4].tolist() == [0.0, third, third, 0.0]
    assert found[1, 0, :4].tolist() == [0.0, 0.0, third, 0.0]


@pytest.mark.parametrize(
    ("keys", "splits", "split", "bounds"),
    [
        (1, 1, 0, (0, 1)),
        (33, 1, 0, (0, 33)),
        (33, 2, 0, (0, 32)),
        (33, 2, 1, (32, 33)),
        (64, 3, 1, (32, 64)),
        (64, 3, 2, (64, 64)),
        (1, 129, 1, (32, 1)),
        (4096, 129, 127, (4064, 4096)),
        (4096, 129, 128, (4096, 4096)),
    ],
)
def test_split_bounds(keys: int, splits: int, split: int, bounds: tuple[int, int]) -> None:
    assert split_bounds(keys, splits, split) == bounds


def test_prepare_copies_bit_patterns() -> None:
    table = np.array([[5, 6, -1, -2, 9]], np.int32)
    unified, lengths = np.full(5, 77, np.uint64), np.full(16, -7, np.int32)
    after, seen = prepare(unified, lengths, 1, table, 0, 3)
    assert after.tolist() == [77, 6, 0xFFFFFFFF, 0xFFFFFFFE, 77]
    assert seen.tolist() == [2, 3, 4] + [-7] * 13


def test_the_exponential_keeps_subnormals() -> None:
    x = np.array([0.0, -1.0, -87.0, -90.0, -100.0, -103.0, -200.0, -np.inf], np.float32)
    found = exponential(x).astype(np.float64)
    expected = np.array([math.exp(float(v)) for v in x])
    assert found[0] == 1.0
    assert (np.abs(found - expected) <= 1e-5 * expected + 2.0**-149).all()
    assert found[4] > 0
    assert found[6:].tolist() == [0.0, 0.0]


def test_stage_2_weighs_by_log_sum_exp() -> None:
    """Weights 3 : 1 of 1 and 5 give 2, times a value scale of 0.5; a third split is empty."""
    mid = np.zeros((1, 16, 3, 256), np.float32)
    mid[:, :, 0], mid[:, :, 1], mid[:, :, 2] = 1, 5, 1000
    lse = np.zeros((1, 16, 3), np.float32)
    lse[:, :, 0] = math.log(3)
    found = stage2(Partials(mid, lse), np.float32(0.5), np.array([40]), np.array([2]))
    assert set(numbers(found).reshape(-1).tolist()) == {1.0}


def test_the_stages_give_plain_attention() -> None:
    """Split over three and merged, the outputs are those of plain attention but for FP8."""
    rng = np.random.default_rng(6)
    q, keys = rng.standard_normal((1, 16, 256)), rng.standard_normal((30, 2, 256)) / 4
    values = rng.standard_normal((30, 2, 256))
    slots = rng.permutation(30)[:29]
    lengths, counts = np.array([29 + 0], np.int32), np.array([1], np.int32)
    given = SplitInputs(
        bf16(q), fp8(keys), fp8(values), slots.astype(np.uint64), lengths, counts, np.float32(0.1)
    )
    blank = Partials(np.zeros((1, 16, 1, 256), np.float32), np.zeros((1, 16, 1), np.float32))
    partials = stage1(given, blank)
    merged = numbers(stage2(partials, np.float32(1), lengths, counts))
    k, v = (x.view(float8_e4m3fn).astype(np.float64) for x in (given.k_buf, given.v_buf))
    for head in (0, 7, 8, 15):
        row = numbers(given.q)[0, head].astype(float8_e4m3fn).astype(np.float64)
        scores = [float(row @ k[s, head // 8]) * 0.1 for s in slots]
        expected = plain_row(
            row, [k[s, head // 8] for s in slots], [v[s, head // 8] for s in slots], 0.1
        )
        assert np.abs(merged[0, head] - expected).max() < 0.1
        total = math.log(sum(math.exp(score) for score in scores))
        assert abs(float(partials.lse[0, head, 0]) - total) < 1e-5
