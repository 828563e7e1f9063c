"""Rows: vector instructions on integers and bits."""

from __future__ import annotations

from every_operands import row

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def signs(*values: int, bits: int = 32) -> list[int]:
    return [signed(value, bits) for value in values]


def parts(value: int, bits: int, is_signed: bool = False) -> list[int]:
    found = [value >> at & ((1 << bits) - 1) for at in range(0, 32, bits)]
    return [signed(part, bits) for part in found] if is_signed else found


def paired(a: int, b: int, bits: int, is_signed: bool = False) -> list[tuple[int, int]]:
    return list(zip(parts(a, bits, is_signed), parts(b, bits, is_signed), strict=True))


def clamp(value: int, low: int, high: int) -> int:
    return sorted((low, value, high))[1]


def field(value: int, offset: int, width: int) -> int:
    return value >> (offset & 31) & ~(-1 << (width & 31))


def signed_field(value: int, offset: int, width: int) -> int:
    # Bits beyond bit 31 are copies of the sign.
    return signed(field(signed(value), offset, width), width & 31) if width & 31 else 0


def first_one(value: int) -> int:
    return next((at for at in range(32) if value >> at & 1), -1)


def zeros_above(value: int) -> int:
    return next((at for at in range(32) if value >> (31 - at) & 1), -1)


def equal_signs(value: int) -> int:
    top = value >> 31
    return next((at for at in range(32) if value >> (31 - at) & 1 != top), -1)


def permuted(a: int, b: int, selector: int) -> int:
    pool = [*b.to_bytes(4, "little"), *a.to_bytes(4, "little")]
    signs_of = [255 * (pool[at] >> 7) for at in (1, 3, 5, 7)]
    table = [*pool, *signs_of, 0]
    chosen = (table[s] if s < 13 else 255 for s in selector.to_bytes(4, "little"))
    return int.from_bytes(bytes(chosen), "little")


def dot(a: int, b: int, c: int, bits: int, is_signed: bool) -> int:
    return c + sum(x * y for x, y in paired(a, b, bits, is_signed))


def distance(a: int, b: int, bits: int) -> int:
    return sum(abs(x - y) for x, y in paired(a, b, bits))


