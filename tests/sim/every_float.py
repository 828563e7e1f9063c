"""Rows: vector instructions on floats of 16, 32 and 64 bits."""

from __future__ import annotations

import math
from fractions import Fraction

from every_integer import signed
from every_numbers import (
    F16,
    F32,
    F64,
    Format,
    exponent,
    fraction,
    fused,
    fused_numbers,
    logarithm,
    mantissa,
    middle,
    minus,
    order,
    pick,
    pick3,
    plus,
    power,
    power_of_two,
    reciprocal,
    reciprocal_root,
    root,
    scaled,
    times,
    turn,
    whole,
)
from every_operands import row

WHOLE = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rndne": round}
ROWS = []


def near_cancel(f: Format):
    """Draw operands whose product and addend cancel to a few digits, now and then."""

    def draw(rng) -> tuple[int, int, int]:
        a, b = (
            f.sign * rng.getrandbits(1)
            | (f.bias + rng.randrange(-3, 4) << f.mantissa_bits)
            | rng.getrandbits(f.mantissa_bits) & -(1 << rng.randrange(f.mantissa_bits))
            for _ in range(2)
        )
        return a, b, times(f, a, b) + rng.randrange(-1, 2) ^ f.sign

    return draw


def large(f: Format):
    """Draw products that overflow beside an infinite addend, or one that brings them back."""

    def draw(rng) -> tuple[int, int, int]:
        a, b = (f.infinity - 1 - rng.getrandbits(f.mantissa_bits + 2) for _ in range(2))
        one = f.bias << f.mantissa_bits
        c = rng.choice((f.infinity, f.largest, f.largest - 1))
        signs = (f.sign * rng.getrandbits(1) for _ in range(3))
        b = rng.choice((b, one, one + 1, one + f.mantissa_bits))
        return tuple(bits | sign for bits, sign in zip((a, b, c), signs, strict=True))

    return draw


for _f in (F16, F32, F64):
    _n = _f.name
    for _name, _rule in WHOLE.items():
        ROWS.append(row(f"v_{_name}_{_n}", f"{_n} : {_n}", lambda a, f=_f, r=_rule: whole(f, r, a)))
    ROWS += [
        row(f"v_add_{_n}", f"{_n} {_n} : {_n}", lambda a, b, f=_f: plus(f, a, b)),
        row(f"v_mul_{_n}", f"{_n} {_n} : {_n}", lambda a, b, f=_f: times(f, a, b)),
        row(f"v_fma_{_n}", f"{_n} {_n} {_n} : {_n}_lo", lambda a, b, c, f=_f: fused(f, a, b, c)),
        row(
            f"v_fma_{_n}",
            f"{_n} {_n} {_n} : {_n}_lo",
            lambda a, b, c, f=_f: fused(f, a, b, c),
            f"v_fma_{_n} {{x}}, {{a}}, {{b}}, {{c}} ; digits cancel",
            draw=near_cancel(_f),
        ),
        row(
            f"v_fma_{_n}",
            f"{_n} {_n} {_n} : {_n}_lo",
            lambda a, b, c, f=_f: fused(f, a, b, c),
            f"v_fma_{_n} {{x}}, {{a}}, {{b}}, {{c}} ; large",
            draw=large(_f),
        ),
        row(f"v_max_{_n}", f"{_n} {_n} : {_n}", lambda a, b, f=_f: pick(f, max, a, b)),
        row(f"v_min_{_n}", f"{_n} {_n} : {_n}", lambda a, b, f=_f: pick(f, min, a, b)),
        row(f"v_fract_{_n}", f"{_n} : {_n}", lambda a, f=_f: fraction(f, a)),
        row(f"v_frexp_mant_{_n}", f"{_n} : {_n}", lambda a, f=_f: mantissa(f, a)),
        row(f"v_rcp_{_n}", f"{_n} : {_n}", lambda a, f=_f: reciprocal(f, a)),
        row(f"v_sqrt_{_n}", f"{_n} : {_n}", lambda a, f=_f: root(f, a)),
        row(f"v_rsq_{_n}", f"{_n} : {_n}", lambda a, f=_f: reciprocal_root(f, a)),
    ]
