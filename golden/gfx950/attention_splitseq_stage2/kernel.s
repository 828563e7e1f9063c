// SPDX-License-Identifier: MIT
// Merge the partial attention outputs of all splits of one query row and head by their softmax
// weights, scale by the value scale and round to BF16.
//
// void netra_attention_splitseq_stage2_gfx950(
//     const float   *mid,            //  0  partial outputs, 256 values at an element offset
//     const float   *lse,            //  8  m + ln l of a split, at that offset / 256
//     bf16          *out,            // 16
//     float          v_scale,        // 24  4 bytes of padding follow
//     const int32_t *seq_lens,       // 32  [M], keys that the row sees, at least 1
//     const int32_t *num_kv_splits,  // 40  [M], 1 .. 129
//     uint32_t       mid_tok,        // 48  strides in elements
//     uint32_t       mid_head,       // 52
//     uint32_t       mid_split,      // 56
//     uint32_t       o_tok,          // 60
//     uint32_t       o_head,         // 64  4 bytes of padding follow
//     void          *scratch,        // 72  not read
//     void          *profile);       // 80  not read
//
// Grid (M, 16, 1), 256 work-items: x = query row, y = query head, work-item = dimension.
//
//     per = ceil(ceil(n / splits) / 32) * 32        split z holds keys z * per .. min(.., n) - 1
//     m, l, acc = -inf, 0, 0
//     for each split z that is not empty, ascending:
//         M   = max(m, lse[z])
//         a   = exp(m - M);  w = exp(lse[z] - M);  m = M
//         acc = fma(w, mid[z], a * acc);  l = fma(l, a, w)
//     out = bf16(v_scale * (acc / l))               the division is correctly rounded
//
// exp(x) is 2^fma(x, log2 e, 0); where x * log2 e < -126 it is 2^fma(x, log2 e, 64) * 2^-64, which
// keeps subnormal results. Empty splits follow the others, so the first one ends the loop.
//
// SGPR  0:1    kernarg segment, until the arguments are read
//       2:3    work-group x, y (= query row, head)
//       4:7    mid, lse
//       8:9    out, then the row of out
//       10     v_scale
//       11     o_head
//       12:15  seq_lens, num_kv_splits
//       16:19  mid_tok, mid_head, mid_split, o_tok
//       20     4 * row, then the key at which the split begins
//       21     n
//       22     splits, then the number of splits that may follow
//       23     per
//       24:25  element offset of the split
//       26:27  temporaries, then the address of lse[z]
//       28     temporary, then lse[z]
//       29     log2 e
//       30     -126
//       32:33  temporaries, then the address of mid[z]
// VGPR  0      dimension
//       1      4 * dimension
//       2:4    m, l, acc
//       5      mid[z]
//       6      M
//       7, 8   m - M, lse[z] - M
//       9, 10  a, w
//       11, 12 64.0, -64
//       13, 14 what the subnormal path adds: 64 or 0, then -64 or 0
//       5:10   in the division: d, n, r, error, q, quotient
// LDS   none

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_attention_splitseq_stage2_gfx950
	.globl netra_attention_splitseq_stage2_gfx950
	.p2align 8
	.type netra_attention_splitseq_stage2_gfx950,@function
netra_attention_splitseq_stage2_gfx950:
// The arguments; meanwhile the constants and the empty sum.
	s_load_dwordx4 s[4:7], s[0:1], 0                          // mid, lse
	s_load_dwordx2 s[8:9], s[0:1], 16                         // out
	s_load_dword s10, s[0:1], 24                              // v_scale
	s_load_dwordx4 s[12:15], s[0:1], 32                       // seq_lens, num_kv_splits
	s_load_dwordx4 s[16:19], s[0:1], 48                       // mid_tok, mid_head, mid_split, o_tok
	s_load_dword s11, s[0:1], 64                              // o_head
	s_lshl_b32 s20, s2, 2                                     // 4 * row
	v_lshlrev_b32 v1, 2, v0                                   // 4 * dimension
	v_mov_b32 v2, 0xff800000                                  // m = -inf
	v_mov_b32 v3, 0                                           // l = 0
	v_mov_b32 v4, 0                                           // acc = 0
	s_mov_b32 s29, 0x3fb8aa3b                                 // log2 e
	s_mov_b32 s30, 0xc2fc0000                                 // -126
	v_mov_b32 v11, 0x42800000                                 // 64.0
	v_mov_b32 v12, 0xffffffc0                                 // -64
	s_waitcnt lgkmcnt(0)                                      // the arguments
	s_load_dword s21, s[12:13], s20                           // n = seq_lens[row]
	s_load_dword s22, s[14:15], s20                           // splits = num_kv_splits[row]

