"""Small units of shared primitives with the instructions they have to give, written by hand."""

from __future__ import annotations

LISTINGS = {
    "kernargs": (
        "kernargs regs",
        """
        NETRA_LOAD_KERNARG_U32 9, 24
        NETRA_LOAD_KERNARG_PTR 6, 16
        NETRA_LOAD_KERNARG_U32X4 8, 32
        NETRA_LOAD_KERNARG_U32X8 16, 0
        """,
        """
        s_load_dword s9, s[0:1], 0x18
        s_load_dwordx2 s[6:7], s[0:1], 0x10
        s_load_dwordx4 s[8:11], s[0:1], 0x20
        s_load_dwordx8 s[16:23], s[0:1], 0x0
        """,
    ),
    "waits": (
        "waits",
        """
        NETRA_WAIT_LGKM0
        NETRA_WAIT_LGKM 8
        NETRA_WAIT_VM0
        NETRA_BARRIER
        NETRA_WAIT_LGKM0_BARRIER
        NETRA_WAIT_STATES -3
        NETRA_WAIT_STATES 0
        NETRA_WAIT_STATES 1
        NETRA_WAIT_STATES 16
        """,
        """
        s_waitcnt lgkmcnt(0)
        s_waitcnt lgkmcnt(8)
        s_waitcnt vmcnt(0)
        s_barrier
        s_waitcnt lgkmcnt(0)
        s_barrier
        s_nop 0
        s_nop 15
        """,
    ),
    "loads counted since a mark": (
        "addressing",
        """
        NETRA_GLOBAL_LOAD_U32X4 4, 1, 2, 0
        NETRA_GLOBAL_LOAD_U32X4 8, 1, 2, 16
        .set MARK, NETRA_VM_ISSUED
        NETRA_GLOBAL_LOAD_U32X4 12, 1, 2, 4000+95
        NETRA_WAIT_VM_SINCE MARK
        NETRA_WAIT_VM_SINCE NETRA_VM_ISSUED
        NETRA_WAIT_VM_SINCE 0
        """,
        """
        global_load_dwordx4 v[4:7], v1, s[2:3]
        global_load_dwordx4 v[8:11], v1, s[2:3] offset:16
        global_load_dwordx4 v[12:15], v1, s[2:3] offset:4095
        s_waitcnt vmcnt(1)
        s_waitcnt vmcnt(0)
        s_waitcnt vmcnt(3)
        """,
    ),
    "scalar loads and lane stores": (
        "memory",
        """
        NETRA_SCALAR_LOAD_U32 7, 20
        NETRA_SCALAR_LOAD_U32X4 64, 28, 64
        NETRA_SCALAR_LOAD_U32X8 48, 20, 32
        NETRA_SCALAR_LOAD_U32X16 32, 20
        NETRA_GLOBAL_STORE_U16 5, 7, 22
        NETRA_GLOBAL_STORE_U32 4, 5, 24
        NETRA_GLOBAL_STORE_U32X2 2, 36, 14
        NETRA_WAIT_VM_SINCE 2
        """,
        """
        s_load_dword s7, s[20:21], 0x0
        s_load_dwordx4 s[64:67], s[28:29], 0x40
        s_load_dwordx8 s[48:55], s[20:21], 0x20
        s_load_dwordx8 s[32:39], s[20:21], 0x0
        s_load_dwordx8 s[40:47], s[20:21], 0x20
        global_store_short v5, v7, s[22:23]
        global_store_dword v4, v5, s[24:25]
        global_store_dwordx2 v2, v[36:37], s[14:15]
        s_waitcnt vmcnt(1)
        """,
    ),
    "scalar addresses": (
        "addressing",
        """
        NETRA_ADD_ROWS_U64 20, 8, 6, 4096
        NETRA_ADD_U64 22, 20, 0x2000
        NETRA_ADD_U64_INPLACE 20, 5, 64, 30
        """,
        """
        s_lshl_b32 s20, s6, 12
        s_lshr_b32 s21, s6, 20
        s_add_u32 s20, s8, s20
        s_addc_u32 s21, s9, s21
        s_add_u32 s22, s20, 0x2000
        s_addc_u32 s23, s21, 0
        s_lshl_b32 s30, s5, 6
        s_add_u32 s20, s20, s30
        s_addc_u32 s21, s21, 0
        """,
    ),
    "lane offsets": (
        "addressing",
        """
        NETRA_WAVE_AND_LANE 4, 0, 1
        NETRA_WAVE64_FRAGMENT_OFFSET 2, 0
        NETRA_N16_K16_OFFSET 3, 0
        NETRA_LANE_OFFSET 4, 0, 32
        NETRA_LANE_OFFSET 5, 0, 1
        """,
        """
        v_lshrrev_b32_e32 v1, 6, v0
        v_and_b32_e32 v0, 63, v0
        v_readfirstlane_b32 s4, v1
        v_and_b32_e32 v2, 48, v0
        v_lshlrev_b32_e32 v3, 4, v0
        v_lshlrev_b32_e32 v4, 5, v0
        v_lshlrev_b32_e32 v5, 0, v0
        """,
    ),
    "lanes that take part": (
        "addressing",
        """
        NETRA_KEEP_LANES_0_TO_15
        NETRA_KEEP_FIRST_LANE_OF_ROW16
        """,
        """
        s_mov_b64 exec, 0xffff
        s_mov_b32 exec_lo, 0x10001
        s_mov_b32 exec_hi, 0x10001
        """,
    ),
    "a result that is read at once": (
        "mfma",
        """
        NETRA_MFMA_FP8_16X16X128 8, 16, 80
        NETRA_MFMA_SETTLE 8
        NETRA_MFMA_SETTLE 8
        """,
        """
        v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[80:87], 0
        s_nop 11
        """,
    ),
    "a result behind counted instructions": (
        "mfma numerics",
        """
        NETRA_MFMA_FP8_16X16X128 8, 16, 80
        NETRA_MUL_F32X8 24, 32, 40
        NETRA_MFMA_FP8_16X16X128 8+4, 16, 80
        NETRA_MFMA_SETTLE 8
        NETRA_MFMA_SETTLE 12
        """,
        """
        v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[80:87], 0
        v_mul_f32_e32 v24, v32, v40
        v_mul_f32_e32 v25, v33, v41
        v_mul_f32_e32 v26, v34, v42
        v_mul_f32_e32 v27, v35, v43
        v_mul_f32_e32 v28, v36, v44
        v_mul_f32_e32 v29, v37, v45
        v_mul_f32_e32 v30, v38, v46
        v_mul_f32_e32 v31, v39, v47
        v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[16:23], v[80:87], 0
        s_nop 2
        s_nop 8
        """,
    ),
    "reductions": (
        "reductions",
        """
        NETRA_LANE_ABSMAX8_F32 32, 20
        NETRA_ROW16_MAX_F32 32
        NETRA_ADD4_F32 6, 144
        """,
        """
        v_max3_f32 v32, |v20|, |v21|, |v22|
        v_max3_f32 v32, v32, |v23|, |v24|
        v_max3_f32 v32, v32, |v25|, |v26|
        v_max_f32_e64 v32, v32, |v27|
        s_nop 1
        v_max_f32_dpp v32, v32, v32 row_ror:8 row_mask:0xf bank_mask:0xf
        s_nop 1
        v_max_f32_dpp v32, v32, v32 row_ror:4 row_mask:0xf bank_mask:0xf
        s_nop 1
        v_max_f32_dpp v32, v32, v32 row_ror:2 row_mask:0xf bank_mask:0xf
        s_nop 1
        v_max_f32_dpp v32, v32, v32 row_ror:1 row_mask:0xf bank_mask:0xf
        v_add_f32_e32 v6, v6, v144
        v_add_f32_e32 v6, v6, v145
        v_add_f32_e32 v6, v6, v146
        v_add_f32_e32 v6, v6, v147
        """,
    ),
    "scaled products": (
        "numerics",
        """
        NETRA_SCALE_PRODUCT2 6, 48, 32, 8
        NETRA_SCALE_PRODUCT3 7, 40, 68, 48, 12
        NETRA_ADD_F32 5, 6
        """,
        """
        v_mul_f32_e32 v6, s32, v8
        v_mul_f32_e32 v6, s48, v6
        v_mul_f32_e32 v7, s48, v12
        v_mul_f32_e32 v7, s68, v7
        v_mul_f32_e32 v7, s40, v7
        v_add_f32_e32 v5, v5, v6
        """,
    ),
    "rounding": (
        "numerics",
        """
        NETRA_ROUND_F32_TO_BF16_PAIR 7, 6, 5
        NETRA_EXPAND_BF16_PAIR 1, 2, 7
        NETRA_PACK_FP8X4 36, 20
        """,
        """
        v_cvt_pk_bf16_f32 v7, v6, v5
        v_lshlrev_b32_e32 v1, 16, v7
        v_and_b32_e32 v2, 0xffff0000, v7
        v_cvt_pk_fp8_f32 v36, v20, v21
        v_cvt_pk_fp8_f32 v36, v22, v23 op_sel:[0,0,1]
        """,
    ),
    "eight values to BF16 and back": (
        "numerics",
        "NETRA_ROUND_TO_BF16_F32X8 20, 28",
        """
        v_cvt_pk_bf16_f32 v28, v20, v21
        v_cvt_pk_bf16_f32 v29, v22, v23
        v_cvt_pk_bf16_f32 v30, v24, v25
        v_cvt_pk_bf16_f32 v31, v26, v27
        v_lshlrev_b32_e32 v20, 16, v28
        v_and_b32_e32 v21, 0xffff0000, v28
        v_lshlrev_b32_e32 v22, 16, v29
        v_and_b32_e32 v23, 0xffff0000, v29
        v_lshlrev_b32_e32 v24, 16, v30
        v_and_b32_e32 v25, 0xffff0000, v30
        v_lshlrev_b32_e32 v26, 16, v31
        v_and_b32_e32 v27, 0xffff0000, v31
        """,
    ),
    "group scale and its reciprocal": (
        "numerics",
        """
        NETRA_FP8_GROUP_SCALE_F32 33, 32
        NETRA_RECIPROCAL_F32 34, 33, 35
        """,
        """
        v_max_f32_e32 v32, 0x2edbe6ff, v32
        v_mul_f32_e32 v33, 0x3b124925, v32
        v_rcp_f32_e32 v34, v33
        s_nop 0
        v_fma_f32 v35, -v33, v34, 1.0
        v_fma_f32 v34, v35, v34, v34
        """,
    ),
    "eight values by one factor": (
        "numerics",
        "NETRA_MUL_BY_F32X8 20, 4, 34",
        """
        v_mul_f32_e32 v20, v4, v34
        v_mul_f32_e32 v21, v5, v34
        v_mul_f32_e32 v22, v6, v34
        v_mul_f32_e32 v23, v7, v34
        v_mul_f32_e32 v24, v8, v34
        v_mul_f32_e32 v25, v9, v34
        v_mul_f32_e32 v26, v10, v34
        v_mul_f32_e32 v27, v11, v34
        """,
    ),
    "eight sigmoids": (
        "numerics",
        "NETRA_SIGMOID_F32X8 20, 4, 11",
        """
        v_mul_f32_e32 v20, s11, v4
        v_mul_f32_e32 v21, s11, v5
        v_mul_f32_e32 v22, s11, v6
        v_mul_f32_e32 v23, s11, v7
        v_mul_f32_e32 v24, s11, v8
        v_mul_f32_e32 v25, s11, v9
        v_mul_f32_e32 v26, s11, v10
        v_mul_f32_e32 v27, s11, v11
        v_exp_f32_e32 v20, v20
        v_exp_f32_e32 v21, v21
        v_exp_f32_e32 v22, v22
        v_exp_f32_e32 v23, v23
        v_exp_f32_e32 v24, v24
        v_exp_f32_e32 v25, v25
        v_exp_f32_e32 v26, v26
        v_exp_f32_e32 v27, v27
        v_add_f32_e32 v20, 1.0, v20
        v_add_f32_e32 v21, 1.0, v21
        v_add_f32_e32 v22, 1.0, v22
        v_add_f32_e32 v23, 1.0, v23
        v_add_f32_e32 v24, 1.0, v24
        v_add_f32_e32 v25, 1.0, v25
        v_add_f32_e32 v26, 1.0, v26
        v_add_f32_e32 v27, 1.0, v27
        v_rcp_f32_e32 v20, v20
        v_rcp_f32_e32 v21, v21
        v_rcp_f32_e32 v22, v22
        v_rcp_f32_e32 v23, v23
        v_rcp_f32_e32 v24, v24
        v_rcp_f32_e32 v25, v25
        v_rcp_f32_e32 v26, v26
        v_rcp_f32_e32 v27, v27
        """,
    ),
    "named registers": (
        "regs",
        """
        NETRA_REGISTERS_BEGIN 4
        NETRA_SGPR A
        NETRA_SGPR B, 2, 2
        NETRA_SGPR C, 8, 4
        NETRA_SGPR D
        NETRA_VGPR E
        NETRA_VGPR F, 4, 4
        NETRA_VGPR G, 2
        NETRA_VGPR H
        v_mov_b32 v[E], s[A]
        v_mov_b32 v[F], s[B]
        v_mov_b32 v[G], s[C]
        v_mov_b32 v[H], s[D]
        v_mov_b32 v[NETRA_V_LANE], s[NETRA_S_GROUP_X]
        v_mov_b32 v[NETRA_V_LANE], s[NETRA_S_GROUP_Y]
        """,
        """
        v_mov_b32_e32 v1, s4
        v_mov_b32_e32 v4, s6
        v_mov_b32_e32 v8, s8
        v_mov_b32_e32 v10, s16
        v_mov_b32_e32 v0, s2
        v_mov_b32_e32 v0, s3
        """,
    ),
}