for _f in (F16, F32):
    _n = _f.name
    _three = f"{_n} {_n} {_n} : {_n}_lo"
    ROWS += [
        row(f"v_sub_{_n}", f"{_n} {_n} : {_n}", lambda a, b, f=_f: minus(f, a, b)),
        row(f"v_subrev_{_n}", f"{_n} {_n} : {_n}", lambda a, b, f=_f: minus(f, b, a)),
        row(f"v_max3_{_n}", _three, lambda a, b, c, f=_f: pick3(f, max, a, b, c)),
        row(f"v_min3_{_n}", _three, lambda a, b, c, f=_f: pick3(f, min, a, b, c)),
        row(f"v_med3_{_n}", _three, lambda a, b, c, f=_f: middle(f, a, b, c)),
        row(f"v_exp_{_n}", f"{_n} : {_n}", lambda a, f=_f: power_of_two(f, a)),
        row(f"v_log_{_n}", f"{_n} : {_n}", lambda a, f=_f: logarithm(f, a)),
    ]


def small_power(bits: int, reach: int):
    return lambda rng: (rng.getrandbits(bits), rng.randrange(-reach, reach) & 0xFFFFFFFF)


ROWS += [
    row("v_frexp_exp_i16_f16", "f16 : u32", lambda a: exponent(F16, a) & 0xFFFF),
    row("v_frexp_exp_i32_f32", "f32 : u32", lambda a: exponent(F32, a)),
    row("v_frexp_exp_i32_f64", "f64 : u32", lambda a: exponent(F64, a)),
    row("v_ldexp_f16", "f16 u16 : f16", lambda a, n: scaled(F16, a, signed(n, 16))),
    row(
        "v_ldexp_f16",
        "f16 u16 : f16",
        lambda a, n: scaled(F16, a, signed(n, 16)),
        "{plain} ; small powers",
        draw=small_power(16, 30),
    ),
    row("v_ldexp_f32", "f32 u32 : f32", lambda a, n: scaled(F32, a, signed(n, 32))),
    row(
        "v_ldexp_f32",
        "f32 u32 : f32",
        lambda a, n: scaled(F32, a, signed(n, 32)),
        "{plain} ; small powers",
        draw=small_power(32, 200),
    ),
    row("v_ldexp_f64", "f64 u32 : f64", lambda a, n: scaled(F64, a, signed(n, 32))),
    row(
        "v_ldexp_f64",
        "f64 u32 : f64",
        lambda a, n: scaled(F64, a, signed(n, 32)),
        "{plain} ; small powers",
        draw=small_power(64, 1500),
    ),
    row("v_rcp_iflag_f32", "f32 : f32", lambda a: reciprocal(F32, a)),
    row("v_sin_f32", "f32 : f32", lambda a: turn(F32, Fraction(0), a)),
    row("v_cos_f32", "f32 : f32", lambda a: turn(F32, Fraction(1, 4), a)),
    row(
        "v_mul_legacy_f32",
        "f32 f32 : f32",
        lambda a, b: 0 if 0 in (F32.value(a), F32.value(b)) else times(F32, a, b),
    ),
]


def extreme(choose, *values: int) -> int:
    """Any NaN wins; minus zero lies below zero."""
    if any(map(F32.is_nan, values)):
        return F32.nan
    return choose(values, key=lambda bits: order(F32, bits))


ROWS += [
    row("v_maximum3_f32", "f32 f32 f32 : f32", lambda *v: extreme(max, *v)),
    row("v_minimum3_f32", "f32 f32 f32 : f32", lambda *v: extreme(min, *v)),
    row(
        "v_fmaak_f32",
        "f32 f32 : f32",
        lambda a, b: fused(F32, a, b, 0xC0490FDB),
        "v_fmaak_f32 {x}, {a}, {b}, 0xc0490fdb",
    ),
    row(
        "v_fmamk_f32",
        "f32 f32 : f32",
        lambda a, b: fused(F32, a, 0xC0490FDB, b),
        "v_fmamk_f32 {x}, {a}, 0xc0490fdb, {b}",
    ),
]
for _f in (F32, F64):
    _move = "v_mov_b32" if _f is F32 else "v_mov_b64"
    ROWS.append(
        row(
            f"v_fmac_{_f.name}",
            f"{_f.name} {_f.name} {_f.name} : {_f.name}",
            lambda a, b, c, f=_f: fused(f, a, b, c),
            f"{_move} {{x}}, {{c}}\nv_fmac_{_f.name} {{x}}, {{a}}, {{b}}",
        )
    )

