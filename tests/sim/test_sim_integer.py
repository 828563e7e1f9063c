"""Integer instructions against statements in plain Python integers."""

from __future__ import annotations

import random

import numpy as np
import pytest

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
EDGES = (0, 1, 2, 31, 32, 63, 0x7F, 0x80, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFF, 0x800000)
EDGES += (0xFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x12345678)


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def operands(rng: random.Random, count: int) -> list[list[int]]:
    """Return ``count`` lists of 64 numbers, edges among them."""
    return [
        [rng.choice(EDGES) if rng.random() < 0.5 else rng.getrandbits(32) for _ in range(64)]
        for _ in range(count)
    ]


def reverse(value: int) -> int:
    return int(f"{value:032b}"[::-1], 2)


def leading(value: int) -> int:
    return 32 - value.bit_length() if value else M32


def leading_sign(value: int) -> int:
    return leading(value ^ M32) if value >> 31 else leading(value)


def trailing(value: int) -> int:
    return (value & -value).bit_length() - 1 if value else M32


def field(value: int, offset: int, width: int) -> int:
    return (value >> (offset & 31)) & ((1 << (width & 31)) - 1)


def signed_field(value: int, offset: int, width: int) -> int:
    width &= 31
    part = field(signed(value), offset, width)  # beyond bit 31 come copies of the sign
    return part - (1 << width) if width and part >> (width - 1) else part


def permuted(a: int, b: int, selector: int) -> int:
    pool = (a << 32 | b).to_bytes(8, "little")
    out = []
    for pick in selector.to_bytes(4, "little"):
        if pick >= 13:
            out.append(255)
        elif pick == 12:
            out.append(0)
        elif pick >= 8:
            out.append(255 if pool[2 * (pick - 8) + 1] & 0x80 else 0)
        else:
            out.append(pool[pick])
    return int.from_bytes(bytes(out), "little")


def s24(value: int) -> int:
    return signed(value, 24)


def med(*values: int) -> int:
    return sorted(values)[1]


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def saturated(value: int) -> int:
    return clamp(value, 0, M32)


def halves(value: int) -> tuple[int, int]:
    return value & 0xFFFF, value >> 16


def packed(fn, *values: int) -> int:
    low, high = zip(*(halves(v) for v in values), strict=True)
    return (fn(*low) & 0xFFFF) | (fn(*high) & 0xFFFF) << 16


def parts(value: int, bits: int, sign: bool) -> list[int]:
    found = [value >> at & ((1 << bits) - 1) for at in range(0, 32, bits)]
    return [signed(part, bits) for part in found] if sign else found


def differences(a: int, b: int, bits: int, masked: bool = False) -> int:
    rows = zip(parts(a, bits, False), parts(b, bits, False), strict=True)
    return sum(abs(x - y) for x, y in rows if y or not masked)


def lerp(a: int, b: int, c: int) -> int:
    rows = zip(*(value.to_bytes(4, "little") for value in (a, b, c)), strict=True)
    return int.from_bytes(bytes((x + y + (z & 1)) >> 1 for x, y, z in rows), "little")


def sdwa_byte(a: int, _b: int, _c: int) -> int:
    """Byte 0 moves to byte 1 and its sign fills what lies above."""
    return (a & 0xFF) << 8 | (0xFFFF0000 if a & 0x80 else 0)


def dot(a: int, b: int, c: int, bits: int, sign: bool) -> int:
    return sum(x * y for x, y in zip(parts(a, bits, sign), parts(b, bits, sign), strict=True)) + c


