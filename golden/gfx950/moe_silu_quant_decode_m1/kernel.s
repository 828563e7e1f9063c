// SPDX-License-Identifier: MIT
// SiLU of the gate times up for one routed row, rounded to BF16 and quantised to FP8 with one
// dynamic scale per 128 columns.
//
// void netra_moe_silu_quant_decode_m1_gfx950(
//     const float *in,        //  0  [rows, 2, 512], gate then up
//     fp8_e4m3    *out,       //  8  [rows, 512]
//     float       *scale,     // 16  [rows, 4]
//     uint32_t     rows);     // 24  9 * T; 4 bytes of padding follow
//
// Grid (rows, 1, 1), 64 work-items: x = routed row; work-groups with x >= rows do nothing.
//
//     s     = 1 / (1 + 2^(-1.442695 * gate))            plain v_exp, v_rcp
//     y     = bf16((s * gate) * up)                     the only rounding to BF16
//     amax  = max(max |y| over 128 columns, 1e-10)
//     scale = amax * (1 / 448)                          a multiplication
//     out   = fp8(y * (1 / scale))                      v_rcp and one Newton step; to nearest even
//
// |y * (1 / scale)| exceeds 448 by rounding only, which the conversion rounds back to 448, so it
// needs no saturation.
//
// Lane l owns columns 8 l .. 8 l + 7; a scale group of 128 columns is a row of 16 lanes.
//
// SGPR  0:1    kernarg segment, until the arguments are read
//       2      work-group x (= routed row)
//       4:9    in, out, scale
//       10     rows
//       11     -1.442695
//       12:13  the row of in
//       14:15  the row of out
//       16:17  the row of scale
// VGPR  0      lane
//       1      byte offset of the lane's gate values, 32 * lane
//       2      byte offset of the lane's FP8 codes, 8 * lane
//       3      byte offset of the group's scale, 4 * (lane / 16)
//       4:11   gate
//       12:19  up
//       20:27  s, then s * gate, then the product, then y, then y / scale
//       28:31  y as pairs of BF16
//       32     amax
//       33     scale
//       34     1 / scale
//       35     error of the reciprocal
//       36:37  8 FP8 codes
// LDS   none

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_moe_silu_quant_decode_m1_gfx950
	.globl netra_moe_silu_quant_decode_m1_gfx950
	.p2align 8
	.type netra_moe_silu_quant_decode_m1_gfx950,@function
netra_moe_silu_quant_decode_m1_gfx950:
// The arguments; meanwhile the lane's byte offsets.
	s_load_dwordx4 s[4:7], s[0:1], 0                          // in, out
	s_load_dwordx2 s[8:9], s[0:1], 16                         // scale
	s_load_dword s10, s[0:1], 24                              // rows
	v_lshlrev_b32 v1, 5, v0                                   // 32 * lane
	v_lshlrev_b32 v2, 3, v0                                   // 8 * lane
	v_lshrrev_b32 v3, 4, v0                                   // group = lane / 16
	v_lshlrev_b32 v3, 2, v3                                   // 4 * group
	s_waitcnt lgkmcnt(0)                                      // the arguments
	s_cmp_ge_u32 s2, s10
	s_cbranch_scc1 .Lnetra_moe_silu_quant_decode_m1_gfx950_done// a row beyond the last one

// gate = in[row][0][8 l ..], up = in[row][1][8 l ..]
	s_lshl_b32 s12, s2, 12                                    // in + 4096 * row
	s_lshr_b32 s13, s2, 20
	s_add_u32 s12, s4, s12
	s_addc_u32 s13, s5, s13
	global_load_dwordx4 v[4:7], v1, s[12:13]
	global_load_dwordx4 v[8:11], v1, s[12:13] offset:16
	global_load_dwordx4 v[12:15], v1, s[12:13] offset:2048
	global_load_dwordx4 v[16:19], v1, s[12:13] offset:2064
	s_lshl_b32 s14, s2, 9                                     // out + 512 * row
	s_lshr_b32 s15, s2, 23
	s_add_u32 s14, s6, s14
	s_addc_u32 s15, s7, s15
	s_lshl_b32 s16, s2, 4                                     // scale + 16 * row
	s_lshr_b32 s17, s2, 28
	s_add_u32 s16, s8, s16
	s_addc_u32 s17, s9, s17
	s_mov_b32 s11, 0xbfb8aa3b                                 // -1.442695
	s_waitcnt vmcnt(2)                                        // the gate values

// s = 1 / (1 + 2^(-1.442695 * gate)). Each of the 8 values of a lane goes through one step
// before the next step begins: a transcendental result is read 8 instructions later (1 needed).
	v_mul_f32 v20, s11, v4
	v_mul_f32 v21, s11, v5
	v_mul_f32 v22, s11, v6
	v_mul_f32 v23, s11, v7
	v_mul_f32 v24, s11, v8
	v_mul_f32 v25, s11, v9
	v_mul_f32 v26, s11, v10
	v_mul_f32 v27, s11, v11
	v_exp_f32 v20, v20
	v_exp_f32 v21, v21
	v_exp_f32 v22, v22
	v_exp_f32 v23, v23
	v_exp_f32 v24, v24
	v_exp_f32 v25, v25
	v_exp_f32 v26, v26
	v_exp_f32 v27, v27
	v_add_f32 v20, 1.0, v20
	v_add_f32 v21, 1.0, v21
	v_add_f32 v22, 1.0, v22
	v_add_f32 v23, 1.0, v23
	v_add_f32 v24, 1.0, v24
	v_add_f32 v25, 1.0, v25
	v_add_f32 v26, 1.0, v26
	v_add_f32 v27, 1.0, v27
	v_rcp_f32 v20, v20
	v_rcp_f32 v21, v21
	v_rcp_f32 v22, v22
	v_rcp_f32 v23, v23
	v_rcp_f32 v24, v24
	v_rcp_f32 v25, v25
	v_rcp_f32 v26, v26
	v_rcp_f32 v27, v27

