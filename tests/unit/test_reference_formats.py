"""Number formats of the reference against exact rational arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from random import Random

import ml_dtypes
import numpy as np
import pytest

from netra_build.checkasm.numerics import arithmetic, formats


def nearest_float32(exact: Fraction) -> np.float32:
    """Round a fraction of moderate size to float32, ties to even, by comparing neighbours."""
    middle = np.float32(float(exact))
    around = [np.nextafter(middle, np.float32(way)) for way in (-np.inf, np.inf)]
    best = min(abs(Fraction(float(x)) - exact) for x in (middle, *around))
    nearest = [x for x in (middle, *around) if abs(Fraction(float(x)) - exact) == best]
    even = [x for x in nearest if not x.view(np.uint32) & 1]
    return nearest[0] if len(nearest) == 1 else even[0]


def float32(bits: int) -> np.ndarray:
    """Return one float32 from its bits, as an array of one element."""
    return np.array([bits], np.uint32).view(np.float32)


def test_e4m3_values_are_those_of_the_format() -> None:
    """All 256 codes, against another package's table."""
    codes = np.arange(256, dtype=np.uint8)
    theirs = codes.view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    assert np.array_equal(formats.from_e4m3(codes), theirs, equal_nan=True)


@pytest.mark.parametrize(
    ("value", "saturate", "code"),
    [
        (448.0, False, 0x7E),
        (464.0, False, 0x7E),
        (464.0001, False, 0x7F),
        (-1e6, False, 0xFF),
        (464.0001, True, 0x7E),
        (-np.inf, True, 0xFE),
        (np.nan, True, 0x7F),
        (2.0**-9, False, 0x01),
        (2.0**-10, False, 0x00),
        (-(2.0**-10), False, 0x80),
        (3 * 2.0**-10, False, 0x02),
        (1.0625, False, 0x38),
        (1.1875, False, 0x3A),
        (0.0, False, 0x00),
        (-0.0, False, 0x80),
    ],
)
def test_e4m3_edges(value: float, saturate: bool, code: int) -> None:
    """Ties, the largest number, subnormals and what lies beyond, worked out by hand."""
    array = np.array([value], np.float32)
    assert formats.to_e4m3(array, saturate=saturate).tolist() == [code]


def test_e4m3_rounds_as_another_package_does(rng: Random) -> None:
    """Random bit patterns around the range of the format."""
    bits = [rng.getrandbits(23) | rng.randint(114, 137) << 23 for _ in range(20000)]
    values = np.array(bits, np.uint32).view(np.float32)
    theirs = values.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    assert np.array_equal(formats.to_e4m3(values, saturate=False), theirs)


def test_bf16_ties_go_to_even() -> None:
    """The two ties around an odd and an even neighbour, a carry into the exponent, NaN."""
    values = np.concatenate([float32(b) for b in (0x3F808000, 0x3F818000, 0x3FFFFFFF, 0x7F800001)])
    assert formats.to_bf16(values).tolist() == [0x3F80, 0x3F82, 0x4000, 0x7FC0]


def test_bf16_rounds_as_another_package_does(rng: Random) -> None:
    """Random finite bit patterns."""
    bits = [rng.getrandbits(31) % 0x7F800000 for _ in range(20000)]
    values = np.array(bits, np.uint32).view(np.float32)
    with np.errstate(over="ignore"):
        theirs = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    assert np.array_equal(formats.to_bf16(values), theirs)


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        (0x3F800001, 0x3F800001, 0xBF800002),
        (0x3F800001, 0x3F7FFFFF, 0x33000000),
        (0x4B7FFFFF, 0x4B7FFFFF, 0x3F000000),
        (0x3FC00000, 0x33800000, 0x3F800000),
        (0x3F800001, 0x00800001, 0x80800002),
        (0x4B800001, 0x3F000000, 0x32800000),
    ],
)
def test_fma_hard_cases_round_once(a: int, b: int, c: int) -> None:
    """Cancellation, ties broken far to the right, subnormal results."""
    arrays = [float32(bits) for bits in (a, b, c)]
    exact = Fraction(float(arrays[0][0])) * Fraction(float(arrays[1][0]))
    exact += Fraction(float(arrays[2][0]))
    assert arithmetic.fma(*arrays)[0] == nearest_float32(exact)


