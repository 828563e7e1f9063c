"""The model's arithmetic on arrays against exact fractions, decimals and ml_dtypes."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from netra_build.checkasm.model.arith import division, ieee, integer, narrow
from netra_build.checkasm.model.arith import transcendental as special
from netra_build.checkasm.model.arrays import Scratch
from netra_build.checkasm.model.isa.matrix_tiles import exact_dot, rounded_dot

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def patterns(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, count, dtype=np.uint32)


def singles(seed: int, count: int) -> np.ndarray:
    values = patterns(seed, count).view(np.float32)
    return np.where(np.isfinite(values), values, np.float32(1.5))


def nearest(value: Fraction) -> int:
    """Return float32 bits of an exact number: by the spacing of its binade, ties to even."""
    if value == 0:
        return 0
    sign, size = (1 << 31, -value) if value < 0 else (0, value)
    power = -126
    while Fraction(2) ** (power + 1) <= size:
        power += 1
    steps = size / Fraction(2) ** (power - 23)
    whole = round(steps)
    return sign | min((power + 126 << 23) + whole, 0x7F800000)


def test_fused_product_of_close_operands():
    """Sums that cancel or tie are where a second rounding shows."""
    random = np.random.default_rng(3)
    a = (1 + random.integers(0, 1 << 12, 1200) * 2.0**-12).astype(np.float32)
    b = (1 + random.integers(0, 1 << 12, 1200) * 2.0**-12).astype(np.float32)
    c = (random.choice([1, -1], 1200) * 2.0 ** random.integers(-50, 3, 1200)).astype(np.float32)
    c[::3] = -(a[::3] * b[::3])
    found = ieee.fma(a, b, c).view(np.uint32).tolist()
    rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    expected = [nearest(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in rows]
    assert found == expected


def test_fused_product_below_the_normal_range():
    random = np.random.default_rng(4)
    a = (random.integers(1, 1 << 24, 2000) * 2.0**-80).astype(np.float32)
    b = (random.integers(1, 1 << 24, 2000) * 2.0**-100).astype(np.float32)
    c = (random.integers(-9, 9, 2000) * 2.0**-149).astype(np.float32)
    found = ieee.fma(a, b, c).view(np.uint32).tolist()
    rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    assert found == [nearest(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in rows]


def test_double_fused_product_has_one_rounding():
    a = np.array([1 + 2.0**-52, 1 + 2.0**-30, 3.0, 2.0**-600, np.inf])
    b = np.array([1 - 2.0**-52, 1 + 2.0**-30, 1 / 3.0, 2.0**-500, 1.0])
    c = np.array([-1.0, -1.0, -1.0, 0.0, -np.inf])
    found = ieee.fma_double(a, b, c)
    for at in range(4):
        exact = Fraction(a[at]) * Fraction(b[at]) + Fraction(c[at])
        assert found[at] == exact.numerator / exact.denominator
    assert found[:1].tolist() == [-(2.0**-104)]
    assert f"{found.view(np.uint64)[4]:x}" == "7ff8000000000000"


def test_sum_to_odd_marks_what_was_lost():
    p = np.array([1.0, 1.0, 2.0**53, -(2.0**53)])
    c = np.array([2.0**-60, -(2.0**-60), 0.75, -0.75])
    odd = ieee.sum_to_odd(p, c).view(np.int64)
    plain = (p + c).view(np.int64)
    assert (odd & 1).tolist() == [1, 1, 1, 1]
    assert (odd - plain).tolist() == [1, -1, 0 if plain[2] & 1 else 1, 0 if plain[3] & 1 else 1]


FORMATS = [
    (narrow.E4M3, ml_dtypes.float8_e4m3fn, 8),
    (narrow.E5M2, ml_dtypes.float8_e5m2, 8),
    (narrow.E2M3, ml_dtypes.float6_e2m3fn, 6),
    (narrow.E3M2, ml_dtypes.float6_e3m2fn, 6),
    (narrow.E2M1, ml_dtypes.float4_e2m1fn, 4),
]


@pytest.mark.parametrize(("fmt", "dtype", "width"), FORMATS)
def test_every_code_decodes_as_in_ml_dtypes(fmt, dtype, width):
    codes = np.arange(1 << width, dtype=np.uint8)
    np.testing.assert_array_equal(fmt.decode(codes), codes.view(dtype).astype(np.float64))


@pytest.mark.parametrize(("fmt", "dtype", "width"), FORMATS)
def test_encoding_rounds_to_nearest_even(fmt, dtype, width):
    """Every code, every tie between neighbours and the numbers just beside the ties."""
    values = np.unique(np.abs(fmt.values()[np.isfinite(fmt.values())]))
    ties = (values[1:] + values[:-1]) / 2
    probes = np.concatenate([values, ties, ties * (1 + 1e-6), ties * (1 - 1e-6), values * 1e-9])
    probes = np.concatenate([probes, -probes])
    expected = probes.astype(dtype).view(np.uint8)
    assert fmt.encode(probes, saturate=True).tolist() == expected.tolist()


def test_overflow_of_eight_bit_floats():
    values = np.array([448.0, 463.9, 464.0, 465.0, 1e9, np.inf, -np.inf, np.nan])
    plain = [hex(code) for code in narrow.E4M3.encode(values, saturate=False)]
    assert plain == ["0x7e", "0x7e", "0x7e", "0x7f", "0x7f", "0x7f", "0xff", "0x7f"]
    limited = [hex(code) for code in narrow.E4M3.encode(values, saturate=True)]
    assert limited == ["0x7e"] * 6 + ["0xfe", "0x7f"]
    wide = np.array([57344.0, 61439.0, 61440.0, np.inf])
    assert [hex(c) for c in narrow.E5M2.encode(wide, saturate=False)] == [
        "0x7b",
        "0x7b",
        "0x7c",
        "0x7c",
    ]
    assert [hex(c) for c in narrow.E5M2.encode(wide, saturate=True)] == ["0x7b"] * 4


def test_bf16_rounds_as_ml_dtypes_on_random_bits():
    values = singles(5, 20000)
    expected = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    assert narrow.single_to_bf16(values).tolist() == expected.tolist()
    assert hex(
        int(narrow.single_to_bf16(np.array([0x7F800001], np.uint32).view(np.float32))[0])
    ) in (
        "0x7fc0",
        "0x7fc1",
    )


def correctly_rounded(value: Decimal) -> int:
    return nearest(Fraction(value))


@pytest.mark.parametrize(
    ("function", "exact", "low", "high"),
    [
        (special.exp2, lambda x: (x * Decimal(2).ln()).exp(), -150.0, 128.0),
        (special.log2, lambda x: x.ln() / Decimal(2).ln(), 1e-30, 1e30),
        (special.reciprocal_root, lambda x: 1 / x.sqrt(), 1e-30, 1e30),
        (special.square_root, lambda x: x.sqrt(), 1e-40, 1e30),
        (special.reciprocal, lambda x: 1 / x, 1e-30, 1e38),
    ],
)
def test_transcendentals_are_the_nearest_float(function, exact, low, high):
    random = np.random.default_rng(6)
    if low < 0:
        x = random.uniform(low, high, 400).astype(np.float32)
    else:
        x = np.exp(random.uniform(math.log(low), math.log(high), 400)).astype(np.float32)
    with localcontext() as context:
        context.prec = 50
        expected = [correctly_rounded(exact(Decimal(float(v)))) for v in x]
    assert function(x).view(np.uint32).tolist() == expected


def test_hard_case_of_the_exponential():
    """2**x for the x whose result lies closest to a tie among a range of floats."""
    x = np.arange(0x3F000000, 0x3F040000, dtype=np.uint32).view(np.float32)
    estimate = np.exp2(x.astype(np.float64))
    distance = np.abs((estimate.view(np.int64) & 0x1FFFFFFF) - 0x10000000)
    hardest = x[np.argsort(distance)[:8]]
    with localcontext() as context:
        context.prec = 60
        exact = [(Decimal(float(v)) * Decimal(2).ln()).exp() for v in hardest]
    found = special.exp2(hardest).view(np.uint32).tolist()
    assert found == [correctly_rounded(value) for value in exact]


def test_a_hard_case_in_all_lanes_is_decided_once():
    """Decimal arithmetic takes a hundred times as long as all other lanes together."""
    asked = []

    def exact(value: Decimal) -> Decimal:
        asked.append(value)
        return Decimal(1) + Decimal(2) ** -24 + Decimal(2) ** -60

    estimate = np.full((256, 64), 1.0 + 2.0**-24)
    found = special._round(estimate, np.full((256, 64), 0.5, np.float32), exact)
    assert set(found.reshape(-1).tolist()) == {1.0 + 2.0**-23}
    assert asked == [Decimal("0.5")]


def test_sine_of_exact_turns():
    turns = np.array([0.0, 0.25, 0.5, 0.75, 1.0, -0.25, 1024.25, 1 / 12], np.float32)
    sine = special.sine(turns).tolist()
    assert sine[:7] == [0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 1.0]
    assert abs(sine[7] - 0.5) < 1e-7
    assert special.cosine(turns).tolist()[:4] == [1.0, 0.0, -1.0, 0.0]


def test_matrix_sums_are_exact_where_doubles_lose_bits():
    a = np.array([[[1.0, 1.0, 1.0]]])
    b = np.array([[[2.0**24], [2.0**-70], [1.0]]])
    zero = np.zeros((1, 1, 1), np.float32)
    assert rounded_dot(a, b, zero, 8)[0, 0, 0] == 2.0**24 + 2
    b = np.array([[[2.0**24], [-(2.0**-70)], [1.0]]])
    assert rounded_dot(a, b, zero, 8)[0, 0, 0] == 2.0**24
    b = np.array([[[2.0**80], [1.0], [-(2.0**80)]]])
    assert rounded_dot(a, b, zero, 8)[0, 0, 0] == 1.0


def test_matrix_sums_tell_how_many_were_summed_one_by_one():
    counts: list[int] = []
    ones = np.ones((1, 2, 3))
    zero = np.zeros((1, 1, 1), np.float32)
    rounded_dot(ones, ones.swapaxes(1, 2), zero, 8, counts.append)
    b = np.array([[[2.0**80, 1.0], [1.0, 1.0], [-(2.0**80), 1.0]]])
    rounded_dot(ones, b, zero, 8, counts.append)
    assert counts == [2]


def test_matrix_sums_of_what_all_rows_or_columns_share():
    """Whatever comes once stands for all; the accumulator may still differ everywhere."""
    random = np.random.default_rng(8)
    a, b = random.integers(-8, 8, (1, 1, 6)) * 1.0, random.integers(-8, 8, (3, 6, 4)) * 1.0
    c = random.integers(-8, 8, (3, 5, 4)).astype(np.float32)
    wanted = [
        [[sum(a[0, 0] * b[n, :, j]) + c[n, i, j] for j in range(4)] for i in range(5)]
        for n in range(3)
    ]
    assert exact_dot(a, b, c, 1.0).tolist() == wanted
    assert rounded_dot(a, b, c, 8).tolist() == wanted
    turned = [np.swapaxes(np.array(m), 1, 2) for m in (b, a, c)]
    assert exact_dot(*turned, 1.0).tolist() == np.swapaxes(np.array(wanted), 1, 2).tolist()
    none = np.full((1, 1, 1), -0.0, np.float32)
    assert exact_dot(a, b, none, 2.0).tolist() == [
        [[2 * sum(a[0, 0] * b[n, :, j]) for j in range(4)]] for n in range(3)
    ]


def test_every_byte_of_an_eight_bit_float_is_decoded():
    codes = np.arange(256).astype(np.uint8)
    for fmt, kind in (
        (narrow.E4M3, ml_dtypes.float8_e4m3fn),
        (narrow.E5M2, ml_dtypes.float8_e5m2),
    ):
        wanted = codes.view(kind).astype(np.float64)
        for part in (codes, codes[np.isfinite(wanted)]):
            result = np.empty(part.shape)
            fmt.decode_bytes(part, result, Scratch())
            # Texts tell zeros apart and find NaNs alike.
            expected = part.view(kind).astype(np.float64)
            assert str((result * fmt.unit).tolist()) == str(expected.tolist())


def test_matrix_sums_against_fractions():
    random = np.random.default_rng(7)
    a = random.standard_normal((3, 5, 12)) * 2.0 ** random.integers(-30, 30, (3, 5, 12))
    b = random.standard_normal((3, 12, 4)) * 2.0 ** random.integers(-30, 30, (3, 12, 4))
    a, b = (m.astype(ml_dtypes.bfloat16).astype(np.float64) for m in (a, b))
    c = random.standard_normal((3, 5, 4)).astype(np.float32)
    found = rounded_dot(a, b, c, 8).view(np.uint32)
    for n, row, column in np.ndindex(3, 5, 4):
        products = zip(a[n, row].tolist(), b[n, :, column].tolist(), strict=True)
        exact = sum(Fraction(x) * Fraction(y) for x, y in products)
        assert int(found[n, row, column]) == nearest(exact + Fraction(float(c[n, row, column])))


def test_division_scaling_follows_the_ranges():
    scale = division.div_scale
    one, huge, tiny = (np.array([v], np.float32) for v in (1.0, 2.0**126.5, 2.0**-140))
    for s0, d, n, factor, flag in (
        (one, one, one, 1.0, False),
        (tiny, tiny, one, 2.0**64, True),
        (tiny, tiny, tiny, 2.0**64, False),
        (huge, huge, one, 2.0**-64, True),
        (one, huge, one, 1.0, True),
        (huge, huge, huge, 2.0**-64, False),
    ):
        value, flags = scale(s0, d, n)
        assert (float(value[0]), bool(flags[0])) == (float(s0[0]) * factor, flag)


def test_bit_counting():
    values = np.array([0, 1, 0x80000000, 0x00F0], np.uint32)
    assert integer.count_ones(values).tolist() == [0, 1, 1, 4]
    assert integer.first_one(values).tolist() == [-1, 0, 31, 4]
    assert integer.leading_zeros(values).tolist() == [-1, 31, 0, 24]
    assert integer.leading_signs(values.view(np.int32)).tolist() == [-1, 31, 1, 24]
    assert [hex(v) for v in integer.reverse_bits(values)] == [
        "0x0",
        "0x80000000",
        "0x1",
        "0xf000000",
    ]
