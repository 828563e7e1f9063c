// Two kernels whose descriptors differ in most fields; read by the tests of the asm layer.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6
	.set SAMPLE_CONSTANT, 7

	.text
	.globl sample_first
	.protected sample_first
	.p2align 8
	.type sample_first,@function
sample_first:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	v_mov_b32_e32 v1, SAMPLE_CONSTANT
	s_waitcnt lgkmcnt(0)
	global_store_dword v0, v1, s[4:5]
	s_cbranch_scc1 .Lfirst_end
	v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]
.Lfirst_end:
	s_endpgm
	.size sample_first, .-sample_first

	.globl sample_second
	.protected sample_second
	.p2align 8
	.type sample_second,@function
sample_second:
	s_nop 1
	s_endpgm
	.size sample_second, .-sample_second

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel sample_first
		.amdhsa_group_segment_fixed_size 512
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_next_free_vgpr 20
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 20
	.end_amdhsa_kernel
	.p2align 6
	.amdhsa_kernel sample_second
		.amdhsa_private_segment_fixed_size 16
		.amdhsa_enable_private_segment 1
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_kernarg_preload_length 3
		.amdhsa_user_sgpr_kernarg_preload_offset 1
		.amdhsa_system_sgpr_workgroup_id_x 0
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 100
		.amdhsa_next_free_sgpr 50
		.amdhsa_accum_offset 64
		.amdhsa_float_round_mode_32 1
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_dx10_clamp 0
		.amdhsa_ieee_mode 0
		.amdhsa_fp16_overflow 1
		.amdhsa_tg_split 1
		.amdhsa_exception_fp_ieee_inexact 1
		.amdhsa_uses_dynamic_stack 1
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: sample_first
    .symbol: sample_first.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 22
    .vgpr_count: 20
    .agpr_count: 0
    .max_flat_workgroup_size: 256
    .args:
      - { .name: output, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .access: write_only }
      - { .name: rows, .offset: 8, .size: 4, .value_kind: by_value }
  - .name: sample_second
    .symbol: sample_second.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 4
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 56
    .vgpr_count: 100
    .max_flat_workgroup_size: 64
    .uses_dynamic_stack: true
    .reqd_workgroup_size: [ 64, 1, 1 ]
...
	.end_amdgpu_metadata