VECTOR = {
    "v_mov_b32 v40, v10": lambda a, b, c: a,
    "v_not_b32 v40, v10": lambda a, b, c: ~a,
    "v_and_b32 v40, v10, v11": lambda a, b, c: a & b,
    "v_or_b32 v40, v10, v11": lambda a, b, c: a | b,
    "v_xor_b32 v40, v10, v11": lambda a, b, c: a ^ b,
    "v_xnor_b32 v40, v10, v11": lambda a, b, c: ~(a ^ b),
    "v_or3_b32 v40, v10, v11, v12": lambda a, b, c: a | b | c,
    "v_and_or_b32 v40, v10, v11, v12": lambda a, b, c: (a & b) | c,
    "v_bfi_b32 v40, v10, v11, v12": lambda a, b, c: (a & b) | (~a & c),
    "v_xad_u32 v40, v10, v11, v12": lambda a, b, c: (a ^ b) + c,
    "v_add_u32 v40, v10, v11": lambda a, b, c: a + b,
    "v_add_u32 v40, v10, v11 clamp": lambda a, b, c: saturated(a + b),
    "v_sub_u32 v40, v10, v11": lambda a, b, c: a - b,
    "v_sub_u32 v40, v10, v11 clamp": lambda a, b, c: saturated(a - b),
    "v_subrev_u32 v40, v10, v11": lambda a, b, c: b - a,
    "v_add_i32 v40, v10, v11 clamp": lambda a, b, c: clamp(
        signed(a) + signed(b), -(1 << 31), (1 << 31) - 1
    ),
    "v_sub_i32 v40, v10, v11": lambda a, b, c: a - b,
    "v_add3_u32 v40, v10, v11, v12": lambda a, b, c: a + b + c,
    "v_lshlrev_b32 v40, v10, v11": lambda a, b, c: b << (a & 31),
    "v_lshrrev_b32 v40, v10, v11": lambda a, b, c: b >> (a & 31),
    "v_ashrrev_i32 v40, v10, v11": lambda a, b, c: signed(b) >> (a & 31),
    "v_lshl_add_u32 v40, v10, v11, v12": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32 v40, v10, v11, v12": lambda a, b, c: ((a + b) & M32) << (c & 31),
    "v_lshl_or_b32 v40, v10, v11, v12": lambda a, b, c: (a << (b & 31)) | c,
    "v_alignbit_b32 v40, v10, v11, v12": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "v_alignbyte_b32 v40, v10, v11, v12": lambda a, b, c: (a << 32 | b) >> 8 * (c & 3),
    "v_mul_lo_u32 v40, v10, v11": lambda a, b, c: a * b,
    "v_mul_hi_u32 v40, v10, v11": lambda a, b, c: a * b >> 32,
    "v_mul_hi_i32 v40, v10, v11": lambda a, b, c: signed(a) * signed(b) >> 32,
    "v_mul_u32_u24 v40, v10, v11": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_hi_u32_u24 v40, v10, v11": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32,
    "v_mul_i32_i24 v40, v10, v11": lambda a, b, c: s24(a) * s24(b),
    "v_mul_hi_i32_i24 v40, v10, v11": lambda a, b, c: s24(a) * s24(b) >> 32,
    "v_mad_u32_u24 v40, v10, v11, v12": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "v_mad_i32_i24 v40, v10, v11, v12": lambda a, b, c: s24(a) * s24(b) + c,
    "v_max_i32 v40, v10, v11": lambda a, b, c: max(signed(a), signed(b)),
    "v_min_i32 v40, v10, v11": lambda a, b, c: min(signed(a), signed(b)),
    "v_max_u32 v40, v10, v11": lambda a, b, c: max(a, b),
    "v_min_u32 v40, v10, v11": lambda a, b, c: min(a, b),
    "v_max3_i32 v40, v10, v11, v12": lambda a, b, c: max(map(signed, (a, b, c))),
    "v_min3_u32 v40, v10, v11, v12": lambda a, b, c: min(a, b, c),
    "v_med3_i32 v40, v10, v11, v12": lambda a, b, c: med(*map(signed, (a, b, c))),
    "v_med3_u32 v40, v10, v11, v12": lambda a, b, c: med(a, b, c),
    "v_bfe_u32 v40, v10, v11, v12": field,
    "v_bfe_i32 v40, v10, v11, v12": signed_field,
    "v_bfm_b32 v40, v10, v11": lambda a, b, c: ((1 << (a & 31)) - 1) << (b & 31),
    "v_bfrev_b32 v40, v10": lambda a, b, c: reverse(a),
    "v_bcnt_u32_b32 v40, v10, v11": lambda a, b, c: a.bit_count() + b,
    "v_ffbh_u32 v40, v10": lambda a, b, c: leading(a),
    "v_ffbl_b32 v40, v10": lambda a, b, c: trailing(a),
    "v_ffbh_i32 v40, v10": lambda a, b, c: leading_sign(a),
    "v_perm_b32 v40, v10, v11, v12": permuted,
    "v_bitop3_b32 v40, v10, v11, v12 bitop3:0x6c": lambda a, b, c: sum(
        (0x6C >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32)
    ),
    "v_sad_u8 v40, v10, v11, v12": lambda a, b, c: (
        sum(abs(x - y) for x, y in zip(parts(a, 8, False), parts(b, 8, False), strict=True)) + c
    ),
    "v_sad_u32 v40, v10, v11, v12": lambda a, b, c: abs(a - b) + c,
    "v_add_u16 v40, v10, v11": lambda a, b, c: (a + b) & 0xFFFF,
    "v_sub_u16 v40, v10, v11": lambda a, b, c: (a - b) & 0xFFFF,
    "v_mul_lo_u16 v40, v10, v11": lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) & 0xFFFF,
    "v_max_i16 v40, v10, v11": lambda a, b, c: max(signed(a, 16), signed(b, 16)) & 0xFFFF,
    "v_min_u16 v40, v10, v11": lambda a, b, c: min(a & 0xFFFF, b & 0xFFFF),
    "v_lshlrev_b16 v40, v10, v11": lambda a, b, c: (b << (a & 15)) & 0xFFFF,
    "v_lshrrev_b16 v40, v10, v11": lambda a, b, c: (b & 0xFFFF) >> (a & 15),
    "v_ashrrev_i16 v40, v10, v11": lambda a, b, c: (signed(b, 16) >> (a & 15)) & 0xFFFF,
    "v_mad_u32_u16 v40, v10, v11, v12": lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + c,
    "v_mad_i32_i16 v40, v10, v11, v12": lambda a, b, c: signed(a, 16) * signed(b, 16) + c,
    "v_pk_add_u16 v40, v10, v11": lambda a, b, c: packed(lambda x, y: x + y, a, b),
    "v_pk_sub_i16 v40, v10, v11": lambda a, b, c: packed(lambda x, y: x - y, a, b),
    "v_pk_mul_lo_u16 v40, v10, v11": lambda a, b, c: packed(lambda x, y: x * y, a, b),
    "v_pk_mad_u16 v40, v10, v11, v12": lambda a, b, c: packed(lambda x, y, z: x * y + z, a, b, c),
    "v_pk_max_i16 v40, v10, v11": lambda a, b, c: packed(
        lambda x, y: max(signed(x, 16), signed(y, 16)), a, b
    ),
    "v_pk_min_u16 v40, v10, v11": lambda a, b, c: packed(min, a, b),
    "v_pk_lshlrev_b16 v40, v10, v11": lambda a, b, c: packed(lambda x, y: y << (x & 15), a, b),
    "v_pk_ashrrev_i16 v40, v10, v11": lambda a, b, c: packed(
        lambda x, y: signed(y, 16) >> (x & 15), a, b
    ),
    "v_pk_add_u16 v40, v10, v11 op_sel:[1,0] op_sel_hi:[0,1]": lambda a, b, c: (
        (((a >> 16) + b) & 0xFFFF) | ((a + (b >> 16)) & 0xFFFF) << 16
    ),
    "v_dot4_i32_i8 v40, v10, v11, v12": lambda a, b, c: dot(a, b, c, 8, True),
    "v_dot4_u32_u8 v40, v10, v11, v12": lambda a, b, c: dot(a, b, c, 8, False),
    "v_dot8_i32_i4 v40, v10, v11, v12": lambda a, b, c: dot(a, b, c, 4, True),
    "v_dot2_i32_i16 v40, v10, v11, v12": lambda a, b, c: dot(a, b, c, 16, True),
    "v_add_u32_sdwa v40, v10, v11 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_2 "
    "src1_sel:WORD_1": lambda a, b, c: (((a >> 16 & 0xFF) + (b >> 16)) & 0xFFFF) << 16,
    "v_add_u32_sdwa v40, sext(v10), v11 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 "
    "src1_sel:DWORD": lambda a, b, c: signed(a >> 24, 8) + b,
    "v_mov_b32_sdwa v40, v10 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:WORD_0": sdwa_byte,
    "v_max3_i16 v40, v10, v11, v12": lambda a, b, c: max(signed(x, 16) for x in (a, b, c)) & 0xFFFF,
    "v_med3_u16 v40, v10, v11, v12": lambda a, b, c: med(*(x & 0xFFFF for x in (a, b, c))),
    "v_msad_u8 v40, v10, v11, v12": lambda a, b, c: differences(a, b, 8, True) + c,
    "v_sad_u16 v40, v10, v11, v12": lambda a, b, c: differences(a, b, 16) + c,
    "v_sad_hi_u8 v40, v10, v11, v12": lambda a, b, c: (differences(a, b, 8) << 16) + c,
    "v_lerp_u8 v40, v10, v11, v12": lerp,
    "v_sat_pk_u8_i16 v40, v10": lambda a, b, c: (
        clamp(signed(a, 16), 0, 255) | clamp(signed(a >> 16, 16), 0, 255) << 8
    ),
    "v_mov_b32 v40, v12\nv_dot4c_i32_i8 v40, v10, v11": lambda a, b, c: dot(a, b, c, 8, True),
    "v_pk_mov_b32 v[40:41], v[10:11], v[12:13] op_sel:[1,0]": lambda a, b, c: b,
}


