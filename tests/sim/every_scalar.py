"""Rows: scalar instructions on integers, bits, EXEC and SCC."""

from __future__ import annotations

from collections.abc import Callable

from every_integer import M32, M64, signed
from every_operands import Row, row

Pair = tuple[int, bool]


def overflows(value: int) -> bool:
    return not -(1 << 31) <= value < 1 << 31


def nonzero(fn: Callable[..., int], bits: int) -> Callable[..., Pair]:
    """SCC says that the result is not zero."""

    def run(*values: int) -> Pair:
        result = fn(*values) & ((1 << bits) - 1)
        return result, result != 0

    return run


def digits(value: int, bits: int) -> str:
    return f"{value:0{bits}b}"


def quads(value: int, bits: int) -> int:
    return sum((value >> 4 * at & 15 != 0) << at for at in range(bits // 4))


def whole_quads(value: int) -> int:
    return int("".join("f" if nibble != "0" else "0" for nibble in f"{value:016x}"), 16)


def leading(value: int, bits: int) -> int:
    return digits(value, bits).find("1")


def leading_signs(value: int, bits: int) -> int:
    text = digits(value, bits)
    return text.find("0" if text[0] == "1" else "1")


def trailing(value: int, bits: int, wanted: str) -> int:
    return digits(value, bits)[::-1].find(wanted)


def cut(value: int, control: int, bits: int, is_signed: bool) -> int:
    """Offset and width come in one number: 5 or 6 bits of offset, 7 of width above bit 16."""
    offset, width = control & (bits - 1), control >> 16 & 127
    if width == 0:
        return 0
    value = signed(value, bits) if is_signed else value
    part = value >> offset & ((1 << width) - 1)
    return signed(part, width) if is_signed else part


ROWS: list[Row] = []


def scalar(name: str, kinds: str, fn: Callable[..., object], text: str = "", **options) -> None:
    ROWS.append(row(name, kinds, fn, text, is_whole=True, **options))


LOGIC = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}
for _bits in (32, 64):
    _s = f"s{_bits}"
    for _name, _fn in LOGIC.items():
        scalar(f"s_{_name}_b{_bits}", f"{_s} {_s} : {_s} scc", nonzero(_fn, _bits))
    scalar(f"s_not_b{_bits}", f"{_s} : {_s} scc", nonzero(lambda a: ~a, _bits))
    scalar(f"s_mov_b{_bits}", f"{_s} : {_s}", lambda a: a)
    scalar(
        f"s_lshl_b{_bits}",
        f"{_s} s32 : {_s} scc",
        nonzero(lambda a, n, bits=_bits: a << n % bits, _bits),
    )
    scalar(
        f"s_lshr_b{_bits}",
        f"{_s} s32 : {_s} scc",
        nonzero(lambda a, n, bits=_bits: a >> n % bits, _bits),
    )
    scalar(
        f"s_ashr_i{_bits}",
        f"{_s} s32 : {_s} scc",
        nonzero(lambda a, n, bits=_bits: signed(a, bits) >> n % bits, _bits),
    )
    scalar(
        f"s_bfm_b{_bits}",
        f"s32 s32 : {_s}",
        lambda a, b, bits=_bits: (2 ** (a % bits) - 1) << b % bits,
    )
    for _kind in "iu":
        _fn = lambda a, c, bits=_bits, sign=_kind == "i": cut(a, c, bits, sign)  # noqa: E731
        scalar(
            f"s_bfe_{_kind}{_bits}",
            f"{_s} s32 : {_s} scc",
            nonzero(_fn, _bits),
            draw=lambda rng, bits=_bits: (
                rng.getrandbits(bits),
                rng.randrange(bits) | rng.randrange(bits + 1) << 16 | rng.getrandbits(2) << 8,
            ),
        )
    scalar(f"s_brev_b{_bits}", f"{_s} : {_s}", lambda a, bits=_bits: int(digits(a, bits)[::-1], 2))
    for _digit in "01":
        scalar(
            f"s_bcnt{_digit}_i32_b{_bits}",
            f"{_s} : s32 scc",
            nonzero(lambda a, bits=_bits, d=_digit: digits(a, bits).count(d), 32),
        )
        scalar(
            f"s_ff{_digit}_i32_b{_bits}",
            f"{_s} : s32",
            lambda a, bits=_bits, d=_digit: trailing(a, bits, d),
        )
        scalar(
            f"s_bitcmp{_digit}_b{_bits}",
            f"{_s} s32 : scc",
            lambda a, n, bits=_bits, d=_digit: (a >> n % bits & 1) == int(d),
        )
        scalar(
            f"s_bitset{_digit}_b{_bits}",
            f"{_s} s32 : {_s}",
            lambda a, n, bits=_bits, d=_digit: (
                a | 1 << n % bits if d == "1" else a & ~(1 << n % bits)
            ),
            f"s_mov_b{_bits} {{x}}, {{a}}\ns_bitset{_digit}_b{_bits} {{x}}, {{b}}",
        )
    scalar(f"s_flbit_i32_b{_bits}", f"{_s} : s32", lambda a, bits=_bits: leading(a, bits))
    scalar(
        "s_flbit_i32" if _bits == 32 else "s_flbit_i32_i64",
        f"{_s} : s32",
        lambda a, bits=_bits: leading_signs(a, bits),
    )
    scalar(
        f"s_quadmask_b{_bits}",
        f"{_s} : {_s} scc",
        nonzero(lambda a, bits=_bits: quads(a, bits), _bits),
    )
    scalar(f"s_cselect_b{_bits}", f"{_s} {_s} scc : {_s}", lambda a, b, c: a if c else b)
    scalar(
        f"s_cmov_b{_bits}",
        f"{_s} {_s} scc : {_s}",
        lambda a, old, c: a if c else old,
        f"s_mov_b{_bits} {{x}}, {{b}}\ns_cmov_b{_bits} {{x}}, {{a}}",
    )
scalar("s_wqm_b64", "s64 : s64 scc", nonzero(whole_quads, 64))


def added(a: int, b: int) -> Pair:
    total = signed(a) + signed(b)
    return total, overflows(total)


def taken(a: int, b: int) -> Pair:
    total = signed(a) - signed(b)
    return total, overflows(total)


def chosen(fn: Callable[..., int], is_signed: bool) -> Callable[..., Pair]:
    """SCC says that the first operand is the one; equal ones count for the maximum only."""

    def run(a: int, b: int) -> Pair:
        x, y = (signed(a), signed(b)) if is_signed else (a, b)
        return fn(x, y), x >= y if fn is max else x < y

    return run


BINARY = {
    "s_add_i32": added,
    "s_sub_i32": taken,
    "s_add_u32": lambda a, b: (a + b, a + b > M32),
    "s_sub_u32": lambda a, b: (a - b, b > a),
    "s_min_i32": chosen(min, True),
    "s_max_i32": chosen(max, True),
    "s_min_u32": chosen(min, False),
    "s_max_u32": chosen(max, False),
    "s_absdiff_i32": nonzero(lambda a, b: abs(signed(signed(a) - signed(b))), 32),
    "s_lshl1_add_u32": lambda a, b: (2 * a + b, 2 * a + b > M32),
    "s_lshl2_add_u32": lambda a, b: (4 * a + b, 4 * a + b > M32),
    "s_lshl3_add_u32": lambda a, b: (8 * a + b, 8 * a + b > M32),
    "s_lshl4_add_u32": lambda a, b: (16 * a + b, 16 * a + b > M32),
}
for _name, _fn in BINARY.items():
    scalar(_name, "s32 s32 : s32 scc", _fn)
scalar("s_addc_u32", "s32 s32 scc : s32 scc", lambda a, b, k: (a + b + k, a + b + k > M32))
scalar("s_subb_u32", "s32 s32 scc : s32 scc", lambda a, b, k: (a - b - k, b + k > a))
scalar("s_abs_i32", "s32 : s32 scc", nonzero(lambda a: abs(signed(a)), 32))
scalar("s_mul_i32", "s32 s32 : s32", lambda a, b: a * b)
scalar("s_mul_hi_u32", "s32 s32 : s32", lambda a, b: a * b >> 32)
scalar("s_mul_hi_i32", "s32 s32 : s32", lambda a, b: signed(a) * signed(b) >> 32)
scalar("s_sext_i32_i8", "s32 : s32", lambda a: signed(a, 8))
scalar("s_sext_i32_i16", "s32 : s32", lambda a: signed(a, 16))
scalar("s_pack_ll_b32_b16", "s32 s32 : s32", lambda a, b: a & 0xFFFF | b << 16)
scalar("s_pack_lh_b32_b16", "s32 s32 : s32", lambda a, b: a & 0xFFFF | b >> 16 << 16)
scalar("s_pack_hh_b32_b16", "s32 s32 : s32", lambda a, b: a >> 16 | b >> 16 << 16)

RELATIONS = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}