def test_fma_sees_past_the_false_tie_of_float64() -> None:
    """1 + 2**-24 + 2**-60: float64 loses the last term, and rounding again gives 1."""
    a = np.array([2.0**-24 * (1 + 2.0**-12)], np.float32)
    b = np.array([1 - 2.0**-12 + 2.0**-24], np.float32)
    one = np.array([1.0], np.float32)
    twice = (a.astype(np.float64) * b.astype(np.float64) + 1.0).astype(np.float32)
    assert twice.tolist() == [1.0]
    assert arithmetic.fma(a, b, one).tolist() == [1 + 2.0**-23]


def test_random_fma_rounds_once(rng: Random) -> None:
    """Operands whose sum nearly cancels, where a second rounding shows."""
    rows = []
    for _ in range(1500):
        a, b = rng.randint(1, 2**24 - 1), rng.randint(1, 2**24 - 1)
        c = -(a * b >> rng.randint(0, 30)) + rng.randint(-2, 2)
        rows.append([float(np.float32(x)) for x in (a, b, c)])
    a, b, c = np.array(rows, np.float32).T
    got = arithmetic.fma(a, b, c)
    for index, row in enumerate(rows):
        exact = Fraction(row[0]) * Fraction(row[1]) + Fraction(row[2])
        assert got[index] == nearest_float32(exact), row


def test_reciprocal_and_quotient_round_once(rng: Random) -> None:
    """Random numbers, subnormal results among them."""
    rows = [(rng.getrandbits(24) + 1, rng.getrandbits(24) + 1) for _ in range(800)]
    top = np.array([x for x, _ in rows], np.float32)
    under = np.array([y for _, y in rows], np.float32)
    large = under * np.float32(2.0**103)
    for got, numerator, denominator in (
        (arithmetic.divide(top, under), top, under),
        (arithmetic.reciprocal(under), np.ones_like(under), under),
        (arithmetic.reciprocal(large), np.ones_like(large), large),
    ):
        for x, n, d in zip(got, numerator, denominator, strict=True):
            assert x == nearest_float32(Fraction(float(n)) / Fraction(float(d)))


def test_exp2_is_the_nearest_number(rng: Random) -> None:
    """Against 50 decimal digits, over the whole range with a finite result."""
    values = np.array([rng.uniform(-148, 127.9) for _ in range(400)], np.float32)
    got = arithmetic.exp2(values)
    with localcontext() as context:
        context.prec = 50
        for x, y in zip(values, got, strict=True):
            exact = (Decimal(2).ln() * Decimal(float(x))).exp()
            around = [np.nextafter(y, np.float32(way)) for way in (0.0, np.inf)]
            best = min(abs(Decimal(float(z)) - exact) for z in (y, *around))
            assert abs(Decimal(float(y)) - exact) == best


def test_exp2_special_values() -> None:
    """Exact powers, overflow, underflow, infinities."""
    values = np.array([0, 1, -149, 128, -151, np.inf, -np.inf], np.float32)
    expected = [1.0, 2.0, 2.0**-149, np.inf, 0.0, np.inf, 0.0]
    assert arithmetic.exp2(values).tolist() == expected


def test_exp2_decides_near_ties_with_more_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """When float64 cannot decide, the slow path is asked."""
    asked: list[float] = []
    real = arithmetic._exp2_exact
    monkeypatch.setattr(arithmetic, "_exp2_exact", lambda x: asked.append(x) or real(x))
    middle = np.array([np.log2(1.5 + 2.0**-24)], np.float64)
    monkeypatch.setattr(arithmetic.np, "exp2", lambda x: np.full_like(x, 1.5 + 2.0**-24))
    arithmetic.exp2(middle.astype(np.float32))
    assert len(asked) == 1