def test_vector_instructions(bench, case, rng):
    jobs, inputs = [], []
    for text in VECTOR:
        a, b, c, d = operands(rng, 4)
        jobs.append(case(text, {10: a, 11: b, 12: c, 13: d}))
        inputs.append((a, b, c))
    wrong = []
    for (text, fn), lanes, result in zip(VECTOR.items(), inputs, bench.run(jobs), strict=True):
        expected = [fn(*values) & M32 for values in zip(*lanes, strict=True)]
        if result[0].tolist() != expected:
            wrong.append(text)
    assert wrong == []


WIDE = {
    "v_lshlrev_b64 v[40:41], v10, v[12:13]": lambda a, w, v: w << (a & 63),
    "v_lshrrev_b64 v[40:41], v10, v[12:13]": lambda a, w, v: w >> (a & 63),
    "v_ashrrev_i64 v[40:41], v10, v[12:13]": lambda a, w, v: signed(w, 64) >> (a & 63),
    "v_lshl_add_u64 v[40:41], v[12:13], 3, v[14:15]": lambda a, w, v: (w << 3) + v,
    "v_mad_u64_u32 v[40:41], vcc, v10, v12, v[14:15]": lambda a, w, v: a * (w & M32) + v,
    "v_mad_i64_i32 v[40:41], vcc, v10, v12, v[14:15]": lambda a, w, v: (
        signed(a) * signed(w) + signed(v, 64)
    ),
    "v_mov_b64 v[40:41], v[12:13]": lambda a, w, v: w,
}


