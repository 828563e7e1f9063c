"""Scalar instructions and their SCC against statements in plain Python integers."""

from __future__ import annotations

import random

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
EDGES = (0, 1, 5, 31, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF8000, 0x00100004, 0x12345678)
ROUNDS = 6


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def overflows(value: int) -> bool:
    return not -(1 << 31) <= value < 1 << 31


def field(value: int, control: int, bits: int = 32) -> int:
    return (value >> (control & (bits - 1))) & ((1 << (control >> 16 & 0x7F)) - 1)


def signed_field(value: int, control: int) -> int:
    width = control >> 16 & 0x7F
    # Bits beyond the operand are copies of its sign.
    part = field(signed(value), control)
    return part - (1 << width) if 0 < width < 32 and part >> (width - 1) else part


KEPT = None
"""SCC stays as it was."""

WORDS = {
    "s_add_u32": lambda a, b, k: (a + b, a + b > M32),
    "s_sub_u32": lambda a, b, k: (a - b, a < b),
    "s_addc_u32": lambda a, b, k: (a + b + k, a + b + k > M32),
    "s_subb_u32": lambda a, b, k: (a - b - k, a < b + k),
    "s_add_i32": lambda a, b, k: (a + b, overflows(signed(a) + signed(b))),
    "s_sub_i32": lambda a, b, k: (a - b, overflows(signed(a) - signed(b))),
    "s_mul_i32": lambda a, b, k: (a * b, KEPT),
    "s_mul_hi_u32": lambda a, b, k: (a * b >> 32, KEPT),
    "s_mul_hi_i32": lambda a, b, k: (signed(a) * signed(b) >> 32, KEPT),
    "s_and_b32": lambda a, b, k: (a & b, a & b != 0),
    "s_or_b32": lambda a, b, k: (a | b, a | b != 0),
    "s_xor_b32": lambda a, b, k: (a ^ b, a != b),
    "s_andn2_b32": lambda a, b, k: (a & ~b, a & ~b & M32 != 0),
    "s_orn2_b32": lambda a, b, k: (a | ~b, (a | ~b) & M32 != 0),
    "s_nand_b32": lambda a, b, k: (~(a & b), a & b != M32),
    "s_nor_b32": lambda a, b, k: (~(a | b), a | b != M32),
    "s_xnor_b32": lambda a, b, k: (~(a ^ b), a ^ b != M32),
    "s_lshl_b32": lambda a, b, k: (a << (b & 31), (a << (b & 31)) & M32 != 0),
    "s_lshr_b32": lambda a, b, k: (a >> (b & 31), a >> (b & 31) != 0),
    "s_ashr_i32": lambda a, b, k: (signed(a) >> (b & 31), signed(a) >> (b & 31) != 0),
    "s_bfm_b32": lambda a, b, k: (((1 << (a & 31)) - 1) << (b & 31), KEPT),
    "s_bfe_u32": lambda a, b, k: (field(a, b), field(a, b) != 0),
    "s_bfe_i32": lambda a, b, k: (signed_field(a, b), signed_field(a, b) & M32 != 0),
    "s_absdiff_i32": lambda a, b, k: (abs(signed(a - b)), a != b),
    "s_lshl1_add_u32": lambda a, b, k: ((a << 1) + b, (a << 1) + b > M32),
    "s_lshl2_add_u32": lambda a, b, k: ((a << 2) + b, (a << 2) + b > M32),
    "s_lshl4_add_u32": lambda a, b, k: ((a << 4) + b, (a << 4) + b > M32),
    "s_pack_ll_b32_b16": lambda a, b, k: ((a & 0xFFFF) | b << 16, KEPT),
    "s_pack_lh_b32_b16": lambda a, b, k: ((a & 0xFFFF) | (b & 0xFFFF0000), KEPT),
    "s_pack_hh_b32_b16": lambda a, b, k: (a >> 16 | (b & 0xFFFF0000), KEPT),
    "s_cselect_b32": lambda a, b, k: (a if k else b, KEPT),
}


def run_words(bench, case, rng: random.Random, text: str, names) -> list[tuple]:
    """Run each name several times; returns (name, a, b, SCC before, result, SCC after)."""
    jobs, inputs = [], []
    for name in names:
        for _ in range(ROUNDS):
            a, b = (rng.choice((rng.choice(EDGES), rng.getrandbits(32))) for _ in range(2))
            k = rng.getrandbits(1)
            body = f"s_cmp_eq_u32 s22, 1\n{text.format(name)}\ns_cselect_b32 s31, 1, 0"
            jobs.append(case(body, {}, {20: a, 21: b, 22: k}, (), scalar_results=(30, 31)))
            inputs.append((name, a, b, k))
    results = bench.run(jobs)
    return [
        (*row, int(found[0][0]), int(found[1][0]))
        for row, found in zip(inputs, results, strict=True)
    ]


