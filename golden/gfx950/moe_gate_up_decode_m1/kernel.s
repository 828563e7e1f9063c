// SPDX-License-Identifier: MIT
// Gate and up projection of routed experts for one token: a wave multiplies 16 columns of one
// expert's FP8 weights by the token's FP8 activations, one 128-wide scale block after another.
//
// void netra_moe_gate_up_decode_m1_gfx950(
//     const fp8_e4m3 *hidden,        //  0  [T, 2048]
//     const float    *hidden_scale,  //  8  [T, 16]
//     const fp8_e4m3 *w13,           // 16  [257, 1024, 2048], n16 x k16 shuffled, gate then up
//     const float    *w13_scale,     // 24  [257, 8, 16]
//     const int32_t  *topk_ids,      // 32  [T, 9]
//     float          *out);          // 40  [T * 9, 1024]
//
// Grid (576, T, 1), 64 work-items: x = slot * 64 + tile (16 columns), y = token.
//
//     dot[kb]   = sum over k in 128 kb .. 128 kb + 127 of hidden[k] * w13[expert][column][k]
//     out       = ((0 + p[0]) + p[1]) + ... + p[15],  p[kb] = w_s[kb] * (a_s[kb] * dot[kb])
//
// with one rounding per written operation. The dot product is one matrix instruction: all 16
// rows of its first operand hold the activations, the 16 columns of its second hold the weights,
// so register 0 of the result holds the dot product of column c in each lane with lane % 16 = c.
//
// Eight K blocks are in flight: block kb + 8 is loaded into the registers of block kb as soon as
// kb has been multiplied, and the scaling of a block follows the multiplication of the next, which
// hides the 12 wait states of the matrix result. Loads return in order, so the wait for block kb
// counts the loads issued after it.
//
// SGPR  0:1    kernarg segment, until the pointers are read
//       2, 3   work-group x, y (= token)
//       4      slot
//       5      tile
//       6      routed row, token * 9 + slot
//       7      expert
//       8:19   hidden, hidden_scale, w13, w13_scale, topk_ids, out
//       20:21  address of a scalar load
//       22:23  the token's activations
//       24:25  the tile's weights of expert 0; later the output row
//       26:27  the tile's weight scales of expert 0
//       28     scale row of the tile, tile / 8
//       32:47  a_s, one a K block
//       48:63  w_s, one a K block
//       64:71  the tile's weights, one address for 4 K blocks (8192 bytes)
// VGPR  0      lane
//       1      byte offset into the activations, 16 * (lane / 16)
//       2, 3   byte offsets into the weights of an even and an odd pair of K blocks
//       4      byte offset of the lane's output
//       5      accumulator
//       6      scaled product
//       8:15   dot products of an even and an odd K block, 4 registers each
//       16:79  activations of 8 K blocks
//       80:143 weights of 8 K blocks
// LDS   none

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_moe_gate_up_decode_m1_gfx950
	.globl netra_moe_gate_up_decode_m1_gfx950
	.p2align 8
	.type netra_moe_gate_up_decode_m1_gfx950,@function
netra_moe_gate_up_decode_m1_gfx950:
// The pointers; meanwhile the slot and tile of this work-group and the lane's byte offsets.
	s_load_dwordx8 s[8:15], s[0:1], 0                         // hidden, hidden_scale, w13, w13_scale
	s_load_dwordx4 s[16:19], s[0:1], 32                       // topk_ids, out
	s_lshr_b32 s4, s2, 6                                      // slot = x / 64
	s_and_b32 s5, s2, 63                                      // tile = x % 64
	s_lshr_b32 s28, s5, 3                                     // scale row = 16 * tile / 128
	s_mul_i32 s6, s3, 9
	s_add_u32 s6, s6, s4                                      // routed row = token * 9 + slot
	v_and_b32 v1, 48, v0                                      // 16 * (lane / 16)
	v_lshlrev_b32 v2, 4, v0                                   // 16 * lane
	v_add_u32 v3, 0x1000, v2                                  // 16 * lane + 2 K blocks of 2048 bytes
	v_lshlrev_b32 v4, 2, v0                                   // 4 * lane
	v_mov_b32 v5, 0                                           // acc = +0
	s_waitcnt lgkmcnt(0)                                      // the pointers

