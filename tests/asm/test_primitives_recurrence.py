"""The primitives that the router, GDN and dense kernels added, each assembled alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netra_build.asm.objects.listings import parse_disassembly
from netra_build.asm.tools.toolchain import Toolchain

TEMPLATES = "kernels/gfx950/templates"
COVERED = (
    "common/division",
    "common/exponential",
    "common/mfma_bf16",
    "common/packed",
    "common/pointers",
    "common/transfers",
    "common/wave_sum",
    "gdn/bv16_state",
)
"""The files whose primitives are all tested here; common/choices is tested through the guards."""

EXP_NAMES = """
.set NETRA_S_EXP_LOG2E, 20
.set NETRA_S_EXP_LIMIT, 21
.set NETRA_V_EXP_RAISE, 30
.set NETRA_V_EXP_LOWER, 31
.set NETRA_V_EXP_SPARE, 32
"""
LISTINGS = {
    "sum of one register over a wave": (
        "common/wave_sum",
        "NETRA_WAVE64_SUM_F32 5",
        """
        s_nop 1
        v_add_f32_dpp v5, v5, v5 row_shr:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
        s_nop 1
        v_add_f32_dpp v5, v5, v5 row_shr:4 row_mask:0xf bank_mask:0xf bound_ctrl:1
        s_nop 1
        v_add_f32_dpp v5, v5, v5 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:1
        s_nop 1
        v_add_f32_dpp v5, v5, v5 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
        s_nop 1
        v_add_f32_dpp v5, v5, v5 row_bcast:15 row_mask:0xa bank_mask:0xf
        s_nop 1
        v_add_f32_dpp v5, v5, v5 row_bcast:31 row_mask:0xc bank_mask:0xf
        """,
    ),
    "sum of three registers needs no waits": (
        "common/wave_sum",
        "NETRA_WAVE64_SUM_SHIFTED 5, 3, 4\nNETRA_WAVE64_SUM_ROWS 5, 3, 31, 0xc",
        """
        v_add_f32_dpp v5, v5, v5 row_shr:4 row_mask:0xf bank_mask:0xf bound_ctrl:1
        v_add_f32_dpp v6, v6, v6 row_shr:4 row_mask:0xf bank_mask:0xf bound_ctrl:1
        v_add_f32_dpp v7, v7, v7 row_shr:4 row_mask:0xf bank_mask:0xf bound_ctrl:1
        v_add_f32_dpp v5, v5, v5 row_bcast:31 row_mask:0xc bank_mask:0xf
        v_add_f32_dpp v6, v6, v6 row_bcast:31 row_mask:0xc bank_mask:0xf
        v_add_f32_dpp v7, v7, v7 row_bcast:31 row_mask:0xc bank_mask:0xf
        """,
    ),
    "one step of a sum": (
        "common/wave_sum",
        "NETRA_WAVE64_SUM_STEP 5, row_shr:8, row_mask:0x3",
        "v_add_f32_dpp v5, v5, v5 row_shr:8 row_mask:0x3 bank_mask:0xf",
    ),
    "division": (
        "common/division",
        "NETRA_DIV_F32_IEEE 1, 2, 3, 10, 8",
        """
        v_div_scale_f32 v10, s[8:9], v3, v3, v2
        v_div_scale_f32 v11, vcc, v2, v3, v2
        v_rcp_f32_e32 v12, v10
        s_nop 0
        v_fma_f32 v13, -v10, v12, 1.0
        v_fma_f32 v12, v13, v12, v12
        v_mul_f32_e32 v14, v11, v12
        v_fma_f32 v13, -v10, v14, v11
        v_fma_f32 v14, v13, v12, v14
        v_fma_f32 v13, -v10, v14, v11
        v_div_fmas_f32 v13, v13, v12, v14
        v_div_fixup_f32 v1, v13, v3, v2
        """,
    ),
    "constants of the exponential": (
        "common/exponential",
        EXP_NAMES + "NETRA_EXP_CONSTANTS",
        """
        s_mov_b32 s20, 0x3fb8aa3b
        s_mov_b32 s21, 0xc2fc0000
        v_mov_b32_e32 v30, 0x42800000
        v_mov_b32_e32 v31, 0xffffffc0
        """,
    ),
    "registers of the exponential": (
        "common/exponential",
        "NETRA_REGISTERS_BEGIN 5\nNETRA_EXP_REGISTERS\n"
        "v_mov_b32 v[NETRA_V_EXP_SPARE+1], s[NETRA_S_EXP_LIMIT]\n"
        "v_mov_b32 v[NETRA_V_EXP_LOWER], v[NETRA_V_EXP_RAISE]",
        "v_mov_b32_e32 v4, s6\nv_mov_b32_e32 v2, v1",
    ),
    "exponential": (
        "common/exponential",
        EXP_NAMES + "NETRA_EXP_F32 1, 2",
        """
        v_mul_f32_e32 v1, s20, v2
        v_cmp_gt_f32_e32 vcc, s21, v1
        s_nop 1
        v_cndmask_b32_e32 v32, 0, v30, vcc
        v_cndmask_b32_e32 v33, 0, v31, vcc
        v_fma_f32 v1, s20, v2, v32
        v_exp_f32_e32 v1, v1
        s_nop 0
        v_ldexp_f32 v1, v1, v33
        """,
    ),
    "matrix product of BF16": (
        "common/mfma_bf16",
        "NETRA_MFMA_BF16_16X16X32 8, 20, 40, 2\nNETRA_MFMA_BF16_16X16X32_ADD 8, 60, 64",
        """
        v_mfma_f32_16x16x32_bf16 v[8:11], v[20:23], v[40:43], 0
        v_mfma_f32_16x16x32_bf16 v[8:11], v[24:27], v[44:47], v[8:11]
        v_mfma_f32_16x16x32_bf16 v[8:11], v[60:63], v[64:67], v[8:11]
        """,
    ),
    "packed arithmetic": (
        "common/packed",
        "NETRA_PK_MUL_F32 2, 4, 6\nNETRA_PK_MUL_BY_F32 2, 4, 6\n"
        "NETRA_PK_FMA_F32 2, 4, 6\nNETRA_PK_FMA_BY_F32 2, 4, 6",
        """
        v_pk_mul_f32 v[2:3], v[4:5], v[6:7]
        v_pk_mul_f32 v[2:3], v[4:5], v[6:7] op_sel_hi:[1,0]
        v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[2:3]
        v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[2:3] op_sel_hi:[1,0,1]
        """,
    ),
    "64-bit products and sums": (
        "common/pointers",
        "NETRA_TAKE_PRODUCT_U64 8, 2, 24576\nNETRA_TAKE_PRODUCT_U64 8, 2, s[3]\n"
        "NETRA_TAKE_ROWS_U64 8, 2, 512\nNETRA_ADD_PAIR_U64 10, 8\nNETRA_TAKE_BYTES 5, 2, 32\n"
        "NETRA_ADD_BYTES 5, 3, 256, 4\nNETRA_ADVANCE_U64 10, 5",
        """
        s_mul_i32 s8, s2, 0x6000
        s_mul_hi_u32 s9, s2, 0x6000
        s_mul_i32 s8, s2, s3
        s_mul_hi_u32 s9, s2, s3
        s_lshl_b32 s8, s2, 9
        s_lshr_b32 s9, s2, 23
        s_add_u32 s10, s10, s8
        s_addc_u32 s11, s11, s9
        s_lshl_b32 s5, s2, 5
        s_lshl_b32 s4, s3, 8
        s_add_u32 s5, s5, s4
        s_add_u32 s10, s10, s5
        s_addc_u32 s11, s11, 0
        """,
    ),
    "global transfers": (
        "common/transfers",
        "NETRA_SCALAR_LOAD_U32X2 6, 2, 8\nNETRA_GLOBAL_LOAD_U16 4, 1, 2, 6\n"
        "NETRA_GLOBAL_LOAD_U32 4, 1, 2\nNETRA_GLOBAL_LOAD_U32X2 4, 1, 2, 16\n"
        "NETRA_GLOBAL_STORE_HIGH_U16 1, 4, 2, 2\nNETRA_GLOBAL_STORE_U32X2_AT 1, 4, 2, 32\n"
        "NETRA_GLOBAL_STORE_U32X4 1, 4, 2, 1024\n"
        "NETRA_WAIT_VM_SINCE 0\nNETRA_COUNT_VM\nNETRA_WAIT_VM_SINCE 0",
        """
        s_load_dwordx2 s[6:7], s[2:3], 0x8
        global_load_ushort v4, v1, s[2:3] offset:6
        global_load_dword v4, v1, s[2:3]
        global_load_dwordx2 v[4:5], v1, s[2:3] offset:16
        global_store_short_d16_hi v1, v4, s[2:3] offset:2
        global_store_dwordx2 v1, v[4:5], s[2:3] offset:32
        global_store_dwordx4 v1, v[4:7], s[2:3] offset:1024
        s_waitcnt vmcnt(6)
        s_waitcnt vmcnt(7)
        """,
    ),
    "LDS transfers": (
        "common/transfers",
        "NETRA_LDS_LOAD_U32X4 4, 1, 64\nNETRA_LDS_STORE_U32 1, 4\nNETRA_LDS_STORE_U32X2 1, 4, 512\n"
        "NETRA_LDS_STORE_U32X4 1, 4, 16\nNETRA_LDS_LOAD_TRANSPOSED_U16X4 4, 1, 128",
        """
        ds_read_b128 v[4:7], v1 offset:64
        ds_write_b32 v1, v4
        ds_write_b64 v1, v[4:5] offset:512
        ds_write_b128 v1, v[4:7] offset:16
        ds_read_b64_tr_b16 v[4:5], v1 offset:128
        """,
    ),
    "a state is loaded by rows": (
        "gdn/bv16_state",
        "NETRA_GDN_LOAD_STATE_BF16 32, 1, 2",
        """
        global_load_dwordx4 v[36:39], v1, s[2:3]
        global_load_dwordx4 v[44:47], v1, s[2:3] offset:1024
        global_load_dwordx4 v[52:55], v1, s[2:3] offset:2048
        global_load_dwordx4 v[60:63], v1, s[2:3] offset:3072
        """,
    ),
    "sums over 16 columns": (
        "gdn/bv16_state",
        "NETRA_GDN_REDUCE4_STEP 10, 2, 8\nNETRA_GDN_REDUCE4_STEP 20, 1, 1",
        """
        v_add_f32_dpp v10, v10, v10 row_ror:8 row_mask:0xf bank_mask:0xf
        v_add_f32_dpp v12, v12, v12 row_ror:8 row_mask:0xf bank_mask:0xf
        v_add_f32_dpp v14, v14, v14 row_ror:8 row_mask:0xf bank_mask:0xf
        v_add_f32_dpp v16, v16, v16 row_ror:8 row_mask:0xf bank_mask:0xf
        v_add_f32_dpp v20, v20, v20 row_ror:1 row_mask:0xf bank_mask:0xf
        v_add_f32_dpp v21, v21, v21 row_ror:1 row_mask:0xf bank_mask:0xf
        v_add_f32_dpp v22, v22, v22 row_ror:1 row_mask:0xf bank_mask:0xf
        v_add_f32_dpp v23, v23, v23 row_ror:1 row_mask:0xf bank_mask:0xf
        """,
    ),
    "steps of a dot product": (
        "gdn/bv16_state",
        "NETRA_GDN_FOR_ROWS NETRA_GDN_CHAINS_BEGIN, 32, 1, 10, 20\n"
        "NETRA_GDN_CHAINS_ADD 1, 40, 10, 22\nNETRA_GDN_CHAINS_JOIN 3, 0, 10\n"
        "NETRA_GDN_SUM_BEGIN 1, 0, 24, 10\nNETRA_GDN_SUM_ADD 2, 0, 24, 10",
        """
        v_pk_mul_f32 v[10:11], v[34:35], v[20:21]
        v_pk_mul_f32 v[12:13], v[42:43], v[20:21]
        v_pk_mul_f32 v[14:15], v[50:51], v[20:21]
        v_pk_mul_f32 v[16:17], v[58:59], v[20:21]
        v_pk_fma_f32 v[12:13], v[40:41], v[22:23], v[12:13]
        v_add_f32_e32 v16, v16, v17
        v_add_f32_e32 v25, v12, v13
        v_add_f32_e32 v26, v26, v14
        """,
    ),
}
"""Title: file, use, expected instructions."""
COUNTS = {
    "NETRA_GDN_EXPAND_STATE_BF16 32": {"v_lshlrev_b32_e32": 16, "v_and_b32_e32": 16},
    "NETRA_GDN_PACK_STORE_STATE_BF16 32, 8, 1, 2": {
        "v_cvt_pk_bf16_f32": 16,
        "global_store_dwordx4": 4,
    },
    "NETRA_GDN_DECAY_F32 32, 6": {"v_pk_mul_f32": 16},
    "NETRA_GDN_UPDATE8_F32 32, 16, 64": {"v_pk_fma_f32": 16},
    "NETRA_GDN_DOT8_EVEN_ODD 64, 32, 16": {
        "v_pk_mul_f32": 4,
        "v_pk_fma_f32": 12,
        "v_add_f32_e32": 4,
        "v_add_f32_dpp": 16,
    },
    "NETRA_GDN_DOT8_SEQUENTIAL 76, 64, 32, 16": {
        "v_pk_mul_f32": 16,
        "v_add_f32_e32": 28,
        "v_add_f32_dpp": 16,
    },
    "NETRA_GDN_REDUCE4_BROADCAST 64, 2": {"v_add_f32_dpp": 16},
}
"""The instructions that a whole primitive of the state takes: no more than the work needs."""


def lines(text: str) -> list[str]:
    """Return the lines of a block without indentation and empty lines."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def listing(root: Path, toolchain: Toolchain, include: str, body: str) -> list[str]:
    """Return the disassembly of a unit that uses one file, one line an instruction."""
    folders = (root / TEMPLATES / "common", root / TEMPLATES / "gdn")
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for folder in folders
        for path in folder.glob("*.inc")
    }
    unit = [f'.include "{TEMPLATES}/{include}.inc"', ".text", "unit:", *lines(body)]
    files["unit.s"] = ("\n".join([*unit, "s_endpgm", ".size unit, .-unit"]) + "\n").encode()
    linked = toolchain.link([toolchain.assemble_tree(files, "unit.s")])
    found = [i.text for i in parse_disassembly(toolchain.disassemble(linked)).instructions]
    return [re.sub(r"\s+", " ", text).strip() for text in found][:-1]


@pytest.mark.parametrize("title", LISTINGS)
def test_a_primitive_gives_its_instructions(root: Path, toolchain: Toolchain, title: str) -> None:
    include, body, expected = LISTINGS[title]
    assert listing(root, toolchain, include, body) == lines(expected)


@pytest.mark.parametrize("use", COUNTS)
def test_a_primitive_of_the_state_takes_no_more(root: Path, toolchain: Toolchain, use: str) -> None:
    found = [line.split()[0] for line in listing(root, toolchain, "gdn/bv16_state", use)]
    assert {name: found.count(name) for name in set(found)} == COUNTS[use]


def test_every_primitive_has_a_test(root: Path) -> None:
    used = "\n".join([*(body for _, body, _ in LISTINGS.values()), *COUNTS])
    for name in COVERED:
        text = (root / TEMPLATES / f"{name}.inc").read_text(encoding="utf-8")
        for macro in re.findall(r"^\.macro (NETRA_\w+)", text, re.MULTILINE):
            assert re.search(rf"\b{macro}\b", used), macro