def test_vector_instructions_of_64_bits(bench, case, rng):
    jobs, inputs = [], []
    for text in WIDE:
        values = operands(rng, 5)
        vectors = dict(zip((10, 12, 13, 14, 15), values, strict=True))
        jobs.append(case(text, vectors, results=(40, 41)))
        inputs.append(values)
    for (text, fn), lanes, result in zip(WIDE.items(), inputs, bench.run(jobs), strict=True):
        a, w_low, w_high, v_low, v_high = (np.array(x, object) for x in lanes)
        wide = zip(a, w_low | w_high << 32, v_low | v_high << 32, strict=True)
        expected = [fn(*values) & M64 for values in wide]
        found = [int(low) | int(high) << 32 for low, high in zip(*result, strict=True)]
        assert found == expected, text


CARRIES = {
    "v_add_co_u32 v40, s[30:31], v10, v11": lambda a, b, k: (a + b, a + b > M32),
    "v_addc_co_u32 v40, s[30:31], v10, v11, s[20:21]": lambda a, b, k: (a + b + k, a + b + k > M32),
    "v_sub_co_u32 v40, s[30:31], v10, v11": lambda a, b, k: (a - b, a < b),
    "v_subb_co_u32 v40, s[30:31], v10, v11, s[20:21]": lambda a, b, k: (a - b - k, a < b + k),
    "v_subrev_co_u32 v40, s[30:31], v10, v11": lambda a, b, k: (b - a, b < a),
    "v_subbrev_co_u32 v40, s[30:31], v10, v11, s[20:21]": lambda a, b, k: (b - a - k, b < a + k),
}