// expert = topk_ids[routed row]; a_s = hidden_scale[token].
	s_lshl_b32 s20, s6, 2                                     // topk_ids + 4 * routed row
	s_lshr_b32 s21, s6, 30
	s_add_u32 s20, s16, s20
	s_addc_u32 s21, s17, s21
	s_load_dword s7, s[20:21], 0
	s_lshl_b32 s20, s3, 6                                     // hidden_scale + 64 * token
	s_lshr_b32 s21, s3, 26
	s_add_u32 s20, s10, s20
	s_addc_u32 s21, s11, s21
	s_load_dwordx8 s[32:39], s[20:21], 0
	s_load_dwordx8 s[40:47], s[20:21], 32

// Activations of K blocks 0..7: lane (g, c) holds k = 16 g .. 16 g + 15 and 64 + 16 g ..
	s_lshl_b32 s22, s3, 11                                    // hidden + 2048 * token
	s_lshr_b32 s23, s3, 21
	s_add_u32 s22, s8, s22
	s_addc_u32 s23, s9, s23
	global_load_dwordx4 v[16:19], v1, s[22:23]
	global_load_dwordx4 v[20:23], v1, s[22:23] offset:64
	global_load_dwordx4 v[24:27], v1, s[22:23] offset:128
	global_load_dwordx4 v[28:31], v1, s[22:23] offset:192
	global_load_dwordx4 v[32:35], v1, s[22:23] offset:256
	global_load_dwordx4 v[36:39], v1, s[22:23] offset:320
	global_load_dwordx4 v[40:43], v1, s[22:23] offset:384
	global_load_dwordx4 v[44:47], v1, s[22:23] offset:448
	global_load_dwordx4 v[48:51], v1, s[22:23] offset:512
	global_load_dwordx4 v[52:55], v1, s[22:23] offset:576
	global_load_dwordx4 v[56:59], v1, s[22:23] offset:640
	global_load_dwordx4 v[60:63], v1, s[22:23] offset:704
	global_load_dwordx4 v[64:67], v1, s[22:23] offset:768
	global_load_dwordx4 v[68:71], v1, s[22:23] offset:832
	global_load_dwordx4 v[72:75], v1, s[22:23] offset:896
	global_load_dwordx4 v[76:79], v1, s[22:23] offset:960

// The tile's weights start at w13 + 2 MiB * expert + 32 KiB * tile, its scales at
// w13_scale + 512 * expert + 64 * (tile / 8).
	s_lshl_b32 s24, s5, 15                                    // w13 + 32768 * tile
	s_lshr_b32 s25, s5, 17
	s_add_u32 s24, s12, s24
	s_addc_u32 s25, s13, s25
	s_lshl_b32 s26, s28, 6                                    // w13_scale + 64 * scale row
	s_lshr_b32 s27, s28, 26
	s_add_u32 s26, s14, s26
	s_addc_u32 s27, s15, s27
	s_waitcnt lgkmcnt(0)                                      // the expert (and a_s)
	s_lshl_b32 s20, s7, 9                                     // + 512 * expert
	s_lshr_b32 s21, s7, 23
	s_add_u32 s20, s26, s20
	s_addc_u32 s21, s27, s21
	s_load_dwordx8 s[48:55], s[20:21], 0
	s_load_dwordx8 s[56:63], s[20:21], 32
	s_lshl_b32 s64, s7, 21                                    // + 2097152 * expert
	s_lshr_b32 s65, s7, 11
	s_add_u32 s64, s24, s64
	s_addc_u32 s65, s25, s65
	s_add_u32 s66, s64, 0x2000                                // K blocks 4..7
	s_addc_u32 s67, s65, 0
	s_add_u32 s68, s66, 0x2000                                // K blocks 8..11
	s_addc_u32 s69, s67, 0
	s_add_u32 s70, s68, 0x2000                                // K blocks 12..15
	s_addc_u32 s71, s69, 0

// Weights of K blocks 0..7: 16 bytes a lane are 64 values of K, the second half lies 1024 on.
	global_load_dwordx4 v[80:83], v2, s[64:65]
	global_load_dwordx4 v[84:87], v2, s[64:65] offset:1024
	global_load_dwordx4 v[88:91], v2, s[64:65] offset:2048
	global_load_dwordx4 v[92:95], v2, s[64:65] offset:3072
	global_load_dwordx4 v[96:99], v3, s[64:65]
	global_load_dwordx4 v[100:103], v3, s[64:65] offset:1024
	global_load_dwordx4 v[104:107], v3, s[64:65] offset:2048
	global_load_dwordx4 v[108:111], v3, s[64:65] offset:3072
	global_load_dwordx4 v[112:115], v2, s[66:67]
	global_load_dwordx4 v[116:119], v2, s[66:67] offset:1024
	global_load_dwordx4 v[120:123], v2, s[66:67] offset:2048
	global_load_dwordx4 v[124:127], v2, s[66:67] offset:3072
	global_load_dwordx4 v[128:131], v3, s[66:67]
	global_load_dwordx4 v[132:135], v3, s[66:67] offset:1024
	global_load_dwordx4 v[136:139], v3, s[66:67] offset:2048
	global_load_dwordx4 v[140:143], v3, s[66:67] offset:3072

