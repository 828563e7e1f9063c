"""Rows: conversions between integers and floats of all sizes, with and without a scale."""

from __future__ import annotations

import math
from fractions import Fraction

from every_integer import clamp, signed
from every_numbers import (
    BF8,
    BF16,
    F16,
    F32,
    F64,
    FORMATS,
    FP4,
    FP8,
    Format,
    moved,
    power,
    to_whole,
)
from every_operands import Kind, any_operand, kind_of, row

S32 = (-(1 << 31), (1 << 31) - 1)
U32 = (0, (1 << 32) - 1)
HALF = Fraction(1, 2)


def nearest_up(number: Fraction) -> int:
    return math.floor(number + HALF)


def cut(bits: int) -> int:
    """Float32 to f16 toward zero; infinities and NaN pass."""
    number = F32.value(bits)
    if isinstance(number, float):
        return F16.code(number)
    return F16.cut(number, zero=F32.is_negative(bits))


ROWS = [
    row("v_cvt_u32_f32", "f32 : u32", lambda a: to_whole(F32, math.trunc, *U32, a)),
    row("v_cvt_i32_f32", "f32 : u32", lambda a: to_whole(F32, math.trunc, *S32, a)),
    row("v_cvt_u32_f64", "f64 : u32", lambda a: to_whole(F64, math.trunc, *U32, a)),
    row("v_cvt_i32_f64", "f64 : u32", lambda a: to_whole(F64, math.trunc, *S32, a)),
    row("v_cvt_flr_i32_f32", "f32 : u32", lambda a: to_whole(F32, math.floor, *S32, a)),
    row("v_cvt_rpi_i32_f32", "f32 : u32", lambda a: to_whole(F32, nearest_up, *S32, a)),
    row("v_cvt_u16_f16", "f16 : u32", lambda a: to_whole(F16, math.trunc, 0, 65535, a)),
    row(
        "v_cvt_i16_f16",
        "f16 : u32",
        lambda a: to_whole(F16, math.trunc, -32768, 32767, a) & 0xFFFF,
    ),
    row("v_cvt_f32_u32", "u32 : f32", lambda a: F32.code(Fraction(a))),
    row("v_cvt_f32_i32", "u32 : f32", lambda a: F32.code(Fraction(signed(a)))),
    row("v_cvt_f64_u32", "u32 : f64", lambda a: F64.code(Fraction(a))),
    row("v_cvt_f64_i32", "u32 : f64", lambda a: F64.code(Fraction(signed(a)))),
    row("v_cvt_f16_u16", "u16 : f16", lambda a: F16.code(Fraction(a))),
    row("v_cvt_f16_i16", "u16 : f16", lambda a: F16.code(Fraction(signed(a, 16)))),
    row("v_cvt_f32_f16", "f16 : f32", lambda a: moved(F16, F32, a)),
    row("v_cvt_f16_f32", "f32 : f16", lambda a: moved(F32, F16, a)),
    row("v_cvt_f64_f32", "f32 : f64", lambda a: moved(F32, F64, a)),
    row("v_cvt_f32_f64", "f64 : f32", lambda a: moved(F64, F32, a)),
    row("v_cvt_f32_bf16", "bf16 : f32", lambda a: moved(BF16, F32, a)),
    row("v_cvt_pkrtz_f16_f32", "f32 f32 : f16x2", lambda a, b: cut(a) | cut(b) << 16),
    row(
        "v_cvt_pk_f16_f32",
        "f32 f32 : f16x2",
        lambda a, b: moved(F32, F16, a) | moved(F32, F16, b) << 16,
    ),
    row(
        "v_cvt_pk_bf16_f32",
        "f32 f32 : bf16x2",
        lambda a, b: moved(F32, BF16, a) | moved(F32, BF16, b) << 16,
    ),
    row(
        "v_cvt_pk_u16_u32",
        "u32 u32 : u32",
        lambda a, b: clamp(a, 0, 65535) | clamp(b, 0, 65535) << 16,
    ),
    row(
        "v_cvt_pk_i16_i32",
        "u32 u32 : u32",
        lambda a, b: sum(
            (clamp(signed(v), -32768, 32767) & 0xFFFF) << at for v, at in ((a, 0), (b, 16))
        ),
    ),
]
ROWS += [
    row(
        f"v_cvt_f32_ubyte{at}",
        "u32 : f32",
        lambda a, at=at: F32.code(Fraction(a.to_bytes(4, "little")[at])),
    )
    for at in range(4)
]

