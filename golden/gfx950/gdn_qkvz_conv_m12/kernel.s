// SPDX-License-Identifier: MIT
// Causal convolution of width 4 over 12 tokens of a sequence, one channel a work-item, with SiLU;
// it keeps the channel's history in a state slot and a snapshot after every token in a window slot.
//
// void netra_gdn_qkvz_conv_m12_gfx950(
//     const bf16    *qkvz,        //  0  [batch * 12, 12288], the first 8192 columns are read
//     const bf16    *weight,      //  8  [8192, 4]
//     bf16          *state,       // 16  [slots, 8192, 3], oldest first
//     const int32_t *state_idx,   // 24  [batch]
//     bf16          *window,      // 32  [slots, 12, 8192, 3]
//     const int32_t *window_idx,  // 40  [batch]
//     bf16          *out,         // 48  [batch * 12, 8192]
//     uint32_t       batch);      // 56  4 bytes of padding follow
//
// Grid (32 * batch, 1, 1), 256 work-items: x / 32 = sequence, 256 * (x % 32) + work-item = channel.
// A sequence >= batch, or one whose state or window index is -1, is left untouched.
//
// For each token, with h0, h1, h2 the last three inputs and x the new one:
//
//     p      = bf16(h0 * w0), bf16(h1 * w1), bf16(h2 * w2), bf16(x * w3)
//     a      = ((p0 + p1) + p2) + p3
//     out    = bf16(a / (1 + exp(-a)))                  the division is correctly rounded
//     h0, h1, h2 = h1, h2, x;  window[token] = h0, h1, h2
//
// and the state becomes the last window. The exponential is plain v_exp.
//
// BF16 values are held as F32, so their 16 bits are the high half of a register. The input of the
// next token is loaded before the current token is computed.
//
// SGPR  0:1    kernarg segment, until the arguments are read
//       2      work-group x
//       3      sequence
//       4:17   qkvz, weight, state, state_idx, window, window_idx, out; then
//       4:5    the token's row of qkvz
//       8:9    the sequence's state slot
//       12:13  the token's window
//       16:17  the token's row of out
//       18     batch
//       19     first channel of the work-group, 256 * (x % 32)
//       20, 21 state index, window index
//       22     tokens that follow the current one
//       24:25  products; byte offsets
//       26     bytes to the next token's row of qkvz, 0 after the last
//       27     -log2(e)
//       28:29  second carry of a scaled division
// VGPR  0      work-item, then channel
//       1      2 * channel, byte offset in a row
//       2      6 * channel, byte offset in a slot
//       3      8 * channel, byte offset in the weights; then the next input as loaded
//       4:7    weights w0 .. w3
//       8:10   history h0, h1, h2
//       11     input x
//       12:16  products p0 .. p3 and a packed pair, then temporaries of the division
//       17     a
//       18     1 + exp(-a), then the result
//       20:21  weights as loaded
// LDS   none

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_gdn_qkvz_conv_m12_gfx950
	.globl netra_gdn_qkvz_conv_m12_gfx950
	.p2align 8
	.type netra_gdn_qkvz_conv_m12_gfx950,@function
netra_gdn_qkvz_conv_m12_gfx950:
// The arguments; meanwhile the sequence and the work-group's first channel.
	s_load_dwordx8 s[4:11], s[0:1], 0                         // qkvz, weight, state, state_idx
	s_load_dwordx4 s[12:15], s[0:1], 32                       // window, window_idx
	s_load_dwordx2 s[16:17], s[0:1], 48                       // out
	s_load_dword s18, s[0:1], 56                              // batch
	s_lshr_b32 s3, s2, 5                                      // sequence = x / 32
	s_and_b32 s19, s2, 31
	s_lshl_b32 s19, s19, 8                                    // 256 * (x % 32)
	s_waitcnt lgkmcnt(0)                                      // the arguments
	s_cmp_ge_u32 s3, s18
	s_cbranch_scc1 .Lnetra_gdn_qkvz_conv_m12_gfx950_done