// Multiply K block 0, load block 8.
	s_waitcnt vmcnt(14)                                       // activations and weights of K block 0
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[80:87], 0
	global_load_dwordx4 v[16:19], v1, s[22:23] offset:1024
	global_load_dwordx4 v[20:23], v1, s[22:23] offset:1088
	global_load_dwordx4 v[80:83], v2, s[68:69]
	global_load_dwordx4 v[84:87], v2, s[68:69] offset:1024

// Multiply K block 1, load block 9, add block 0.
	s_waitcnt vmcnt(16)                                       // activations and weights of K block 1
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[24:31], v[88:95], 0
	global_load_dwordx4 v[24:27], v1, s[22:23] offset:1152
	global_load_dwordx4 v[28:31], v1, s[22:23] offset:1216
	global_load_dwordx4 v[88:91], v2, s[68:69] offset:2048
	global_load_dwordx4 v[92:95], v2, s[68:69] offset:3072
	s_waitcnt lgkmcnt(0)                                      // w_s
	s_nop 0                                                   // 12 wait states of dot 0
	v_mul_f32 v6, s32, v8                                     // a_s * dot
	v_mul_f32 v6, s48, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 2, load block 10, add block 1.
	s_waitcnt vmcnt(18)                                       // activations and weights of K block 2
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[32:39], v[96:103], 0
	global_load_dwordx4 v[32:35], v1, s[22:23] offset:1280
	global_load_dwordx4 v[36:39], v1, s[22:23] offset:1344
	global_load_dwordx4 v[96:99], v3, s[68:69]
	global_load_dwordx4 v[100:103], v3, s[68:69] offset:1024
	v_mul_f32 v6, s33, v12                                    // a_s * dot
	v_mul_f32 v6, s49, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 3, load block 11, add block 2.
	s_waitcnt vmcnt(20)                                       // activations and weights of K block 3
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[40:47], v[104:111], 0
	global_load_dwordx4 v[40:43], v1, s[22:23] offset:1408
	global_load_dwordx4 v[44:47], v1, s[22:23] offset:1472
	global_load_dwordx4 v[104:107], v3, s[68:69] offset:2048
	global_load_dwordx4 v[108:111], v3, s[68:69] offset:3072
	v_mul_f32 v6, s34, v8                                     // a_s * dot
	v_mul_f32 v6, s50, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 4, load block 12, add block 3.
	s_waitcnt vmcnt(22)                                       // activations and weights of K block 4
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[48:55], v[112:119], 0
	global_load_dwordx4 v[48:51], v1, s[22:23] offset:1536
	global_load_dwordx4 v[52:55], v1, s[22:23] offset:1600
	global_load_dwordx4 v[112:115], v2, s[70:71]
	global_load_dwordx4 v[116:119], v2, s[70:71] offset:1024
	v_mul_f32 v6, s35, v12                                    // a_s * dot
	v_mul_f32 v6, s51, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 5, load block 13, add block 4.
	s_waitcnt vmcnt(24)                                       // activations and weights of K block 5
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[56:63], v[120:127], 0
	global_load_dwordx4 v[56:59], v1, s[22:23] offset:1664
	global_load_dwordx4 v[60:63], v1, s[22:23] offset:1728
	global_load_dwordx4 v[120:123], v2, s[70:71] offset:2048
	global_load_dwordx4 v[124:127], v2, s[70:71] offset:3072
	v_mul_f32 v6, s36, v8                                     // a_s * dot
	v_mul_f32 v6, s52, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 6, load block 14, add block 5.
	s_waitcnt vmcnt(26)                                       // activations and weights of K block 6
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[64:71], v[128:135], 0
	global_load_dwordx4 v[64:67], v1, s[22:23] offset:1792
	global_load_dwordx4 v[68:71], v1, s[22:23] offset:1856
	global_load_dwordx4 v[128:131], v3, s[70:71]
	global_load_dwordx4 v[132:135], v3, s[70:71] offset:1024
	v_mul_f32 v6, s37, v12                                    // a_s * dot
	v_mul_f32 v6, s53, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 7, load block 15, add block 6.
	s_waitcnt vmcnt(28)                                       // activations and weights of K block 7
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[72:79], v[136:143], 0
	global_load_dwordx4 v[72:75], v1, s[22:23] offset:1920
	global_load_dwordx4 v[76:79], v1, s[22:23] offset:1984
	global_load_dwordx4 v[136:139], v3, s[70:71] offset:2048
	global_load_dwordx4 v[140:143], v3, s[70:71] offset:3072
	v_mul_f32 v6, s38, v8                                     // a_s * dot
	v_mul_f32 v6, s54, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 8, add block 7.
	s_waitcnt vmcnt(28)                                       // activations and weights of K block 8
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[80:87], 0
	s_nop 2                                                   // 12 wait states of dot 7
	v_mul_f32 v6, s39, v12                                    // a_s * dot
	v_mul_f32 v6, s55, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 9, add block 8.
	s_waitcnt vmcnt(24)                                       // activations and weights of K block 9
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[24:31], v[88:95], 0
	s_nop 3                                                   // 12 wait states of dot 8
	v_mul_f32 v6, s40, v8                                     // a_s * dot
	v_mul_f32 v6, s56, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 10, add block 9.
	s_waitcnt vmcnt(20)                                       // activations and weights of K block 10
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[32:39], v[96:103], 0
	s_nop 2                                                   // 12 wait states of dot 9
	v_mul_f32 v6, s41, v12                                    // a_s * dot
	v_mul_f32 v6, s57, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 11, add block 10.
	s_waitcnt vmcnt(16)                                       // activations and weights of K block 11
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[40:47], v[104:111], 0
	s_nop 3                                                   // 12 wait states of dot 10
	v_mul_f32 v6, s42, v8                                     // a_s * dot
	v_mul_f32 v6, s58, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 12, add block 11.
	s_waitcnt vmcnt(12)                                       // activations and weights of K block 12
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[48:55], v[112:119], 0
	s_nop 2                                                   // 12 wait states of dot 11
	v_mul_f32 v6, s43, v12                                    // a_s * dot
	v_mul_f32 v6, s59, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 13, add block 12.
	s_waitcnt vmcnt(8)                                        // activations and weights of K block 13
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[56:63], v[120:127], 0
	s_nop 3                                                   // 12 wait states of dot 12
	v_mul_f32 v6, s44, v8                                     // a_s * dot
	v_mul_f32 v6, s60, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 14, add block 13.
	s_waitcnt vmcnt(4)                                        // activations and weights of K block 14
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[64:71], v[128:135], 0
	s_nop 2                                                   // 12 wait states of dot 13
	v_mul_f32 v6, s45, v12                                    // a_s * dot
	v_mul_f32 v6, s61, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Multiply K block 15, add block 14.
	s_waitcnt vmcnt(0)                                        // activations and weights of K block 15
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[72:79], v[136:143], 0
	s_nop 3                                                   // 12 wait states of dot 14
	v_mul_f32 v6, s46, v8                                     // a_s * dot
	v_mul_f32 v6, s62, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Add block 15.
	s_nop 4                                                   // 12 wait states of dot 15
	v_mul_f32 v6, s47, v12                                    // a_s * dot
	v_mul_f32 v6, s63, v6                                     // w_s * (a_s * dot)
	v_add_f32 v5, v5, v6                                      // acc + ...

