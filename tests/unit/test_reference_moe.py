"""The decode MoE reference against a second statement in exact fractions, on small slices."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from kernel_statements import named_in
from weight_layout import shuffle_n16k16

from netra_build.checkasm.numerics.arithmetic import fma
from netra_build.checkasm.numerics.formats import unshuffle_n16k16

down_reduce, gate_up, group_quant, silu_quant = named_in(
    "moe", "down_reduce", "gate_up", "group_quant", "silu_quant"
)

INVERSE_448 = Fraction(0x124925 + (1 << 23), 1 << 23) / 2**9
"""The float32 0x3b124925: mantissa with its hidden bit, exponent -9."""


def value_of_code(code: int) -> Fraction:
    """Return the value of an e4m3fn code, from the format's definition."""
    sign = -1 if code & 0x80 else 1
    exponent, mantissa = code >> 3 & 15, code & 7
    if exponent == 0:
        return sign * Fraction(mantissa, 512)
    return sign * Fraction(8 + mantissa, 8) * Fraction(2) ** (exponent - 7)


def rounded(exact: Fraction) -> Fraction:
    """Round to float32, ties to even, in integers only (finite results)."""
    if exact == 0:
        return exact
    size = abs(exact)
    exponent = -149
    while size / Fraction(2) ** exponent >= 2**24:
        exponent += 1
    return round(exact / Fraction(2) ** exponent) * Fraction(2) ** exponent


def rounded_bf16(exact: Fraction) -> Fraction:
    """Round a float32 number to bf16, ties to even, in integers only."""
    if exact == 0:
        return exact
    exponent = -133
    while abs(exact) / Fraction(2) ** exponent >= 2**8:
        exponent += 1
    return round(exact / Fraction(2) ** exponent) * Fraction(2) ** exponent


def random_codes(rng: Random, *shape: int) -> np.ndarray:
    """Return random codes that are numbers."""
    count = int(np.prod(shape))
    codes = [rng.choice([c for c in range(256) if c & 0x7F != 0x7F]) for _ in range(count)]
    return np.array(codes, np.uint8).reshape(shape)


def random_scales(rng: Random, *shape: int) -> np.ndarray:
    """Return positive float32 numbers with full mantissas."""
    count = int(np.prod(shape))
    values = [(1 + rng.random()) * 2.0 ** rng.randint(-9, 3) for _ in range(count)]
    return np.array(values, np.float32).reshape(shape)


def block_dot(row: np.ndarray, column: np.ndarray) -> Fraction:
    """Return the float32 dot product of one block of codes."""
    terms = (
        value_of_code(int(a)) * value_of_code(int(b)) for a, b in zip(row, column, strict=True)
    )
    return rounded(sum(terms, Fraction(0)))