def mean(a: int, b: int, c: int) -> int:
    lists = zip(*(v.to_bytes(4, "little") for v in (a, b, c)), strict=True)
    return int.from_bytes(bytes((x + y + z % 2) // 2 for x, y, z in lists), "little")


def any_function(a: int, b: int, c: int) -> int:
    table = 0xB1
    digits = zip(f"{a:032b}", f"{b:032b}", f"{c:032b}", strict=True)
    return int("".join(str(table >> int(x + y + z, 2) & 1) for x, y, z in digits), 2)


def median(*values: int) -> int:
    return sorted(values)[1]


def wide_sum(a: int, b: int, c: int, *, is_signed: bool) -> tuple[int, bool]:
    if is_signed:
        total = signed(a) * signed(b) + signed(c, 64)
        return total, total != signed(total, 64)
    total = a * b + c
    return total, total > M64


ROWS = [
    row("v_mov_b32", "u32 : u32", lambda a: a),
    row("v_mov_b64", "u64 : u64", lambda a: a),
    row("v_not_b32", "u32 : u32", lambda a: M32 - a),
    row("v_and_b32", "u32 u32 : u32", lambda a, b: a & b),
    row("v_or_b32", "u32 u32 : u32", lambda a, b: a | b),
    row("v_xor_b32", "u32 u32 : u32", lambda a, b: (a | b) - (a & b)),
    row("v_xnor_b32", "u32 u32 : u32", lambda a, b: M32 - (a ^ b)),
    row("v_or3_b32", "u32 u32 u32 : u32", lambda a, b, c: a | b | c),
    row("v_and_or_b32", "u32 u32 u32 : u32", lambda a, b, c: a & b | c),
    row("v_bfi_b32", "u32 u32 u32 : u32", lambda a, b, c: a & b | (M32 - a) & c),
    row("v_xad_u32", "u32 u32 u32 : u32", lambda a, b, c: (a ^ b) + c),
    row("v_cndmask_b32", "u32 u32 mask : u32", lambda a, b, m: b if m else a),
    row("v_bitop3_b32", "u32 u32 u32 : u32", any_function, "{plain} bitop3:0xb1"),
    row("v_add_u32", "u32 u32 : u32", lambda a, b: a + b),
    row("v_add_u32", "u32 u32 : u32", lambda a, b: min(a + b, M32), "{plain} clamp"),
    row("v_sub_u32", "u32 u32 : u32", lambda a, b: a - b),
    row("v_sub_u32", "u32 u32 : u32", lambda a, b: max(a - b, 0), "{plain} clamp"),
    row("v_subrev_u32", "u32 u32 : u32", lambda a, b: b - a),
    row("v_add_i32", "u32 u32 : u32", lambda a, b: a + b),
    row(
        "v_add_i32",
        "u32 u32 : u32",
        lambda a, b: clamp(signed(a) + signed(b), -(1 << 31), M32 >> 1),
        "{plain} clamp",
    ),
    row("v_sub_i32", "u32 u32 : u32", lambda a, b: a - b),
    row(
        "v_sub_i32",
        "u32 u32 : u32",
        lambda a, b: clamp(signed(a) - signed(b), -(1 << 31), M32 >> 1),
        "{plain} clamp",
    ),
    row("v_add3_u32", "u32 u32 u32 : u32", lambda a, b, c: a + b + c),
    row("v_add_co_u32", "u32 u32 : u32 mask", lambda a, b: (a + b, a + b > M32)),
    row("v_sub_co_u32", "u32 u32 : u32 mask", lambda a, b: (a - b, b > a)),
    row("v_subrev_co_u32", "u32 u32 : u32 mask", lambda a, b: (b - a, a > b)),
    row("v_addc_co_u32", "u32 u32 mask : u32 mask", lambda a, b, k: (a + b + k, a + b + k > M32)),
    row("v_subb_co_u32", "u32 u32 mask : u32 mask", lambda a, b, k: (a - b - k, b + k > a)),
    row("v_subbrev_co_u32", "u32 u32 mask : u32 mask", lambda a, b, k: (b - a - k, a + k > b)),
    row("v_lshlrev_b32", "u32 u32 : u32", lambda n, a: a << n % 32),
    row("v_lshrrev_b32", "u32 u32 : u32", lambda n, a: a >> n % 32),
    row("v_ashrrev_i32", "u32 u32 : u32", lambda n, a: signed(a) >> n % 32),
    row("v_lshlrev_b64", "u32 u64 : u64", lambda n, a: a << n % 64),
    row("v_lshrrev_b64", "u32 u64 : u64", lambda n, a: a >> n % 64),
    row("v_ashrrev_i64", "u32 u64 : u64", lambda n, a: signed(a, 64) >> n % 64),
    row("v_lshl_add_u32", "u32 u32 u32 : u32", lambda a, n, c: (a << n % 32) + c),
    row("v_add_lshl_u32", "u32 u32 u32 : u32", lambda a, b, n: a + b << n % 32),
    row("v_lshl_or_b32", "u32 u32 u32 : u32", lambda a, n, c: a << n % 32 | c),
    row(
        "v_lshl_add_u64",
        "u64 u32 u64 : u64",
        lambda a, n, c: (a << n) + c,
        draw=lambda rng: (rng.getrandbits(64), rng.randrange(5), rng.getrandbits(64)),
    ),
    row("v_alignbit_b32", "u32 u32 u32 : u32", lambda a, b, n: (a << 32 | b) >> n % 32),
    row("v_alignbyte_b32", "u32 u32 u32 : u32", lambda a, b, n: (a << 32 | b) >> n % 4 * 8),
    row("v_mul_lo_u32", "u32 u32 : u32", lambda a, b: a * b),
    row("v_mul_hi_u32", "u32 u32 : u32", lambda a, b: a * b >> 32),
    row("v_mul_hi_i32", "u32 u32 : u32", lambda a, b: signed(a) * signed(b) >> 32),
    row("v_mul_u32_u24", "u32 u32 : u32", lambda a, b: a % (1 << 24) * (b % (1 << 24))),
    row("v_mul_hi_u32_u24", "u32 u32 : u32", lambda a, b: a % (1 << 24) * (b % (1 << 24)) >> 32),
    row("v_mul_i32_i24", "u32 u32 : u32", lambda a, b: signed(a, 24) * signed(b, 24)),
    row("v_mul_hi_i32_i24", "u32 u32 : u32", lambda a, b: signed(a, 24) * signed(b, 24) >> 32),
    row("v_mad_u32_u24", "u32 u32 u32 : u32", lambda a, b, c: a % (1 << 24) * (b % (1 << 24)) + c),
    row("v_mad_i32_i24", "u32 u32 u32 : u32", lambda a, b, c: signed(a, 24) * signed(b, 24) + c),
    row("v_mad_u64_u32", "u32 u32 u64 : u64 mask", lambda *v: wide_sum(*v, is_signed=False)),
    row("v_mad_i64_i32", "u32 u32 u64 : u64 mask", lambda *v: wide_sum(*v, is_signed=True)),
    row("v_max_i32", "u32 u32 : u32", lambda *v: max(signs(*v))),
    row("v_min_i32", "u32 u32 : u32", lambda *v: min(signs(*v))),
    row("v_max_u32", "u32 u32 : u32", max),
    row("v_min_u32", "u32 u32 : u32", min),
    row("v_max3_i32", "u32 u32 u32 : u32", lambda *v: max(signs(*v))),
    row("v_min3_i32", "u32 u32 u32 : u32", lambda *v: min(signs(*v))),
    row("v_med3_i32", "u32 u32 u32 : u32", lambda *v: median(*signs(*v))),
    row("v_max3_u32", "u32 u32 u32 : u32", max),
    row("v_min3_u32", "u32 u32 u32 : u32", min),
    row("v_med3_u32", "u32 u32 u32 : u32", median),
    row("v_bfe_u32", "u32 u32 u32 : u32", field),
    row("v_bfe_i32", "u32 u32 u32 : u32", signed_field),
    row("v_bfm_b32", "u32 u32 : u32", lambda a, b: (2 ** (a % 32) - 1) << b % 32),
    row("v_bfrev_b32", "u32 : u32", lambda a: int(f"{a:032b}"[::-1], 2)),
    row("v_bcnt_u32_b32", "u32 u32 : u32", lambda a, b: f"{a:b}".count("1") + b),
    row("v_ffbh_u32", "u32 : u32", zeros_above),
    row("v_ffbh_i32", "u32 : u32", equal_signs),
    row("v_ffbl_b32", "u32 : u32", first_one),
    row(
        "v_perm_b32",
        "u32 u32 u32 : u32",
        permuted,
        draw=lambda rng: (
            rng.getrandbits(32),
            rng.getrandbits(32),
            int.from_bytes(bytes(rng.randrange(14) for _ in range(4)), "little"),
        ),
    ),
    row("v_sad_u8", "u32 u32 u32 : u32", lambda a, b, c: distance(a, b, 8) + c),
    row("v_sad_hi_u8", "u32 u32 u32 : u32", lambda a, b, c: (distance(a, b, 8) << 16) + c),
    row("v_sad_u16", "u32 u32 u32 : u32", lambda a, b, c: distance(a, b, 16) + c),
    row("v_sad_u32", "u32 u32 u32 : u32", lambda a, b, c: max(a, b) - min(a, b) + c),
    row(
        "v_msad_u8",
        "u32 u32 u32 : u32",
        lambda a, b, c: sum(abs(x - y) for x, y in paired(a, b, 8) if y) + c,
    ),
    row("v_lerp_u8", "u32 u32 u32 : u32", mean),
    row(
        "v_sat_pk_u8_i16",
        "u32 : u32",
        lambda a: sum(clamp(p, 0, 255) << 8 * at for at, p in enumerate(parts(a, 16, True))),
    ),
    row(
        "v_accvgpr_write_b32",
        "u32 : u32",
        lambda a: a,
        "v_accvgpr_write_b32 a9, {a}\ns_nop 2\nv_accvgpr_read_b32 {x}, a9",
    ),
    row(
        "v_accvgpr_read_b32",
        "u32 : u32",
        lambda a: a,
        "v_accvgpr_write_b32 a10, {a}\ns_nop 2\nv_accvgpr_read_b32 {x}, a10",
    ),
    row(
        "v_accvgpr_mov_b32",
        "u32 : u32",
        lambda a: a,
        "v_accvgpr_write_b32 a11, {a}\ns_nop 2\nv_accvgpr_mov_b32 a12, a11\ns_nop 2\n"
        "v_accvgpr_read_b32 {x}, a12",
    ),
    # Sixteen bits: the upper half of the result is cleared, unless the row says otherwise.
    row("v_add_u16", "u16 u16 : u32", lambda a, b: a + b & 0xFFFF),
    row("v_sub_u16", "u16 u16 : u32", lambda a, b: a - b & 0xFFFF),
    row("v_subrev_u16", "u16 u16 : u32", lambda a, b: b - a & 0xFFFF),
    row("v_add_i16", "u16 u16 : u16_lo", lambda a, b: a + b),
    row("v_sub_i16", "u16 u16 : u16_lo", lambda a, b: a - b),
    row("v_mul_lo_u16", "u16 u16 : u32", lambda a, b: a * b & 0xFFFF),
    row("v_mad_legacy_u16", "u16 u16 u16 : u32", lambda a, b, c: a * b + c & 0xFFFF),
    row("v_mad_legacy_i16", "u16 u16 u16 : u32", lambda a, b, c: a * b + c & 0xFFFF),
    row("v_max_u16", "u16 u16 : u32", max),
    row("v_min_u16", "u16 u16 : u32", min),
    row("v_max_i16", "u16 u16 : u32", lambda *v: max(signs(*v, bits=16)) & 0xFFFF),
    row("v_min_i16", "u16 u16 : u32", lambda *v: min(signs(*v, bits=16)) & 0xFFFF),
    row("v_lshlrev_b16", "u16 u16 : u32", lambda n, a: a << n % 16 & 0xFFFF),
    row("v_lshrrev_b16", "u16 u16 : u32", lambda n, a: a >> n % 16),
    row("v_ashrrev_i16", "u16 u16 : u32", lambda n, a: signed(a, 16) >> n % 16 & 0xFFFF),
    row("v_mad_u32_u16", "u16 u16 u32 : u32", lambda a, b, c: a * b + c),
    row("v_mad_i32_i16", "u16 u16 u32 : u32", lambda a, b, c: signed(a, 16) * signed(b, 16) + c),
    row("v_max3_u16", "u16 u16 u16 : u16_lo", max),
    row("v_min3_u16", "u16 u16 u16 : u16_lo", min),
    row("v_med3_u16", "u16 u16 u16 : u16_lo", median),
    row("v_max3_i16", "u16 u16 u16 : u16_lo", lambda *v: max(signs(*v, bits=16))),
    row("v_min3_i16", "u16 u16 u16 : u16_lo", lambda *v: min(signs(*v, bits=16))),
    row("v_med3_i16", "u16 u16 u16 : u16_lo", lambda *v: median(*signs(*v, bits=16))),
]
ROWS += [
    row(
        name,
        "u16 u16 u16 u32 : u32",
        lambda a, b, c, old: a * b + c & 0xFFFF | old & 0xFFFF0000,
        f"v_mov_b32 {{x}}, {{d}}\n{name} {{x}}, {{a}}, {{b}}, {{c}}",
    )
    for name in ("v_mad_u16", "v_mad_i16")
]


def packed(fn, lanes: int, is_signed: bool = False):
    """Apply ``fn`` to both halves."""

    def run(*values: int) -> int:
        halves = zip(*(parts(v, 16, is_signed) for v in values[:lanes]), strict=True)
        low, high = (fn(*half) & 0xFFFF for half in halves)
        return low | high << 16

    return run


for _kind, _signed in (("u16", False), ("i16", True)):
    for _name, _fn in {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "max": max,
        "min": min,
    }.items():
        ROWS.append(row(f"v_pk_{_name}_{_kind}", "u32 u32 : u32", packed(_fn, 2, _signed)))
    ROWS.append(
        row(
            f"v_pk_mad_{_kind}",
            "u32 u32 u32 : u32",
            packed(lambda a, b, c: a * b + c, 3, _signed),
        )
    )
ROWS += [
    row("v_pk_mul_lo_u16", "u32 u32 : u32", packed(lambda a, b: a * b, 2)),
    row("v_pk_lshlrev_b16", "u32 u32 : u32", packed(lambda n, a: a << n % 16, 2)),
    row("v_pk_lshrrev_b16", "u32 u32 : u32", packed(lambda n, a: a >> n % 16, 2)),
    row("v_pk_ashrrev_i16", "u32 u32 : u32", packed(lambda n, a: a >> n % 16, 2, True)),
    row(
        "v_pk_sub_u16",
        "u32 u32 : u32",
        lambda a, b: (a >> 16) - (b & 0xFFFF) & 0xFFFF | ((a & 0xFFFF) - (b >> 16) & 0xFFFF) << 16,
        "{plain} op_sel:[1,0] op_sel_hi:[0,1]",
    ),
    row(
        "v_pk_mov_b32",
        "u64 u64 : u64",
        lambda a, b: a >> 32 | (b & M32) << 32,
        "{plain} op_sel:[1,0]",
    ),
    row(
        "v_pk_mov_b32",
        "u64 u64 : u64",
        lambda a, b: a & M32 | b >> 32 << 32,
        "{plain} op_sel:[0,1]",
    ),
    row("v_pack_b32_f16", "f16 f16 : u32", lambda a, b: a | b << 16),
]
for _name, _bits, _signed in (
    ("2_i32_i16", 16, True),
    ("2_u32_u16", 16, False),
    ("4_i32_i8", 8, True),
    ("4_u32_u8", 8, False),
    ("8_i32_i4", 4, True),
    ("8_u32_u4", 4, False),
):
    _fn = lambda a, b, c, bits=_bits, s=_signed: dot(a, b, c, bits, s)  # noqa: E731
    ROWS.append(row(f"v_dot{_name}", "u32 u32 u32 : u32", _fn))
    if _signed:
        _short = f"v_dot{_name.replace('_', 'c_', 1)}"
        _text = f"v_mov_b32 {{x}}, {{c}}\n{_short} {{x}}, {{a}}, {{b}}"
        ROWS.append(row(_short, "u32 u32 u32 : u32", _fn, _text))
