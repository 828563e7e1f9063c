// SPDX-License-Identifier: MIT
// Down projection of the nine routed experts of one token and their weighted sum: two waves
// multiply 16 columns of each expert's FP8 weights by that expert's FP8 activations.
//
// void netra_moe_down_reduce_decode_m1_gfx950(
//     const fp8_e4m3 *act,           //  0  [T, 9, 512]
//     const float    *act_scale,     //  8  [T, 9, 4]
//     const fp8_e4m3 *w2,            // 16  [257, 2048, 512], n16 x k16 shuffled
//     const float    *w2_scale,      // 24  [257, 16, 4]
//     const float    *topk_weights,  // 32  [T, 9]
//     const int32_t  *topk_ids,      // 40  [T, 9]
//     bf16           *out);          // 48  [T, 2048]
//
// Grid (128, T, 1), 128 work-items: x = tile (16 columns), y = token.
//
//     dot[s][kb] = sum over k in 128 kb .. 128 kb + 127 of act[s][k] * w2[expert[s]][column][k]
//     p[s][kb]   = r_w[s] * (w_s[s][kb] * (a_s[s][kb] * dot[s][kb]))
//     out        = bf16(((0 + p[0][0]) + p[0][1]) + ... + p[8][3])
//
// with one rounding per written operation; slots outside, K blocks inside. Wave 0 multiplies and
// adds slots 0..4, wave 1 multiplies slots 5..8 and hands p over through LDS; after the barrier
// wave 0 adds those in order behind its own.
//
// A block is one K block of one slot: block b = 4 * (slot - first slot of the wave) + kb. The dot
// product of a block is one matrix instruction: all 16 rows of its first operand hold the
// activations, the 16 columns of its second hold the weights, so register 0 of the result holds
// the dot product of column c in each lane with lane % 16 = c.
//
// Eight blocks are in flight: block b + 8 is loaded into the registers of block b as soon as b has
// been multiplied, and the scaling of a block follows the multiplication of the next, which hides
// the 12 wait states of the matrix result. Loads return in order, so the wait for block b counts
// the loads issued after it.
//
// SGPR  0:1    kernarg segment, until the pointers are read
//       2, 3   work-group x (= tile), y (= token)
//       4      wave
//       5      routed row of the wave's first slot, token * 9 + 5 * wave
//       6      scale row of the tile, tile / 8
//       7      first slot of the wave, 5 * wave
//       8:21   act, act_scale, w2, w2_scale, topk_weights, topk_ids, out
//       22:23  the tile's weights of expert 0; later the output row
//       24:25  the tile's weight scales of expert 0
//       26:27  the activations of the wave's first slot
//       28:29  address of a scalar load
//       32:36  expert, one a slot
//       40:44  r_w, one a slot
//       48:67  a_s, one a block
//       68:87  w_s, one a block
//       88:97  the tile's weights, one address a slot
// VGPR  0      work-item, then lane
//       1      byte offset into the activations, 16 * (lane / 16)
//       2, 3   byte offsets into the weights of K blocks 0, 1 and of K blocks 2, 3
//       4      byte offset of the lane's column in LDS, 4 * lane
//       5      byte offset of the lane's output, 2 * lane
//       6      accumulator
//       7      scaled product
//       8:15   dot products of an even and an odd block, 4 registers each
//       16:79  activations of 8 blocks
//       80:143 weights of 8 blocks
//       144:159 p of the 16 blocks of slots 5..8
// LDS   0:1023 p[slot - 5][kb][column], FP32

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_moe_down_reduce_decode_m1_gfx950
	.globl netra_moe_down_reduce_decode_m1_gfx950
	.p2align 8
	.type netra_moe_down_reduce_decode_m1_gfx950,@function
netra_moe_down_reduce_decode_m1_gfx950:
// The pointers; meanwhile the wave, its first routed row and the lane's byte offsets.
	s_load_dwordx8 s[8:15], s[0:1], 0                         // act, act_scale, w2, w2_scale
	s_load_dwordx4 s[16:19], s[0:1], 32                       // topk_weights, topk_ids
	s_load_dwordx2 s[20:21], s[0:1], 48                       // out
	v_lshrrev_b32 v1, 6, v0                                   // wave = work-item / 64
	v_and_b32 v0, 63, v0                                      // lane = work-item % 64
	v_readfirstlane_b32 s4, v1
	s_lshr_b32 s6, s2, 3                                      // scale row = 16 * tile / 128
	s_mul_i32 s5, s3, 9
	s_mul_i32 s7, s4, 5                                       // first slot = 5 * wave
	s_add_u32 s5, s5, s7                                      // token * 9 + first slot
	v_and_b32 v1, 48, v0                                      // 16 * (lane / 16)
	v_lshlrev_b32 v2, 4, v0                                   // 16 * lane
	v_add_u32 v3, 0x1000, v2                                  // 16 * lane + 2 K blocks of 2048 bytes
	v_lshlrev_b32 v4, 2, v0                                   // 4 * lane
	v_lshlrev_b32 v5, 1, v0                                   // 2 * lane
	v_mov_b32 v6, 0                                           // acc = +0
	s_waitcnt lgkmcnt(0)                                      // the pointers

