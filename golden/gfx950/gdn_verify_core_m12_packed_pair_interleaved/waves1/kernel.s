// SPDX-License-Identifier: MIT
// Verification pass of the gated delta rule over the 12 tokens of a sequence, one wave a
// work-group: the output of every token, from a BF16 state that is read and not written.
//
// void netra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950(
//     const float   *qn,                // 0   [batch * 12, 16, 128]
//     const float   *kn,                // 8   [batch * 12, 16, 128]
//     const bf16    *v,                 // 16  [batch * 12, stride_v], 32 heads of 128 are read
//     const float   *decay,             // 24  [batch * 12, 32]
//     const float   *beta,              // 32  [batch * 12, 32]
//     bf16          *out,               // 40  [batch * 12, 32, 128]
//     const bf16    *initial_state,     // 48  [capacity, 32, 128 v, 128 k]
//     const void    *intermediate,      // 56  not read
//     const int32_t *initial_idx,       // 64  [batch], held within 0 .. capacity - 1
//     const int32_t *intermediate_idx,  // 72  not read
//     uint32_t       stride_v,          // 80  elements from one token to the next
//     uint32_t       state_capacity);   // 84  slots
//
// Grid (256 * batch, 1, 1), 64 work-items. Work-group x
// is (sequence * 32 + value head) * 8 + tile of 16 rows of V. Lane l owns the rows l / 16 + 4 i,
// i = 0 .. 3, of the tile and the values K = 8 (l % 16) .. + 7 of each: 32 values of the state S.
// For each token, in F32:
//
//     S    = S * decay
//     u    = (v - S . k) * beta
//     S    = fma(k, u, S)
//     out  = bf16(S . q)
//
// The state is never rounded between tokens. The order of the dot products is part of the contract:
// of the 8 K of a lane, a chain of the even and one of the odd (a product, then 3 fma each), their
// sum, and a butterfly of distance 8, 4, 2, 1 over the 16 columns.
//
// q and k of a token are loaded one token ahead and shared through LDS.
//
// SGPR  0:1    kernarg segment, until the arguments are read
//       2      work-group x, then the logical wave
//       4:23   the pointers in the order of the arguments, each advanced to the current token
//       24     2 * stride_v
//       25     last slot
//       26:28  sequence, value head, tile
//       29:31  byte offsets, slots; then bytes to the next token, 0 after the last
//       32     tokens that follow the current one
//       34:35  products
//       36, 37 decay, beta
//       38:43  lanes of column 1, 2, 3
//       44:45  lanes of columns 0 .. 3
// VGPR  0      lane, then byte offset of the row in v, 2 * (lane / 16)
//       1      LDS address of the column's q, 32 * (lane % 16), in alternate halves
//       2      LDS address of the staged pair, 8 * lane, in alternate halves
//       3      byte offset of the staged pair, 8 * lane
//       4      byte offset of the lane's row in out, 2 * (lane / 16 + 4 * (lane % 16))
//       5      byte offset in a tile of the state, 16 * lane
//       6, 7   temporaries; decay, beta
//       8:11   v of the four rows as loaded
//       12:15  v of the four rows
//       16:23  k
//       24:31  q
//       32:63  S, 8 values of K of each of the four rows
//       64:71  chains, then sums, u, outputs in the even registers
//       72:75  staged pairs of q, k
// LDS   0:2047 two halves, one a token: q [128] F32, k [128] F32

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950
	.globl netra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950
	.p2align 8
	.type netra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950,@function
netra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950:
// The arguments; meanwhile the logical wave and its sequence, value head and tile.
	s_load_dwordx8 s[4:11], s[0:1], 0                         // qn, kn, v, decay
	s_load_dwordx8 s[12:19], s[0:1], 32                       // beta .. intermediate
	s_load_dwordx4 s[20:23], s[0:1], 64                       // initial_idx, intermediate_idx
	s_load_dwordx2 s[24:25], s[0:1], 80                       // stride_v, state_capacity
	s_and_b32 s28, s2, 7                                      // tile
	s_lshr_b32 s27, s2, 3
	s_lshr_b32 s26, s27, 5                                    // sequence
	s_and_b32 s27, s27, 31                                    // value head
	v_lshrrev_b32 v6, 4, v0                                   // row group = lane / 16
	v_and_b32 v7, 15, v0                                      // column = lane % 16
	v_lshlrev_b32 v1, 5, v7                                   // 32 * column
	v_lshlrev_b32 v2, 3, v0                                   // 8 * lane
	v_lshlrev_b32 v3, 3, v0
	v_lshlrev_b32 v5, 4, v0                                   // 16 * lane
	v_lshlrev_b32 v0, 1, v6                                   // 2 * row group
	v_lshl_add_u32 v4, v7, 3, v0                              // 2 * (row group + 4 * column)
	s_mov_b32 s38, 0x00020002                                 // column == 1
	s_mov_b32 s39, 0x00020002
	s_mov_b32 s40, 0x00040004                                 // column == 2
	s_mov_b32 s41, 0x00040004
	s_mov_b32 s42, 0x00080008                                 // column == 3
	s_mov_b32 s43, 0x00080008
	s_mov_b32 s44, 0x000f000f                                 // column < 4
	s_mov_b32 s45, 0x000f000f
	s_waitcnt lgkmcnt(0)                                      // the arguments

