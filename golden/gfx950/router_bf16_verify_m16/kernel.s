// SPDX-License-Identifier: MIT
// Router projection: one wave multiplies a row of BF16 activations by the BF16 weights of one
// expert and rounds the sum to BF16.
//
// void netra_router_bf16_verify_m16_gfx950(
//     bf16       *out,      //  0  [rows, 256]
//     const bf16 *hidden,   //  8  [rows, 2048]
//     const bf16 *weight);  // 16  [256, 2048]
//
// Grid (256, rows <= 16, 1), 64 work-items: x = expert, y = row.
//
// The order of the sum is part of the contract. Lane l owns k = 512 c + 8 l .. 8 l + 7 of each of
// the four chunks c; a chunk is one chain of the even k and one of the odd k:
//
//     even   = h[0] * w[0];  even = fma(h[j], w[j], even) for j = 2, 4, 6
//     odd    = h[1] * w[1];  odd  = fma(h[j], w[j], odd)  for j = 3, 5, 7
//     lane   = (even + odd) + lane                        for c = 0 .. 3, from +0
//
// and the 64 lanes are added by halves of each row of 16 lanes (distance 8, 4, 2, 1), then the
// four row sums as (R2 + R3) + (R0 + R1).
//
// SGPR  0:1    kernarg segment, until the pointers are read
//       2, 3   work-group x (= expert), y (= row)
//       4:5    out, then the address of the result
//       6:7    hidden, then the row of activations
//       8:9    weight, then the expert's weights
//       10     byte offsets
// VGPR  0      lane
//       1      16 * lane, byte offset of the lane's 8 values in a chunk
//       2      sum of the lane, then of the wave
//       4:5    even and odd chain
//       6:7    pair of activations as F32
//       8:9    pair of weights as F32
//       10:25  activations of the four chunks
//       26:41  weights of the four chunks
// LDS   none

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_router_bf16_verify_m16_gfx950
	.globl netra_router_bf16_verify_m16_gfx950
	.p2align 8
	.type netra_router_bf16_verify_m16_gfx950,@function
netra_router_bf16_verify_m16_gfx950:
// The pointers, and the lane's byte offset in a chunk.
	s_load_dwordx4 s[4:7], s[0:1], 0                          // out, hidden
	s_load_dwordx2 s[8:9], s[0:1], 16                         // weight
	v_lshlrev_b32 v1, 4, v0                                   // 16 * lane
	v_mov_b32 v2, 0                                           // lane = +0
	s_waitcnt lgkmcnt(0)                                      // the pointers

// hidden + 4096 * row, weight + 4096 * expert; all eight loads at once, chunk by chunk.
	s_lshl_b32 s10, s3, 12
	s_add_u32 s6, s6, s10
	s_addc_u32 s7, s7, 0
	s_lshl_b32 s10, s2, 12
	s_add_u32 s8, s8, s10
	s_addc_u32 s9, s9, 0
	global_load_dwordx4 v[10:13], v1, s[6:7]
	global_load_dwordx4 v[26:29], v1, s[8:9]
	global_load_dwordx4 v[14:17], v1, s[6:7] offset:1024
	global_load_dwordx4 v[30:33], v1, s[8:9] offset:1024
	global_load_dwordx4 v[18:21], v1, s[6:7] offset:2048
	global_load_dwordx4 v[34:37], v1, s[8:9] offset:2048
	global_load_dwordx4 v[22:25], v1, s[6:7] offset:3072
	global_load_dwordx4 v[38:41], v1, s[8:9] offset:3072

// The result lies at out + 512 * row + 2 * expert.
	s_lshl_b32 s10, s3, 9
	s_add_u32 s4, s4, s10
	s_addc_u32 s5, s5, 0
	s_lshl_b32 s10, s2, 1
	s_add_u32 s4, s4, s10
	s_addc_u32 s5, s5, 0

// Chunk 0: a pair of BF16 becomes two F32, both chains advance by one packed operation.
	s_waitcnt vmcnt(6)                                        // activations and weights of chunk 0
	v_lshlrev_b32 v6, 16, v10
	v_and_b32 v7, 0xffff0000, v10
	v_lshlrev_b32 v8, 16, v26
	v_and_b32 v9, 0xffff0000, v26
	v_pk_mul_f32 v[4:5], v[6:7], v[8:9]
	v_lshlrev_b32 v6, 16, v11
	v_and_b32 v7, 0xffff0000, v11
	v_lshlrev_b32 v8, 16, v27
	v_and_b32 v9, 0xffff0000, v27
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_lshlrev_b32 v6, 16, v12
	v_and_b32 v7, 0xffff0000, v12
	v_lshlrev_b32 v8, 16, v28
	v_and_b32 v9, 0xffff0000, v28
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_lshlrev_b32 v6, 16, v13
	v_and_b32 v7, 0xffff0000, v13
	v_lshlrev_b32 v8, 16, v29
	v_and_b32 v9, 0xffff0000, v29
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_add_f32 v4, v4, v5                                      // even + odd
	v_add_f32 v2, v4, v2                                      // + lane