def near(bits: int) -> Callable[..., tuple[int, int]]:
    """Draw operands that are often equal or differ in sign only."""

    def draw(rng) -> tuple[int, int]:
        a = rng.getrandbits(bits)
        return a, rng.choice((a, a ^ 1 << bits - 1, a ^ 1, rng.getrandbits(bits)))

    return draw


for _relation, _fn in RELATIONS.items():
    scalar(f"s_cmp_{_relation}_u32", "s32 s32 : scc", _fn, draw=near(32))
    scalar(
        f"s_cmp_{_relation}_i32",
        "s32 s32 : scc",
        lambda a, b, fn=_fn: fn(signed(a), signed(b)),
        draw=near(32),
    )
    for _constant in (0x8765, 0x1234):
        for _kind in "iu":
            _value = signed(_constant, 16) if _kind == "i" else _constant
            _shown = f"{_constant:#x}"
            scalar(
                f"s_cmpk_{_relation}_{_kind}32",
                "s32 : scc",
                lambda a, fn=_fn, v=_value, sign=_kind == "i": fn(signed(a) if sign else a, v),
                f"s_cmpk_{_relation}_{_kind}32 {{a}}, {_shown}",
                draw=lambda rng, v=_value: (
                    rng.choice((v & M32, v + 1 & M32, v - 1 & M32, rng.getrandbits(32))),
                ),
            )
