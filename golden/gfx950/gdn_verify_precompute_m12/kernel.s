// SPDX-License-Identifier: MIT
// Inputs of the gated delta rule for one token and one QK head: the normalised query and key of the
// head, and decay and beta of the two value heads that belong to it.
//
// void netra_gdn_verify_precompute_m12_gfx950(
//     const float *A_log,      //  0  [32]
//     const bf16  *a,          //  8  [tokens, stride_a], 32 columns are read
//     const bf16  *dt_bias,    // 16  [32]
//     const bf16  *q,          // 24  [tokens, stride_q], 16 heads of 128
//     const bf16  *k,          // 32  [tokens, stride_k], 16 heads of 128
//     const bf16  *b,          // 40  [tokens, stride_b], 32 columns are read
//     float       *qn,         // 48  [tokens, 16, 128]
//     float       *kn,         // 56  [tokens, 16, 128]
//     float       *decay,      // 64  [tokens, 32]
//     float       *beta,       // 72  [tokens, 32]
//     uint32_t     stride_q,   // 80  elements from one token to the next
//     uint32_t     stride_k,   // 84
//     uint32_t     stride_a,   // 88
//     uint32_t     stride_b);  // 92
//
// Grid (16 * tokens, 1, 1), 64 work-items: x = token * 16 + QK head.
//
//     kn     = k / sqrt(sum(k * k) + 1e-6)
//     qn     = (q / sqrt(sum(q * q) + 1e-6)) * 128^-1/2
//     decay  = exp(-exp(A_log) * softplus(a + dt_bias))
//     beta   = 1 / (1 + exp(-b))
//
// Lane l owns elements 2 l and 2 l + 1: its sum is x0 * x0 + x1 * x1 with three roundings. The lanes
// are added by halves of each row of 16 (distance 8, 4, 2, 1), the rows as (R2 + R3) + (R0 + R1).
// Divisions are correctly rounded; the square root, exponential and logarithm are plain v_sqrt, v_exp
// and v_log. exp(x) is 2^(x * log2(e)), below 2^-126 taken 2^64 higher and scaled down.
//
//     softplus(x) = x                                  x > 20
//                   e                                  e = exp(x), 1 + e == 1
//                   ln(1 + e) * (e / ((1 + e) - 1))    otherwise; the quotient by plain v_rcp
//     beta        = (b < 0 ? e : 1) / (1 + e)          e = exp(-|b|), which cannot overflow
//
// Lanes 0 and 1 compute the gates of value heads 2 * head and 2 * head + 1.
//
// SGPR  0:1    kernarg segment, until the arguments are read
//       2      work-group x
//       3      token
//       4:23   A_log, a, dt_bias, q, k, b, qn, kn, decay, beta
//       24:27  stride_q, stride_k, stride_a, stride_b
//       28     QK head
//       29     first value head; byte offsets
//       30:31  products; then sums of squares of q, k
//       32     log2(e)
//       33     -126.0
//       34:35  second carry of a scaled division; lanes of a comparison
// VGPR  0      lane
//       1      4 * lane, byte offset in a head of q and k; then 8 * lane in qn and kn
//       2      byte offset of the lane's BF16 gate, 2 * (2 * head + lane)
//       3      byte offset of the lane's F32 gate, 4 * (2 * head + lane)
//       4, 5   pairs of q, k as loaded
//       6:7    q
//       8:9    k
//       10, 11 sums of squares, then norms, of q, k
//       12:15  A_log, a, dt_bias, b
//       16:20  temporaries of division and logarithm
//       21, 22 64.0 and the integer -64
//       23, 24 temporaries of the exponential
//       25     a + dt_bias, then its softplus
//       26     exp(a + dt_bias); exp(A_log); then decay
//       27     1 + e
//       28     ratio of the softplus; then beta
// LDS   none

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_gdn_verify_precompute_m12_gfx950
	.globl netra_gdn_verify_precompute_m12_gfx950
	.p2align 8
	.type netra_gdn_verify_precompute_m12_gfx950,@function