def logical_weights(stored: np.ndarray) -> np.ndarray:
    """Unshuffle one expert byte by byte, from the offset formula."""
    rows, columns = stored.shape
    flat = stored.reshape(-1)
    result = np.empty_like(stored)
    for n in range(rows):
        for k in range(columns):
            at = (n // 16) * 16 * columns + (k // 32) * 512 + (k % 32) // 16 * 256
            result[n, k] = flat[at + n % 16 * 16 + k % 16]
    return result


def test_shuffle_follows_the_offset_formula(rng: Random) -> None:
    """Both directions, against the published formula."""
    stored = random_codes(rng, 32, 64)
    logical = logical_weights(stored)
    assert np.array_equal(unshuffle_n16k16(stored), logical)
    assert np.array_equal(shuffle_n16k16(logical), stored)


def test_shuffle_keeps_leading_dimensions(rng: Random) -> None:
    """Experts are shuffled one by one."""
    logical = random_codes(rng, 3, 16, 32)
    each = np.stack([shuffle_n16k16(expert) for expert in logical])
    assert np.array_equal(shuffle_n16k16(logical), each)
    assert np.array_equal(unshuffle_n16k16(each), logical)


def test_gate_up_in_fractions(rng: Random) -> None:
    """Two tokens, two slots, two K blocks: every rounding step by step."""
    hidden, scale = random_codes(rng, 2, 256), random_scales(rng, 2, 2)
    weights, weight_scale = random_codes(rng, 3, 128, 256), random_scales(rng, 3, 1, 2)
    ids = np.array([[2, 0], [1, 1]], np.int32)
    out = gate_up(hidden, scale, weights, weight_scale, ids)
    logical = {e: logical_weights(weights[e]) for e in range(3)}
    for token, slot, n in [(0, 0, 0), (0, 1, 77), (1, 0, 127), (1, 1, 127)]:
        e = int(ids[token, slot])
        acc = Fraction(0)
        for kb in range(2):
            span = slice(128 * kb, 128 * kb + 128)
            term = rounded(
                Fraction(float(scale[token, kb]))
                * block_dot(hidden[token, span], logical[e][n, span])
            )
            term = rounded(Fraction(float(weight_scale[e, 0, kb])) * term)
            acc = rounded(acc + term)
        assert Fraction(float(out[token * 2 + slot, n])) == acc


def test_gate_up_scales_by_row_block(rng: Random) -> None:
    """Row n of the weights takes scale n//128: doubling the second scale doubles those rows."""
    hidden, scale = random_codes(rng, 1, 128), random_scales(rng, 1, 1)
    weights = random_codes(rng, 1, 256, 128)
    ids = np.zeros((1, 1), np.int32)
    ones = gate_up(hidden, scale, weights, np.ones((1, 2, 1), np.float32), ids)
    two = gate_up(hidden, scale, weights, np.array([[[1], [2]]], np.float32), ids)
    assert np.array_equal(two[0, :128], ones[0, :128])
    assert np.array_equal(two[0, 128:], 2 * ones[0, 128:])


def test_down_reduce_in_fractions(rng: Random) -> None:
    """One token, three slots, two K blocks, bf16 at the end."""
    act, scale = random_codes(rng, 1, 3, 256), random_scales(rng, 1, 3, 2)
    weights, weight_scale = random_codes(rng, 2, 128, 256), random_scales(rng, 2, 1, 2)
    routing = random_scales(rng, 1, 3)
    ids = np.array([[1, 0, 1]], np.int32)
    out = down_reduce(act, scale, weights, weight_scale, routing, ids)
    logical = {e: logical_weights(weights[e]) for e in range(2)}
    for n in (0, 15, 16, 100):
        acc = Fraction(0)
        for slot in range(3):
            e = int(ids[0, slot])
            for kb in range(2):
                span = slice(128 * kb, 128 * kb + 128)
                term = block_dot(act[0, slot, span], logical[e][n, span])
                for factor in (scale[0, slot, kb], weight_scale[e, 0, kb], routing[0, slot]):
                    term = rounded(Fraction(float(factor)) * term)
                acc = rounded(acc + term)
        bits = np.array([float(rounded_bf16(acc))], np.float32).view(np.uint32)[0] >> 16
        assert int(out[0, n]) == int(bits)


def test_a_fused_step_would_show(rng: Random) -> None:
    """The seeded fault: fma instead of mul then add gives other bits on the same data."""
    hidden, scale = random_codes(rng, 1, 256), random_scales(rng, 1, 2)
    weights, weight_scale = random_codes(rng, 1, 128, 256), random_scales(rng, 1, 1, 2)
    out = gate_up(hidden, scale, weights, weight_scale, np.zeros((1, 1), np.int32))
    logical = unshuffle_n16k16(weights)[0]
    acc = np.zeros(128, np.float32)
    for kb in range(2):
        span = slice(128 * kb, 128 * kb + 128)
        dots = [float(block_dot(hidden[0, span], row[span])) for row in logical]
        scaled = np.array(dots, np.float32) * scale[0, kb]
        acc = fma(np.full(128, weight_scale[0, 0, kb], np.float32), scaled, acc)
    assert np.count_nonzero(acc != out[0]) > 0
    assert np.allclose(acc, out[0], rtol=1e-4, atol=1e-2)


def test_group_quant_in_fractions(rng: Random) -> None:
    """amax times the float32 constant 1/448, correctly rounded reciprocal, nearest code."""
    values = [rounded_bf16(Fraction(rng.randint(-4000, 4000), 512)) for _ in range(128)]
    codes, scale = group_quant(np.array([[float(x) for x in values]], np.float32))
    stated = rounded(max(abs(x) for x in values) * INVERSE_448)
    assert Fraction(float(scale[0, 0])) == stated
    reciprocal = rounded(1 / stated)
    numbers = {value_of_code(c): c for c in range(127)}
    for value, code in zip(values, codes[0], strict=True):
        exact = abs(rounded(value * reciprocal))
        best = min(abs(exact - number) for number in numbers)
        nearest = [c for number, c in numbers.items() if abs(exact - number) == best]
        assert int(code) & 0x7F in nearest
        assert len(nearest) == 1 or int(code) & 1 == 0


def test_zero_group_keeps_the_floor() -> None:
    """An all-zero group gets scale 1e-10/448 and zero codes."""
    codes, scale = group_quant(np.zeros((1, 128), np.float32))
    assert codes.max() == 0
    floor = Fraction(float(np.array([0x2EDBE6FF], np.uint32).view(np.float32)[0]))
    assert Fraction(float(scale[0, 0])) == rounded(floor * INVERSE_448)


@pytest.mark.parametrize(
    ("gate", "up", "expected"),
    [(0.0, 5.0, 0.0), (128.0, 3.0, 384.0), (-200.0, 1.0, 0.0), (2.0**60, 2.0, 2.0**61)],
)
def test_silu_of_easy_numbers(gate: float, up: float, expected: float) -> None:
    """SiLU is 0 at 0 and far left, the identity far right; code times scale gives it back."""
    rows = np.zeros((1, 2, 128), np.float32)
    rows[0, 0, :], rows[0, 1, :] = gate, up
    codes, scale = silu_quant(rows)
    back = value_of_code(int(codes[0, 0])) * Fraction(float(scale[0, 0]))
    assert abs(float(back) - expected) <= 2.0**-20 * abs(expected)


def test_silu_rounds_only_the_product() -> None:
    """A gate whose SiLU is 1.00390625*x before rounding: bf16 is taken after times up."""
    rows = np.zeros((1, 2, 128), np.float32)
    rows[0, 0, :] = 64.0 + 2.0**-2
    rows[0, 1, :] = 3.0
    _, scale = silu_quant(rows)
    product = rounded_bf16(Fraction(3) * (64 + Fraction(1, 4)))
    assert product == 193
    assert Fraction(float(scale[0, 0])) == rounded(product * INVERSE_448)