// Element offset of split 0: row * mid_tok + head * mid_head
	s_mul_i32 s24, s2, s16
	s_mul_hi_u32 s25, s2, s16
	s_mul_i32 s26, s3, s17
	s_mul_hi_u32 s27, s3, s17
	s_add_u32 s24, s24, s26
	s_addc_u32 s25, s25, s27

// out + 2 * (row * o_tok + head * o_head)
	s_mul_i32 s26, s2, s19
	s_mul_hi_u32 s27, s2, s19
	s_mul_i32 s32, s3, s11
	s_mul_hi_u32 s33, s3, s11
	s_add_u32 s26, s26, s32
	s_addc_u32 s27, s27, s33
	s_lshl_b64 s[26:27], s[26:27], 1
	s_add_u32 s8, s8, s26
	s_addc_u32 s9, s9, s27
	s_waitcnt lgkmcnt(0)                                      // n and splits

// q = (n + splits - 1) / splits: an estimate of 2^32 / splits from the FP32 reciprocal, one
// integer Newton step, then at most one correction of the quotient (n <= 2^25, splits <= 129).
	v_cvt_f32_u32 v5, s22
	v_rcp_iflag_f32 v5, v5
	s_nop 0                                                   // a transcendental result needs 1 wait state
	v_mul_f32 v5, 0x4f7ffffe, v5                              // * (2^32 - 512)
	v_cvt_u32_f32 v5, v5
	s_nop 0                                                   // v_readfirstlane needs 1 wait state
	v_readfirstlane_b32 s23, v5                               // R, about 2^32 / splits
	s_sub_u32 s26, 0, s22
	s_mul_i32 s26, s26, s23                                   // 2^32 - splits * R
	s_mul_hi_u32 s26, s23, s26
	s_add_u32 s26, s23, s26                                   // R after the step
	s_add_u32 s27, s21, s22
	s_sub_u32 s27, s27, 1                                     // numerator
	s_mul_hi_u32 s23, s27, s26                                // q, at most 1 too small
	s_mul_i32 s26, s23, s22
	s_sub_u32 s26, s27, s26                                   // remainder
	s_cmp_ge_u32 s26, s22
	s_addc_u32 s23, s23, 0

// per = ceil(q / 32) * 32
	s_add_u32 s23, s23, 31
	s_andn2_b32 s23, s23, 31
	s_mov_b32 s20, 0                                          // split 0 begins at key 0
	s_movk_i32 s22, 129                                       // the most splits there are

.Lnetra_attention_splitseq_stage2_gfx950_split:
// lse[z] and mid[z]
	s_lshr_b64 s[26:27], s[24:25], 8
	s_lshl_b64 s[26:27], s[26:27], 2
	s_add_u32 s26, s26, s6                                    // lse + 4 * (offset / 256)
	s_addc_u32 s27, s27, s7
	s_load_dword s28, s[26:27], 0                             // lse[z]
	s_lshl_b64 s[32:33], s[24:25], 2
	s_add_u32 s32, s32, s4                                    // mid + 4 * offset
	s_addc_u32 s33, s33, s5
	global_load_dword v5, v1, s[32:33]                        // mid[z]
	s_waitcnt lgkmcnt(0)                                      // lse[z]

