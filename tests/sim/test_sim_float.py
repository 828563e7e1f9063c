"""Floating-point instructions against exact fractions, rounded once by the test itself."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from float_bits import NAN, is_finite, number, operands, rounded


def exact_sum(*terms: int) -> int:
    """Sum of finite numbers; the sign of an exact zero follows IEEE."""
    total = sum(Fraction(number(t)) for t in terms)
    negative = all(t >> 31 for t in terms)
    return rounded(total, 0x80000000 if negative else 0)


def added(a: int, b: int) -> int | None:
    if not (is_finite(a) and is_finite(b)):
        return None
    return exact_sum(a, b)


def multiplied(a: int, b: int) -> int | None:
    if not (is_finite(a) and is_finite(b)):
        return None
    return rounded(Fraction(number(a)) * Fraction(number(b)), (a ^ b) & 0x80000000)


def fused(a: int, b: int, c: int) -> int | None:
    if not (is_finite(a) and is_finite(b) and is_finite(c)):
        return None
    product = Fraction(number(a)) * Fraction(number(b))
    total = product + Fraction(number(c))
    zero = 0
    if product == 0 and (a ^ b) >> 31 == c >> 31:
        zero = c & 0x80000000
    return rounded(total, zero)


ARITHMETIC = {
    "v_add_f32 v40, v10, v11": lambda a, b, c: added(a, b),
    "v_sub_f32 v40, v10, v11": lambda a, b, c: added(a, b ^ 0x80000000),
    "v_subrev_f32 v40, v10, v11": lambda a, b, c: added(b, a ^ 0x80000000),
    "v_mul_f32 v40, v10, v11": lambda a, b, c: multiplied(a, b),
    "v_fma_f32 v40, v10, v11, v12": fused,
    "v_fma_f32 v40, -v10, |v11|, v12": lambda a, b, c: fused(a ^ 0x80000000, b & 0x7FFFFFFF, c),
    "v_fma_f32 v40, v10, v11, -|v12|": lambda a, b, c: fused(a, b, c | 0x80000000),
    "v_mul_f32 v40, v10, s20": lambda a, b, c: multiplied(a, 0x40490FDB),
    "v_mul_f32 v40, 0.5, v10": lambda a, b, c: multiplied(0x3F000000, a),
    "v_mul_f32 v40, 0x40490fdb, v10": lambda a, b, c: multiplied(0x40490FDB, a),
    "v_add_f32 v40, 3, v10": lambda a, b, c: added(3, a),
    "v_fmamk_f32 v40, v10, 0x40490fdb, v11": lambda a, b, c: fused(a, 0x40490FDB, b),
    "v_fmaak_f32 v40, v10, v11, 0x40490fdb": lambda a, b, c: fused(a, b, 0x40490FDB),
    "v_mov_b32 v40, v12\nv_fmac_f32 v40, v10, v11": fused,
}


def test_arithmetic_is_rounded_once(bench, case, rng):
    jobs, inputs = [], []
    for text in ARITHMETIC:
        for _ in range(3):
            a, b, c = operands(rng, 3)
            c[::4] = [multiplied(x, y) or 0 for x, y in zip(a[::4], b[::4], strict=True)]
            c[::8] = [bits ^ 0x80000000 for bits in c[::8]]
            jobs.append(case(text, {10: a, 11: b, 12: c}, {20: 0x40490FDB}))
            inputs.append((text, a, b, c))
    for (text, *lanes), result in zip(inputs, bench.run(jobs), strict=True):
        for a, b, c, found in zip(*lanes, result[0].tolist(), strict=True):
            wanted = ARITHMETIC[text](a, b, c)
            assert wanted is None or found == wanted, (text, hex(a), hex(b), hex(c), hex(found))


HARD = (
    (0x3F800001, 0x3F800001, 0x33800000),
    (0x3F800800, 0x3F800800, 0x2F800000),
    (0x3F7FFFFF, 0x3F7FFFFF, 0x26800000),
    (0x4B7FFFFF, 0x4B7FFFFF, 0xB3800000),
    (0x00800000, 0x3F000000, 0x00000001),
    (0x1F800000, 0x1F800000, 0x80000001),
    (0x00000001, 0x3F000000, 0x00000000),
    (0x7F7FFFFF, 0x3F800000, 0x72FFFFFF),
)


def test_fused_product_on_ties_that_double_rounding_gets_wrong(bench, case):
    columns = [[row[at] for row in HARD] * 8 for at in range(3)]
    job = case("v_fma_f32 v40, v10, v11, v12", dict(zip((10, 11, 12), columns, strict=True)))
    ((result,),) = bench.run([job])
    assert result.tolist() == [fused(*row) for row in zip(*columns, strict=True)]


def test_products_in_pairs(bench, case, rng):
    text = "v_pk_{} v[40:41], v[10:11], v[12:13]{}"
    forms = {
        ("mul_f32", ""): (lambda a, b: multiplied(a, b), (0, 1), (0, 1)),
        ("mul_f32", " op_sel:[1,0] op_sel_hi:[0,1]"): (multiplied, (1, 0), (0, 1)),
        ("mul_f32", " op_sel_hi:[1,0]"): (multiplied, (0, 1), (0, 0)),
        ("add_f32", ""): (added, (0, 1), (0, 1)),
        ("add_f32", " neg_lo:[0,1] neg_hi:[0,1]"): (
            lambda a, b: added(a, b ^ 0x80000000),
            (0, 1),
            (0, 1),
        ),
    }
    jobs, inputs = [], []
    for name, options in forms:
        values = operands(rng, 4)
        vectors = dict(zip((10, 11, 12, 13), values, strict=True))
        jobs.append(case(text.format(name, options), vectors, results=(40, 41)))
        inputs.append(values)
    for (key, form), values, result in zip(forms.items(), inputs, bench.run(jobs), strict=True):
        fn, first, second = form
        for half in (0, 1):
            left, right = values[first[half]], values[2 + second[half]]
            for a, b, found in zip(left, right, result[half].tolist(), strict=True):
                wanted = fn(a, b)
                assert wanted is None or found == wanted, (key, hex(a), hex(b))


NOT_NUMBERS = {
    "v_add_f32 v40, v10, v11": {
        (0x7F800000, 0xFF800000): NAN,
        (0xFFC00001, 0x3F800000): 0xFFC00001,
        (0x3F800000, 0xFFC00001): 0xFFC00001,
        (0x7F800001, 0x3F800000): 0x7FC00001,
        (0x7FC00005, 0xFFC00006): 0x7FC00005,
        (0x7F7FFFFF, 0x7F7FFFFF): 0x7F800000,
    },
    "v_mul_f32 v40, v10, v11": {
        (0x00000000, 0x7F800000): NAN,
        (0x80000000, 0x7F800000): NAN,
        (0x7F800000, 0xBF800000): 0xFF800000,
    },
    "v_max_f32 v40, v10, v11": {
        (0x7FC00001, 0x3F800000): 0x3F800000,
        (0x3F800000, 0xFFC00001): 0x3F800000,
        (0x80000000, 0x00000000): 0x00000000,
        (0x00000000, 0x80000000): 0x00000000,
        (0xFF800000, 0xC0000000): 0xC0000000,
        (0x7F800001, 0x3F800000): 0x7FC00001,
    },
    "v_min_f32 v40, v10, v11": {
        (0x80000000, 0x00000000): 0x80000000,
        (0x00000000, 0x80000000): 0x80000000,
        (0x7FC00001, 0xBF800000): 0xBF800000,
        (0x7F800000, 0x3F800000): 0x3F800000,
    },
    "v_med3_f32 v40, v10, v11, 1.0": {
        (0x40000000, 0x3F000000): 0x3F800000,
        (0x40000000, 0x40400000): 0x40000000,
        (0x7FC00000, 0x40400000): 0x3F800000,
    },
    "v_max3_f32 v40, v10, v11, 1.0": {(0x40000000, 0x3F000000): 0x40000000},
    "v_min3_f32 v40, v10, v11, -1.0": {(0x40000000, 0xC0000000): 0xC0000000},
    "v_mul_legacy_f32 v40, v10, v11": {(0x00000000, 0x7F800000): 0, (0x40000000,) * 2: 0x40800000},
    "v_add_f32 v40, v10, v11 clamp": {
        (0x40000000, 0x3F800000): 0x3F800000,
        (0xC0000000, 0x3F800000): 0,
        (0x7FC00000, 0x3F800000): 0,
        (0x3E800000, 0x3E800000): 0x3F000000,
    },
}


def test_nan_infinity_and_signed_zero(bench, case):
    jobs = []
    for text, rows in NOT_NUMBERS.items():
        columns = [[row[at] for row in rows] + [0] * (64 - len(rows)) for at in (0, 1)]
        jobs.append(case(text, {10: columns[0], 11: columns[1]}))
    for (text, rows), result in zip(NOT_NUMBERS.items(), bench.run(jobs), strict=True):
        found = [f"{bits:08x}" for bits in result[0][: len(rows)]]
        assert found == [f"{bits:08x}" for bits in rows.values()], text


def nearest(value: float) -> int:
    """Return float32 bits of a double that is known to be accurate enough."""
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))


ROUNDING = {
    "v_floor_f32": math.floor,
    "v_ceil_f32": math.ceil,
    "v_trunc_f32": math.trunc,
    "v_rndne_f32": round,
}


@pytest.mark.parametrize("name", ROUNDING)
def test_rounding_to_whole_numbers(bench, case, name):
    values = [0.5, 1.5, 2.5, -0.5, -1.5, 2.25, -2.75, 1e10, 0.0, 3.0, -7.0, 2.0**23 + 0.5]
    lanes = np.resize(np.array(values, np.float32), 64)
    ((result,),) = bench.run([case(f"{name} v40, v10", {10: lanes.view(np.uint32)})])
    expected = [float(ROUNDING[name](float(v))) for v in lanes]
    assert result.view(np.float32).tolist() == expected


def test_signs_of_zero_survive_rounding(bench, case):
    lanes = np.resize(np.array([-0.0, -0.25, 0.25], np.float32), 64).view(np.uint32)
    ((result,),) = bench.run([case("v_trunc_f32 v40, v10", {10: lanes})])
    assert result[:3].tolist() == [0x80000000, 0x80000000, 0]


def test_reciprocal_root_exponential_and_logarithm_are_nearest(bench, case, rng):
    """The double results are far from ties for these few operands, so that rounding them is
    the correct rounding."""
    base = np.array([rng.uniform(0.01, 100.0) for _ in range(64)], np.float32)
    jobs = [
        case("v_rcp_f32 v40, v10", {10: base.view(np.uint32)}),
        case("v_sqrt_f32 v40, v10", {10: base.view(np.uint32)}),
        case("v_rsq_f32 v40, v10", {10: base.view(np.uint32)}),
        case("v_exp_f32 v40, v10", {10: base.view(np.uint32)}),
        case("v_log_f32 v40, v10", {10: base.view(np.uint32)}),
    ]
    functions = [
        lambda v: 1 / v,
        math.sqrt,
        lambda v: 1 / math.sqrt(v),
        lambda v: 2.0**v,
        math.log2,
    ]
    for fn, (result,) in zip(functions, bench.run(jobs), strict=True):
        assert result.tolist() == [nearest(fn(float(v))) for v in base]


SPECIAL = {
    "v_rcp_f32": {0: 0x7F800000, 0x80000000: 0xFF800000, 0x7F800000: 0, 0xFF800000: 0x80000000},
    "v_sqrt_f32": {0x80000000: 0x80000000, 0xBF800000: NAN, 0x7F800000: 0x7F800000},
    "v_rsq_f32": {0: 0x7F800000, 0x80000000: 0xFF800000, 0x7F800000: 0, 0xBF800000: NAN},
    "v_exp_f32": {0: 0x3F800000, 0xFF800000: 0, 0x7F800000: 0x7F800000, 0x43000000: 0x7F800000},
    "v_log_f32": {0: 0xFF800000, 0x3F800000: 0, 0xBF800000: NAN, 0x7F800000: 0x7F800000},
    "v_sin_f32": {0: 0, 0x3E800000: 0x3F800000, 0x3F000000: 0, 0x3F400000: 0xBF800000},
    "v_cos_f32": {0: 0x3F800000, 0x3E800000: 0, 0x3F000000: 0xBF800000},
    "v_fract_f32": {0x3FC00000: 0x3F000000, 0xBE800000: 0x3F400000, 0xB3000000: 0x3F7FFFFF},
    "v_frexp_mant_f32": {0x40000000: 0x3F000000, 1: 0x3F000000, 0: 0, 0xFF800000: 0xFF800000},
    "v_frexp_exp_i32_f32": {0x40000000: 2, 1: 0xFFFFFF6C, 0: 0, 0x7F800000: 0},
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_operands(bench, case, name):
    rows = SPECIAL[name]
    lanes = list(rows) + [0x3F800000] * (64 - len(rows))
    ((result,),) = bench.run([case(f"{name} v40, v10", {10: lanes})])
    found = [f"{bits:08x}" for bits in result[: len(rows)]]
    assert found == [f"{bits:08x}" for bits in rows.values()]


def test_scaling_by_a_power_of_two_rounds_once(bench, case):
    rows = [(0x3F800001, -149), (0x3FC00000, -149), (0x3F800000, 200), (0x00000001, 200)]
    rows += [(0xBF800000, -126), (0x3F800000, 0x7FFFFFFF), (0x3F800000, -(1 << 31))]
    values = [row[0] for row in rows] + [0] * 57
    powers = [row[1] & 0xFFFFFFFF for row in rows] + [0] * 57
    ((result,),) = bench.run([case("v_ldexp_f32 v40, v10, v11", {10: values, 11: powers})])
    expected = [
        rounded(Fraction(number(v)) * Fraction(2) ** max(min(p, 400), -400)) for v, p in rows
    ]
    assert result[:7].tolist() == expected


FLOAT_RELATIONS = {
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "lg": lambda a, b: a < b or a > b,
    "ge": lambda a, b: a >= b,
    "o": lambda a, b: not (math.isnan(a) or math.isnan(b)),
    "u": lambda a, b: math.isnan(a) or math.isnan(b),
    "nge": lambda a, b: not a >= b,
    "nlg": lambda a, b: not (a < b or a > b),
    "ngt": lambda a, b: not a > b,
    "nle": lambda a, b: not a <= b,
    "neq": lambda a, b: a != b,
    "nlt": lambda a, b: not a < b,
}


def test_comparisons(bench, case, rng):
    a, b = operands(rng, 2)
    b[::3] = a[::3]
    jobs = [
        case(f"v_cmp_{name}_f32 s[30:31], v10, v11", {10: a, 11: b}, {}, (), (30, 31))
        for name in FLOAT_RELATIONS
    ]
    for (name, fn), result in zip(FLOAT_RELATIONS.items(), bench.run(jobs), strict=True):
        pairs = zip(map(number, a), map(number, b), strict=True)
        mask = sum(bool(fn(x, y)) << lane for lane, (x, y) in enumerate(pairs))
        assert int(result[0][0]) | int(result[1][0]) << 32 == mask, name


def test_classes_of_numbers(bench, case):
    values = [0x7F800001, 0x7FC00000, 0xFF800000, 0xBF800000, 0x80000001, 0x80000000]
    values += [0x00000000, 0x00000001, 0x3F800000, 0x7F800000]
    lanes = values + [0x3F800000] * 54
    jobs = [
        case(
            f"v_mov_b32 v12, {1 << at:#x}\nv_cmp_class_f32 s[30:31], v10, v12",
            {10: lanes},
            {},
            (),
            (30,),
        )
        for at in range(10)
    ]
    for at, result in enumerate(bench.run(jobs)):
        assert int(result[0][0]) & 0x3FF == 1 << at