def test_carries_go_to_the_named_pair(bench, case, rng):
    jobs, inputs = [], []
    for text in CARRIES:
        a, b = operands(rng, 2)
        mask = rng.getrandbits(64)
        scalars = {20: mask & M32, 21: mask >> 32}
        jobs.append(case(text, {10: a, 11: b}, scalars, (40,), scalar_results=(30, 31)))
        inputs.append((a, b, [mask >> lane & 1 for lane in range(64)]))
    for (text, fn), lanes, result in zip(CARRIES.items(), inputs, bench.run(jobs), strict=True):
        pairs = [fn(*values) for values in zip(*lanes, strict=True)]
        assert result[0].tolist() == [value & M32 for value, _ in pairs], text
        flags = sum(flag << lane for lane, (_, flag) in enumerate(pairs))
        assert int(result[1][0]) | int(result[2][0]) << 32 == flags, text


RELATIONS = {
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b,
}


@pytest.mark.parametrize("kind", ["i16", "u16", "i32", "u32", "i64", "u64"])
def test_integer_comparisons(bench, case, rng, kind):
    width = int(kind[1:])
    jobs, inputs = [], []
    for name in RELATIONS:
        a, b, high_a, high_b = operands(rng, 4)
        b[::3], high_b[::3] = a[::3], high_a[::3]
        first, second = ("v[10:11]", "v[12:13]") if width == 64 else ("v10", "v12")
        text = f"v_cmp_{name}_{kind} s[30:31], {first}, {second}"
        vectors = {10: a, 11: high_a, 12: b, 13: high_b}
        jobs.append(case(text, vectors, {}, (), scalar_results=(30, 31)))
        rows = zip(a, high_a, b, high_b, strict=True)
        inputs.append([(x | hx << 32, y | hy << 32) for x, hx, y, hy in rows])
    for (name, fn), lanes, result in zip(RELATIONS.items(), inputs, bench.run(jobs), strict=True):
        mask = 0
        for lane, (x, y) in enumerate(lanes):
            x, y = x & ((1 << width) - 1), y & ((1 << width) - 1)
            if kind[0] == "i":
                x, y = signed(x, width), signed(y, width)
            mask |= fn(x, y) << lane
        assert int(result[0][0]) | int(result[1][0]) << 32 == mask, name