// Experts, route weights and activation scales of the wave's first four slots.
	s_lshl_b32 s28, s5, 2                                     // topk_ids + 4 * routed row
	s_lshr_b32 s29, s5, 30
	s_add_u32 s28, s18, s28
	s_addc_u32 s29, s19, s29
	s_load_dwordx4 s[32:35], s[28:29], 0
	s_lshl_b32 s28, s5, 2                                     // topk_weights + 4 * routed row
	s_lshr_b32 s29, s5, 30
	s_add_u32 s28, s16, s28
	s_addc_u32 s29, s17, s29
	s_load_dwordx4 s[40:43], s[28:29], 0
	s_lshl_b32 s28, s5, 4                                     // act_scale + 16 * routed row
	s_lshr_b32 s29, s5, 28
	s_add_u32 s28, s10, s28
	s_addc_u32 s29, s11, s29
	s_load_dwordx8 s[48:55], s[28:29], 0
	s_load_dwordx8 s[56:63], s[28:29], 32

// Activations of blocks 0..7: lane (g, c) holds k = 16 g .. 16 g + 15 and 64 + 16 g ..
	s_lshl_b32 s26, s5, 9                                     // act + 512 * routed row
	s_lshr_b32 s27, s5, 23
	s_add_u32 s26, s8, s26
	s_addc_u32 s27, s9, s27
	global_load_dwordx4 v[16:19], v1, s[26:27]
	global_load_dwordx4 v[20:23], v1, s[26:27] offset:64
	global_load_dwordx4 v[24:27], v1, s[26:27] offset:128
	global_load_dwordx4 v[28:31], v1, s[26:27] offset:192
	global_load_dwordx4 v[32:35], v1, s[26:27] offset:256
	global_load_dwordx4 v[36:39], v1, s[26:27] offset:320
	global_load_dwordx4 v[40:43], v1, s[26:27] offset:384
	global_load_dwordx4 v[44:47], v1, s[26:27] offset:448
	global_load_dwordx4 v[48:51], v1, s[26:27] offset:512
	global_load_dwordx4 v[52:55], v1, s[26:27] offset:576
	global_load_dwordx4 v[56:59], v1, s[26:27] offset:640
	global_load_dwordx4 v[60:63], v1, s[26:27] offset:704
	global_load_dwordx4 v[64:67], v1, s[26:27] offset:768
	global_load_dwordx4 v[68:71], v1, s[26:27] offset:832
	global_load_dwordx4 v[72:75], v1, s[26:27] offset:896
	global_load_dwordx4 v[76:79], v1, s[26:27] offset:960

// A slot's weights start at w2 + 1 MiB * expert + 8 KiB * tile, its scales at
// w2_scale + 256 * expert + 16 * (tile / 8).
	s_lshl_b32 s22, s2, 13                                    // w2 + 8192 * tile
	s_lshr_b32 s23, s2, 19
	s_add_u32 s22, s12, s22
	s_addc_u32 s23, s13, s23
	s_lshl_b32 s24, s6, 4                                     // w2_scale + 16 * scale row
	s_lshr_b32 s25, s6, 28
	s_add_u32 s24, s14, s24
	s_addc_u32 s25, s15, s25
	s_waitcnt lgkmcnt(0)                                      // experts (and r_w, a_s)
	s_lshl_b32 s88, s32, 20                                   // slot 0: + 1048576 * expert
	s_lshr_b32 s89, s32, 12
	s_add_u32 s88, s22, s88
	s_addc_u32 s89, s23, s89
	s_lshl_b32 s28, s32, 8                                    // + 256 * expert
	s_lshr_b32 s29, s32, 24
	s_add_u32 s28, s24, s28
	s_addc_u32 s29, s25, s29
	s_load_dwordx4 s[68:71], s[28:29], 0
	s_lshl_b32 s90, s33, 20                                   // slot 1: + 1048576 * expert
	s_lshr_b32 s91, s33, 12
	s_add_u32 s90, s22, s90
	s_addc_u32 s91, s23, s91
	s_lshl_b32 s28, s33, 8                                    // + 256 * expert
	s_lshr_b32 s29, s33, 24
	s_add_u32 s28, s24, s28
	s_addc_u32 s29, s25, s29
	s_load_dwordx4 s[72:75], s[28:29], 0
	s_lshl_b32 s92, s34, 20                                   // slot 2: + 1048576 * expert
	s_lshr_b32 s93, s34, 12
	s_add_u32 s92, s22, s92
	s_addc_u32 s93, s23, s93
	s_lshl_b32 s28, s34, 8                                    // + 256 * expert
	s_lshr_b32 s29, s34, 24
	s_add_u32 s28, s24, s28
	s_addc_u32 s29, s25, s29
	s_load_dwordx4 s[76:79], s[28:29], 0
	s_lshl_b32 s94, s35, 20                                   // slot 3: + 1048576 * expert
	s_lshr_b32 s95, s35, 12
	s_add_u32 s94, s22, s94
	s_addc_u32 s95, s23, s95
	s_lshl_b32 s28, s35, 8                                    // + 256 * expert
	s_lshr_b32 s29, s35, 24
	s_add_u32 s28, s24, s28
	s_addc_u32 s29, s25, s29
	s_load_dwordx4 s[80:83], s[28:29], 0

