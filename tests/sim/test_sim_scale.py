"""Block-scaled conversions against ml_dtypes and exact powers of two."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

DTYPES = {
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "fp4": ml_dtypes.float4_e2m1fn,
    "fp6": ml_dtypes.float6_e2m3fn,
    "bf6": ml_dtypes.float6_e3m2fn,
}
HALVES = {"f16": np.dtype(np.float16), "bf16": ml_dtypes.bfloat16}
WORDS = np.random.default_rng(3).integers(0, 1 << 32, 64, dtype=np.uint32)
SCALE = 0.25


def decoded(name: str, codes: np.ndarray) -> np.ndarray:
    return codes.astype(np.uint8).view(DTYPES[name]).astype(np.float64)


def encoded(name: str, values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32).astype(DTYPES[name]).view(np.uint8).astype(np.uint32)


def sixteen(kind: str, values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32).astype(HALVES[kind]).view(np.uint16).astype(np.uint32)


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    numbers = ~np.isnan(expected)
    assert found[numbers].tolist() == expected[numbers].astype(np.float32).tolist()
    assert np.isnan(found[~numbers]).all()


@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_two_values_from_a_half_or_byte(bench, case, name):
    bits = 4 if name == "fp4" else 8
    places = {"": 0, " op_sel:[1,0,0]": 1} | ({" op_sel:[1,1,0]": 3} if bits == 4 else {})
    jobs, expected = [], []
    for option, place in places.items():
        packed = WORDS >> (2 * bits * place)
        mask = (1 << bits) - 1
        low, high = (decoded(name, c & mask) * SCALE for c in (packed, packed >> bits))
        text = f"v_cvt_scalef32_pk_f32_{name} v[40:41], v10, {SCALE}{option}"
        text = text.replace("0.25", "v11")
        jobs.append(case(text, {10: WORDS, 11: [0x3E800000] * 64}, results=(40, 41)))
        expected.append((low, high))
    for result, (low, high) in zip(bench.run(jobs), expected, strict=True):
        assert_same(result[0].view(np.float32), low)
        assert_same(result[1].view(np.float32), high)


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_two_halves_from_a_half_or_byte(bench, case, name, kind):
    bits = 4 if name == "fp4" else 8
    text = f"v_cvt_scalef32_pk_{kind}_{name} v40, v10, 4.0 op_sel:[1,0,0]"
    (result,) = bench.run([case(text, {10: WORDS})])
    packed = WORDS >> (2 * bits)
    mask = (1 << bits) - 1
    low, high = (decoded(name, c & mask) * 4.0 for c in (packed, packed >> bits))
    finite = np.isfinite(low) & np.isfinite(high)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = sixteen(kind, low) | sixteen(kind, high) << np.uint32(16)
    assert result[0][finite].tolist() == expected[finite].tolist()


@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_one_value_from_a_byte(bench, case, name):
    jobs = [
        case(f"v_cvt_scalef32_f32_{name} v40, v10, 2.0 op_sel:[{at & 1},{at >> 1},0]", {10: WORDS})
        for at in range(4)
    ]
    for at, result in enumerate(bench.run(jobs)):
        assert_same(result[0].view(np.float32), decoded(name, WORDS >> 8 * at & 0xFF) * 2.0)


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_two_values_to_a_byte_of_four_bit_codes(bench, case, kind):
    random = np.random.default_rng(4)
    low, high = (random.uniform(-14, 14, 64).astype(np.float32) for _ in range(2))
    if kind == "f32":
        source, sources = "v10, v11", {10: low.view(np.uint32), 11: high.view(np.uint32)}
    else:
        packed = sixteen(kind, low) | sixteen(kind, high) << np.uint32(16)
        source, sources = "v10", {10: packed}
        low, high = (v.astype(HALVES[kind]).astype(np.float32) for v in (low, high))
    jobs = [
        case(
            f"v_cvt_scalef32_pk_fp4_{kind} v40, {source}, 2.0 op_sel:[0,0,{at & 1},{at >> 1}]",
            sources | {40: [0x11223344] * 64},
        )
        for at in range(4)
    ]
    codes = encoded("fp4", low / 2) | encoded("fp4", high / 2) << np.uint32(4)
    for at, result in enumerate(bench.run(jobs)):
        kept = 0x11223344 & ~(0xFF << 8 * at)
        assert result[0].tolist() == (kept | codes << np.uint32(8 * at)).tolist()


def six_bit_words(codes: np.ndarray) -> list[list[int]]:
    """Pack [64, 32] codes into six registers of 64 lanes."""
    whole = [sum(int(c) << 6 * i for i, c in enumerate(lane)) for lane in codes]
    return [[value >> 32 * at & 0xFFFFFFFF for value in whole] for at in range(6)]


@pytest.mark.parametrize("name", ["fp6", "bf6"])
def test_thirty_two_values_of_six_bits(bench, case, name):
    codes = np.random.default_rng(5).integers(0, 64, (64, 32))
    values = decoded(name, codes)
    packed = six_bit_words(codes)
    wide = {10 + at: words for at, words in enumerate(packed)}
    jobs = [
        case(
            f"v_cvt_scalef32_pk32_f32_{name} v[60:91], v[10:15], 2.0", wide, results=range(60, 76)
        ),
        case(
            f"v_cvt_scalef32_pk32_bf16_{name} v[60:75], v[10:15], 0.5", wide, results=range(60, 76)
        ),
    ]
    single, half = bench.run(jobs)
    for at in range(16):
        assert single[at].view(np.float32).tolist() == (values[:, at] * 2).tolist()
        pair = (
            sixteen("bf16", values[:, 2 * at] / 2)
            | sixteen("bf16", values[:, 2 * at + 1] / 2) << 16
        )
        assert half[at].tolist() == pair.tolist()
    halves = [
        sixteen("f16", values[:, 2 * at]) | sixteen("f16", values[:, 2 * at + 1]) << 16
        for at in range(16)
    ]
    text = f"v_cvt_scalef32_pk32_{name}_f16 v[60:65], v[10:25], 1.0"
    sources = {10 + at: words for at, words in enumerate(halves)}
    (back,) = bench.run([case(text, sources, results=range(60, 66))])
    expected = six_bit_words(codes)
    assert [register.tolist() for register in back] == expected