def test_two_operands(bench, case, rng):
    wrong = []
    for name, a, b, k, value, scc in run_words(bench, case, rng, "{} s30, s20, s21", WORDS):
        result, flag = WORDS[name](a, b, k)
        if (value, scc) != (result & M32, k if flag is KEPT else int(flag)):
            wrong.append((name, a, b, k, value, scc))
    assert wrong == []


def leading(value: int, bits: int = 32) -> int:
    return bits - value.bit_length() if value else -1


ONE = {
    "s_mov_b32": lambda a: (a, KEPT),
    "s_not_b32": lambda a: (~a, a != M32),
    "s_abs_i32": lambda a: (abs(signed(a)), a != 0),
    "s_brev_b32": lambda a: (int(f"{a:032b}"[::-1], 2), KEPT),
    "s_bcnt1_i32_b32": lambda a: (a.bit_count(), a != 0),
    "s_bcnt0_i32_b32": lambda a: (32 - a.bit_count(), a != M32),
    "s_ff1_i32_b32": lambda a: ((a & -a).bit_length() - 1, KEPT),
    "s_ff0_i32_b32": lambda a: ((~a & M32 & -(~a & M32)).bit_length() - 1, KEPT),
    "s_flbit_i32_b32": lambda a: (leading(a), KEPT),
    "s_flbit_i32": lambda a: (leading(a ^ M32 if a >> 31 else a), KEPT),
    "s_sext_i32_i8": lambda a: (signed(a, 8), KEPT),
    "s_sext_i32_i16": lambda a: (signed(a, 16), KEPT),
}


def test_one_operand(bench, case, rng):
    for name, a, _b, k, value, scc in run_words(bench, case, rng, "{} s30, s20", ONE):
        result, flag = ONE[name](a)
        assert (value, scc) == (result & M32, k if flag is KEPT else int(flag)), (name, a)


COMPARISONS = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}


def test_comparisons(bench, case, rng):
    names = [f"s_cmp_{r}_{k}" for r in COMPARISONS for k in ("i32", "u32")]
    rows = run_words(bench, case, rng, "s_mov_b32 s30, 0\n{} s20, s21", names)
    for name, a, b, _k, _value, scc in rows:
        relation, kind = name.split("_")[2:]
        sides = (signed(a), signed(b)) if kind == "i32" else (a, b)
        assert scc == COMPARISONS[relation](*sides), (name, a, b)


def test_comparisons_with_an_immediate(bench, case, rng):
    for immediate, as_u32 in ((-3, 0xFFFD), (7, 7)):
        for kind in ("i32", "u32"):
            shown = immediate if kind == "i32" else as_u32
            names = [f"s_cmpk_{r}_{kind}" for r in COMPARISONS]
            text = f"s_mov_b32 s30, 0\n{{}} s20, {shown}"
            for name, a, _b, _k, _value, scc in run_words(bench, case, rng, text, names):
                side = signed(a) if kind == "i32" else a
                assert scc == COMPARISONS[name.split("_")[2]](side, shown), (name, a)


def test_immediate_arithmetic(bench, case, rng):
    text = "s_mov_b32 s30, s20\n{} s30, -5"
    for name, a, _b, k, value, scc in run_words(bench, case, rng, text, ["s_addk_i32"]):
        assert (value, scc) == ((a - 5) & M32, overflows(signed(a) - 5)), (name, a, k)
    for name, a, _b, k, value, scc in run_words(bench, case, rng, text, ["s_mulk_i32"]):
        assert (value, scc) == ((a * -5) & M32, k), (name, a)
    rows = run_words(bench, case, rng, "s_mov_b32 s30, s20\n{} s30, -5", ["s_movk_i32"])
    assert all((row[4], row[5]) == (0xFFFFFFFB, row[3]) for row in rows)