// Weights of blocks 0..7: 16 bytes a lane are 64 values of K, the second half lies 1024 on.
	global_load_dwordx4 v[80:83], v2, s[88:89]
	global_load_dwordx4 v[84:87], v2, s[88:89] offset:1024
	global_load_dwordx4 v[88:91], v2, s[88:89] offset:2048
	global_load_dwordx4 v[92:95], v2, s[88:89] offset:3072
	global_load_dwordx4 v[96:99], v3, s[88:89]
	global_load_dwordx4 v[100:103], v3, s[88:89] offset:1024
	global_load_dwordx4 v[104:107], v3, s[88:89] offset:2048
	global_load_dwordx4 v[108:111], v3, s[88:89] offset:3072
	global_load_dwordx4 v[112:115], v2, s[90:91]
	global_load_dwordx4 v[116:119], v2, s[90:91] offset:1024
	global_load_dwordx4 v[120:123], v2, s[90:91] offset:2048
	global_load_dwordx4 v[124:127], v2, s[90:91] offset:3072
	global_load_dwordx4 v[128:131], v3, s[90:91]
	global_load_dwordx4 v[132:135], v3, s[90:91] offset:1024
	global_load_dwordx4 v[136:139], v3, s[90:91] offset:2048
	global_load_dwordx4 v[140:143], v3, s[90:91] offset:3072

	s_cmp_eq_u32 s4, 0
	s_cbranch_scc0 .Lnetra_moe_down_reduce_decode_m1_gfx950_second_wave

// Wave 0: expert, route weight and scales of slot 4.
	s_lshl_b32 s28, s5, 2                                     // topk_ids + 4 * routed row
	s_lshr_b32 s29, s5, 30
	s_add_u32 s28, s18, s28
	s_addc_u32 s29, s19, s29
	s_load_dword s36, s[28:29], 16
	s_lshl_b32 s28, s5, 2                                     // topk_weights + 4 * routed row
	s_lshr_b32 s29, s5, 30
	s_add_u32 s28, s16, s28
	s_addc_u32 s29, s17, s29
	s_load_dword s44, s[28:29], 16
	s_lshl_b32 s28, s5, 4                                     // act_scale + 16 * routed row
	s_lshr_b32 s29, s5, 28
	s_add_u32 s28, s10, s28
	s_addc_u32 s29, s11, s29
	s_load_dwordx4 s[64:67], s[28:29], 64
	s_waitcnt lgkmcnt(0)                                      // r_w, a_s and expert; w_s of 0..3
	s_lshl_b32 s96, s36, 20                                   // slot 4: + 1048576 * expert
	s_lshr_b32 s97, s36, 12
	s_add_u32 s96, s22, s96
	s_addc_u32 s97, s23, s97
	s_lshl_b32 s28, s36, 8                                    // + 256 * expert
	s_lshr_b32 s29, s36, 24
	s_add_u32 s28, s24, s28
	s_addc_u32 s29, s25, s29
	s_load_dwordx4 s[84:87], s[28:29], 0

// Multiply block 0, load block 8.
	s_waitcnt vmcnt(14)                                       // activations and weights of block 0
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[80:87], 0
	global_load_dwordx4 v[16:19], v1, s[26:27] offset:1024
	global_load_dwordx4 v[20:23], v1, s[26:27] offset:1088
	global_load_dwordx4 v[80:83], v2, s[92:93]
	global_load_dwordx4 v[84:87], v2, s[92:93] offset:1024