// Lanes 0..15 hold the 16 columns once, the other lanes repeat them: they store to
// out + 4096 * routed row + 64 * tile.
	s_lshl_b32 s24, s6, 12                                    // out + 4096 * routed row
	s_lshr_b32 s25, s6, 20
	s_add_u32 s24, s18, s24
	s_addc_u32 s25, s19, s25
	s_lshl_b32 s20, s5, 6
	s_add_u32 s24, s24, s20                                   // + 64 * tile
	s_addc_u32 s25, s25, 0
	s_mov_b64 exec, 0xffff
	global_store_dword v4, v5, s[24:25]
	s_endpgm
	.size netra_moe_gate_up_decode_m1_gfx950, .-netra_moe_gate_up_decode_m1_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_moe_gate_up_decode_m1_gfx950
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 48
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 144
		.amdhsa_next_free_sgpr 72
		.amdhsa_accum_offset 144
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
  - .name: netra_moe_gate_up_decode_m1_gfx950
    .symbol: netra_moe_gate_up_decode_m1_gfx950.kd
    .kernarg_segment_size: 48
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .vgpr_count: 144
    .agpr_count: 0
    .sgpr_count: 72
    .args:
      - {.name: hidden, .offset: 0, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: hidden_scale, .offset: 8, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: w13, .offset: 16, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: w13_scale, .offset: 24, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: topk_ids, .offset: 32, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: out, .offset: 40, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: write_only}
...
	.end_amdgpu_metadata
