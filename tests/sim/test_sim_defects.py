"""The nine defects that other emulators have shipped; each was wrong somewhere, none is here."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np

LANE = np.arange(64, dtype=np.uint32)
ALL_ONES_FP8 = 0x38383838
"""Four e4m3 ones."""


def bits(values) -> np.ndarray:
    return np.asarray(values, np.float32).view(np.uint32)


def singles(values: np.ndarray) -> np.ndarray:
    return values.view(np.float32)


def test_unscaled_mfma_after_any_eight_bytes_is_no_scaled_mfma(bench, case):
    """Defect 1: the eight bytes before an unscaled f8f6f4 are an instruction of their own."""
    ones = {register: [ALL_ONES_FP8] * 64 for register in range(8, 24)}
    del ones[23]
    text = (
        "v_mov_b32 v23, v22\n"
        "v_mov_b32 v40, 0\nv_mov_b32 v41, 0\nv_mov_b32 v42, 0\nv_mov_b32 v43, 0\n"
        "v_lshl_add_u32 v50, v8, 1, v9\n"
        "v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[8:15], v[16:23], v[40:43]\n"
        "s_nop 15"
    )
    (results,) = bench.run([case(text, ones, results=(40, 41, 42, 43, 50))])
    for register in results[:4]:
        assert singles(register).tolist() == [128.0] * 64
    assert results[4].tolist() == [((ALL_ONES_FP8 << 1) + ALL_ONES_FP8) & 0xFFFFFFFF] * 64


def test_scalar_load_with_register_offset_uses_its_value(bench):
    """Defect 2: the offset is what s7 holds, not the number 7."""
    data = np.arange(64, dtype=np.uint32)
    body = """
    s_load_dwordx2 s[2:3], s[0:1], 0x0
    s_mov_b32 s7, 0x40
    s_waitcnt lgkmcnt(0)
    s_load_dword s8, s[2:3], s7
    s_load_dword s9, s[2:3], s7 offset:0x8
    v_mov_b32 v1, 0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v2, s8
    v_mov_b32 v3, s9
    s_mov_b64 exec, 1
    global_store_dwordx2 v1, v[2:3], s[2:3]
    """
    outcome = bench.launch(body, {"data": data})
    assert outcome.report.is_clean
    assert outcome.outputs["data"][:3].tolist() == [16, 18, 2]


def test_row_broadcast_reads_the_last_lane_of_the_row_before(bench, case):
    """Defect 3, first part: lanes without a source keep their old value."""
    cases = [
        case("v_mov_b32 v40, v10 row_bcast:15", {10: LANE, 40: LANE + 100}),
        case("v_mov_b32 v40, v10 row_bcast:31", {10: LANE, 40: LANE + 100}),
    ]
    fifteen, thirty_one = (result[0].tolist() for result in bench.run(cases))
    assert fifteen == [100 + i for i in range(16)] + [15] * 16 + [31] * 16 + [47] * 16
    assert thirty_one == [100 + i for i in range(32)] + [31] * 32


def test_dpp_in_place_reads_what_was_there_before(bench, case):
    """Defect 3, second part: no lane sees a result of another lane."""
    text = "v_add_u32 v10, v10, v10 row_shr:1 bound_ctrl:0"
    (result,) = bench.run([case(text, {10: LANE}, results=(10,))])
    expected = [i + (i - 1 if i % 16 else 0) for i in range(64)]
    assert result[0].tolist() == expected


def test_dpp_masks_and_bound_control(bench, case):
    """Defect 3, third part."""
    old = LANE + 100
    cases = [
        case("v_mov_b32 v40, v10 row_shl:2 row_mask:0x5 bank_mask:0xf", {10: LANE, 40: old}),
        case("v_mov_b32 v40, v10 row_shl:2 row_mask:0xf bank_mask:0x9", {10: LANE, 40: old}),
        case("v_mov_b32 v40, v10 row_shl:2 bound_ctrl:0", {10: LANE, 40: old}),
        case("v_mov_b32 v40, v10 row_shl:2", {10: LANE, 40: old}),
    ]
    rows, banks, filled, kept = (result[0].tolist() for result in bench.run(cases))
    inside = [i % 16 < 14 for i in range(64)]
    assert rows == [i + 2 if inside[i] and i // 16 in (0, 2) else 100 + i for i in range(64)]
    assert banks == [i + 2 if inside[i] and i % 16 // 4 in (0, 3) else 100 + i for i in range(64)]
    assert filled == [i + 2 if inside[i] else 0 for i in range(64)]
    assert kept == [i + 2 if inside[i] else 100 + i for i in range(64)]


def test_fp8_conversion_keeps_subnormals_and_knows_saturation(bench, case):
    """Defect 4: against ml_dtypes; beyond 448 the overflow bit decides between 448 and NaN."""
    values = np.array([2.0**-9, 2.0**-10, 3 * 2.0**-10, 0.0117, 447, 448, 464, 465], np.float32)
    lanes = np.resize(np.concatenate([values, -values]), 64)
    text = "v_cvt_pk_fp8_f32 v40, v10, v10"
    job = case(text, {10: bits(lanes), 40: np.full(64, 0xABCD0000)})
    plain = bench.run([job])[0][0]
    expected = lanes.astype(ml_dtypes.float8_e4m3fn).view(np.uint8).astype(np.uint32)
    assert plain.tolist() == (0xABCD0000 + expected * 0x101).tolist()
    assert expected[7] & 0x7F == 0x7F
    saturated = bench.run([job], overflow=1)[0][0]
    limited = np.clip(lanes, -448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    assert saturated.tolist() == (0xABCD0000 + limited.astype(np.uint32) * 0x101).tolist()


def test_narrow_stores_and_loads_touch_only_their_bytes(bench):
    """Defect 5."""
    data = np.full(64, 0xDDDDDDDD, np.uint32)
    body = """
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 0x11223344
    s_mov_b32 s6, 0x100
    s_mov_b32 s7, 0x27000
    s_waitcnt lgkmcnt(0)
    s_mov_b64 exec, 1
    global_store_byte v1, v2, s[4:5] offset:1
    global_store_short v1, v2, s[4:5] offset:6
    global_store_short_d16_hi v1, v2, s[4:5] offset:8
    buffer_store_byte v2, v1, s[4:7], 0 offen offset:15
    buffer_store_short v2, v1, s[4:7], 0 offen offset:16
    s_waitcnt vmcnt(0)
    global_load_ubyte v4, v1, s[4:5] offset:1
    global_load_sshort v5, v1, s[4:5] offset:10
    global_load_sbyte v6, v1, s[4:5] offset:2
    buffer_load_ushort v7, v1, s[4:7], 0 offen offset:8
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v1, v[4:7], s[4:5] offset:32
    """
    after = bench.launch(body, {"data": data}).outputs["data"]
    assert [f"{word:08x}" for word in after[:5]] == [
        "dddd44dd",
        "3344dddd",
        "dddd1122",
        "44dddddd",
        "dddd3344",
    ]
    assert [f"{word:08x}" for word in after[8:12]] == [
        "00000044",
        "ffffdddd",
        "ffffffdd",
        "00001122",
    ]


def test_subnormals_survive_unless_the_mode_flushes_them(bench, case):
    """Defect 6: the descriptor decides, the start value of MODE is not fixed."""
    tiny = np.full(64, 1, np.uint32)
    jobs = [
        case("v_add_f32 v40, v10, v10", {10: tiny}),
        case("v_mul_f32 v40, v10, v11", {10: bits([2.0**-100] * 64), 11: bits([2.0**-40] * 64)}),
        case("v_max_f32 v40, v10, v10", {10: tiny}),
    ]
    kept = [result[0][0] for result in bench.run(jobs)]
    flushed = [result[0][0] for result in bench.run(jobs, denorm=0)]
    assert kept == [2, 1 << 9, 1]
    assert flushed == [0, 0, 0]


def test_result_map_of_the_32x32_product(bench, case):
    """Defect 7, first part: row = 8 * (r // 4) + 4 * (lane // 32) + r % 4, column = lane % 32.

    A is row + 1 at k = 0 and B is one there, so that every result shows its row.
    """
    bf16 = {row: int(np.float32(row + 1).view(np.uint32)) >> 16 for row in range(32)}
    first = [bf16[lane] if lane < 32 else 0 for lane in range(64)]
    second = [0x3F80 if lane < 32 else 0 for lane in range(64)]
    vectors = {10: first, 20: second} | {r: [0] * 64 for r in (11, 12, 13, 21, 22, 23)}
    text = "v_mfma_f32_32x32x16_bf16 v[40:55], v[10:13], v[20:23], 0\ns_nop 15"
    (result,) = bench.run([case(text, vectors, results=tuple(range(40, 56)))])
    for register, values in enumerate(result):
        for lane in range(64):
            row = 8 * (register // 4) + 4 * (lane // 32) + register % 4
            assert singles(values)[lane] == row + 1


def test_scaled_product_has_one_scale_per_block_of_32(bench, case):
    """Defect 7, second part: four blocks of ones with the scales 2, 4, 8, 16 on one side."""
    ones = {register: [ALL_ONES_FP8] * 64 for register in range(8, 15)}
    scale = [0x80 + lane // 16 for lane in range(64)]
    text = (
        "v_mov_b32 v15, v14\n"
        "v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[8:15], v[8:15], 0, v30, v31\n"
        "s_nop 15"
    )
    job = case(text, ones | {30: scale, 31: [0x7F] * 64}, results=(40, 41, 42, 43))
    (result,) = bench.run([job])
    for values in result:
        assert singles(values).tolist() == [32.0 * (2 + 4 + 8 + 16)] * 64


def test_lds_has_160_kib(bench):
    """Defect 8: the last dword of 163840 bytes works, the next one is out of bounds."""
    body = """
    s_load_dwordx2 s[2:3], s[0:1], 0x0
    v_mov_b32 v1, 0x27f00
    v_lshl_add_u32 v1, v0, 2, v1
    v_mov_b32 v2, 7
    ds_write_b32 v1, v2
    ds_read_b32 v3, v1
    v_lshlrev_b32 v4, 2, v0
    s_waitcnt lgkmcnt(0)
    global_store_dword v4, v3, s[2:3]
    """
    data = np.zeros(64, np.uint32)
    outcome = bench.launch(body, {"data": data}, lds=163840)
    assert outcome.report.is_clean
    assert outcome.outputs["data"].tolist() == [7] * 64
    outcome = bench.launch(body.replace("0x27f00", "0x27f04"), {"data": data}, lds=163840)
    assert outcome.report.findings[0].detail == "LDS bytes 163840 to 163843 of 163840"


def test_scc_of_minimum_maximum_and_select(bench, case):
    """Defect 9, first part: equal operands set SCC for the maximum only."""
    text = "s_{op} s30, s20, s21\ns_cselect_b32 s31, s20, s21\ns_cselect_b32 s32, 1, 0"
    pairs = [(5, 7), (7, 5), (5, 5), (0xFFFFFFFF, 1)]
    table = {
        "min_i32": [(5, 1), (5, 0), (5, 0), (0xFFFFFFFF, 1)],
        "min_u32": [(5, 1), (5, 0), (5, 0), (1, 0)],
        "max_i32": [(7, 0), (7, 1), (5, 1), (1, 0)],
        "max_u32": [(7, 0), (7, 1), (5, 1), (0xFFFFFFFF, 1)],
    }
    jobs, expected = [], []
    for operation, rows in table.items():
        for (a, b), (value, flag) in zip(pairs, rows, strict=True):
            scalars = {20: a, 21: b}
            jobs.append(
                case(text.format(op=operation), {}, scalars, (), scalar_results=(30, 31, 32))
            )
            expected.append([value, a if flag else b, flag])
    found = [[int(register[0]) for register in result] for result in bench.run(jobs)]
    assert found == expected


def test_compare_writes_the_named_pair_and_zero_for_inactive_lanes(bench, case):
    """Defect 9, second part: an explicit pair leaves VCC alone."""
    text = (
        "s_mov_b64 vcc, 0x55\ns_mov_b64 exec, 0xff\n"
        "v_cmp_gt_u32_e64 s[30:31], v10, 3\n"
        "s_mov_b64 s[32:33], vcc"
    )
    (result,) = bench.run([case(text, {10: LANE}, {}, (), scalar_results=(30, 31, 32, 33))])
    assert [int(register[0]) for register in result] == [0xF0, 0, 0x55, 0]


DIVIDE = """
v_div_scale_f32 v20, s[20:21], v11, v11, v10
v_rcp_f32 v21, v20
v_div_scale_f32 v22, vcc, v10, v11, v10
v_fma_f32 v23, -v20, v21, 1.0
v_fma_f32 v21, v23, v21, v21
v_mul_f32 v24, v22, v21
v_fma_f32 v23, -v20, v24, v22
v_fma_f32 v24, v23, v21, v24
v_fma_f32 v23, -v20, v24, v22
v_div_fmas_f32 v23, v23, v21, v24
v_div_fixup_f32 v40, v23, v11, v10
"""


def nearest_single(value: Fraction) -> np.float32:
    """Round an exact quotient to float32 by comparing neighbours."""
    with np.errstate(over="ignore", under="ignore"):
        guess = np.float32(value.numerator / value.denominator)
    if not np.isfinite(guess):
        return guess
    choices = [np.nextafter(guess, np.float32(side)) for side in (-np.inf, np.inf)] + [guess]
    finite = [c for c in choices if np.isfinite(c)]
    return min(finite, key=lambda c: (abs(Fraction(float(c)) - value), int(c.view(np.uint32)) & 1))


def test_division_sequence_is_correctly_rounded_over_the_whole_range(bench, case):
    """Defect 9, third part: with random bit patterns, subnormal and huge operands and quotients."""
    random = np.random.default_rng(7)
    jobs, pairs = [], []
    for _ in range(24):
        a = random.integers(0, 1 << 32, 64, dtype=np.uint32)
        b = random.integers(0, 1 << 32, 64, dtype=np.uint32)
        edge = np.array([0x7F7FFFFF, 0x00800000, 0x00000001, 0x7E800000, 0x00012345], np.uint32)
        a[:5], b[5:10] = edge, edge
        for at in range(64):
            for side in (a, b):
                if side[at] & 0x7F800000 == 0x7F800000 or side[at] & 0x7FFFFFFF == 0:
                    side[at] = 0x3F800001
        jobs.append(case(DIVIDE, {10: a, 11: b}))
        pairs.append((singles(a), singles(b)))
    for (a, b), result in zip(pairs, bench.run(jobs), strict=True):
        for at in range(64):
            exact = Fraction(float(a[at])) / Fraction(float(b[at]))
            wanted = nearest_single(exact)
            assert singles(result[0])[at] == wanted, (float(a[at]).hex(), float(b[at]).hex())


def test_division_special_cases(bench, case):
    """Defect 9, fourth part: zeros, infinities and NaN by v_div_fixup."""
    inf, nan = np.inf, np.nan
    numerator = [0.0, 1.0, -1.0, inf, -inf, 0.0, 5.0, -5.0, inf, nan, 1.0]
    denominator = [0.0, 0.0, 0.0, 2.0, 2.0, -3.0, inf, inf, inf, 1.0, nan]
    wanted = ["ffc00000", "7f800000", "ff800000", "7f800000", "ff800000", "80000000"]
    wanted += ["00000000", "80000000", "ffc00000", "7fc00000", "7fc00000"]
    pad = [1.0] * (64 - len(wanted))
    job = case(DIVIDE, {10: bits(numerator + pad), 11: bits(denominator + pad)})
    (result,) = bench.run([job])
    assert [f"{word:08x}" for word in result[0][: len(wanted)]] == wanted