def test_lane_counting_and_selection(bench, case):
    jobs = [
        case(
            "v_mbcnt_lo_u32_b32 v41, s20, 5\nv_mbcnt_hi_u32_b32 v40, s21, v41",
            {},
            {20: 0xF0F0F0F0, 21: 0x0000FFFF},
        ),
        case(
            "v_cndmask_b32 v40, v10, v11, s[20:21]",
            {10: range(64), 11: range(100, 164)},
            {20: 0xFF, 21: 1},
        ),
        case("v_writelane_b32 v10, s20, 9", {10: range(64)}, {20: 777}, (10,)),
        case("s_mov_b32 s21, 73\nv_readlane_b32 s30, v10, s21", {10: range(64)}, {}, (), (30,)),
        case("s_mov_b64 exec, 0xf00\nv_readfirstlane_b32 s30, v10", {10: range(64)}, {}, (), (30,)),
        case("s_mov_b64 exec, 0\nv_readfirstlane_b32 s30, v10", {10: range(64)}, {}, (), (30,)),
    ]
    counted, selected, written, read, first, none = bench.run(jobs)
    mask = 0xF0F0F0F0 | 0x0000FFFF << 32
    assert counted[0].tolist() == [5 + (mask & ((1 << i) - 1)).bit_count() for i in range(64)]
    assert selected[0].tolist() == [100 + i if i < 8 or i == 32 else i for i in range(64)]
    assert written[0].tolist() == [777 if i == 9 else i for i in range(64)]
    assert [int(read[0][0]), int(first[0][0]), int(none[0][0])] == [9, 8, 0]


def test_permlane_swaps(bench, case):
    vectors = {10: range(64), 11: range(100, 164)}
    jobs = [
        case("v_permlane32_swap_b32 v10, v11", vectors, results=(10, 11)),
        case("v_permlane16_swap_b32 v10, v11", vectors, results=(10, 11)),
        case("v_swap_b32 v10, v11", vectors, results=(10, 11)),
    ]
    by32, by16, whole = ([r.tolist() for r in result] for result in bench.run(jobs))
    assert by32[0] == [*range(32), *range(100, 132)]
    assert by32[1] == [*range(32, 64), *range(132, 164)]
    assert by16[0] == [*range(16), *range(100, 116), *range(32, 48), *range(132, 148)]
    assert by16[1] == [*range(16, 32), *range(116, 132), *range(48, 64), *range(148, 164)]
    assert whole == [list(range(100, 164)), list(range(64))]


ROW = [i // 16 * 16 for i in range(64)]
CONTROLS = {
    "quad_perm:[3,0,2,1]": lambda i: i // 4 * 4 + (3, 0, 2, 1)[i % 4],
    "row_shl:1": lambda i: i + 1 if i % 16 < 15 else None,
    "row_shr:8": lambda i: i - 8 if i % 16 >= 8 else None,
    "row_ror:4": lambda i: i // 16 * 16 + (i - 4) % 16,
    "row_mirror": lambda i: i // 16 * 16 + 15 - i % 16,
    "row_half_mirror": lambda i: i // 8 * 8 + 7 - i % 8,
    "row_newbcast:5": lambda i: i // 16 * 16 + 5,
    "wave_shl:1": lambda i: i + 1 if i < 63 else None,
    "wave_shr:1": lambda i: i - 1 if i else None,
    "wave_rol:1": lambda i: (i + 1) % 64,
    "wave_ror:1": lambda i: (i - 1) % 64,
}


def test_dpp_controls(bench, case):
    text = "v_mov_b32_dpp v40, v10 {}"
    vectors = {10: range(64), 40: range(100, 164)}
    jobs = [case(text.format(control), vectors) for control in CONTROLS]
    for (control, source), result in zip(CONTROLS.items(), bench.run(jobs), strict=True):
        expected = [100 + i if source(i) is None else source(i) for i in range(64)]
        assert result[0].tolist() == expected, control


def test_dpp_reads_nothing_from_inactive_lanes(bench, case):
    text = "s_mov_b64 exec, 0xfffe\nv_mov_b32_dpp v40, v10 row_shr:1{}"
    vectors = {10: range(64), 40: range(100, 164)}
    kept, filled = bench.run([case(text.format(x), vectors) for x in ("", " bound_ctrl:0")])
    assert kept[0].tolist()[:4] == [100, 101, 1, 2]
    assert filled[0].tolist()[:4] == [100, 0, 1, 2]
    assert kept[0].tolist()[16:] == filled[0].tolist()[16:] == list(range(116, 164))