// State slot of the sequence, held within 0 .. state_capacity - 1.
	s_lshl_b32 s29, s26, 2                                    // 4 * sequence
	s_add_u32 s20, s20, s29
	s_addc_u32 s21, s21, 0
	s_load_dword s30, s[20:21], 0                             // initial_idx[sequence]
	s_sub_u32 s25, s25, 1                                     // last slot
	s_waitcnt lgkmcnt(0)                                      // the index
	s_mov_b32 s32, 11                                         // tokens after the first
	s_max_i32 s30, s30, 0
	s_min_u32 s30, s30, s25                                   // initial slot

// Bases in 64 bits. A state slot is 2^20 bytes, a value head of it 2^15, a tile 2^12.
	s_lshl_b32 s29, s27, 15
	s_lshl_b32 s34, s28, 12
	s_add_u32 s29, s29, s34                                   // 2^15 * value head + 2^12 * tile
	s_mul_i32 s34, s30, 0x100000
	s_mul_hi_u32 s35, s30, 0x100000
	s_add_u32 s16, s16, s34
	s_addc_u32 s17, s17, s35
	s_add_u32 s16, s16, s29
	s_addc_u32 s17, s17, 0
// out: 98304 bytes a sequence, 256 a value head, 32 a tile.
	s_lshl_b32 s29, s27, 8
	s_lshl_b32 s34, s28, 5
	s_add_u32 s29, s29, s34                                   // 2^8 * value head + 2^5 * tile
	s_mul_i32 s34, s26, 0x18000
	s_mul_hi_u32 s35, s26, 0x18000
	s_add_u32 s14, s14, s34
	s_addc_u32 s15, s15, s35
	s_add_u32 s14, s14, s29
	s_addc_u32 s15, s15, 0
// v: 2 * stride_v bytes a token, then as out.
	s_lshl_b32 s24, s24, 1                                    // 2 * stride_v
	s_mul_i32 s30, s26, 12                                    // first token
	s_mul_i32 s34, s30, s24
	s_mul_hi_u32 s35, s30, s24
	s_add_u32 s8, s8, s34
	s_addc_u32 s9, s9, s35
	s_add_u32 s8, s8, s29
	s_addc_u32 s9, s9, 0
// kn, qn: 98304 bytes a sequence, 512 a QK head; two value heads share a QK head.
	s_lshr_b32 s29, s27, 1                                    // QK head
	s_lshl_b32 s29, s29, 9
	s_mul_i32 s34, s26, 0x18000
	s_mul_hi_u32 s35, s26, 0x18000
	s_add_u32 s6, s6, s34
	s_addc_u32 s7, s7, s35
	s_add_u32 s6, s6, s29
	s_addc_u32 s7, s7, 0
	s_add_u32 s4, s4, s34
	s_addc_u32 s5, s5, s35
	s_add_u32 s4, s4, s29
	s_addc_u32 s5, s5, 0
// decay, beta: 1536 bytes a sequence, 4 a value head.
	s_lshl_b32 s29, s27, 2
	s_mul_i32 s34, s26, 0x600
	s_mul_hi_u32 s35, s26, 0x600
	s_add_u32 s10, s10, s34
	s_addc_u32 s11, s11, s35
	s_add_u32 s10, s10, s29
	s_addc_u32 s11, s11, 0
	s_add_u32 s12, s12, s34
	s_addc_u32 s13, s13, s35
	s_add_u32 s12, s12, s29
	s_addc_u32 s13, s13, 0

