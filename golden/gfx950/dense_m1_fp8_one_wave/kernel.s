// SPDX-License-Identifier: MIT
// Dense projection of one token: a wave multiplies 16 columns of FP8 weights by the token's FP8
// activations, one 128-wide scale block after another, and rounds the sums to BF16.
//
// void netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1(
//     const fp8_e4m3 *activation,        //  0  [4096]
//     const float    *activation_scale,  //  8  [32]
//     const fp8_e4m3 *weight,            // 16  [2048, 4096], n16 x k16 shuffled
//     const float    *weight_scale,      // 24  [16, 32]
//     bf16           *out);              // 32  [2048]
//
// Grid (128, 1, 1), 64 work-items: x = tile of 16 columns.
//
//     dot[kb]  = sum over k in 128 kb .. 128 kb + 127 of activation[k] * weight[column][k]
//     out      = bf16(((0 + p[0]) + p[1]) + ... + p[31]),  p[kb] = w_s[kb] * (a_s[kb] * dot[kb])
//
// with one rounding per written operation. All 16 rows of the first matrix operand hold the
// activations, the 16 columns of the second hold the weights, so register 0 of the result holds the
// dot product of column c in each lane with lane % 16 = c.
//
// Two K blocks are in flight, an even and an odd one: a block is loaded into the registers of the
// one just multiplied. After the last pair the same blocks are loaded again.
//
// SGPR  0:1    kernarg segment, until the pointers are read
//       2      work-group x (= tile)
//       4:13   activation, activation_scale, weight, weight_scale, out, each advanced
//       14     byte offset
//       15     row of weight scales
//       16:17  a_s of an even and an odd block
//       18:19  w_s of an even and an odd block
//       20     pairs of blocks that follow
//       21:23  bytes to the next pair in activation, weight, both scales; 0 after the last
//       24:27  a_s, w_s of the next pair
// VGPR  0      lane
//       1      byte offset into the activations, 16 * (lane / 16)
//       2      byte offset into the weights, 16 * lane
//       3      sum
//       4:7    dot products
//       8:15   activations of an even block, 16:23 of an odd block
//       24:31  weights of an even block, 32:39 of an odd block
// LDS   none

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1
	.globl netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1
	.p2align 8
	.type netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1,@function
netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1:
// The pointers; meanwhile the lane's byte offsets.
	s_load_dwordx8 s[4:11], s[0:1], 0                         // activation .. weight_scale
	s_load_dwordx2 s[12:13], s[0:1], 32                       // out
	v_and_b32 v1, 48, v0
	v_lshlrev_b32 v2, 4, v0
	v_mov_b32 v3, 0                                           // acc = +0
	s_mov_b32 s20, 15                                         // pairs of blocks after the first
	s_lshr_b32 s15, s2, 3                                     // row of weight scales, 8 tiles each
	s_waitcnt lgkmcnt(0)                                      // the pointers

// weight + 65536 * tile; weight_scale + 128 * (tile / 8); out + 32 * tile.
	s_lshl_b32 s14, s2, 16
	s_add_u32 s8, s8, s14
	s_addc_u32 s9, s9, 0
	s_lshl_b32 s14, s15, 7
	s_add_u32 s10, s10, s14
	s_addc_u32 s11, s11, 0
	s_lshl_b32 s14, s2, 5
	s_add_u32 s12, s12, s14
	s_addc_u32 s13, s13, 0

// The first two blocks and their scales.
	s_load_dwordx2 s[16:17], s[6:7], 0                        // a_s
	s_load_dwordx2 s[18:19], s[10:11], 0                      // w_s
	global_load_dwordx4 v[8:11], v1, s[4:5]
	global_load_dwordx4 v[12:15], v1, s[4:5] offset:64
	global_load_dwordx4 v[24:27], v2, s[8:9]
	global_load_dwordx4 v[28:31], v2, s[8:9] offset:1024
	global_load_dwordx4 v[16:19], v1, s[4:5] offset:128
	global_load_dwordx4 v[20:23], v1, s[4:5] offset:192
	global_load_dwordx4 v[32:35], v2, s[8:9] offset:2048
	global_load_dwordx4 v[36:39], v2, s[8:9] offset:3072
	s_waitcnt lgkmcnt(0)                                      // the first scales