# Eight bits


def stochastic(f: Format, drop: int, value: int, noise: int) -> int:
    """Random bits are added to the mantissa, which wraps, before rounding."""
    head, mantissa = value >> 23 << 23, value & 0x7FFFFF
    return moved(F32, f, head | (mantissa + (noise >> drop)) & 0x7FFFFF)


def replaced(old: int, bits: int, at: int, width: int) -> int:
    mask = (1 << width) - 1 << at
    return old & ~mask | bits << at & mask


for _f, _drop in ((FP8, 12), (BF8, 11)):
    _n = _f.name
    for _half in (0, 1):
        _put = f" op_sel:[0,0,{_half}]" if _half else ""
        ROWS += [
            row(
                f"v_cvt_pk_{_n}_f32",
                f"f32 f32 u32 : {_n}x4",
                lambda a, b, old, f=_f, h=_half: replaced(
                    old, moved(F32, f, a) | moved(F32, f, b) << 8, 16 * h, 16
                ),
                f"v_mov_b32 {{x}}, {{c}}\nv_cvt_pk_{_n}_f32 {{x}}, {{a}}, {{b}}{_put}",
            ),
            row(
                f"v_cvt_pk_f32_{_n}",
                f"{_n}x4 : f32x2",
                lambda a, f=_f, h=_half: (
                    moved(f, F32, a >> 16 * h & 0xFF) | moved(f, F32, a >> 16 * h + 8 & 0xFF) << 32
                ),
                f"v_cvt_pk_f32_{_n}_sdwa {{x}}, {{a}} src0_sel:WORD_{_half}",
            ),
        ]
    for _byte in range(4):
        ROWS += [
            row(
                f"v_cvt_f32_{_n}",
                f"{_n}x4 : f32",
                lambda a, f=_f, at=_byte: moved(f, F32, a >> 8 * at & 0xFF),
                f"v_cvt_f32_{_n}_sdwa {{x}}, {{a}} src0_sel:BYTE_{_byte}",
            ),
            row(
                f"v_cvt_sr_{_n}_f32",
                f"f32 u32 u32 : {_n}x4",
                lambda a, noise, old, f=_f, d=_drop, at=_byte: (
                    None
                    if isinstance(F32.value(a), float)
                    else replaced(old, stochastic(f, d, a, noise), 8 * at, 8)
                ),
                f"v_mov_b32 {{x}}, {{c}}\nv_cvt_sr_{_n}_f32 {{x}}, {{a}}, {{b}} "
                f"op_sel:[0,0,{_byte & 1},{_byte >> 1}]",
            ),
        ]

# Block-scaled: the scale's exponent field e means 2 ** (e - 127)


def factor(scale: int) -> Fraction | None:
    field = scale >> 23 & 0xFF
    return None if field == 255 else power(field - 127)


def with_scale(source: Format, target: Format, bits: int, times: Fraction) -> int:
    number = source.value(bits)
    if isinstance(number, float):
        return target.code(number)
    return target.code(number * times, zero=source.is_negative(bits))


def many(source: Format, target: Format, count: int, value: int, times: Fraction) -> int:
    """Convert ``count`` packed numbers, lowest first."""
    mask = (1 << source.bits) - 1
    return sum(
        with_scale(source, target, value >> at * source.bits & mask, times) << at * target.bits
        for at in range(count)
    )


def scaled_row(name: str, kinds: str, fn, text: str = "") -> None:
    """The last source is the scale; what a NaN scale does is not said."""

    def run(*values):
        *rest, scale = values
        times = factor(scale)
        return None if times is None else fn(*rest, times)

    ROWS.append(row(name, kinds, run, text, draw=scale_draw(kinds)))


def scale_draw(kinds: str):
    """Draw operands of any size and scales that bring some of them into range.

    What NaN becomes in a format without NaN is not said.
    """
    left, _, right = kinds.partition(":")
    sources, target = [kind_of(text) for text in left.split()], kind_of(right.strip()).format

    def draw(rng):
        values = [any_operand(rng, kind, rng.random() < 0.7) for kind in sources[:-1]]
        if target.top == "finite":
            values = [without_nan(kind, v) for kind, v in zip(sources, values, strict=False)]
        field = rng.randrange(255) if rng.random() < 0.2 else rng.randrange(117, 138)
        return (*values, field << 23 | rng.getrandbits(23) | rng.getrandbits(1) << 31)

    return draw