// The first token: decay and beta, q and k, the initial state, v.
	s_load_dword s36, s[10:11], 0                             // decay
	s_load_dword s37, s[12:13], 0                             // beta
	global_load_dwordx2 v[72:73], v3, s[4:5]                  // q
	global_load_dwordx2 v[74:75], v3, s[6:7]                  // k
	global_load_dwordx4 v[36:39], v5, s[16:17]
	global_load_dwordx4 v[44:47], v5, s[16:17] offset:1024
	global_load_dwordx4 v[52:55], v5, s[16:17] offset:2048
	global_load_dwordx4 v[60:63], v5, s[16:17] offset:3072
	global_load_ushort v8, v0, s[8:9]
	global_load_ushort v9, v0, s[8:9] offset:8
	global_load_ushort v10, v0, s[8:9] offset:16
	global_load_ushort v11, v0, s[8:9] offset:24
	s_waitcnt vmcnt(0)                                        // q and k, the state, v
	ds_write_b64 v2, v[72:73]                                 // q
	ds_write_b64 v2, v[74:75] offset:512                      // k
	v_xor_b32 v2, 0x400, v2                                   // the other half of LDS

// The state as F32: 8 values of K of the rows row group + 4 i, i = 0 .. 3.
	v_lshlrev_b32 v32, 16, v36
	v_and_b32 v33, 0xffff0000, v36
	v_lshlrev_b32 v34, 16, v37
	v_and_b32 v35, 0xffff0000, v37
	v_lshlrev_b32 v36, 16, v38
	v_and_b32 v37, 0xffff0000, v38
	v_lshlrev_b32 v38, 16, v39
	v_and_b32 v39, 0xffff0000, v39
	v_lshlrev_b32 v40, 16, v44
	v_and_b32 v41, 0xffff0000, v44
	v_lshlrev_b32 v42, 16, v45
	v_and_b32 v43, 0xffff0000, v45
	v_lshlrev_b32 v44, 16, v46
	v_and_b32 v45, 0xffff0000, v46
	v_lshlrev_b32 v46, 16, v47
	v_and_b32 v47, 0xffff0000, v47
	v_lshlrev_b32 v48, 16, v52
	v_and_b32 v49, 0xffff0000, v52
	v_lshlrev_b32 v50, 16, v53
	v_and_b32 v51, 0xffff0000, v53
	v_lshlrev_b32 v52, 16, v54
	v_and_b32 v53, 0xffff0000, v54
	v_lshlrev_b32 v54, 16, v55
	v_and_b32 v55, 0xffff0000, v55
	v_lshlrev_b32 v56, 16, v60
	v_and_b32 v57, 0xffff0000, v60
	v_lshlrev_b32 v58, 16, v61
	v_and_b32 v59, 0xffff0000, v61
	v_lshlrev_b32 v60, 16, v62
	v_and_b32 v61, 0xffff0000, v62
	v_lshlrev_b32 v62, 16, v63
	v_and_b32 v63, 0xffff0000, v63

// One token: take v, then load v and q and k of the next token; after the last, the same again.
.Lnetra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950_token:
	v_lshlrev_b32 v12, 16, v8
	v_lshlrev_b32 v13, 16, v9
	v_lshlrev_b32 v14, 16, v10
	v_lshlrev_b32 v15, 16, v11
	s_cmp_lg_u32 s32, 0
	s_cselect_b32 s29, 0x2000, 0                              // 16 QK heads of 512 bytes
	s_cselect_b32 s30, s24, 0                                 // 2 * stride_v
	s_cselect_b32 s31, 0x80, 0                                // 32 value heads of 4 bytes
	s_add_u32 s4, s4, s29
	s_addc_u32 s5, s5, 0
	s_add_u32 s6, s6, s29
	s_addc_u32 s7, s7, 0
	s_add_u32 s8, s8, s30
	s_addc_u32 s9, s9, 0
	s_add_u32 s10, s10, s31
	s_addc_u32 s11, s11, 0
	s_add_u32 s12, s12, s31
	s_addc_u32 s13, s13, 0
	global_load_ushort v8, v0, s[8:9]
	global_load_ushort v9, v0, s[8:9] offset:8
	global_load_ushort v10, v0, s[8:9] offset:16
	global_load_ushort v11, v0, s[8:9] offset:24
	global_load_dwordx2 v[72:73], v3, s[4:5]                  // q
	global_load_dwordx2 v[74:75], v3, s[6:7]                  // k
	ds_read_b128 v[16:19], v1 offset:512                      // k
	ds_read_b128 v[20:23], v1 offset:528
	ds_read_b128 v[24:27], v1                                 // q
	ds_read_b128 v[28:31], v1 offset:16
	v_xor_b32 v1, 0x400, v1                                   // the other half of LDS
	s_waitcnt lgkmcnt(0)                                      // q and k, decay, beta
	v_mov_b32 v6, s36                                         // decay
	v_mov_b32 v7, s37                                         // beta
	s_load_dword s36, s[10:11], 0                             // decay of the next token
	s_load_dword s37, s[12:13], 0                             // beta of the next token