// Multiply block 1, load block 9, add block 0.
	s_waitcnt vmcnt(16)                                       // activations and weights of block 1
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[24:31], v[88:95], 0
	global_load_dwordx4 v[24:27], v1, s[26:27] offset:1152
	global_load_dwordx4 v[28:31], v1, s[26:27] offset:1216
	global_load_dwordx4 v[88:91], v2, s[92:93] offset:2048
	global_load_dwordx4 v[92:95], v2, s[92:93] offset:3072
	s_waitcnt lgkmcnt(0)                                      // w_s
	s_nop 0                                                   // 12 wait states of dot 0
	v_mul_f32 v7, s48, v8                                     // a_s * dot
	v_mul_f32 v7, s68, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s40, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 2, load block 10, add block 1.
	s_waitcnt vmcnt(18)                                       // activations and weights of block 2
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[32:39], v[96:103], 0
	global_load_dwordx4 v[32:35], v1, s[26:27] offset:1280
	global_load_dwordx4 v[36:39], v1, s[26:27] offset:1344
	global_load_dwordx4 v[96:99], v3, s[92:93]
	global_load_dwordx4 v[100:103], v3, s[92:93] offset:1024
	v_mul_f32 v7, s49, v12                                    // a_s * dot
	v_mul_f32 v7, s69, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s40, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 3, load block 11, add block 2.
	s_waitcnt vmcnt(20)                                       // activations and weights of block 3
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[40:47], v[104:111], 0
	global_load_dwordx4 v[40:43], v1, s[26:27] offset:1408
	global_load_dwordx4 v[44:47], v1, s[26:27] offset:1472
	global_load_dwordx4 v[104:107], v3, s[92:93] offset:2048
	global_load_dwordx4 v[108:111], v3, s[92:93] offset:3072
	v_mul_f32 v7, s50, v8                                     // a_s * dot
	v_mul_f32 v7, s70, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s40, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 4, load block 12, add block 3.
	s_waitcnt vmcnt(22)                                       // activations and weights of block 4
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[48:55], v[112:119], 0
	global_load_dwordx4 v[48:51], v1, s[26:27] offset:1536
	global_load_dwordx4 v[52:55], v1, s[26:27] offset:1600
	global_load_dwordx4 v[112:115], v2, s[94:95]
	global_load_dwordx4 v[116:119], v2, s[94:95] offset:1024
	v_mul_f32 v7, s51, v12                                    // a_s * dot
	v_mul_f32 v7, s71, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s40, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 5, load block 13, add block 4.
	s_waitcnt vmcnt(24)                                       // activations and weights of block 5
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[56:63], v[120:127], 0
	global_load_dwordx4 v[56:59], v1, s[26:27] offset:1664
	global_load_dwordx4 v[60:63], v1, s[26:27] offset:1728
	global_load_dwordx4 v[120:123], v2, s[94:95] offset:2048
	global_load_dwordx4 v[124:127], v2, s[94:95] offset:3072
	v_mul_f32 v7, s52, v8                                     // a_s * dot
	v_mul_f32 v7, s72, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s41, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 6, load block 14, add block 5.
	s_waitcnt vmcnt(26)                                       // activations and weights of block 6
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[64:71], v[128:135], 0
	global_load_dwordx4 v[64:67], v1, s[26:27] offset:1792
	global_load_dwordx4 v[68:71], v1, s[26:27] offset:1856
	global_load_dwordx4 v[128:131], v3, s[94:95]
	global_load_dwordx4 v[132:135], v3, s[94:95] offset:1024
	v_mul_f32 v7, s53, v12                                    // a_s * dot
	v_mul_f32 v7, s73, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s41, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 7, load block 15, add block 6.
	s_waitcnt vmcnt(28)                                       // activations and weights of block 7
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[72:79], v[136:143], 0
	global_load_dwordx4 v[72:75], v1, s[26:27] offset:1920
	global_load_dwordx4 v[76:79], v1, s[26:27] offset:1984
	global_load_dwordx4 v[136:139], v3, s[94:95] offset:2048
	global_load_dwordx4 v[140:143], v3, s[94:95] offset:3072
	v_mul_f32 v7, s54, v8                                     // a_s * dot
	v_mul_f32 v7, s74, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s41, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 8, load block 16, add block 7.
	s_waitcnt vmcnt(28)                                       // activations and weights of block 8
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[80:87], 0
	global_load_dwordx4 v[16:19], v1, s[26:27] offset:2048
	global_load_dwordx4 v[20:23], v1, s[26:27] offset:2112
	global_load_dwordx4 v[80:83], v2, s[96:97]
	global_load_dwordx4 v[84:87], v2, s[96:97] offset:1024
	v_mul_f32 v7, s55, v12                                    // a_s * dot
	v_mul_f32 v7, s75, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s41, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 9, load block 17, add block 8.
	s_waitcnt vmcnt(28)                                       // activations and weights of block 9
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[24:31], v[88:95], 0
	global_load_dwordx4 v[24:27], v1, s[26:27] offset:2176
	global_load_dwordx4 v[28:31], v1, s[26:27] offset:2240
	global_load_dwordx4 v[88:91], v2, s[96:97] offset:2048
	global_load_dwordx4 v[92:95], v2, s[96:97] offset:3072
	v_mul_f32 v7, s56, v8                                     // a_s * dot
	v_mul_f32 v7, s76, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s42, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 10, load block 18, add block 9.
	s_waitcnt vmcnt(28)                                       // activations and weights of block 10
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[32:39], v[96:103], 0
	global_load_dwordx4 v[32:35], v1, s[26:27] offset:2304
	global_load_dwordx4 v[36:39], v1, s[26:27] offset:2368
	global_load_dwordx4 v[96:99], v3, s[96:97]
	global_load_dwordx4 v[100:103], v3, s[96:97] offset:1024
	v_mul_f32 v7, s57, v12                                    // a_s * dot
	v_mul_f32 v7, s77, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s42, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 11, load block 19, add block 10.
	s_waitcnt vmcnt(28)                                       // activations and weights of block 11
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[40:47], v[104:111], 0
	global_load_dwordx4 v[40:43], v1, s[26:27] offset:2432
	global_load_dwordx4 v[44:47], v1, s[26:27] offset:2496
	global_load_dwordx4 v[104:107], v3, s[96:97] offset:2048
	global_load_dwordx4 v[108:111], v3, s[96:97] offset:3072
	v_mul_f32 v7, s58, v8                                     // a_s * dot
	v_mul_f32 v7, s78, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s42, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 12, add block 11.
	s_waitcnt vmcnt(28)                                       // activations and weights of block 12
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[48:55], v[112:119], 0
	s_nop 1                                                   // 12 wait states of dot 11
	v_mul_f32 v7, s59, v12                                    // a_s * dot
	v_mul_f32 v7, s79, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s42, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 13, add block 12.
	s_waitcnt vmcnt(24)                                       // activations and weights of block 13
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[56:63], v[120:127], 0
	s_nop 3                                                   // 12 wait states of dot 12
	v_mul_f32 v7, s60, v8                                     // a_s * dot
	v_mul_f32 v7, s80, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s43, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 14, add block 13.
	s_waitcnt vmcnt(20)                                       // activations and weights of block 14
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[64:71], v[128:135], 0
	s_nop 1                                                   // 12 wait states of dot 13
	v_mul_f32 v7, s61, v12                                    // a_s * dot
	v_mul_f32 v7, s81, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s43, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 15, add block 14.
	s_waitcnt vmcnt(16)                                       // activations and weights of block 15
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[72:79], v[136:143], 0
	s_nop 3                                                   // 12 wait states of dot 14
	v_mul_f32 v7, s62, v8                                     // a_s * dot
	v_mul_f32 v7, s82, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s43, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 16, add block 15.
	s_waitcnt vmcnt(12)                                       // activations and weights of block 16
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[80:87], 0
	s_nop 1                                                   // 12 wait states of dot 15
	v_mul_f32 v7, s63, v12                                    // a_s * dot
	v_mul_f32 v7, s83, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s43, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 17, add block 16.
	s_waitcnt vmcnt(8)                                        // activations and weights of block 17
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[24:31], v[88:95], 0
	s_nop 3                                                   // 12 wait states of dot 16
	v_mul_f32 v7, s64, v8                                     // a_s * dot
	v_mul_f32 v7, s84, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s44, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 18, add block 17.
	s_waitcnt vmcnt(4)                                        // activations and weights of block 18
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[32:39], v[96:103], 0
	s_nop 1                                                   // 12 wait states of dot 17
	v_mul_f32 v7, s65, v12                                    // a_s * dot
	v_mul_f32 v7, s85, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s44, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Multiply block 19, add block 18.
	s_waitcnt vmcnt(0)                                        // activations and weights of block 19
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[40:47], v[104:111], 0
	s_nop 3                                                   // 12 wait states of dot 18
	v_mul_f32 v7, s66, v8                                     // a_s * dot
	v_mul_f32 v7, s86, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s44, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Add block 19.
	s_nop 3                                                   // 12 wait states of dot 19
	v_mul_f32 v7, s67, v12                                    // a_s * dot
	v_mul_f32 v7, s87, v7                                     // w_s * (a_s * dot)
	v_mul_f32 v7, s44, v7                                     // r_w * (...)
	v_add_f32 v6, v6, v7                                      // acc + ...