def without_nan(kind: Kind, value: int) -> int:
    f = kind.format
    if f is None:
        return value
    for at in range(0, kind.count * kind.bits, kind.bits):
        part = value >> at & (1 << kind.bits) - 1
        if f.is_nan(part):
            value ^= (part ^ f.largest) << at
    return value


WIDE = {"f32": F32, "f16": F16, "bf16": BF16}
for _f in (FP8, BF8, FP4):
    _n, _b = _f.name, _f.bits
    for _w, _wide in WIDE.items():
        for _at in range(2 if _b == 8 else 4):
            _flags = f"{_at}" if _b == 8 else f"{_at & 1},{_at >> 1}"
            scaled_row(
                f"v_cvt_scalef32_pk_{_w}_{_n}",
                f"{_n}x{32 // _b} u32 : {_w}x2",
                lambda a, times, f=_f, wide=_wide, at=_at: many(
                    f, wide, 2, a >> 2 * f.bits * at, times
                ),
                f"{{plain}} op_sel:[{_flags}" + (",0]" if _b == 8 else "]"),
            )
            # op_sel's last entries number what is written; fp4 always has four entries.
            _head = "0,0,0," if _b == 8 and _w == "f32" else "0,0,"
            _tail = f"{_at}" if _b == 8 else f"{_at & 1},{_at >> 1}"
            _numbers = "f32 f32" if _w == "f32" else f"{_w}x2"

            def _packed(*values, f=_f, wide=_wide, at=_at):
                *numbers, old, times = values
                pair = numbers[0] | numbers[1] << 32 if len(numbers) > 1 else numbers[0]
                return replaced(old, many(wide, f, 2, pair, 1 / times), 2 * f.bits * at, 2 * f.bits)

            _shown = "{a}, {b}, {d}" if _w == "f32" else "{a}, {c}"
            _kept = "{c}" if _w == "f32" else "{b}"
            scaled_row(
                f"v_cvt_scalef32_pk_{_n}_{_w}",
                f"{_numbers} u32 u32 : {_n}x{32 // _b}",
                _packed,
                f"v_mov_b32 {{x}}, {_kept}\nv_cvt_scalef32_pk_{_n}_{_w} {{x}}, {_shown} "
                f"op_sel:[{_head}{_tail}]",
            )
for _f in (FP8, BF8):
    for _byte in range(4):
        _flags = f"{_byte & 1},{_byte >> 1}"
        scaled_row(
            f"v_cvt_scalef32_f32_{_f.name}",
            f"{_f.name}x4 u32 : f32",
            lambda a, times, f=_f, at=_byte: many(f, F32, 1, a >> 8 * at, times),
            f"{{plain}} op_sel:[{_flags}]",
        )
        for _half in (0, 1):
            scaled_row(
                f"v_cvt_scalef32_f16_{_f.name}",
                f"{_f.name}x4 u32 u32 : f16x2",
                lambda a, old, times, f=_f, at=_byte, h=_half: replaced(
                    old, many(f, F16, 1, a >> 8 * at, times), 16 * h, 16
                ),
                f"v_mov_b32 {{x}}, {{b}}\nv_cvt_scalef32_f16_{_f.name} {{x}}, {{a}}, {{c}} "
                f"op_sel:[{_flags},{_half}]",
            )
for _n in ("fp6", "bf6"):
    _f = FORMATS[_n]
    for _w, _wide in WIDE.items():
        scaled_row(
            f"v_cvt_scalef32_pk32_{_w}_{_n}",
            f"{_n}x32 u32 : {_w}x32",
            lambda a, times, f=_f, wide=_wide: many(f, wide, 32, a, times),
        )
        if _w != "f32":
            scaled_row(
                f"v_cvt_scalef32_pk32_{_n}_{_w}",
                f"{_w}x32 u32 : {_n}x32",
                lambda a, times, f=_f, wide=_wide: many(wide, f, 32, a, 1 / times),
            )

    def _taking_turns(a, b, times, f=_f):
        first, second = (many(F32, f, 16, v, 1 / times) for v in (a, b))
        pairs = (
            (v >> f.bits * at & 63) << f.bits * (2 * at + odd)
            for at in range(16)
            for odd, v in enumerate((first, second))
        )
        return sum(pairs)

    scaled_row(f"v_cvt_scalef32_2xpk16_{_n}_f32", f"f32x16 f32x16 u32 : {_n}x32", _taking_turns)