// S = S * decay.
	v_pk_mul_f32 v[32:33], v[32:33], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[34:35], v[34:35], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[36:37], v[36:37], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[38:39], v[38:39], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[40:41], v[40:41], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[42:43], v[42:43], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[44:45], v[44:45], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[46:47], v[46:47], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[48:49], v[48:49], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[50:51], v[50:51], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[52:53], v[52:53], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[54:55], v[54:55], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[56:57], v[56:57], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[58:59], v[58:59], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[60:61], v[60:61], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[62:63], v[62:63], v[6:7] op_sel_hi:[1,0]

// S . k: a chain of the even K and one of the odd K, advanced by one packed operation.
	v_pk_mul_f32 v[64:65], v[32:33], v[16:17]
	v_pk_mul_f32 v[66:67], v[40:41], v[16:17]
	v_pk_mul_f32 v[68:69], v[48:49], v[16:17]
	v_pk_mul_f32 v[70:71], v[56:57], v[16:17]
	v_pk_fma_f32 v[64:65], v[34:35], v[18:19], v[64:65]
	v_pk_fma_f32 v[66:67], v[42:43], v[18:19], v[66:67]
	v_pk_fma_f32 v[68:69], v[50:51], v[18:19], v[68:69]
	v_pk_fma_f32 v[70:71], v[58:59], v[18:19], v[70:71]
	v_pk_fma_f32 v[64:65], v[36:37], v[20:21], v[64:65]
	v_pk_fma_f32 v[66:67], v[44:45], v[20:21], v[66:67]
	v_pk_fma_f32 v[68:69], v[52:53], v[20:21], v[68:69]
	v_pk_fma_f32 v[70:71], v[60:61], v[20:21], v[70:71]
	v_pk_fma_f32 v[64:65], v[38:39], v[22:23], v[64:65]
	v_pk_fma_f32 v[66:67], v[46:47], v[22:23], v[66:67]
	v_pk_fma_f32 v[68:69], v[54:55], v[22:23], v[68:69]
	v_pk_fma_f32 v[70:71], v[62:63], v[22:23], v[70:71]
	v_add_f32 v64, v64, v65                                   // even + odd
	v_add_f32 v66, v66, v67
	v_add_f32 v68, v68, v69
	v_add_f32 v70, v70, v71
// Add the 16 columns: after a step the sums repeat with its distance, so a rotation meets the partner.
	v_add_f32_dpp v64, v64, v64 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v66, v66, v66 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v68, v68, v68 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v70, v70, v70 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v64, v64, v64 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v66, v66, v66 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v68, v68, v68 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v70, v70, v70 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v64, v64, v64 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v66, v66, v66 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v68, v68, v68 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v70, v70, v70 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v64, v64, v64 row_ror:1 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v66, v66, v66 row_ror:1 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v68, v68, v68 row_ror:1 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v70, v70, v70 row_ror:1 row_mask:0xf bank_mask:0xf

// u = (v - S . k) * beta; S = fma(k, u, S).
	v_sub_f32 v12, v12, v64
	v_sub_f32 v13, v13, v66
	v_sub_f32 v14, v14, v68
	v_sub_f32 v15, v15, v70
	v_mul_f32 v64, v12, v7
	v_mul_f32 v66, v13, v7
	v_mul_f32 v68, v14, v7
	v_mul_f32 v70, v15, v7
	v_pk_fma_f32 v[32:33], v[16:17], v[64:65], v[32:33] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[34:35], v[18:19], v[64:65], v[34:35] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[36:37], v[20:21], v[64:65], v[36:37] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[38:39], v[22:23], v[64:65], v[38:39] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[40:41], v[16:17], v[66:67], v[40:41] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[42:43], v[18:19], v[66:67], v[42:43] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[44:45], v[20:21], v[66:67], v[44:45] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[46:47], v[22:23], v[66:67], v[46:47] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[48:49], v[16:17], v[68:69], v[48:49] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[50:51], v[18:19], v[68:69], v[50:51] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[52:53], v[20:21], v[68:69], v[52:53] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[54:55], v[22:23], v[68:69], v[54:55] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[56:57], v[16:17], v[70:71], v[56:57] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[58:59], v[18:19], v[70:71], v[58:59] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[60:61], v[20:21], v[70:71], v[60:61] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[62:63], v[22:23], v[70:71], v[62:63] op_sel_hi:[1,0,1]