ROWS += [
    row(
        "v_fma_f16",
        "f16 f16 f16 u32 : f16_lo u16_hi",
        lambda a, b, c, old: (fused(F16, a, b, c), old >> 16),
        "v_mov_b32 {x}, {d}\nv_fma_f16 {x}, {a}, {b}, {c}\nv_mov_b32 {y}, {x}",
    ),
    row(
        "v_fma_f16",
        "f16 f16x2 f16 u32 : f16_hi u16_lo",
        lambda a, b, c, old: (fused(F16, a, b >> 16, c), old),
        "v_mov_b32 {x}, {d}\nv_fma_f16 {x}, {a}, {b}, {c} op_sel:[0,1,0,1]\nv_mov_b32 {y}, {x}",
    ),
    row(
        "v_div_fixup_f16",
        "f16 f16 f16 u32 : u16_hi",
        lambda q, b, a, old: old >> 16,
        "v_mov_b32 {x}, {d}\nv_div_fixup_f16 {x}, {a}, {b}, {c}",
    ),
]

# Pairs


def both(f: Format, fn, *values: int) -> int:
    mask = (1 << f.bits) - 1
    low, high = (fn(f, *(v >> at & mask for v in values)) for at in (0, f.bits))
    return low | high << f.bits


for _f in (F16, F32):
    _two = f"{_f.name}x2"
    for _name, _fn in {
        "add": plus,
        "mul": times,
        "max": lambda f, a, b: pick(f, max, a, b),
        "min": lambda f, a, b: pick(f, min, a, b),
    }.items():
        if _f is F16 or _name in ("add", "mul"):
            ROWS.append(
                row(
                    f"v_pk_{_name}_{_f.name}",
                    f"{_two} {_two} : {_two}",
                    lambda a, b, f=_f, fn=_fn: both(f, fn, a, b),
                )
            )
    ROWS.append(
        row(
            f"v_pk_fma_{_f.name}",
            f"{_two} {_two} {_two} : {_two}",
            lambda a, b, c, f=_f: both(f, fused, a, b, c),
        )
    )

# Sources of two formats


def mixed(out: Format, halves: tuple[int | None, ...], *values: int) -> int:
    """Each source is a float32, or the half of a register that ``halves`` numbers."""
    numbers, negative = [], []
    for value, half in zip(values, halves, strict=True):
        f, bits = (F32, value) if half is None else (F16, value >> 16 * half & 0xFFFF)
        numbers.append(f.value(bits))
        negative.append(f.is_negative(bits))
    return fused_numbers(out, tuple(numbers), tuple(negative))


MIXES = {
    "": (None, None, None),
    " op_sel:[1,0,0] op_sel_hi:[1,0,1]": (1, None, 0),
    " op_sel:[0,1,1] op_sel_hi:[0,1,1]": (None, 1, 1),
}
for _text, _halves in MIXES.items():
    ROWS += [
        row(
            "v_fma_mix_f32",
            "f32 f32 f32 : f32",
            lambda a, b, c, h=_halves: mixed(F32, h, a, b, c),
            f"{{plain}}{_text}",
        ),
        row(
            "v_fma_mixlo_f16",
            "f32 f32 f32 u32 : f16_lo u16_hi",
            lambda a, b, c, d, h=_halves: (mixed(F16, h, a, b, c), d >> 16),
            f"v_mov_b32 {{x}}, {{d}}\nv_fma_mixlo_f16 {{x}}, {{a}}, {{b}}, {{c}}{_text}\n"
            "v_mov_b32 {y}, {x}",
        ),
        row(
            "v_fma_mixhi_f16",
            "f32 f32 f32 u32 : f16_hi u16_lo",
            lambda a, b, c, d, h=_halves: (mixed(F16, h, a, b, c), d),
            f"v_mov_b32 {{x}}, {{d}}\nv_fma_mixhi_f16 {{x}}, {{a}}, {{b}}, {{c}}{_text}\n"
            "v_mov_b32 {y}, {x}",
        ),
    ]

# Division: the sequence as compilers write it must round correctly, and each step is stated


def quotient(f: Format, a: int, b: int) -> int:
    x, y = f.value(a), f.value(b)
    if x != x or y != y:
        return f.nan
    sign = (a ^ b) & f.sign
    if abs(x) == math.inf or y == 0:
        both_special = (abs(x) == math.inf and abs(y) == math.inf) or (x == 0 and y == 0)
        return f.nan if both_special else f.infinity | sign
    if x == 0 or abs(y) == math.inf:
        return sign
    return f.code(x / y)