netra_gdn_verify_precompute_m12_gfx950:
// The arguments; meanwhile token, head and the lane's byte offsets.
	s_load_dwordx8 s[4:11], s[0:1], 0                         // A_log .. q
	s_load_dwordx8 s[12:19], s[0:1], 32                       // k .. kn
	s_load_dwordx8 s[20:27], s[0:1], 64                       // decay, beta, strides
	s_lshr_b32 s3, s2, 4                                      // token
	s_and_b32 s28, s2, 15                                     // QK head
	s_mul_i32 s29, s28, 2                                     // first value head
	v_lshlrev_b32 v1, 2, v0
	v_add_u32 v3, s29, v0                                     // value head of the lane
	v_lshlrev_b32 v2, 1, v3
	v_lshlrev_b32 v3, 2, v3
	s_mov_b32 s32, 0x3fb8aa3b                                 // log2(e)
	s_mov_b32 s33, 0xc2fc0000                                 // -126.0
	v_mov_b32 v21, 0x42800000                                 // 64.0
	v_mov_b32 v22, 0xffffffc0                                 // -64
	s_waitcnt lgkmcnt(0)                                      // the arguments

// The token's rows: base + 2 * stride * token in 64 bits; q and k + 256 * head.
	s_lshl_b32 s24, s24, 1
	s_mul_i32 s30, s3, s24                                    // q + 2 * stride_q * token
	s_mul_hi_u32 s31, s3, s24
	s_add_u32 s10, s10, s30
	s_addc_u32 s11, s11, s31
	s_lshl_b32 s25, s25, 1
	s_mul_i32 s30, s3, s25                                    // k + 2 * stride_k * token
	s_mul_hi_u32 s31, s3, s25
	s_add_u32 s12, s12, s30
	s_addc_u32 s13, s13, s31
	s_lshl_b32 s26, s26, 1
	s_mul_i32 s30, s3, s26                                    // a + 2 * stride_a * token
	s_mul_hi_u32 s31, s3, s26
	s_add_u32 s6, s6, s30
	s_addc_u32 s7, s7, s31
	s_lshl_b32 s27, s27, 1
	s_mul_i32 s30, s3, s27                                    // b + 2 * stride_b * token
	s_mul_hi_u32 s31, s3, s27
	s_add_u32 s14, s14, s30
	s_addc_u32 s15, s15, s31
	s_lshl_b32 s29, s28, 8                                    // 256 * head
	s_add_u32 s10, s10, s29
	s_addc_u32 s11, s11, 0
	s_add_u32 s12, s12, s29
	s_addc_u32 s13, s13, 0

// Every lane loads its pair of q and of k, lanes 0 and 1 their gates.
	global_load_dword v4, v1, s[10:11]
	global_load_dword v5, v1, s[12:13]
	s_mov_b64 exec, 3
	global_load_dword v12, v3, s[4:5]
	global_load_ushort v13, v2, s[6:7]
	global_load_ushort v14, v2, s[8:9]
	global_load_ushort v15, v2, s[14:15]
	s_mov_b64 exec, -1

// The outputs: qn and kn + 512 * x, decay and beta + 128 * token.
	s_lshl_b32 s30, s2, 9
	s_lshr_b32 s31, s2, 23
	s_add_u32 s16, s16, s30
	s_addc_u32 s17, s17, s31
	s_add_u32 s18, s18, s30
	s_addc_u32 s19, s19, s31
	s_mul_i32 s30, s3, 0x80
	s_mul_hi_u32 s31, s3, 0x80
	s_add_u32 s20, s20, s30
	s_addc_u32 s21, s21, s31
	s_add_u32 s22, s22, s30
	s_addc_u32 s23, s23, s31