// out = bf16(S . q), in the same order.
	v_pk_mul_f32 v[64:65], v[32:33], v[24:25]
	v_pk_mul_f32 v[66:67], v[40:41], v[24:25]
	v_pk_mul_f32 v[68:69], v[48:49], v[24:25]
	v_pk_mul_f32 v[70:71], v[56:57], v[24:25]
	v_pk_fma_f32 v[64:65], v[34:35], v[26:27], v[64:65]
	v_pk_fma_f32 v[66:67], v[42:43], v[26:27], v[66:67]
	v_pk_fma_f32 v[68:69], v[50:51], v[26:27], v[68:69]
	v_pk_fma_f32 v[70:71], v[58:59], v[26:27], v[70:71]
	v_pk_fma_f32 v[64:65], v[36:37], v[28:29], v[64:65]
	v_pk_fma_f32 v[66:67], v[44:45], v[28:29], v[66:67]
	v_pk_fma_f32 v[68:69], v[52:53], v[28:29], v[68:69]
	v_pk_fma_f32 v[70:71], v[60:61], v[28:29], v[70:71]
	v_pk_fma_f32 v[64:65], v[38:39], v[30:31], v[64:65]
	v_pk_fma_f32 v[66:67], v[46:47], v[30:31], v[66:67]
	v_pk_fma_f32 v[68:69], v[54:55], v[30:31], v[68:69]
	v_pk_fma_f32 v[70:71], v[62:63], v[30:31], v[70:71]
	v_add_f32 v64, v64, v65                                   // even + odd
	v_add_f32 v66, v66, v67
	v_add_f32 v68, v68, v69
	v_add_f32 v70, v70, v71
// Add the 16 columns: after a step the sums repeat with its distance, so a rotation meets the partner.
	v_add_f32_dpp v64, v64, v64 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v66, v66, v66 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v68, v68, v68 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v70, v70, v70 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v64, v64, v64 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v66, v66, v66 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v68, v68, v68 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v70, v70, v70 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v64, v64, v64 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v66, v66, v66 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v68, v68, v68 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v70, v70, v70 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v64, v64, v64 row_ror:1 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v66, v66, v66 row_ror:1 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v68, v68, v68 row_ror:1 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v70, v70, v70 row_ror:1 row_mask:0xf bank_mask:0xf
// Column c < 4 stores the row row group + 4 c.
	v_cndmask_b32 v64, v64, v66, s[38:39]
	v_cndmask_b32 v64, v64, v68, s[40:41]
	v_cndmask_b32 v64, v64, v70, s[42:43]
	v_cvt_pk_bf16_f32 v64, v64, v64
	s_mov_b64 exec, s[44:45]
	global_store_short v4, v64, s[14:15]
	s_mov_b64 exec, -1
	s_add_u32 s14, s14, 0x2000                                // the next token of out
	s_addc_u32 s15, s15, 0

// Put q and k of the next token into LDS; its other half has been read.
	s_waitcnt vmcnt(1)                                        // v, q and k of the next token, which 1 store follows
	ds_write_b64 v2, v[72:73]                                 // q
	ds_write_b64 v2, v[74:75] offset:512                      // k
	v_xor_b32 v2, 0x400, v2                                   // the other half of LDS
	s_sub_u32 s32, s32, 1
	s_cbranch_scc0 .Lnetra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950_token                                 // until the count falls below 0
	s_endpgm
.Lnetra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950_end:
	.size netra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950, .Lnetra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950_end-netra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950
		.amdhsa_group_segment_fixed_size 2048
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 88
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 76
		.amdhsa_next_free_sgpr 46
		.amdhsa_accum_offset 76
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
  - .name: netra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950
    .symbol: netra_gdn_verify_core_m12_packed_pair_interleaved_waves1_gfx950.kd
    .kernarg_segment_size: 88
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 2048
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 512
    .vgpr_count: 76
    .agpr_count: 0
    .sgpr_count: 46
    .args:
      - {.name: qn, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: kn, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: v, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: decay, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: beta, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: out, .offset: 40, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: initial_state, .offset: 48, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: intermediate, .offset: 56, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: initial_idx, .offset: 64, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: intermediate_idx, .offset: 72, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: stride_v, .offset: 80, .size: 4, .value_kind: by_value}
      - {.name: state_capacity, .offset: 84, .size: 4, .value_kind: by_value}
...
	.end_amdgpu_metadata
