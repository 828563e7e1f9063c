"""Primitives of the attention family that move data, each assembled alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netra_build.asm.objects.listings import parse_disassembly
from netra_build.asm.tools.toolchain import Toolchain

TEMPLATES = "kernels/gfx950/templates"
COVERED = ("lane_pairs", "fp8_tile")
NAMES = """
.set NETRA_S_SCALE, 26
.set NETRA_S_LOG2E, 32
.set NETRA_S_MASKS, 40
.set NETRA_V_LANE, 0
.set NETRA_V_COLUMN, 1
.set NETRA_V_GROUP4, 2
.set NETRA_V_STATE, 4
.set NETRA_V_FACTOR, 6
.set NETRA_V_TEMP, 8
.set NETRA_V_HIDDEN, 9
.set NETRA_V_FRAGMENT, 10
.set NETRA_V_SCORES, 12
.set NETRA_V_WEIGHTS, 28
.set NETRA_V_QUERIES, 32
.set NETRA_V_ACC, 40
.set NETRA_V_KEYS, 64
"""
LISTINGS = {
    "addresses of the lanes": (
        "lane_pairs",
        """
        NETRA_LANE_ROW_U64 4, 3, 7, 10
        NETRA_LANE_ADD_U64 4, 10, 8
        NETRA_LANE_ADD_U64 4, 4, 8, 2
        NETRA_LANE_SUM_U64 6, 4, 10, 2
        """,
        """
        v_mad_u64_u32 v[4:5], vcc, v3, s7, v[10:11]
        v_lshl_add_u64 v[4:5], v[10:11], 0, s[8:9]
        v_lshl_add_u64 v[4:5], v[4:5], 2, s[8:9]
        v_lshl_add_u64 v[6:7], v[4:5], 2, v[10:11]
        """,
    ),
    "loads and stores at addresses of the lanes": (
        "lane_pairs",
        """
        NETRA_LANE_LOAD_U32X4 20, 4, 64
        NETRA_WAIT_VM_SINCE 0
        NETRA_LANE_STORE_U32X2 4, 20, 32
        NETRA_LANE_STORE_U32X4 4, 20, 0
        """,
        """
        global_load_dwordx4 v[20:23], v[4:5], off offset:64
        s_waitcnt vmcnt(1)
        global_store_dwordx2 v[4:5], v[20:21], off offset:32
        global_store_dwordx4 v[4:5], v[20:23], off
        """,
    ),
    "two numbers at a time": (
        "lane_pairs",
        """
        NETRA_PAIR_MUL_SCALAR_F32 2, 4, 6
        NETRA_PAIR_ADD_F32 2, 4, 6
        NETRA_PAIR_SUB_SAME_F32 2, 4, 6
        NETRA_PAIR_REMAINDER_F32 2, 4, 6, 8
        NETRA_PAIR_CORRECT_F32 2, 4, 6, 8
        """,
        """
        v_pk_mul_f32 v[2:3], v[4:5], s[6:7]
        v_pk_add_f32 v[2:3], v[4:5], v[6:7]
        v_pk_add_f32 v[2:3], v[4:5], v[6:7] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
        v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
        v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9] op_sel_hi:[1,0,1]
        """,
    ),
    "lane map and LDS addresses": (
        "fp8_tile",
        """
        NETRA_TILE_LANE_MAP 31
        NETRA_STAGED_ADDRESS 14, 3, 8, 36
        NETRA_TRANSPOSED_ADDRESS 15, 36
        """,
        """
        v_lshrrev_b32_e32 v8, 6, v0
        v_and_b32_e32 v1, 15, v0
        v_readfirstlane_b32 s31, v8
        v_bfe_u32 v2, v0, 4, 2
        v_lshlrev_b32_e32 v10, 4, v2
        v_mov_b32_e32 v11, 0
        v_lshlrev_b32_e32 v2, 2, v2
        v_mul_lo_u32 v14, s36, v3
        v_and_b32_e32 v8, 7, v1
        v_lshl_add_u32 v14, v8, 4, v14
        v_bfe_u32 v8, v1, 1, 2
        v_add_u32_e32 v8, v8, v2
        v_lshrrev_b32_e32 v15, 3, v1
        v_lshl_add_u32 v8, v15, 4, v8
        v_mul_lo_u32 v15, s36, v8
        v_and_b32_e32 v8, 1, v1
        v_lshl_add_u32 v15, v8, 3, v15
        """,
    ),
    "state before the first key": (
        "fp8_tile",
        "NETRA_TILE_BEGIN 2",
        """
        s_mov_b32 s27, s26
        s_mov_b32 s32, 0x3fb8aa3b
        s_mov_b32 s33, s32
        v_mov_b32_e32 v4, 0xe0ad78ec
        v_mov_b32_e32 v5, 0
        v_mov_b32_e32 v9, 0xff800000
        v_mov_b32_e32 v40, 0
        v_mov_b32_e32 v41, 0
        """,
    ),
    "slots, keys and values": (
        "fp8_tile",
        """
        NETRA_LOAD_SLOTS 18, 2, 29, 24
        NETRA_SLOT_ADDRESSES 20, 18, 2, 35, 10
        NETRA_LOAD_KEYS 64, 20, 1, 256
        NETRA_LOAD_VALUES 80, 20
        """,
        """
        v_min_u32_e32 v18, s29, v18
        v_min_u32_e32 v19, s29, v19
        v_lshlrev_b32_e32 v18, 3, v18
        v_lshlrev_b32_e32 v19, 3, v19
        global_load_dword v18, v18, s[24:25]
        global_load_dword v19, v19, s[24:25]
        s_waitcnt vmcnt(0)
        v_mad_u64_u32 v[20:21], vcc, v18, s35, v[10:11]
        v_mad_u64_u32 v[22:23], vcc, v19, s35, v[10:11]
        global_load_dwordx4 v[64:67], v[20:21], off
        global_load_dwordx4 v[68:71], v[20:21], off offset:64
        global_load_dwordx4 v[72:75], v[20:21], off offset:128
        global_load_dwordx4 v[76:79], v[20:21], off offset:192
        global_load_dwordx4 v[80:83], v[20:21], off
        global_load_dwordx4 v[84:87], v[22:23], off
        """,
    ),
    "scores wait for their part of the keys and settle": (
        "fp8_tile",
        """
        NETRA_LOAD_KEYS 64, 20, 1, 256
        NETRA_LOAD_VALUES 80, 20
        NETRA_SCORE_PRODUCTS 1, 256
        NETRA_SCALE_SCORES 1, 36
        """,
        """
        global_load_dwordx4 v[64:67], v[20:21], off
        global_load_dwordx4 v[68:71], v[20:21], off offset:64
        global_load_dwordx4 v[72:75], v[20:21], off offset:128
        global_load_dwordx4 v[76:79], v[20:21], off offset:192
        global_load_dwordx4 v[80:83], v[20:21], off
        global_load_dwordx4 v[84:87], v[22:23], off
        s_waitcnt vmcnt(4)
        v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[64:71], v[32:39], 0
        s_waitcnt vmcnt(2)
        v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[72:79], v[40:47], v[12:15]
        v_sub_u32_e32 v8, s36, v2
        s_nop 10
        v_pk_mul_f32 v[12:13], v[12:13], s[26:27]
        v_pk_mul_f32 v[14:15], v[14:15], s[26:27]
        v_cmp_lt_i32_e64 s[40:41], 0, v8
        v_cmp_lt_i32_e64 s[42:43], 1, v8
        v_cmp_lt_i32_e64 s[44:45], 2, v8
        v_cmp_lt_i32_e64 s[46:47], 3, v8
        v_cndmask_b32_e64 v12, v9, v12, s[40:41]
        v_cndmask_b32_e64 v13, v9, v13, s[42:43]
        v_cndmask_b32_e64 v14, v9, v14, s[44:45]
        v_cndmask_b32_e64 v15, v9, v15, s[46:47]
        """,
    ),
    "weights in FP8, denominator, accumulators": (
        "fp8_tile",
        "NETRA_TILE_WEIGHTS_FP8 1, 2",
        """
        v_cvt_pk_fp8_f32 v28, v12, v13
        v_cvt_pk_fp8_f32 v28, v14, v15 op_sel:[0,0,1]
        v_pk_add_f32 v[12:13], v[12:13], v[14:15]
        v_add_f32_e32 v12, v12, v13
        v_fma_f32 v5, v5, v6, v12
        v_pk_mul_f32 v[40:41], v[40:41], v[6:7] op_sel_hi:[1,0]
        """,
    ),
    "outputs from transposed values": (
        "fp8_tile",
        """
        NETRA_READ_TRANSPOSED_FP8 64, 15, 2, 1024
        NETRA_WAIT_LGKM0
        NETRA_OUTPUT_PRODUCTS 64, 28, 2
        """,
        """
        ds_read_b64_tr_b8 v[64:65], v15 offset:1024
        ds_read_b64_tr_b8 v[66:67], v15 offset:1040
        s_waitcnt lgkmcnt(0)
        v_mfma_f32_16x16x32_fp8_fp8 v[40:43], v[64:65], v[28:29], v[40:43]
        v_mfma_f32_16x16x32_fp8_fp8 v[44:47], v[66:67], v[28:29], v[44:47]
        """,
    ),
    "end of a column": (
        "fp8_tile",
        "NETRA_TILE_END",
        """
        v_mov_b32_e32 v7, v5
        s_nop 1
        v_permlane16_swap_b32_e32 v7, v5
        v_add_f32_e32 v5, v7, v5
        v_mov_b32_e32 v7, v5
        s_nop 1
        v_permlane32_swap_b32_e32 v7, v5
        v_add_f32_e32 v5, v7, v5
        v_rcp_f32_e32 v6, v5
        s_nop 0
        v_fma_f32 v8, -v5, v6, 1.0
        v_fma_f32 v6, v8, v6, v6
        """,
    ),
    "softmax of one subtile": (
        "fp8_tile",
        "NETRA_TILE_SOFTMAX 1",
        """
        v_max3_f32 v8, v12, v13, v14
        v_max_f32_e32 v8, v8, v15
        v_mov_b32_e32 v7, v8
        s_nop 1
        v_permlane16_swap_b32_e32 v7, v8
        v_max_f32_e32 v8, v7, v8
        v_mov_b32_e32 v7, v8
        s_nop 1
        v_permlane32_swap_b32_e32 v7, v8
        v_max_f32_e32 v8, v7, v8
        v_max_f32_e32 v8, v4, v8
        v_sub_f32_e32 v6, v4, v8
        v_mul_f32_e32 v6, 0x3fb8aa3b, v6
        v_exp_f32_e32 v6, v6
        v_mov_b32_e32 v4, v8
        v_pk_add_f32 v[12:13], v[12:13], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
        v_pk_add_f32 v[14:15], v[14:15], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
        v_pk_mul_f32 v[12:13], v[12:13], s[32:33]
        v_pk_mul_f32 v[14:15], v[14:15], s[32:33]
        v_exp_f32_e32 v12, v12
        v_exp_f32_e32 v13, v13
        v_exp_f32_e32 v14, v14
        v_exp_f32_e32 v15, v15
        """,
    ),
}


def lines(text: str) -> list[str]:
    """Return the lines of a block without indentation and empty lines."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def listing(root: Path, toolchain: Toolchain, include: str, body: str) -> list[str]:
    """Return the disassembly of a unit that uses one file, one line an instruction."""
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for folder in ("common", "attention")
        for path in (root / TEMPLATES / folder).glob("*.inc")
    }
    unit = [f'.include "{TEMPLATES}/attention/{include}.inc"', *lines(NAMES), ".text", "unit:"]
    unit += [*lines(body), "s_endpgm", ".size unit, .-unit"]
    files["unit.s"] = ("\n".join(unit) + "\n").encode()
    linked = toolchain.link([toolchain.assemble_tree(files, "unit.s")])
    found = [i.text for i in parse_disassembly(toolchain.disassemble(linked)).instructions]
    return [re.sub(r"\s+", " ", text).strip() for text in found][:-1]


@pytest.mark.parametrize("title", LISTINGS)
def test_a_primitive_gives_its_instructions(root: Path, toolchain: Toolchain, title: str) -> None:
    include, body, expected = LISTINGS[title]
    assert listing(root, toolchain, include, body) == lines(expected)


def test_every_primitive_has_a_test(root: Path) -> None:
    used = "\n".join(body for _, body, _ in LISTINGS.values())
    for name in COVERED:
        text = (root / TEMPLATES / "attention" / f"{name}.inc").read_text(encoding="utf-8")
        for macro in re.findall(r"^\.macro (NETRA_\w+)", text, re.MULTILINE):
            assert re.search(rf"\b{macro}\b", used), macro