// Lanes 0..15 hold the 16 columns once. Behind the barrier slots 5..8 follow, two slots read ahead
// (at most 15 LDS reads can be counted).
	s_mov_b64 exec, 0xffff
	s_barrier                                                 // wave 1 has stored p[5..8]
	ds_read_b32 v144, v4
	ds_read_b32 v145, v4 offset:64
	ds_read_b32 v146, v4 offset:128
	ds_read_b32 v147, v4 offset:192
	ds_read_b32 v148, v4 offset:256
	ds_read_b32 v149, v4 offset:320
	ds_read_b32 v150, v4 offset:384
	ds_read_b32 v151, v4 offset:448
	ds_read_b32 v152, v4 offset:512
	ds_read_b32 v153, v4 offset:576
	ds_read_b32 v154, v4 offset:640
	ds_read_b32 v155, v4 offset:704
	s_waitcnt lgkmcnt(8)                                      // p[5]
	v_add_f32 v6, v6, v144
	v_add_f32 v6, v6, v145
	v_add_f32 v6, v6, v146
	v_add_f32 v6, v6, v147
	ds_read_b32 v156, v4 offset:768
	ds_read_b32 v157, v4 offset:832
	ds_read_b32 v158, v4 offset:896
	ds_read_b32 v159, v4 offset:960
	s_waitcnt lgkmcnt(8)                                      // p[6]
	v_add_f32 v6, v6, v148
	v_add_f32 v6, v6, v149
	v_add_f32 v6, v6, v150
	v_add_f32 v6, v6, v151
	s_waitcnt lgkmcnt(4)                                      // p[7]
	v_add_f32 v6, v6, v152
	v_add_f32 v6, v6, v153
	v_add_f32 v6, v6, v154
	v_add_f32 v6, v6, v155
	s_waitcnt lgkmcnt(0)                                      // p[8]
	v_add_f32 v6, v6, v156
	v_add_f32 v6, v6, v157
	v_add_f32 v6, v6, v158
	v_add_f32 v6, v6, v159