// Sums of squares of the lanes.
	s_waitcnt vmcnt(4)                                        // q and k
	v_lshlrev_b32 v6, 16, v4
	v_and_b32 v7, 0xffff0000, v4
	v_lshlrev_b32 v8, 16, v5
	v_and_b32 v9, 0xffff0000, v5
	v_mul_f32 v10, v6, v6
	v_mul_f32 v16, v7, v7
	v_add_f32 v10, v10, v16                                   // q0 * q0 + q1 * q1
	v_mul_f32 v11, v8, v8
	v_mul_f32 v16, v9, v9
	v_add_f32 v11, v11, v16                                   // k0 * k0 + k1 * k1

// Add the 16 lanes of each row: lane 15 of a row ends with the row's sum.
	s_nop 0                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v10, v10, v10 row_shr:8 row_mask:0xf bank_mask:0xf bound_ctrl:0
	v_add_f32_dpp v11, v11, v11 row_shr:8 row_mask:0xf bank_mask:0xf bound_ctrl:0
	s_nop 0                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v10, v10, v10 row_shr:4 row_mask:0xf bank_mask:0xf bound_ctrl:0
	v_add_f32_dpp v11, v11, v11 row_shr:4 row_mask:0xf bank_mask:0xf bound_ctrl:0
	s_nop 0                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v10, v10, v10 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:0
	v_add_f32_dpp v11, v11, v11 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:0
	s_nop 0                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v10, v10, v10 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
	v_add_f32_dpp v11, v11, v11 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0

// Add the rows: R0 + R1 into row 1, R2 + R3 into row 3, then row 1 into row 3; lane 63 has the sum.
	s_nop 0                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v10, v10, v10 row_bcast:15 row_mask:0xa bank_mask:0xf
	v_add_f32_dpp v11, v11, v11 row_bcast:15 row_mask:0xa bank_mask:0xf
	s_nop 0                                                   // a DPP source is ready after 2 wait states
	v_add_f32_dpp v10, v10, v10 row_bcast:31 row_mask:0xc bank_mask:0xf
	v_add_f32_dpp v11, v11, v11 row_bcast:31 row_mask:0xc bank_mask:0xf
	v_readlane_b32 s30, v10, 63
	v_readlane_b32 s31, v11, 63
	v_mov_b32 v10, 0x358637bd                                 // 1e-6
	s_nop 0                                                   // the scalar sums are ready after 2 wait states
	v_add_f32 v11, s31, v10                                   // sum(k * k) + 1e-6
	v_add_f32 v10, s30, v10                                   // sum(q * q) + 1e-6
	v_sqrt_f32 v10, v10                                       // norm of q
	v_sqrt_f32 v11, v11                                       // norm of k; the wait state of v10

// q / norm, correctly rounded: scale both, refine 1 / norm and the quotient, undo the scale.
	v_div_scale_f32 v16, s[34:35], v10, v10, v6               // divisor scaled
	v_div_scale_f32 v17, vcc, v6, v10, v6                     // dividend scaled
	v_rcp_f32 v18, v16
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_fma_f32 v19, -v16, v18, 1.0
	v_fma_f32 v18, v19, v18, v18                              // reciprocal, refined
	v_mul_f32 v20, v17, v18                                   // quotient
	v_fma_f32 v19, -v16, v20, v17
	v_fma_f32 v20, v19, v18, v20                              // quotient, refined
	v_fma_f32 v19, -v16, v20, v17                             // remainder
	v_div_fmas_f32 v19, v19, v18, v20
	v_div_fixup_f32 v6, v19, v10, v6
	v_div_scale_f32 v16, s[34:35], v10, v10, v7               // divisor scaled
	v_div_scale_f32 v17, vcc, v7, v10, v7                     // dividend scaled
	v_rcp_f32 v18, v16
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_fma_f32 v19, -v16, v18, 1.0
	v_fma_f32 v18, v19, v18, v18                              // reciprocal, refined
	v_mul_f32 v20, v17, v18                                   // quotient
	v_fma_f32 v19, -v16, v20, v17
	v_fma_f32 v20, v19, v18, v20                              // quotient, refined
	v_fma_f32 v19, -v16, v20, v17                             // remainder
	v_div_fmas_f32 v19, v19, v18, v20
	v_div_fixup_f32 v7, v19, v10, v7

