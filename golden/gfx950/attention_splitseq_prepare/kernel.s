// SPDX-License-Identifier: MIT
// Copy the token slots of the new tokens of one request behind its prefix, and write the sequence
// length that each new token sees.
//
// void netra_attention_splitseq_prepare_gfx950(
//     uint64_t       *unified_indices,  //  0  [prefix + M or more], written from prefix on
//     int32_t        *seq_lens,         //  8  [M]
//     const int32_t  *prefix_len,       // 16  [1]
//     const uint32_t *req_to_token,     // 24  [requests, stride]
//     const uint64_t *req_pool_index,   // 32  [1], low dword used
//     uint32_t        stride,           // 40  elements in a row of req_to_token
//     uint32_t        M);               // 44  new tokens, at most 16
//
// Grid (1, 1, 1), 64 work-items: work-item i < M does new token i.
//
//     unified_indices[prefix + i] = req_to_token[request][prefix + i]     high dword 0
//     seq_lens[i]                 = prefix + i + 1
//
// SGPR  0:1    kernarg segment, until the arguments are read
//       4:11   unified_indices, seq_lens, prefix_len, req_to_token
//       12:13  req_pool_index
//       14:15  stride, M
//       16     prefix
//       17     request, then prefix + 1
//       18:19  req_to_token[request] + prefix
//       20:21  unified_indices + prefix
// VGPR  0      i
//       1      4 * i
//       2:3    slot, 0
//       4      8 * i
//       5      prefix + i + 1
// LDS   none

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_attention_splitseq_prepare_gfx950
	.globl netra_attention_splitseq_prepare_gfx950
	.p2align 8
	.type netra_attention_splitseq_prepare_gfx950,@function
netra_attention_splitseq_prepare_gfx950:
// The arguments, then the two values behind pointers; only work-items i < M go on.
	s_load_dwordx8 s[4:11], s[0:1], 0                         // unified_indices .. req_to_token
	s_load_dwordx4 s[12:15], s[0:1], 32                       // req_pool_index, stride, M
	v_lshlrev_b32 v1, 2, v0                                   // 4 * i
	v_lshlrev_b32 v4, 3, v0                                   // 8 * i
	v_mov_b32 v3, 0                                           // high dword of the slot
	s_waitcnt lgkmcnt(0)                                      // the arguments
	s_load_dword s16, s[8:9], 0                               // prefix
	s_load_dword s17, s[12:13], 0                             // request
	v_cmp_gt_u32 vcc, s15, v0                                 // i < M
	s_mov_b64 exec, vcc
	s_waitcnt lgkmcnt(0)                                      // prefix and request

// slot = req_to_token[request * stride + prefix + i]
	s_mul_i32 s18, s17, s14                                   // request * stride
	s_mul_hi_u32 s19, s17, s14
	s_add_u32 s18, s18, s16                                   // + prefix
	s_addc_u32 s19, s19, 0
	s_lshl_b64 s[18:19], s[18:19], 2                          // in bytes
	s_add_u32 s18, s18, s10
	s_addc_u32 s19, s19, s11
	global_load_dword v2, v1, s[18:19]

// seq_lens[i] = prefix + i + 1 and unified_indices[prefix + i] = slot
	s_add_u32 s17, s16, 1
	v_add_u32 v5, s17, v0                                     // prefix + i + 1
	s_lshl_b32 s20, s16, 3                                    // unified_indices + 8 * prefix
	s_lshr_b32 s21, s16, 29
	s_add_u32 s20, s4, s20
	s_addc_u32 s21, s5, s21
	s_waitcnt vmcnt(0)                                        // the slots
	global_store_dword v1, v5, s[6:7]
	global_store_dwordx2 v4, v[2:3], s[20:21]
	s_endpgm
.Lnetra_attention_splitseq_prepare_gfx950_end:
	.size netra_attention_splitseq_prepare_gfx950, .Lnetra_attention_splitseq_prepare_gfx950_end-netra_attention_splitseq_prepare_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_attention_splitseq_prepare_gfx950
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 48
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 6
		.amdhsa_next_free_sgpr 22
		.amdhsa_accum_offset 8
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
  - .name: netra_attention_splitseq_prepare_gfx950
    .symbol: netra_attention_splitseq_prepare_gfx950.kd
    .kernarg_segment_size: 48
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .vgpr_count: 6
    .agpr_count: 0
    .sgpr_count: 22
    .args:
      - {.name: unified_indices, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_write}
      - {.name: seq_lens, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: prefix_len, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: req_to_token, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: req_pool_index, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: stride, .offset: 40, .size: 4, .value_kind: by_value}
      - {.name: M, .offset: 44, .size: 4, .value_kind: by_value}
...
	.end_amdgpu_metadata
