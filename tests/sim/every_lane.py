"""Rows: moves between lanes, scalar loads, program control and hardware registers."""

from __future__ import annotations

from every_numbers import F32, plus
from every_operands import Row, row

ROWS: list[Row] = []


def whole(name: str, kinds: str, fn, text: str = "", **options) -> None:
    ROWS.append(row(name, kinds, fn, text, is_whole=True, **options))


def lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


# Lanes

whole("v_readlane_b32", "u32 s32 : s32", lambda a, lane: a[lane % 64])
whole("v_readlane_b32", "u32 : s32", lambda a: a[37], "v_readlane_b32 {x}, {a}, 37")
whole("v_readfirstlane_b32", "u32 exec : s32", lambda a, e: a[lowest(e)])
whole(
    "v_writelane_b32",
    "u32 s32 s32 : u32",
    lambda a, value, lane: [value if i == lane % 64 else a[i] for i in range(64)],
    "v_mov_b32 {x}, {a}\ns_mov_b32 m0, {c}\nv_writelane_b32 {x}, {b}, m0",
)
whole(
    "v_mbcnt_lo_u32_b32",
    "u32 u32 : u32",
    lambda a, b: [
        b[i] + sum(a[i] >> j & 1 for j in range(min(i, 32))) & 0xFFFFFFFF for i in range(64)
    ],
)
whole(
    "v_mbcnt_hi_u32_b32",
    "u32 u32 : u32",
    lambda a, b: [
        b[i] + sum(a[i] >> j & 1 for j in range(max(i - 32, 0))) & 0xFFFFFFFF for i in range(64)
    ],
)


def swapped(block: int):
    """Odd blocks of the first register change places with even ones of the second."""

    def run(a: list[int], b: list[int]) -> tuple[list[int], list[int]]:
        first, second = list(a), list(b)
        for lane in range(64):
            if lane // block % 2 == 0:
                first[lane + block], second[lane] = b[lane], a[lane + block]
        return first, second

    return run


TWO = "v_mov_b32 {{x}}, {{a}}\nv_mov_b32 {{y}}, {{b}}\n{} {{x}}, {{y}}"
for _block in (16, 32):
    _name = f"v_permlane{_block}_swap_b32"
    whole(_name, "u32 u32 : u32 u32", swapped(_block), TWO.format(_name))
whole("v_swap_b32", "u32 u32 : u32 u32", lambda a, b: (b, a), TWO.format("v_swap_b32"))