// k / norm, likewise.
	v_div_scale_f32 v16, s[34:35], v11, v11, v8               // divisor scaled
	v_div_scale_f32 v17, vcc, v8, v11, v8                     // dividend scaled
	v_rcp_f32 v18, v16
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_fma_f32 v19, -v16, v18, 1.0
	v_fma_f32 v18, v19, v18, v18                              // reciprocal, refined
	v_mul_f32 v20, v17, v18                                   // quotient
	v_fma_f32 v19, -v16, v20, v17
	v_fma_f32 v20, v19, v18, v20                              // quotient, refined
	v_fma_f32 v19, -v16, v20, v17                             // remainder
	v_div_fmas_f32 v19, v19, v18, v20
	v_div_fixup_f32 v8, v19, v11, v8
	v_div_scale_f32 v16, s[34:35], v11, v11, v9               // divisor scaled
	v_div_scale_f32 v17, vcc, v9, v11, v9                     // dividend scaled
	v_rcp_f32 v18, v16
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_fma_f32 v19, -v16, v18, 1.0
	v_fma_f32 v18, v19, v18, v18                              // reciprocal, refined
	v_mul_f32 v20, v17, v18                                   // quotient
	v_fma_f32 v19, -v16, v20, v17
	v_fma_f32 v20, v19, v18, v20                              // quotient, refined
	v_fma_f32 v19, -v16, v20, v17                             // remainder
	v_div_fmas_f32 v19, v19, v18, v20
	v_div_fixup_f32 v9, v19, v11, v9

// qn = (q / norm) * 128^-1/2; lane l stores elements 2 l and 2 l + 1.
	v_mul_f32 v6, 0x3db504f3, v6
	v_mul_f32 v7, 0x3db504f3, v7
	v_lshlrev_b32 v1, 3, v0
	global_store_dwordx2 v1, v[6:7], s[16:17]
	global_store_dwordx2 v1, v[8:9], s[18:19]

// The gates, in lanes 0 and 1: e = exp(a + dt_bias).
	s_mov_b64 exec, 3
	s_waitcnt vmcnt(2)                                        // the gates, which 2 stores follow
	v_lshlrev_b32 v13, 16, v13
	v_lshlrev_b32 v14, 16, v14
	v_lshlrev_b32 v15, 16, v15
	v_add_f32 v25, v13, v14                                   // x = a + dt_bias
	v_mul_f32 v26, s32, v25
	v_cmp_gt_f32 vcc, s33, v26                                // a subnormal result
	s_nop 1                                                   // a select reads VCC after 2 wait states
	v_cndmask_b32 v23, 0, v21, vcc
	v_cndmask_b32 v24, 0, v22, vcc
	v_fma_f32 v26, s32, v25, v23
	v_exp_f32 v26, v26
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_ldexp_f32 v26, v26, v24

// softplus(x) from y = 1 + e; e itself where y is 1, x itself above 20.
	v_add_f32 v27, 1.0, v26                                   // y
	v_add_f32 v28, -1.0, v27                                  // y - 1
	v_rcp_f32 v28, v28
	v_log_f32 v16, v27
	v_mul_f32 v28, v26, v28                                   // e / (y - 1)
	v_mul_f32 v16, 0x3f317218, v16                            // ln(y) = log2(y) * ln(2)
	v_mul_f32 v28, v16, v28
	v_cmp_eq_f32 vcc, 1.0, v27
	s_mov_b32 s29, 0x41a00000                                 // 20.0
	v_cmp_lt_f32 s[34:35], s29, v25
	s_nop 0                                                   // a select reads VCC after 2 wait states
	v_cndmask_b32 v28, v28, v26, vcc
	v_cndmask_b32 v25, v28, v25, s[34:35]                     // softplus(x)

