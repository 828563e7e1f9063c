// SPDX-License-Identifier: MIT
// Dense projection of one token, four waves a work-group: each multiplies 16 columns of FP8 weights
// by the token's FP8 activations, one 128-wide scale block after another. The waves share the
// activations of a block through LDS.
//
// void netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds(
//     const fp8_e4m3 *activation,        //  0  [4096]
//     const float    *activation_scale,  //  8  [32]
//     const fp8_e4m3 *weight,            // 16  [2048, 4096], n16 x k16 shuffled
//     const float    *weight_scale,      // 24  [16, 32]
//     bf16           *out);              // 32  [2048]
//
// Grid (32, 1, 1), 256 work-items: tile of 16 columns = 4 * x + wave.
//
//     dot[kb]  = sum over k in 128 kb .. 128 kb + 127 of activation[k] * weight[column][k]
//     out      = bf16(((0 + p[0]) + p[1]) + ... + p[31]),  p[kb] = w_s[kb] * (a_s[kb] * dot[kb])
//
// with one rounding per written operation. All 16 rows of the first matrix operand hold the
// activations, the 16 columns of the second hold the weights, so register 0 of the result holds the
// dot product of column c in each lane with lane % 16 = c.
//
// A wave loads 32 of the 128 activations of a block, and its weights, one block ahead; after the last
// block the same is loaded again.
//
// SGPR  0:1    kernarg segment, until the pointers are read
//       2      work-group x
//       3      wave
//       4:13   activation, activation_scale, weight, weight_scale, out, each advanced
//       14     tile
//       15     blocks that follow
//       16, 17 a_s, w_s
//       18, 19 a_s, w_s of the next block
//       20:22  temporaries; then bytes to the next block in activation, weight, both scales, 0 after
//              the last
// VGPR  0      lane
//       1      LDS address of the lane's activations, 16 * (lane / 16)
//       2      byte offset into the weights, 16 * lane
//       3      sum
//       4:7    dot products
//       8:15   activations
//       16:23  weights
//       24     byte offset of the activations that the lane stages, 32 * wave + 4 * lane
//       25     staged activations
// LDS   0:127  activations of a block

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds
	.globl netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds
	.p2align 8
	.type netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds,@function
netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds:
// The pointers; meanwhile wave, tile and the lane's byte offsets.
	s_load_dwordx8 s[4:11], s[0:1], 0                         // activation .. weight_scale
	s_load_dwordx2 s[12:13], s[0:1], 32                       // out
	v_lshrrev_b32 v1, 6, v0
	v_and_b32 v0, 63, v0                                      // lane
	v_readfirstlane_b32 s3, v1                                // wave
	v_and_b32 v1, 48, v0
	v_lshlrev_b32 v2, 4, v0
	v_mov_b32 v3, 0                                           // acc = +0
	s_lshl_b32 s20, s3, 5
	v_lshlrev_b32 v24, 2, v0
	v_add_u32 v24, s20, v24                                   // 32 * wave + 4 * lane
	s_lshl_b32 s14, s2, 2
	s_add_u32 s14, s14, s3                                    // tile
	s_lshr_b32 s21, s14, 3                                    // row of weight scales, 8 tiles each
	s_mov_b32 s15, 31                                         // blocks after the first
	s_waitcnt lgkmcnt(0)                                      // the pointers

// weight + 65536 * tile; weight_scale + 128 * row; out + 32 * tile.
	s_lshl_b32 s20, s14, 16
	s_add_u32 s8, s8, s20
	s_addc_u32 s9, s9, 0
	s_lshl_b32 s20, s21, 7
	s_add_u32 s10, s10, s20
	s_addc_u32 s11, s11, 0
	s_lshl_b32 s20, s14, 5
	s_add_u32 s12, s12, s20
	s_addc_u32 s13, s13, 0

// The first block: 8 lanes of a wave load 32 activations, all lanes the weights.
	s_load_dword s16, s[6:7], 0                               // a_s
	s_load_dword s17, s[10:11], 0                             // w_s
	s_mov_b64 exec, 0xff
	global_load_dword v25, v24, s[4:5]
	s_mov_b64 exec, -1
	global_load_dwordx4 v[16:19], v2, s[8:9]
	global_load_dwordx4 v[20:23], v2, s[8:9] offset:1024

// One block: share its activations.
.Lnetra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds_block:
	s_mov_b64 exec, 0xff
	s_waitcnt vmcnt(2)                                        // the activations, which 2 loads of weights follow
	ds_write_b32 v24, v25
	s_mov_b64 exec, -1
	s_waitcnt lgkmcnt(0)                                      // the LDS write, and the scales
	s_barrier
	ds_read_b128 v[8:11], v1
	ds_read_b128 v[12:15], v1 offset:64

// Meanwhile the next block's addresses and scales.
	s_cmp_lg_u32 s15, 0
	s_cselect_b32 s20, 0x80, 0                                // 128 activations
	s_cselect_b32 s21, 0x800, 0                               // 2048 bytes of weights
	s_cselect_b32 s22, 4, 0                                   // a scale
	s_add_u32 s4, s4, s20
	s_addc_u32 s5, s5, 0
	s_add_u32 s8, s8, s21
	s_addc_u32 s9, s9, 0
	s_add_u32 s6, s6, s22
	s_addc_u32 s7, s7, 0
	s_add_u32 s10, s10, s22
	s_addc_u32 s11, s11, 0
	s_waitcnt vmcnt(0)                                        // the weights
	s_waitcnt lgkmcnt(0)                                      // the activations
	s_barrier                                                 // every wave has read them
	s_load_dword s18, s[6:7], 0                               // a_s of the next block
	s_load_dword s19, s[10:11], 0                             // w_s of the next block

// Multiply, load the next block, acc = acc + w_s * (a_s * dot).
	v_mfma_f32_16x16x128_f8f6f4 v[4:7], v[8:15], v[16:23], 0
	s_mov_b64 exec, 0xff
	global_load_dword v25, v24, s[4:5]
	s_mov_b64 exec, -1
	global_load_dwordx4 v[16:19], v2, s[8:9]
	global_load_dwordx4 v[20:23], v2, s[8:9] offset:1024
	s_nop 6                                                   // the dot product is ready after 12 wait states
	v_mul_f32 v4, s16, v4
	v_mul_f32 v4, s17, v4
	v_add_f32 v3, v3, v4
	s_waitcnt lgkmcnt(0)                                      // the scales of the next block
	s_mov_b32 s16, s18
	s_mov_b32 s17, s19
	s_sub_u32 s15, s15, 1
	s_cbranch_scc0 .Lnetra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds_block                                 // until the count falls below 0

// Lanes 0 .. 15 hold the 16 columns once, the other lanes repeat them.
	v_cvt_pk_bf16_f32 v3, v3, v3
	v_lshlrev_b32 v0, 1, v0
	s_mov_b64 exec, 0xffff
	global_store_short v0, v3, s[12:13]
	s_endpgm
.Lnetra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds_end:
	.size netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds, .Lnetra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds_end-netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds
		.amdhsa_group_segment_fixed_size 128
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 40
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 26
		.amdhsa_next_free_sgpr 23
		.amdhsa_accum_offset 28
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
  - .name: netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds
    .symbol: netra_dense_m1_n2048_k4096_fp8e4m3_bf16_identity_gfx950_wave4_lds.kd
    .kernarg_segment_size: 40
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 128
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 256
    .vgpr_count: 26
    .agpr_count: 0
    .sgpr_count: 23
    .args:
      - {.name: activation, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: activation_scale, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: weight, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: weight_scale, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: out, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
...
	.end_amdgpu_metadata