whole(
    "ds_bpermute_b32",
    "u32 u32 : u32",
    lambda a, b: [b[(a[i] + 12) // 4 % 64] for i in range(64)],
    "ds_bpermute_b32 {x}, {a}, {b} offset:12\ns_waitcnt lgkmcnt(0)",
    draw=lambda rng: (rng.getrandbits(20), rng.getrandbits(32)),
)


def pushed(data: list[int], mask: int) -> list[int]:
    """Lane i's value goes to lane 5 i; nobody writes to the targets of lanes switched off."""
    result = [0 if mask >> i & 1 else 7 for i in range(64)]
    for i in range(64):
        target = 5 * i % 64
        if mask >> i & 1 and mask >> target & 1:
            result[target] = data[i]
    return result


whole(
    "ds_permute_b32",
    "u32 exec : u32",
    pushed,
    "ds_permute_b32 {x}, v3, {a}\ns_waitcnt lgkmcnt(0)",
    before="v_mul_u32_u24 v3, 5, v0\nv_mov_b32 {x}, 7",
)
SWIZZLES = {
    'swizzle(BITMASK_PERM, "1p0i0")': lambda i: i & 32 | 16 | i & 8 | ~i & 2,
    "swizzle(QUAD_PERM, 2, 0, 3, 1)": lambda i: i - i % 4 + (2, 0, 3, 1)[i % 4],
    "swizzle(SWAP, 4)": lambda i: i ^ 4,
    "swizzle(REVERSE, 8)": lambda i: i ^ 7,
    "swizzle(BROADCAST, 16, 5)": lambda i: i - i % 16 + 5,
}
for _control, _from in SWIZZLES.items():
    whole(
        "ds_swizzle_b32",
        "u32 : u32",
        lambda a, source=_from: [a[source(i)] for i in range(64)],
        f"ds_swizzle_b32 {{x}}, {{a}} offset:{_control}\ns_waitcnt lgkmcnt(0)",
    )


def transposed(bits: int):
    """Sixteen lanes hold a tile of 64 / bits rows with 16 columns; lane i receives column i."""
    per_lane = 64 // bits

    def run(a: list[int]) -> list[int]:
        result = []
        for lane in range(64):
            tile, column = lane - lane % 16, lane % 16
            value = 0
            for line in range(per_lane):
                place = line * 16 + column
                element = a[tile + place // per_lane] >> place % per_lane * bits
                value |= (element & (1 << bits) - 1) << line * bits
            result.append(value)
        return result

    return run


for _bits in (4, 8, 16):
    _text = "v_lshlrev_b32 v3, 1, v0\nds_write_b64 v3, {a} offset:64\ns_waitcnt lgkmcnt(0)\n"
    _name = f"ds_read_b64_tr_b{_bits}"
    whole(
        _name,
        "u64 : u64",
        transposed(_bits),
        f"{_text}{_name} {{x}}, v3 offset:64\ns_waitcnt lgkmcnt(0)",
    )

# Scalar loads: the words of the row's first operand, which lies at the start of its memory

for _count in (1, 2, 4, 8, 16):
    _suffix = f"dwordx{_count}" if _count > 1 else "dword"
    _fn = lambda a, n=_count: sum(a[12 + i] << 32 * i for i in range(n))  # noqa: E731
    _kind = f"s32x{_count}" if _count > 1 else "s32"
    for _name, _base in ((f"s_load_{_suffix}", "s[4:5]"), (f"s_buffer_load_{_suffix}", "s[8:11]")):
        whole(_name, f"u32 : {_kind}", _fn, f"{_name} {{x}}, {_base}, 0x30\ns_waitcnt lgkmcnt(0)")
        whole(
            _name,
            f"u32 : {_kind}",
            _fn,
            f"s_movk_i32 s60, 0x30\n{_name} {{x}}, {_base}, s60\ns_waitcnt lgkmcnt(0)",
        )
whole(
    "s_buffer_load_dword",
    "u32 : s32 s32",
    lambda a: (0, a[3]),
    "s_mov_b32 s10, 16\ns_buffer_load_dword {x}, s[8:11], 0x10\n"
    "s_buffer_load_dword {y}, s[8:11], 0xc\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s10, 0x7fffffff",
)

# Program control that changes no value

QUIET = ("s_nop 3", "s_sleep 1", "s_setprio 2", "s_icache_inv", "s_dcache_inv", "s_dcache_wb")
QUIET += ("s_dcache_inv_vol", "s_dcache_wb_vol", "s_incperflevel 3", "s_decperflevel 3", "v_nop")
QUIET += ("s_mov_b32 m0, 5\ns_ttracedata", "buffer_inv sc1", "buffer_wbl2 sc1")
QUIET += ("s_waitcnt vmcnt(0) lgkmcnt(0)",)
for _text in QUIET:
    ROWS.append(
        row(
            _text.rpartition("\n")[2].split()[0],
            "u32 s32 scc exec vcc! : u32 s32 scc exec vcc!",
            lambda *values: values,
            f"{_text}",
            before="v_mov_b32 {x}, {a}\ns_mov_b32 {y}, {b}",
        )
    )

# Branches: the result is one more for every way that was taken

SKIP = "s_mov_b32 {{x}}, 1\n{} .L{{n}}\ns_mov_b32 {{x}}, 2\n.L{{n}}:"
whole("s_branch", "s32 : s32", lambda a: 1, SKIP.format("s_branch"))
for _bit in (0, 1):
    whole(
        f"s_cbranch_scc{_bit}",
        "scc : s32",
        lambda c, bit=_bit: 1 if c == bit else 2,
        SKIP.format(f"s_cbranch_scc{_bit}"),
    )
    whole(
        f"s_cbranch_scc{_bit}",
        "s32 : s32",
        lambda a: a % 8 + 1,
        f"s_and_b32 s60, {{a}}, 7\ns_mov_b32 {{x}}, 0\n.L{{n}}:\ns_add_u32 {{x}}, {{x}}, 1\n"
        f"s_sub_u32 s60, s60, 1\ns_cmp_{'ge' if _bit else 'lt'}_i32 s60, 0\n"
        f"s_cbranch_scc{_bit} .L{{n}}",
    )
for _kind, _name in (("vcc!", "vcc"), ("exec", "exec")):
    for _mask in (0, 1, 1 << 63):
        for _tail in ("z", "nz"):
            whole(
                f"s_cbranch_{_name}{_tail}",
                f"{_kind} : s32",
                lambda mask, tail=_tail: 1 if (mask == 0) == (tail == "z") else 2,
                SKIP.format(f"s_cbranch_{_name}{_tail}") + f" ; {_mask:#x}",
                draw=lambda rng, mask=_mask: (mask,),
            )
whole(
    "s_getpc_b64",
    "s32 : s32",
    lambda a: 4,
    "s_getpc_b64 s[60:61]\ns_getpc_b64 s[62:63]\ns_sub_u32 {x}, s62, s60",
)
CALLED = (
    "\ns_add_u32 {x}, {x}, 10\ns_branch .L{n}e\n.L{n}c:\ns_mul_i32 {x}, {a}, 3\n"
    "s_setpc_b64 s[60:61]\n.L{n}e:"
)
for _name in ("s_call_b64", "s_setpc_b64"):
    whole(
        _name,
        "s32 : s32",
        lambda a: 3 * a + 10 & 0xFFFFFFFF,
        "s_call_b64 s[60:61], .L{n}c" + CALLED + f" ; {_name}",
    )
whole(
    "s_swappc_b64",
    "s32 : s32",
    lambda a: 3 * a + 10 & 0xFFFFFFFF,
    "s_getpc_b64 s[62:63]\n.L{n}p:\ns_add_u32 s62, s62, .L{n}c-.L{n}p\ns_addc_u32 s63, s63, 0\n"
    "s_swappc_b64 s[60:61], s[62:63]" + CALLED,
)

# MODE: bits 4 and 5 keep subnormals of float32


def flushed_sum(a: int, b: int) -> int:
    a, b = (v & F32.sign if v & F32.infinity == 0 else v for v in (a, b))
    total = plus(F32, a, b)
    return total & F32.sign if total & F32.infinity == 0 else total


BACK = "\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3"
FIELD = "hwreg(HW_REG_MODE, 4, 2)"
for _name, _set in {
    "s_setreg_imm32_b32": f"s_setreg_imm32_b32 {FIELD}, 0",
    "s_setreg_b32": f"s_mov_b32 s60, 0\ns_setreg_b32 {FIELD}, s60",
    "s_getreg_b32": f"s_setreg_imm32_b32 {FIELD}, 0 ; for s_getreg_b32",
}.items():
    ROWS.append(
        row(
            _name,
            "f32 f32 : f32 s32 s32",
            lambda a, b: (flushed_sum(a, b), 0, 3),
            f"{_set}\nv_add_f32 {{x}}, {{a}}, {{b}}\ns_getreg_b32 {{y}}, {FIELD}{BACK}\n"
            f"s_getreg_b32 {{z}}, {FIELD}",
            is_tame=False,
        )
    )