// Chunk 1: a pair of BF16 becomes two F32, both chains advance by one packed operation.
	s_waitcnt vmcnt(4)                                        // activations and weights of chunk 1
	v_lshlrev_b32 v6, 16, v14
	v_and_b32 v7, 0xffff0000, v14
	v_lshlrev_b32 v8, 16, v30
	v_and_b32 v9, 0xffff0000, v30
	v_pk_mul_f32 v[4:5], v[6:7], v[8:9]
	v_lshlrev_b32 v6, 16, v15
	v_and_b32 v7, 0xffff0000, v15
	v_lshlrev_b32 v8, 16, v31
	v_and_b32 v9, 0xffff0000, v31
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_lshlrev_b32 v6, 16, v16
	v_and_b32 v7, 0xffff0000, v16
	v_lshlrev_b32 v8, 16, v32
	v_and_b32 v9, 0xffff0000, v32
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_lshlrev_b32 v6, 16, v17
	v_and_b32 v7, 0xffff0000, v17
	v_lshlrev_b32 v8, 16, v33
	v_and_b32 v9, 0xffff0000, v33
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_add_f32 v4, v4, v5                                      // even + odd
	v_add_f32 v2, v4, v2                                      // + lane

// Chunk 2: a pair of BF16 becomes two F32, both chains advance by one packed operation.
	s_waitcnt vmcnt(2)                                        // activations and weights of chunk 2
	v_lshlrev_b32 v6, 16, v18
	v_and_b32 v7, 0xffff0000, v18
	v_lshlrev_b32 v8, 16, v34
	v_and_b32 v9, 0xffff0000, v34
	v_pk_mul_f32 v[4:5], v[6:7], v[8:9]
	v_lshlrev_b32 v6, 16, v19
	v_and_b32 v7, 0xffff0000, v19
	v_lshlrev_b32 v8, 16, v35
	v_and_b32 v9, 0xffff0000, v35
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_lshlrev_b32 v6, 16, v20
	v_and_b32 v7, 0xffff0000, v20
	v_lshlrev_b32 v8, 16, v36
	v_and_b32 v9, 0xffff0000, v36
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_lshlrev_b32 v6, 16, v21
	v_and_b32 v7, 0xffff0000, v21
	v_lshlrev_b32 v8, 16, v37
	v_and_b32 v9, 0xffff0000, v37
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_add_f32 v4, v4, v5                                      // even + odd
	v_add_f32 v2, v4, v2                                      // + lane

// Chunk 3: a pair of BF16 becomes two F32, both chains advance by one packed operation.
	s_waitcnt vmcnt(0)                                        // activations and weights of chunk 3
	v_lshlrev_b32 v6, 16, v22
	v_and_b32 v7, 0xffff0000, v22
	v_lshlrev_b32 v8, 16, v38
	v_and_b32 v9, 0xffff0000, v38
	v_pk_mul_f32 v[4:5], v[6:7], v[8:9]
	v_lshlrev_b32 v6, 16, v23
	v_and_b32 v7, 0xffff0000, v23
	v_lshlrev_b32 v8, 16, v39
	v_and_b32 v9, 0xffff0000, v39
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_lshlrev_b32 v6, 16, v24
	v_and_b32 v7, 0xffff0000, v24
	v_lshlrev_b32 v8, 16, v40
	v_and_b32 v9, 0xffff0000, v40
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_lshlrev_b32 v6, 16, v25
	v_and_b32 v7, 0xffff0000, v25
	v_lshlrev_b32 v8, 16, v41
	v_and_b32 v9, 0xffff0000, v41
	v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]
	v_add_f32 v4, v4, v5                                      // even + odd
	v_add_f32 v2, v4, v2                                      // + lane

// Add the 16 lanes of each row: lane 15 of a row ends with the row's sum.
	s_nop 1                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v2, v2, v2 row_shr:8 row_mask:0xf bank_mask:0xf bound_ctrl:0
	s_nop 1                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v2, v2, v2 row_shr:4 row_mask:0xf bank_mask:0xf bound_ctrl:0
	s_nop 1                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v2, v2, v2 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:0
	s_nop 1                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v2, v2, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0

// Add the rows: R0 + R1 into row 1, R2 + R3 into row 3, then row 1 into row 3.
	s_nop 1                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v2, v2, v2 row_bcast:15 row_mask:0xa bank_mask:0xf
	s_nop 1                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v2, v2, v2 row_bcast:31 row_mask:0xc bank_mask:0xf

// Lane 63 holds the sum, and stores it as BF16.
	v_cvt_pk_bf16_f32 v2, v2, v2
	v_mov_b32 v1, 0
	s_mov_b32 exec_lo, 0
	s_mov_b32 exec_hi, 0x80000000
	global_store_short v1, v2, s[4:5]
	s_endpgm
.Lnetra_router_bf16_verify_m16_gfx950_end:
	.size netra_router_bf16_verify_m16_gfx950, .Lnetra_router_bf16_verify_m16_gfx950_end-netra_router_bf16_verify_m16_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_router_bf16_verify_m16_gfx950
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 42
		.amdhsa_next_free_sgpr 11
		.amdhsa_accum_offset 44
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
  - .name: netra_router_bf16_verify_m16_gfx950
    .symbol: netra_router_bf16_verify_m16_gfx950.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .vgpr_count: 42
    .agpr_count: 0
    .sgpr_count: 11
    .args:
      - {.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: hidden, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: weight, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
...
	.end_amdgpu_metadata
