"""Conversions between number formats against exact fractions and ml_dtypes."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from float_bits import is_nan, operands, rounded


def test_conversions_between_integers_and_floats(bench, case):
    values = [0.0, -1.5, 1.5, 2.9, 4294967296.0, -5.0, math.inf, -math.inf, math.nan, 3e9]
    lanes = np.resize(np.array(values, np.float32), 64).view(np.uint32)
    integers = [0, 1, 0xFFFFFFFF, 0x80000000, 0x01000001, 0x7FFFFFFF, 0xFFFFFF81, 33554435]
    words = (integers * 8)[:64]
    jobs = [
        case("v_cvt_u32_f32 v40, v10", {10: lanes}),
        case("v_cvt_i32_f32 v40, v10", {10: lanes}),
        case("v_cvt_flr_i32_f32 v40, v10", {10: lanes}),
        case("v_cvt_f32_u32 v40, v10", {10: words}),
        case("v_cvt_f32_i32 v40, v10", {10: words}),
        case("v_cvt_f32_ubyte2 v40, v10", {10: words}),
    ]
    u32, i32, floor, from_u32, from_i32, byte = (r[0].tolist() for r in bench.run(jobs))
    assert u32[:10] == [0, 0, 1, 2, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0, 0, 3000000000]
    top, bottom = 0x7FFFFFFF, 0x80000000
    assert i32[:10] == [0, 0xFFFFFFFF, 1, 2, top, 0xFFFFFFFB, top, bottom, 0, top]
    assert floor[:4] == [0, 0xFFFFFFFE, 1, 2]
    assert from_u32[:8] == [rounded(Fraction(v)) for v in integers]
    signed = [v - (1 << 32) if v >> 31 else v for v in integers]
    assert from_i32[:8] == [rounded(Fraction(v)) for v in signed]
    assert byte[:8] == [rounded(Fraction(v >> 16 & 255)) for v in integers]


def test_narrow_conversions(bench, case, rng):
    a, b = operands(rng, 2)
    singles = [np.array(lane, np.uint32).view(np.float32) for lane in (a, b)]
    finite = [i for i in range(64) if not (is_nan(a[i]) or is_nan(b[i]))]
    jobs = [
        case("v_cvt_pk_bf16_f32 v40, v10, v11", {10: a, 11: b}),
        case("v_cvt_pk_f16_f32 v40, v10, v11", {10: a, 11: b}),
        case("v_cvt_f16_f32 v40, v10", {10: a}),
        case("v_cvt_f32_f16 v40, v10", {10: a}),
        case("v_cvt_pkrtz_f16_f32 v40, v10, v11", {10: a, 11: b}),
    ]
    bf16, f16, low, widened, cut = (r[0] for r in bench.run(jobs))
    with np.errstate(over="ignore", invalid="ignore"):
        pairs = [s.astype(ml_dtypes.bfloat16).view(np.uint16).astype(np.uint32) for s in singles]
        halves = [s.astype(np.float16).view(np.uint16).astype(np.uint32) for s in singles]
    for i in finite:
        assert bf16[i] == pairs[0][i] | pairs[1][i] << 16
        assert f16[i] == halves[0][i] | halves[1][i] << 16
        assert low[i] == halves[0][i]
        for lane, shift in ((singles[0], 0), (singles[1], 16)):
            half = np.uint16(int(cut[i]) >> shift & 0xFFFF).view(np.float16)
            exact, kept = abs(float(lane[i])), abs(float(half))
            step = float(np.spacing(half)) if exact < 65504 else 0.0
            assert kept <= exact < kept + abs(step) or exact >= 65504 or not math.isfinite(exact)
    half_bits = np.array(a, np.uint32).astype(np.uint16).view(np.float16)
    numbers = ~np.isnan(half_bits)
    expected = half_bits.astype(np.float32)
    assert np.array_equal(widened.view(np.float32)[numbers], expected[numbers])


def test_eight_bit_floats_decode_every_code(bench, case):
    codes = [sum((4 * lane + at) << 8 * at for at in range(4)) for lane in range(64)]
    kinds = (("fp8", ml_dtypes.float8_e4m3fn), ("bf8", ml_dtypes.float8_e5m2))
    for name, dtype in kinds:
        text = "\n".join(
            f"v_cvt_f32_{name}_sdwa v{40 + at}, v10 src0_sel:BYTE_{at}" for at in range(4)
        )
        pair = f"v_cvt_pk_f32_{name} v[40:41], v10"
        jobs = [
            case(text, {10: codes}, results=(40, 41, 42, 43)),
            case(pair, {10: codes}, results=(40, 41)),
        ]
        single, double = bench.run(jobs)
        table = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
        for at in range(4):
            found = single[at].view(np.float32)
            np.testing.assert_array_equal(found, table[at::4])
        for at in range(2):
            np.testing.assert_array_equal(double[at].view(np.float32), table[at::4])


@pytest.mark.parametrize(
    ("name", "dtype"), [("fp8", ml_dtypes.float8_e4m3fn), ("bf8", ml_dtypes.float8_e5m2)]
)
def test_scaled_conversion_divides_by_the_power_of_two(bench, case, rng, name, dtype):
    values = np.array([rng.uniform(-40, 40) for _ in range(64)], np.float32)
    bf16 = values.astype(ml_dtypes.bfloat16)
    packed = bf16.view(np.uint16).astype(np.uint32)
    bits = values.view(np.uint32)
    old = [0x11112222] * 64
    jobs = [
        case(f"v_cvt_scalef32_pk_{name}_f32 v40, v10, v10, 4.0", {10: bits, 40: old}),
        case(
            f"v_cvt_scalef32_pk_{name}_bf16 v40, v10, 1.0 op_sel:[0,0,1]",
            {10: packed | packed << 16, 40: old},
        ),
    ]
    low, high = (result[0] for result in bench.run(jobs))
    quarter = (values / 4).astype(dtype).view(np.uint8).astype(np.uint32)
    assert low.tolist() == (0x11110000 + quarter * 0x101).tolist()
    whole = bf16.astype(np.float32).astype(dtype).view(np.uint8).astype(np.uint32)
    assert high.tolist() == (0x2222 + (whole * 0x101 << 16)).tolist()


def test_too_large_halves_are_infinite_or_the_largest(bench, case):
    values = np.resize(np.array([1e6, -1e6, 65519.0, 65520.0, np.inf], np.float32), 64)
    bits = values.view(np.uint32)
    jobs = [
        case("v_cvt_f16_f32 v40, v10", {10: bits}),
        case("v_cvt_pk_f16_f32 v40, v10, v10", {10: bits}),
    ]
    plain, packed = (r[0][:5].tolist() for r in bench.run(jobs))
    assert plain == [0x7C00, 0xFC00, 0x7BFF, 0x7C00, 0x7C00]
    assert packed == [half * 0x10001 for half in plain]
    plain, packed = (r[0][:5].tolist() for r in bench.run(jobs, overflow=1))
    assert plain == [0x7BFF, 0xFBFF, 0x7BFF, 0x7BFF, 0x7C00]
    assert packed == [half * 0x10001 for half in plain]