// (s * gate) * up
	v_mul_f32 v20, v20, v4
	v_mul_f32 v21, v21, v5
	v_mul_f32 v22, v22, v6
	v_mul_f32 v23, v23, v7
	v_mul_f32 v24, v24, v8
	v_mul_f32 v25, v25, v9
	v_mul_f32 v26, v26, v10
	v_mul_f32 v27, v27, v11
	s_waitcnt vmcnt(0)                                        // the up values
	v_mul_f32 v20, v20, v12
	v_mul_f32 v21, v21, v13
	v_mul_f32 v22, v22, v14
	v_mul_f32 v23, v23, v15
	v_mul_f32 v24, v24, v16
	v_mul_f32 v25, v25, v17
	v_mul_f32 v26, v26, v18
	v_mul_f32 v27, v27, v19

// y = bf16(...), back in FP32
	v_cvt_pk_bf16_f32 v28, v20, v21
	v_cvt_pk_bf16_f32 v29, v22, v23
	v_cvt_pk_bf16_f32 v30, v24, v25
	v_cvt_pk_bf16_f32 v31, v26, v27
	v_lshlrev_b32 v20, 16, v28
	v_and_b32 v21, 0xffff0000, v28
	v_lshlrev_b32 v22, 16, v29
	v_and_b32 v23, 0xffff0000, v29
	v_lshlrev_b32 v24, 16, v30
	v_and_b32 v25, 0xffff0000, v30
	v_lshlrev_b32 v26, 16, v31
	v_and_b32 v27, 0xffff0000, v31

// max |y| of the lane, then of the 16 lanes: rotations by 8, 4, 2 and 1 give every lane the
// maximum of its row.
	v_max3_f32 v32, |v20|, |v21|, |v22|
	v_max3_f32 v32, v32, |v23|, |v24|
	v_max3_f32 v32, v32, |v25|, |v26|
	v_max_f32 v32, v32, |v27|
	s_nop 1                                                   // a DPP operand needs 2 wait states
	v_max_f32_dpp v32, v32, v32 row_ror:8 row_mask:0xf bank_mask:0xf
	s_nop 1                                                   // a DPP operand needs 2 wait states
	v_max_f32_dpp v32, v32, v32 row_ror:4 row_mask:0xf bank_mask:0xf
	s_nop 1                                                   // a DPP operand needs 2 wait states
	v_max_f32_dpp v32, v32, v32 row_ror:2 row_mask:0xf bank_mask:0xf
	s_nop 1                                                   // a DPP operand needs 2 wait states
	v_max_f32_dpp v32, v32, v32 row_ror:1 row_mask:0xf bank_mask:0xf
	v_max_f32 v32, 0x2edbe6ff, v32                            // amax = max(..., 1e-10)

// scale = amax / 448; 1 / scale = r + r * (1 - scale * r) with r from v_rcp.
	v_mul_f32 v33, 0x3b124925, v32
	v_rcp_f32 v34, v33
	s_nop 0                                                   // 1 wait state of v_rcp
	v_fma_f32 v35, -v33, v34, 1.0
	v_fma_f32 v34, v35, v34, v34

// out = fp8(y * (1 / scale)), 8 codes a lane
	v_mul_f32 v20, v20, v34
	v_mul_f32 v21, v21, v34
	v_mul_f32 v22, v22, v34
	v_mul_f32 v23, v23, v34
	v_mul_f32 v24, v24, v34
	v_mul_f32 v25, v25, v34
	v_mul_f32 v26, v26, v34
	v_mul_f32 v27, v27, v34
	v_cvt_pk_fp8_f32 v36, v20, v21
	v_cvt_pk_fp8_f32 v36, v22, v23 op_sel:[0,0,1]
	v_cvt_pk_fp8_f32 v37, v24, v25
	v_cvt_pk_fp8_f32 v37, v26, v27 op_sel:[0,0,1]
	global_store_dwordx2 v2, v[36:37], s[14:15]

// The first lane of each group stores its scale.
	s_mov_b32 exec_lo, 0x00010001
	s_mov_b32 exec_hi, 0x00010001
	global_store_dword v3, v33, s[16:17]
.Lnetra_moe_silu_quant_decode_m1_gfx950_done:
	s_endpgm
	.size netra_moe_silu_quant_decode_m1_gfx950, .-netra_moe_silu_quant_decode_m1_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_moe_silu_quant_decode_m1_gfx950
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 32
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 38
		.amdhsa_next_free_sgpr 18
		.amdhsa_accum_offset 40
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: netra_moe_silu_quant_decode_m1_gfx950
    .symbol: netra_moe_silu_quant_decode_m1_gfx950.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .vgpr_count: 38
    .agpr_count: 0
    .sgpr_count: 18
    .args:
      - {.name: in, .offset: 0, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: out, .offset: 8, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: write_only}
      - {.name: scale, .offset: 16, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: write_only}
      - {.name: rows, .offset: 24, .size: 4, .value_kind: by_value}
...
	.end_amdgpu_metadata