// out = bf16(acc), stored to out + 4096 * token + 32 * tile
	s_lshl_b32 s22, s3, 12                                    // out + 4096 * token
	s_lshr_b32 s23, s3, 20
	s_add_u32 s22, s20, s22
	s_addc_u32 s23, s21, s23
	s_lshl_b32 s28, s2, 5
	s_add_u32 s22, s22, s28                                   // + 32 * tile
	s_addc_u32 s23, s23, 0
	v_cvt_pk_bf16_f32 v7, v6, v6
	global_store_short v5, v7, s[22:23]
	s_endpgm

.Lnetra_moe_down_reduce_decode_m1_gfx950_second_wave:
// Wave 1: p of slots 5..8.
// Multiply block 0, load block 8.
	s_waitcnt vmcnt(14)                                       // activations and weights of block 0
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[80:87], 0
	global_load_dwordx4 v[16:19], v1, s[26:27] offset:1024
	global_load_dwordx4 v[20:23], v1, s[26:27] offset:1088
	global_load_dwordx4 v[80:83], v2, s[92:93]
	global_load_dwordx4 v[84:87], v2, s[92:93] offset:1024

// Multiply block 1, load block 9, scale block 0.
	s_waitcnt vmcnt(16)                                       // activations and weights of block 1
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[24:31], v[88:95], 0
	global_load_dwordx4 v[24:27], v1, s[26:27] offset:1152
	global_load_dwordx4 v[28:31], v1, s[26:27] offset:1216
	global_load_dwordx4 v[88:91], v2, s[92:93] offset:2048
	global_load_dwordx4 v[92:95], v2, s[92:93] offset:3072
	s_waitcnt lgkmcnt(0)                                      // w_s
	s_nop 0                                                   // 12 wait states of dot 0
	v_mul_f32 v144, s48, v8                                   // a_s * dot
	v_mul_f32 v144, s68, v144                                 // w_s * (a_s * dot)
	v_mul_f32 v144, s40, v144                                 // r_w * (...)

// Multiply block 2, load block 10, scale block 1.
	s_waitcnt vmcnt(18)                                       // activations and weights of block 2
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[32:39], v[96:103], 0
	global_load_dwordx4 v[32:35], v1, s[26:27] offset:1280
	global_load_dwordx4 v[36:39], v1, s[26:27] offset:1344
	global_load_dwordx4 v[96:99], v3, s[92:93]
	global_load_dwordx4 v[100:103], v3, s[92:93] offset:1024
	v_mul_f32 v145, s49, v12                                  // a_s * dot
	v_mul_f32 v145, s69, v145                                 // w_s * (a_s * dot)
	v_mul_f32 v145, s40, v145                                 // r_w * (...)