// decay = exp(-exp(A_log) * softplus(x)).
	v_mul_f32 v26, s32, v12
	v_cmp_gt_f32 vcc, s33, v26                                // a subnormal result
	s_nop 1                                                   // a select reads VCC after 2 wait states
	v_cndmask_b32 v23, 0, v21, vcc
	v_cndmask_b32 v24, 0, v22, vcc
	v_fma_f32 v26, s32, v12, v23
	v_exp_f32 v26, v26
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_ldexp_f32 v26, v26, v24
	v_mul_f32 v25, -v26, v25
	v_mul_f32 v26, s32, v25
	v_cmp_gt_f32 vcc, s33, v26                                // a subnormal result
	s_nop 1                                                   // a select reads VCC after 2 wait states
	v_cndmask_b32 v23, 0, v21, vcc
	v_cndmask_b32 v24, 0, v22, vcc
	v_fma_f32 v26, s32, v25, v23
	v_exp_f32 v26, v26
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_ldexp_f32 v26, v26, v24

// beta = (b < 0 ? e : 1) / (1 + e), e = exp(-|b|).
	v_or_b32 v25, 0x80000000, v15                             // -|b|
	v_mul_f32 v28, s32, v25
	v_cmp_gt_f32 vcc, s33, v28                                // a subnormal result
	s_nop 1                                                   // a select reads VCC after 2 wait states
	v_cndmask_b32 v23, 0, v21, vcc
	v_cndmask_b32 v24, 0, v22, vcc
	v_fma_f32 v28, s32, v25, v23
	v_exp_f32 v28, v28
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_ldexp_f32 v28, v28, v24
	v_add_f32 v27, 1.0, v28                                   // 1 + e
	v_cmp_gt_f32 vcc, 0, v15
	s_nop 1                                                   // a select reads VCC after 2 wait states
	v_cndmask_b32 v28, 1.0, v28, vcc                          // b < 0 ? e : 1
	v_div_scale_f32 v16, s[34:35], v27, v27, v28              // divisor scaled
	v_div_scale_f32 v17, vcc, v28, v27, v28                   // dividend scaled
	v_rcp_f32 v18, v16
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_fma_f32 v19, -v16, v18, 1.0
	v_fma_f32 v18, v19, v18, v18                              // reciprocal, refined
	v_mul_f32 v20, v17, v18                                   // quotient
	v_fma_f32 v19, -v16, v20, v17
	v_fma_f32 v20, v19, v18, v20                              // quotient, refined
	v_fma_f32 v19, -v16, v20, v17                             // remainder
	v_div_fmas_f32 v19, v19, v18, v20
	v_div_fixup_f32 v28, v19, v27, v28
	global_store_dword v3, v26, s[20:21]
	global_store_dword v3, v28, s[22:23]
	s_endpgm
.Lnetra_gdn_verify_precompute_m12_gfx950_end:
	.size netra_gdn_verify_precompute_m12_gfx950, .Lnetra_gdn_verify_precompute_m12_gfx950_end-netra_gdn_verify_precompute_m12_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_gdn_verify_precompute_m12_gfx950
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 96
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 29
		.amdhsa_next_free_sgpr 36
		.amdhsa_accum_offset 32
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
  - .name: netra_gdn_verify_precompute_m12_gfx950
    .symbol: netra_gdn_verify_precompute_m12_gfx950.kd
    .kernarg_segment_size: 96
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .vgpr_count: 29
    .agpr_count: 0
    .sgpr_count: 36
    .args:
      - {.name: A_log, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: a, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: dt_bias, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: q, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: k, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: b, .offset: 40, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: qn, .offset: 48, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: kn, .offset: 56, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: decay, .offset: 64, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: beta, .offset: 72, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: stride_q, .offset: 80, .size: 4, .value_kind: by_value}
      - {.name: stride_k, .offset: 84, .size: 4, .value_kind: by_value}
      - {.name: stride_a, .offset: 88, .size: 4, .value_kind: by_value}
      - {.name: stride_b, .offset: 92, .size: 4, .value_kind: by_value}
...
	.end_amdgpu_metadata