// One pair of blocks; the scales of the next pair are loaded meanwhile.
.Lnetra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1_pair:
	s_cmp_lg_u32 s20, 0
	s_cselect_b32 s21, 0x100, 0                               // 2 blocks of 128 activations
	s_cselect_b32 s22, 0x1000, 0                              // 2 blocks of 2048 bytes of weights
	s_cselect_b32 s23, 8, 0                                   // 2 scales
	s_add_u32 s4, s4, s21
	s_addc_u32 s5, s5, 0
	s_add_u32 s8, s8, s22
	s_addc_u32 s9, s9, 0
	s_add_u32 s6, s6, s23
	s_addc_u32 s7, s7, 0
	s_add_u32 s10, s10, s23
	s_addc_u32 s11, s11, 0
	s_load_dwordx2 s[24:25], s[6:7], 0                        // a_s of the next pair
	s_load_dwordx2 s[26:27], s[10:11], 0                      // w_s of the next pair
// The even block: multiply, load the next even block, acc = acc + w_s * (a_s * dot).
	s_waitcnt vmcnt(4)                                        // the even block, which the other's 4 loads follow
	v_mfma_f32_16x16x128_f8f6f4 v[4:7], v[8:15], v[24:31], 0
	global_load_dwordx4 v[8:11], v1, s[4:5]
	global_load_dwordx4 v[12:15], v1, s[4:5] offset:64
	global_load_dwordx4 v[24:27], v2, s[8:9]
	global_load_dwordx4 v[28:31], v2, s[8:9] offset:1024
	s_nop 7                                                   // the dot product is ready after 12 wait states
	v_mul_f32 v4, s16, v4
	v_mul_f32 v4, s18, v4
	v_add_f32 v3, v3, v4
// The odd block: multiply, load the next odd block, acc = acc + w_s * (a_s * dot).
	s_waitcnt vmcnt(4)                                        // the odd block, which the other's 4 loads follow
	v_mfma_f32_16x16x128_f8f6f4 v[4:7], v[16:23], v[32:39], 0
	global_load_dwordx4 v[16:19], v1, s[4:5] offset:128
	global_load_dwordx4 v[20:23], v1, s[4:5] offset:192
	global_load_dwordx4 v[32:35], v2, s[8:9] offset:2048
	global_load_dwordx4 v[36:39], v2, s[8:9] offset:3072
	s_nop 7                                                   // the dot product is ready after 12 wait states
	v_mul_f32 v4, s17, v4
	v_mul_f32 v4, s19, v4
	v_add_f32 v3, v3, v4
	s_waitcnt lgkmcnt(0)                                      // the scales of the next pair
	s_mov_b64 s[16:17], s[24:25]
	s_mov_b64 s[18:19], s[26:27]
	s_sub_u32 s20, s20, 1
	s_cbranch_scc0 .Lnetra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1_pair                                  // until the count falls below 0

// Lanes 0 .. 15 hold the 16 columns once, the other lanes repeat them.
	v_cvt_pk_bf16_f32 v3, v3, v3
	v_lshlrev_b32 v0, 1, v0
	s_mov_b64 exec, 0xffff
	global_store_short v0, v3, s[12:13]
	s_endpgm
.Lnetra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1_end:
	.size netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1, .Lnetra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1_end-netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 40
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 28
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
  - .name: netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1
    .symbol: netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave1.kd
    .kernarg_segment_size: 40
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .vgpr_count: 40
    .agpr_count: 0
    .sgpr_count: 28
    .args:
      - {.name: activation, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: activation_scale, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: weight, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: weight_scale, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: out, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
...
	.end_amdgpu_metadata