// Multiply block 3, load block 11, scale block 2.
	s_waitcnt vmcnt(20)                                       // activations and weights of block 3
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[40:47], v[104:111], 0
	global_load_dwordx4 v[40:43], v1, s[26:27] offset:1408
	global_load_dwordx4 v[44:47], v1, s[26:27] offset:1472
	global_load_dwordx4 v[104:107], v3, s[92:93] offset:2048
	global_load_dwordx4 v[108:111], v3, s[92:93] offset:3072
	v_mul_f32 v146, s50, v8                                   // a_s * dot
	v_mul_f32 v146, s70, v146                                 // w_s * (a_s * dot)
	v_mul_f32 v146, s40, v146                                 // r_w * (...)

// Multiply block 4, load block 12, scale block 3.
	s_waitcnt vmcnt(22)                                       // activations and weights of block 4
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[48:55], v[112:119], 0
	global_load_dwordx4 v[48:51], v1, s[26:27] offset:1536
	global_load_dwordx4 v[52:55], v1, s[26:27] offset:1600
	global_load_dwordx4 v[112:115], v2, s[94:95]
	global_load_dwordx4 v[116:119], v2, s[94:95] offset:1024
	v_mul_f32 v147, s51, v12                                  // a_s * dot
	v_mul_f32 v147, s71, v147                                 // w_s * (a_s * dot)
	v_mul_f32 v147, s40, v147                                 // r_w * (...)

// Multiply block 5, load block 13, scale block 4.
	s_waitcnt vmcnt(24)                                       // activations and weights of block 5
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[56:63], v[120:127], 0
	global_load_dwordx4 v[56:59], v1, s[26:27] offset:1664
	global_load_dwordx4 v[60:63], v1, s[26:27] offset:1728
	global_load_dwordx4 v[120:123], v2, s[94:95] offset:2048
	global_load_dwordx4 v[124:127], v2, s[94:95] offset:3072
	v_mul_f32 v148, s52, v8                                   // a_s * dot
	v_mul_f32 v148, s72, v148                                 // w_s * (a_s * dot)
	v_mul_f32 v148, s41, v148                                 // r_w * (...)

// Multiply block 6, load block 14, scale block 5.
	s_waitcnt vmcnt(26)                                       // activations and weights of block 6
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[64:71], v[128:135], 0
	global_load_dwordx4 v[64:67], v1, s[26:27] offset:1792
	global_load_dwordx4 v[68:71], v1, s[26:27] offset:1856
	global_load_dwordx4 v[128:131], v3, s[94:95]
	global_load_dwordx4 v[132:135], v3, s[94:95] offset:1024
	v_mul_f32 v149, s53, v12                                  // a_s * dot
	v_mul_f32 v149, s73, v149                                 // w_s * (a_s * dot)
	v_mul_f32 v149, s41, v149                                 // r_w * (...)

// Multiply block 7, load block 15, scale block 6.
	s_waitcnt vmcnt(28)                                       // activations and weights of block 7
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[72:79], v[136:143], 0
	global_load_dwordx4 v[72:75], v1, s[26:27] offset:1920
	global_load_dwordx4 v[76:79], v1, s[26:27] offset:1984
	global_load_dwordx4 v[136:139], v3, s[94:95] offset:2048
	global_load_dwordx4 v[140:143], v3, s[94:95] offset:3072
	v_mul_f32 v150, s54, v8                                   // a_s * dot
	v_mul_f32 v150, s74, v150                                 // w_s * (a_s * dot)
	v_mul_f32 v150, s41, v150                                 // r_w * (...)

// Multiply block 8, scale block 7.
	s_waitcnt vmcnt(28)                                       // activations and weights of block 8
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[80:87], 0
	s_nop 2                                                   // 12 wait states of dot 7
	v_mul_f32 v151, s55, v12                                  // a_s * dot
	v_mul_f32 v151, s75, v151                                 // w_s * (a_s * dot)
	v_mul_f32 v151, s41, v151                                 // r_w * (...)

// Multiply block 9, scale block 8.
	s_waitcnt vmcnt(24)                                       // activations and weights of block 9
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[24:31], v[88:95], 0
	s_nop 3                                                   // 12 wait states of dot 8
	v_mul_f32 v152, s56, v8                                   // a_s * dot
	v_mul_f32 v152, s76, v152                                 // w_s * (a_s * dot)
	v_mul_f32 v152, s42, v152                                 // r_w * (...)

// Multiply block 10, scale block 9.
	s_waitcnt vmcnt(20)                                       // activations and weights of block 10
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[32:39], v[96:103], 0
	s_nop 2                                                   // 12 wait states of dot 9
	v_mul_f32 v153, s57, v12                                  // a_s * dot
	v_mul_f32 v153, s77, v153                                 // w_s * (a_s * dot)
	v_mul_f32 v153, s42, v153                                 // r_w * (...)