scalar("s_cmp_eq_u64", "s64 s64 : scc", lambda a, b: a == b, draw=near(64))
scalar("s_cmp_lg_u64", "s64 s64 : scc", lambda a, b: a != b, draw=near(64))

for _constant in (0x8765, 0x1234):
    _value = signed(_constant, 16)
    scalar(
        "s_movk_i32",
        "s32 : s32",
        lambda a, v=_value: v,
        f"s_movk_i32 {{x}}, {_constant:#x}",
    )
    scalar(
        "s_cmovk_i32",
        "s32 scc : s32",
        lambda a, c, v=_value: v if c else a,
        f"s_mov_b32 {{x}}, {{a}}\ns_cmovk_i32 {{x}}, {_constant:#x}",
    )
    scalar(
        "s_addk_i32",
        "s32 : s32 scc",
        lambda a, v=_value: added(a, v),
        f"s_mov_b32 {{x}}, {{a}}\ns_addk_i32 {{x}}, {_constant:#x}",
    )
    scalar(
        "s_mulk_i32",
        "s32 : s32",
        lambda a, v=_value: a * v,
        f"s_mov_b32 {{x}}, {{a}}\ns_mulk_i32 {{x}}, {_constant:#x}",
    )

MASKS = LOGIC | {"andn1": lambda s, e: ~s & e, "orn1": lambda s, e: ~s | e}
for _name, _fn in MASKS.items():
    scalar(
        f"s_{_name}_saveexec_b64",
        "s64 exec : s64 exec scc",
        lambda s, e, fn=_fn: (e, fn(s, e) & M64, fn(s, e) & M64 != 0),
    )
for _name in ("andn1", "andn2"):
    scalar(
        f"s_{_name}_wrexec_b64",
        "s64 exec : s64 exec scc",
        lambda s, e, fn=MASKS[_name]: (fn(s, e), fn(s, e), fn(s, e) & M64 != 0),
    )