// Both indices of the sequence; -1 in either leaves it untouched.
	s_lshl_b32 s24, s3, 2
	s_add_u32 s10, s10, s24                                   // state_idx + 4 * sequence
	s_addc_u32 s11, s11, 0
	s_add_u32 s14, s14, s24                                   // window_idx + 4 * sequence
	s_addc_u32 s15, s15, 0
	s_load_dword s20, s[10:11], 0
	s_load_dword s21, s[14:15], 0
	s_waitcnt lgkmcnt(0)                                      // both indices
	s_cmp_eq_u32 s20, -1
	s_cbranch_scc1 .Lnetra_gdn_qkvz_conv_m12_gfx950_done
	s_cmp_eq_u32 s21, -1
	s_cbranch_scc1 .Lnetra_gdn_qkvz_conv_m12_gfx950_done

// Bases in 64 bits: qkvz + 294912 * sequence (12 rows of 24576 bytes), state + 49152 * state index,
// window + 589824 * window index (12 snapshots of 49152 bytes), out + 196608 * sequence.
	s_mul_i32 s24, s3, 0x48000
	s_mul_hi_u32 s25, s3, 0x48000
	s_add_u32 s4, s4, s24
	s_addc_u32 s5, s5, s25
	s_mul_i32 s24, s20, 0xc000
	s_mul_hi_u32 s25, s20, 0xc000
	s_add_u32 s8, s8, s24
	s_addc_u32 s9, s9, s25
	s_mul_i32 s24, s21, 0x90000
	s_mul_hi_u32 s25, s21, 0x90000
	s_add_u32 s12, s12, s24
	s_addc_u32 s13, s13, s25
	s_mul_i32 s24, s3, 0x30000
	s_mul_hi_u32 s25, s3, 0x30000
	s_add_u32 s16, s16, s24
	s_addc_u32 s17, s17, s25

// The channel's byte offsets; its weights, history and first input.
	v_add_u32 v0, s19, v0                                     // channel
	v_lshlrev_b32 v1, 1, v0
	v_mul_u32_u24 v2, 6, v0
	v_lshlrev_b32 v3, 3, v0
	global_load_dwordx2 v[20:21], v3, s[6:7]
	global_load_ushort v8, v2, s[8:9]
	global_load_ushort v9, v2, s[8:9] offset:2
	global_load_ushort v10, v2, s[8:9] offset:4
	global_load_ushort v3, v1, s[4:5]
	s_mov_b32 s22, 11                                         // tokens after the first
	s_mov_b32 s27, 0xbfb8aa3b                                 // -log2(e)
	s_waitcnt vmcnt(0)                                        // weights, history, first input
	v_lshlrev_b32 v4, 16, v20
	v_and_b32 v5, 0xffff0000, v20
	v_lshlrev_b32 v6, 16, v21
	v_and_b32 v7, 0xffff0000, v21
	v_lshlrev_b32 v8, 16, v8
	v_lshlrev_b32 v9, 16, v9
	v_lshlrev_b32 v10, 16, v10

// One token: take its input and load the next one; after the last token, load the same again.
.Lnetra_gdn_qkvz_conv_m12_gfx950_token:
	s_waitcnt vmcnt(4)                                        // the input, which 4 stores follow
	v_lshlrev_b32 v11, 16, v3                                 // x
	s_cmp_lg_u32 s22, 0
	s_cselect_b32 s26, 0x6000, 0                              // a row of qkvz is 24576 bytes
	s_add_u32 s4, s4, s26
	s_addc_u32 s5, s5, 0
	global_load_ushort v3, v1, s[4:5]