// a = exp(m - M), w = exp(lse[z] - M)
	v_max_f32 v6, s28, v2                                     // M
	v_sub_f32 v7, v2, v6                                      // m - M
	v_sub_f32 v8, s28, v6                                     // lse[z] - M
	v_mov_b32 v2, v6
	v_mul_f32 v9, s29, v7                                     // * log2 e
	v_cmp_gt_f32 vcc, s30, v9                                 // < -126: the subnormal path
	s_nop 1                                                   // the mask needs 2 wait states
	v_cndmask_b32 v13, 0, v11, vcc                            // 64.0 or 0
	v_cndmask_b32 v14, 0, v12, vcc                            // -64 or 0
	v_fma_f32 v9, s29, v7, v13
	v_exp_f32 v9, v9
	s_nop 0                                                   // a transcendental result needs 1 wait state
	v_ldexp_f32 v9, v9, v14                                   // a
	v_mul_f32 v10, s29, v8                                    // * log2 e
	v_cmp_gt_f32 vcc, s30, v10                                // < -126: the subnormal path
	s_nop 1                                                   // the mask needs 2 wait states
	v_cndmask_b32 v13, 0, v11, vcc                            // 64.0 or 0
	v_cndmask_b32 v14, 0, v12, vcc                            // -64 or 0
	v_fma_f32 v10, s29, v8, v13
	v_exp_f32 v10, v10
	s_nop 0                                                   // a transcendental result needs 1 wait state
	v_ldexp_f32 v10, v10, v14                                 // w

// l = l * a + w and acc = acc * a + w * mid[z]
	v_fma_f32 v3, v3, v9, v10
	v_mul_f32 v4, v4, v9
	s_waitcnt vmcnt(0)                                        // mid[z]
	v_fma_f32 v4, v10, v5, v4

// The next split, unless it is empty.
	s_add_u32 s24, s24, s18                                   // offset + mid_split
	s_addc_u32 s25, s25, 0
	s_add_u32 s20, s20, s23                                   // first key + per
	s_sub_u32 s22, s22, 1
	s_cmp_eq_u32 s22, 0
	s_cbranch_scc1 .Lnetra_attention_splitseq_stage2_gfx950_divide // that was split 128
	s_cmp_lt_u32 s20, s21
	s_cbranch_scc1 .Lnetra_attention_splitseq_stage2_gfx950_split

.Lnetra_attention_splitseq_stage2_gfx950_divide:
// acc / l, correctly rounded
	v_div_scale_f32 v5, s[32:33], v3, v3, v4                  // d
	v_div_scale_f32 v6, vcc, v4, v3, v4                       // n
	v_rcp_f32 v7, v5                                          // r
	s_nop 0                                                   // a transcendental result needs 1 wait state
	v_fma_f32 v8, -v5, v7, 1.0                                // 1 - d * r
	v_fma_f32 v7, v8, v7, v7                                  // r
	v_mul_f32 v9, v6, v7                                      // q
	v_fma_f32 v8, -v5, v9, v6                                 // n - d * q
	v_fma_f32 v9, v8, v7, v9                                  // q
	v_fma_f32 v8, -v5, v9, v6                                 // n - d * q
	v_div_fmas_f32 v8, v8, v7, v9                             // vcc is 9 wait states old, 4 are needed
	v_div_fixup_f32 v10, v8, v3, v4

// out = bf16(v_scale * ...)
	v_mul_f32 v10, s10, v10
	v_cvt_pk_bf16_f32 v10, v10, v10
	v_lshlrev_b32 v1, 1, v0                                   // 2 * dimension
	global_store_short v1, v10, s[8:9]
	s_endpgm
.Lnetra_attention_splitseq_stage2_gfx950_end:
	.size netra_attention_splitseq_stage2_gfx950, .Lnetra_attention_splitseq_stage2_gfx950_end-netra_attention_splitseq_stage2_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_attention_splitseq_stage2_gfx950
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 88
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 15
		.amdhsa_next_free_sgpr 34
		.amdhsa_accum_offset 16
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
  - .name: netra_attention_splitseq_stage2_gfx950
    .symbol: netra_attention_splitseq_stage2_gfx950.kd
    .kernarg_segment_size: 88
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 256
    .vgpr_count: 15
    .agpr_count: 0
    .sgpr_count: 34
    .args:
      - {.name: mid, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: lse, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: out, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: v_scale, .offset: 24, .size: 4, .value_kind: by_value}
      - {.name: seq_lens, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: num_kv_splits, .offset: 40, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: mid_tok, .offset: 48, .size: 4, .value_kind: by_value}
      - {.name: mid_head, .offset: 52, .size: 4, .value_kind: by_value}
      - {.name: mid_split, .offset: 56, .size: 4, .value_kind: by_value}
      - {.name: o_tok, .offset: 60, .size: 4, .value_kind: by_value}
      - {.name: o_head, .offset: 64, .size: 4, .value_kind: by_value}
      - {.name: scratch, .offset: 72, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: profile, .offset: 80, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
...
	.end_amdgpu_metadata