// Multiply block 11, scale block 10.
	s_waitcnt vmcnt(16)                                       // activations and weights of block 11
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[40:47], v[104:111], 0
	s_nop 3                                                   // 12 wait states of dot 10
	v_mul_f32 v154, s58, v8                                   // a_s * dot
	v_mul_f32 v154, s78, v154                                 // w_s * (a_s * dot)
	v_mul_f32 v154, s42, v154                                 // r_w * (...)

// Multiply block 12, scale block 11.
	s_waitcnt vmcnt(12)                                       // activations and weights of block 12
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[48:55], v[112:119], 0
	s_nop 2                                                   // 12 wait states of dot 11
	v_mul_f32 v155, s59, v12                                  // a_s * dot
	v_mul_f32 v155, s79, v155                                 // w_s * (a_s * dot)
	v_mul_f32 v155, s42, v155                                 // r_w * (...)

// Multiply block 13, scale block 12.
	s_waitcnt vmcnt(8)                                        // activations and weights of block 13
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[56:63], v[120:127], 0
	s_nop 3                                                   // 12 wait states of dot 12
	v_mul_f32 v156, s60, v8                                   // a_s * dot
	v_mul_f32 v156, s80, v156                                 // w_s * (a_s * dot)
	v_mul_f32 v156, s43, v156                                 // r_w * (...)

// Multiply block 14, scale block 13.
	s_waitcnt vmcnt(4)                                        // activations and weights of block 14
	v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[64:71], v[128:135], 0
	s_nop 2                                                   // 12 wait states of dot 13
	v_mul_f32 v157, s61, v12                                  // a_s * dot
	v_mul_f32 v157, s81, v157                                 // w_s * (a_s * dot)
	v_mul_f32 v157, s43, v157                                 // r_w * (...)

// Multiply block 15, scale block 14.
	s_waitcnt vmcnt(0)                                        // activations and weights of block 15
	v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[72:79], v[136:143], 0
	s_nop 3                                                   // 12 wait states of dot 14
	v_mul_f32 v158, s62, v8                                   // a_s * dot
	v_mul_f32 v158, s82, v158                                 // w_s * (a_s * dot)
	v_mul_f32 v158, s43, v158                                 // r_w * (...)

// Scale block 15.
	s_nop 4                                                   // 12 wait states of dot 15
	v_mul_f32 v159, s63, v12                                  // a_s * dot
	v_mul_f32 v159, s83, v159                                 // w_s * (a_s * dot)
	v_mul_f32 v159, s43, v159                                 // r_w * (...)

// Lanes 0..15 hold the 16 columns once: hand them to wave 0.
	s_mov_b64 exec, 0xffff
	ds_write_b32 v4, v144
	ds_write_b32 v4, v145 offset:64
	ds_write_b32 v4, v146 offset:128
	ds_write_b32 v4, v147 offset:192
	ds_write_b32 v4, v148 offset:256
	ds_write_b32 v4, v149 offset:320
	ds_write_b32 v4, v150 offset:384
	ds_write_b32 v4, v151 offset:448
	ds_write_b32 v4, v152 offset:512
	ds_write_b32 v4, v153 offset:576
	ds_write_b32 v4, v154 offset:640
	ds_write_b32 v4, v155 offset:704
	ds_write_b32 v4, v156 offset:768
	ds_write_b32 v4, v157 offset:832
	ds_write_b32 v4, v158 offset:896
	ds_write_b32 v4, v159 offset:960
	s_waitcnt lgkmcnt(0)                                      // the stores to LDS
	s_barrier
	s_endpgm
	.size netra_moe_down_reduce_decode_m1_gfx950, .-netra_moe_down_reduce_decode_m1_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_moe_down_reduce_decode_m1_gfx950
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 56
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 160
		.amdhsa_next_free_sgpr 98
		.amdhsa_accum_offset 160
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
  - .name: netra_moe_down_reduce_decode_m1_gfx950
    .symbol: netra_moe_down_reduce_decode_m1_gfx950.kd
    .kernarg_segment_size: 56
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 128
    .vgpr_count: 160
    .agpr_count: 0
    .sgpr_count: 98
    .args:
      - {.name: act, .offset: 0, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: act_scale, .offset: 8, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: w2, .offset: 16, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: w2_scale, .offset: 24, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: topk_weights, .offset: 32, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: topk_ids, .offset: 40, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: read_only}
      - {.name: out, .offset: 48, .size: 8, .value_kind: global_buffer,
         .address_space: global, .actual_access: write_only}
...
	.end_amdgpu_metadata