// a = ((p0 + p1) + p2) + p3, each product rounded to BF16.
	v_mul_f32 v12, v8, v4                                     // h0 * w0
	v_mul_f32 v13, v9, v5                                     // h1 * w1
	v_mul_f32 v14, v10, v6                                    // h2 * w2
	v_mul_f32 v15, v11, v7                                    // x * w3
	v_cvt_pk_bf16_f32 v16, v12, v13                           // p1, p0
	v_lshlrev_b32 v12, 16, v16
	v_and_b32 v13, 0xffff0000, v16
	v_cvt_pk_bf16_f32 v16, v14, v15                           // p3, p2
	v_lshlrev_b32 v14, 16, v16
	v_and_b32 v15, 0xffff0000, v16
	v_add_f32 v17, v12, v13
	v_add_f32 v17, v17, v14
	v_add_f32 v17, v17, v15                                   // a

// 1 + exp(-a) = 1 + 2^(-log2(e) * a); an exponential below 2^-126 does not change the 1.
	v_mul_f32 v18, s27, v17                                   // -log2(e) * a
	v_exp_f32 v18, v18
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_add_f32 v18, 1.0, v18                                   // b = 1 + exp(-a)

// out = bf16(a / b), correctly rounded: scale both, refine 1 / b and the quotient, undo the scale.
	v_div_scale_f32 v12, s[28:29], v18, v18, v17              // divisor scaled
	v_div_scale_f32 v13, vcc, v17, v18, v17                   // dividend scaled
	v_rcp_f32 v14, v12
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_fma_f32 v15, -v12, v14, 1.0
	v_fma_f32 v14, v15, v14, v14                              // reciprocal, refined
	v_mul_f32 v16, v13, v14                                   // quotient
	v_fma_f32 v15, -v12, v16, v13
	v_fma_f32 v16, v15, v14, v16                              // quotient, refined
	v_fma_f32 v15, -v12, v16, v13                             // remainder
	v_div_fmas_f32 v15, v15, v14, v16
	v_div_fixup_f32 v18, v15, v18, v17
	v_cvt_pk_bf16_f32 v18, v18, v18

// Move the history on; store the output and the snapshot (a BF16 is the high half of its F32).
	v_mov_b32 v8, v9
	v_mov_b32 v9, v10
	v_mov_b32 v10, v11
	global_store_short v1, v18, s[16:17]
	global_store_short_d16_hi v2, v8, s[12:13]
	global_store_short_d16_hi v2, v9, s[12:13] offset:2
	global_store_short_d16_hi v2, v10, s[12:13] offset:4
	s_add_u32 s12, s12, 0xc000                                // the next window
	s_addc_u32 s13, s13, 0
	s_add_u32 s16, s16, 0x4000                                // the next row of out
	s_addc_u32 s17, s17, 0
	s_sub_u32 s22, s22, 1
	s_cbranch_scc0 .Lnetra_gdn_qkvz_conv_m12_gfx950_token                                 // until the count falls below 0

// The state keeps the last window.
	global_store_short_d16_hi v2, v8, s[8:9]
	global_store_short_d16_hi v2, v9, s[8:9] offset:2
	global_store_short_d16_hi v2, v10, s[8:9] offset:4
.Lnetra_gdn_qkvz_conv_m12_gfx950_done:
	s_endpgm
.Lnetra_gdn_qkvz_conv_m12_gfx950_end:
	.size netra_gdn_qkvz_conv_m12_gfx950, .Lnetra_gdn_qkvz_conv_m12_gfx950_end-netra_gdn_qkvz_conv_m12_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_gdn_qkvz_conv_m12_gfx950
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 64
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 22
		.amdhsa_next_free_sgpr 30
		.amdhsa_accum_offset 24
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
  - .name: netra_gdn_qkvz_conv_m12_gfx950
    .symbol: netra_gdn_qkvz_conv_m12_gfx950.kd
    .kernarg_segment_size: 64
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 256
    .vgpr_count: 22
    .agpr_count: 0
    .sgpr_count: 30
    .args:
      - {.name: qkvz, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: weight, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: state, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_write}
      - {.name: state_idx, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: window, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: window_idx, .offset: 40, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: out, .offset: 48, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: batch, .offset: 56, .size: 4, .value_kind: by_value}
...
	.end_amdgpu_metadata