def fixed_up(f: Format, q: int, b: int, a: int) -> int | None:
    """The quotient's size with the right sign, unless the operands are special."""
    x, y = f.value(a), f.value(b)
    if any(isinstance(n, float) or n == 0 for n in (x, y)):
        return quotient(f, a, b)
    if abs(floor_exponent(f, a) - floor_exponent(f, b)) > f.bias - 2:
        return None
    return None if f.is_nan(q) else q & (f.sign - 1) | (a ^ b) & f.sign


def floor_exponent(f: Format, bits: int) -> int:
    return max(1, (bits & (f.sign - 1)) >> f.mantissa_bits)


DIVISION = """v_div_scale_{n} v{s0}, vcc, {{b}}, {{b}}, {{a}}
v_div_scale_{n} v{n0}, vcc, {{a}}, {{b}}, {{a}}
v_rcp_{n} v{r}, v{s0}
v_fma_{n} v{e}, -v{s0}, v{r}, 1.0
v_fma_{n} v{r}, v{e}, v{r}, v{r}
v_fma_{n} v{e}, -v{s0}, v{r}, 1.0
v_fma_{n} v{r}, v{e}, v{r}, v{r}
v_mul_{n} v{q}, v{n0}, v{r}
v_fma_{n} v{e}, -v{s0}, v{q}, v{n0}
v_fma_{n} v{q}, v{e}, v{r}, v{q}
v_fma_{n} v{e}, -v{s0}, v{q}, v{n0}
v_div_fmas_{n} v{e}, v{e}, v{r}, v{q}
v_div_fixup_{n} {{x}}, v{e}, {{b}}, {{a}}"""


def division_text(f: Format) -> str:
    names = {}
    for at, name in enumerate(("s0", "n0", "r", "e", "q")):
        first = 60 + 2 * at
        names[name] = str(first) if f is F32 else f"[{first}:{first + 1}]"
    return DIVISION.format(n=f.name, **names)


def chosen_scale(f: Format, b: int, a: int, of: int) -> tuple[int, bool] | None:
    """Operands of middling size pass unscaled."""
    if any(not f.bias // 2 < floor_exponent(f, v) < f.bias * 3 // 2 for v in (a, b)):
        return None
    return of, False


def rescaled(f: Format, a: int, b: int, c: int) -> int | None:
    """Large sums grow, small ones shrink, by the power that v_div_scale takes away."""
    exact = f.value(a) * f.value(b) + f.value(c)
    by = 64 if f is F32 else 128
    return f.code(exact * power(by if floor_exponent(f, c) > f.bias else -by)) if exact else None


for _f in (F32, F64):
    _n = _f.name
    for _name in ("scale", "fmas", "fixup"):
        ROWS.append(
            row(
                f"v_div_{_name}_{_n}",
                f"{_n} {_n} : {_n}",
                lambda a, b, f=_f: quotient(f, a, b),
                division_text(_f) + f" ; for {_name}",
            )
        )
    ROWS += [
        row(
            f"v_div_scale_{_n}",
            f"{_n} {_n} : {_n} mask",
            lambda b, a, f=_f: chosen_scale(f, b, a, b),
            f"v_div_scale_{_n} {{x}}, {{y}}, {{a}}, {{a}}, {{b}}",
            is_tame=True,
        ),
        row(
            f"v_div_fmas_{_n}",
            f"{_n} {_n} {_n} vcc! : {_n}",
            lambda a, b, c, k, f=_f: rescaled(f, a, b, c) if k else fused(f, a, b, c),
            is_tame=True,
        ),
        row(
            f"v_div_fixup_{_n}",
            f"{_n} {_n} {_n} : {_n}",
            lambda q, b, a, f=_f: fixed_up(f, q, b, a),
        ),
    ]
ROWS.append(
    row(
        "v_div_fixup_f16",
        "f16 f16 f16 : f16_lo",
        lambda q, b, a: (
            quotient(F16, a, b)
            if any(isinstance(n, float) or n == 0 for n in (F16.value(a), F16.value(b)))
            else F16.nan
            if F16.is_nan(q)
            else q & 0x7FFF | (a ^ b) & 0x8000
        ),
    )
)