LONG = {
    "s_and_b64 s[30:31], s[20:21], s[22:23]": lambda a, b: (a & b, a & b != 0),
    "s_or_b64 s[30:31], s[20:21], s[22:23]": lambda a, b: (a | b, a | b != 0),
    "s_xor_b64 s[30:31], s[20:21], s[22:23]": lambda a, b: (a ^ b, a != b),
    "s_andn2_b64 s[30:31], s[20:21], s[22:23]": lambda a, b: (a & ~b, a & ~b & M64 != 0),
    "s_lshl_b64 s[30:31], s[20:21], 37": lambda a, b: (a << 37, (a << 37) & M64 != 0),
    "s_lshr_b64 s[30:31], s[20:21], 37": lambda a, b: (a >> 37, a >> 37 != 0),
    "s_ashr_i64 s[30:31], s[20:21], 3": lambda a, b: (signed(a, 64) >> 3, a >> 3 != 0),
    "s_bfe_u64 s[30:31], s[20:21], 0x280007": lambda a, b: (
        field(a, 0x280007, 64),
        field(a, 0x280007, 64) != 0,
    ),
    "s_cmp_eq_u32 0, 0\ns_brev_b64 s[30:31], s[20:21]": lambda a, b: (
        int(f"{a:064b}"[::-1], 2),
        True,
    ),
    "s_quadmask_b64 s[30:31], s[20:21]": lambda a, b: (
        sum((a >> 4 * i & 15 != 0) << i for i in range(16)),
        a != 0,
    ),
    "s_not_b64 s[30:31], s[20:21]": lambda a, b: (~a, a != M64),
    "s_cmp_eq_u64 s[20:21], s[22:23]\ns_mov_b64 s[30:31], 0": lambda a, b: (0, a == b),
    "s_cmp_lg_u64 s[20:21], s[22:23]\ns_mov_b64 s[30:31], -1": lambda a, b: (-1, a != b),
    "s_bcnt1_i32_b64 s30, s[20:21]\ns_mov_b32 s31, 0": lambda a, b: (a.bit_count(), a != 0),
    "s_cmp_eq_u32 0, 0\ns_cselect_b64 s[30:31], s[20:21], 5": lambda a, b: (a, True),
    "s_mov_b64 s[30:31], s[20:21]\ns_bitset1_b64 s[30:31], 41\ns_cmp_eq_u32 0, 1": lambda a, b: (
        a | 1 << 41,
        False,
    ),
}


def test_pairs(bench, case, rng):
    jobs, inputs = [], []
    for text in LONG:
        for same in (False, True):
            a, b = rng.getrandbits(64), rng.getrandbits(64)
            b = a if same else b
            scalars = {20: a & M32, 21: a >> 32, 22: b & M32, 23: b >> 32}
            body = f"{text}\ns_cselect_b32 s32, 1, 0"
            jobs.append(case(body, {}, scalars, (), scalar_results=(30, 31, 32)))
            inputs.append((text, a, b))
    for (text, a, b), found in zip(inputs, bench.run(jobs), strict=True):
        low, high, scc = (int(register[0]) for register in found)
        value, flag = LONG[text](a, b)
        assert (low | high << 32, scc) == (value & M64, int(flag)), text


SAVE = {
    "and": lambda s, e: s & e,
    "or": lambda s, e: s | e,
    "xor": lambda s, e: s ^ e,
    "andn2": lambda s, e: s & ~e,
    "orn2": lambda s, e: s | ~e,
    "andn1": lambda s, e: ~s & e,
    "nor": lambda s, e: ~(s | e),
}


def test_saving_exec(bench, case, rng):
    jobs, inputs = [], []
    for name in SAVE:
        mask, lanes = rng.getrandbits(64), rng.getrandbits(64)
        scalars = {20: mask & M32, 21: mask >> 32, 22: lanes & M32, 23: lanes >> 32}
        text = (
            f"s_mov_b64 exec, s[22:23]\ns_{name}_saveexec_b64 s[30:31], s[20:21]\n"
            "s_cselect_b32 s34, 1, 0\ns_mov_b64 s[32:33], exec"
        )
        jobs.append(case(text, {}, scalars, (), scalar_results=(30, 31, 32, 33, 34)))
        inputs.append((name, mask, lanes))
    for (name, mask, lanes), found in zip(inputs, bench.run(jobs), strict=True):
        values = [int(register[0]) for register in found]
        after = SAVE[name](mask, lanes) & M64
        assert values[0] | values[1] << 32 == lanes, name
        assert (values[2] | values[3] << 32, values[4]) == (after, int(after != 0)), name


def test_mode_register_fields(bench, case):
    text = (
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n"
        "s_getreg_b32 s30, hwreg(HW_REG_MODE, 23, 1)\n"
        "s_getreg_b32 s31, hwreg(HW_REG_MODE, 4, 4)\n"
        "s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s20\n"
        "s_getreg_b32 s32, hwreg(HW_REG_MODE, 4, 4)"
    )
    (result,) = bench.run([case(text, {}, {20: 1}, (), scalar_results=(30, 31, 32))])
    assert [int(register[0]) for register in result] == [1, 15, 13]


def test_calls_return_behind_the_call(bench, case):
    text = (
        "s_mov_b32 s30, 1\ns_getpc_b64 s[6:7]\ns_branch .Lover\n"
        ".Lsub:\ns_add_u32 s30, s30, 10\ns_setpc_b64 s[8:9]\n"
        ".Lover:\ns_add_u32 s6, s6, 4\ns_addc_u32 s7, s7, 0\n"
        "s_swappc_b64 s[8:9], s[6:7]\ns_call_b64 s[8:9], .Lsub"
    )
    (result,) = bench.run([case(text, {}, {}, (), scalar_results=(30,))])
    assert int(result[0][0]) == 21
