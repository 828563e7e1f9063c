// SPDX-License-Identifier: MIT
// Prefill recurrence of the gated delta rule over chunks of 64 tokens: the state before every chunk,
// the corrected values of every token, and the final state in place, for sequences of any length.
//
// void netra_gdn_h_m8192_bv16_varlen_gfx950(
//     const bf16    *k,              //  0  [T, 16, 128]
//     const bf16    *v,              //  8  [T, 32, 128]
//     const bf16    *w,              // 16  [T, 32, 128]
//     bf16          *v_new,          // 24  [T, 32, 128]
//     const float   *g,              // 32  [T, 32], cumulative within a chunk, natural logarithm
//     bf16          *h,              // 40  [chunks, 32, 128 v, 128 k]
//     bf16          *state,          // 48  [slots, 32, 128 v, 128 k], in place
//     const int32_t *state_idx,      // 56  [N], 0 .. slots - 1
//     const int32_t *cu_seqlens,     // 64  [N + 1]
//     const int64_t *chunk_offsets,  // 72  [N + 1]
//     uint32_t       T,              // 80  not read
//     const void    *scratch,        // 88  not read
//     const void    *profile);       // 96  not read
//
// Grid (8, 32 * N, 1), 256 work-items: x = tile of 16 rows of V, y = sequence * 32 + value head; two
// value heads share a head of k. For each chunk, S [16 v, 128 k] in F32 and H = bf16(S):
//
//     h      = H
//     x      = v - w . H                            one dot product of 128 a token and row of V
//     v_new  = bf16(x)
//     xs     = bf16(x * e),  e = exp(g_last - g) where g_last - g <= 0, else 0
//     S      = fma(S, exp(g_last), sum over the tokens of xs * k)
//
// with g_last that of the chunk's last token; in the end state = bf16(S). exp(x) is 2^(x * log2(e))
// by plain v_exp, below 2^-126 taken 2^64 higher and scaled down.
//
// Lane (g, c) = (lane / 16, lane % 16). Wave i owns K 32 i .. 32 i + 31 of the state: two tiles of
// the transposed state, with K 32 i + 16 j + 4 g .. + 3 of row c of V in four registers. It computes
// x of tokens 16 i .. 16 i + 15: V 4 g .. 4 g + 3 of token c in four registers. H and xs are
// exchanged through LDS, one barrier each; the wave's part of k is transposed through LDS.
//
// Tokens past the end of the sequence take the place of its last token with e = 0; they are not
// stored.
//
// SGPR  0:1    kernarg segment, until the arguments are read
//       2, 3   work-group x (= tile of V), y, then sequence
//       4:15   k, v, w, v_new, g, h, each advanced to the current chunk
//       16:17  state, then the tile in its slot
//       18:23  state_idx, cu_seqlens, chunk_offsets
//       24     wave
//       25     value head
//       26, 27 first token, end of the sequence
//       28     tokens left, this chunk included
//       29     last valid token of the chunk
//       30     g of that token
//       31     log2(e)
//       32     -126.0
//       33     state slot
//       34:35  chunk of h
//       36:37  lanes with a valid token
//       38:41  temporaries
// VGPR  0      lane
//       1, 2   LDS address of H: written at row c, K 32 i + 4 g; read at row c, K 8 g
//       3, 4   LDS address of xs: written at token 16 i + c, V 4 g; read transposed
//       5, 6   LDS address of the wave's part of k: written, 16 bytes a lane; read transposed
//       7      byte offset in a tile of the state: row c, K 32 i + 4 g
//       8      token of the chunk, 16 i + c
//       9, 10  row of k the lane loads, lane / 4; its byte offset, 16 * (lane % 4)
//       11, 12 8 g, 16 g
//       13:15  byte offsets in v and v_new, w, g
//       16:19  byte offsets in k of four rows 16 apart
//       20:35  k as loaded; then k transposed
//       36:51  w; then xs transposed
//       52:53  v as loaded
//       54:61  S
//       62:77  H
//       78:81  w . H, then x
//       82:89  sums of xs * k
//       90     e
//       91     exp(g_last)
//       92, 93 64.0 and the integer -64
//       94, 95 temporaries of the exponential
//       96:99  v, then pairs of BF16
// LDS   0:4351      H, 16 rows of 256 bytes, 272 apart
//       4352:6399   xs, 64 tokens of 16 BF16
//       6400:22783  k, one part of 64 tokens of 32 BF16 a wave

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_gdn_h_m8192_bv16_varlen_gfx950
	.globl netra_gdn_h_m8192_bv16_varlen_gfx950
	.p2align 8
	.type netra_gdn_h_m8192_bv16_varlen_gfx950,@function
netra_gdn_h_m8192_bv16_varlen_gfx950:
// The arguments; meanwhile sequence, value head, wave.
	s_load_dwordx8 s[4:11], s[0:1], 0                         // k, v, w, v_new
	s_load_dwordx8 s[12:19], s[0:1], 32                       // g, h, state, state_idx
	s_load_dwordx4 s[20:23], s[0:1], 64                       // cu_seqlens, chunk_offsets
	v_lshrrev_b32 v1, 6, v0
	v_and_b32 v0, 63, v0                                      // lane
	v_readfirstlane_b32 s24, v1                               // wave
	s_and_b32 s25, s3, 31                                     // value head
	s_lshr_b32 s3, s3, 5                                      // sequence
	s_mov_b32 s31, 0x3fb8aa3b                                 // log2(e)
	s_mov_b32 s32, 0xc2fc0000                                 // -126.0
	v_mov_b32 v92, 0x42800000                                 // 64.0
	v_mov_b32 v93, 0xffffffc0                                 // -64
	s_waitcnt lgkmcnt(0)                                      // the arguments

// The sequence's tokens, state slot and first chunk; an empty sequence leaves everything untouched.
	s_lshl_b32 s40, s3, 2                                     // 4 * sequence
	s_add_u32 s18, s18, s40
	s_addc_u32 s19, s19, 0
	s_add_u32 s20, s20, s40
	s_addc_u32 s21, s21, 0
	s_lshl_b32 s40, s3, 3
	s_add_u32 s22, s22, s40
	s_addc_u32 s23, s23, 0
	s_load_dword s33, s[18:19], 0                             // state_idx[sequence]
	s_load_dwordx2 s[26:27], s[20:21], 0                      // cu_seqlens[sequence], [sequence + 1]
	s_load_dwordx2 s[34:35], s[22:23], 0                      // chunk_offsets[sequence]
	s_waitcnt lgkmcnt(0)                                      // slot, tokens, chunk
	s_sub_u32 s28, s27, s26                                   // tokens left
	s_cmp_le_i32 s28, 0
	s_cbranch_scc1 .Lnetra_gdn_h_m8192_bv16_varlen_gfx950_done

// Bases in 64 bits: state + 2^20 * slot and h + 2^20 * chunk, 2^15 * value head, 2^12 * x.
	s_lshl_b32 s40, s25, 15
	s_lshl_b32 s41, s2, 12
	s_add_u32 s40, s40, s41
	s_lshl_b32 s38, s33, 20
	s_lshr_b32 s39, s33, 12
	s_add_u32 s16, s16, s38
	s_addc_u32 s17, s17, s39
	s_add_u32 s16, s16, s40
	s_addc_u32 s17, s17, 0
	s_lshl_b64 s[34:35], s[34:35], 20
	s_add_u32 s14, s14, s34
	s_addc_u32 s15, s15, s35
	s_add_u32 s14, s14, s40
	s_addc_u32 s15, s15, 0
// w: 8192 * token + 256 * value head; v, v_new: and 32 * x.
	s_lshl_b32 s40, s25, 8
	s_lshl_b32 s38, s26, 13
	s_lshr_b32 s39, s26, 19
	s_add_u32 s8, s8, s38
	s_addc_u32 s9, s9, s39
	s_add_u32 s8, s8, s40
	s_addc_u32 s9, s9, 0
	s_lshl_b32 s41, s2, 5
	s_add_u32 s40, s40, s41
	s_add_u32 s6, s6, s38
	s_addc_u32 s7, s7, s39
	s_add_u32 s6, s6, s40
	s_addc_u32 s7, s7, 0
	s_add_u32 s10, s10, s38
	s_addc_u32 s11, s11, s39
	s_add_u32 s10, s10, s40
	s_addc_u32 s11, s11, 0
// k: 4096 * token + 256 * (value head / 2) + 64 * wave; g: 128 * token + 4 * value head.
	s_lshl_b32 s38, s26, 12
	s_lshr_b32 s39, s26, 20
	s_add_u32 s4, s4, s38
	s_addc_u32 s5, s5, s39
	s_lshr_b32 s40, s25, 1
	s_lshl_b32 s40, s40, 8
	s_lshl_b32 s41, s24, 6
	s_add_u32 s40, s40, s41
	s_add_u32 s4, s4, s40
	s_addc_u32 s5, s5, 0
	s_lshl_b32 s38, s26, 7
	s_lshr_b32 s39, s26, 25
	s_add_u32 s12, s12, s38
	s_addc_u32 s13, s13, s39
	s_lshl_b32 s40, s25, 2
	s_add_u32 s12, s12, s40
	s_addc_u32 s13, s13, 0

// The lane's addresses in LDS and its byte offsets.
	v_lshrrev_b32 v13, 4, v0                                  // g
	v_and_b32 v14, 15, v0                                     // c
	v_lshrrev_b32 v9, 2, v0                                   // lane / 4
	v_and_b32 v15, 3, v0                                      // lane % 4
	v_lshlrev_b32 v10, 4, v15
	v_lshlrev_b32 v11, 3, v13                                 // 8 g
	v_lshlrev_b32 v12, 4, v13                                 // 16 g
	v_mul_u32_u24 v2, 0x110, v14                              // 272 * c
	s_lshl_b32 s40, s24, 6                                    // 64 * wave
	v_add_u32 v1, s40, v11                                    // 64 * wave + 8 g
	v_lshl_add_u32 v7, v14, 8, v1                             // 256 * c + 64 * wave + 8 g
	v_add_u32 v1, v2, v1
	v_add_u32 v2, v2, v12                                     // 272 * c + 16 g
	s_lshl_b32 s40, s24, 4
	v_add_u32 v8, s40, v14                                    // 16 * wave + c
	v_lshl_add_u32 v3, v8, 5, v11                             // 32 * token + 8 g
	v_and_b32 v16, 3, v9                                      // row of the transposed read, c / 4
	v_lshl_add_u32 v16, v13, 3, v16                           // 8 g + c / 4
	v_lshlrev_b32 v15, 3, v15                                 // 8 * (c % 4)
	v_lshl_add_u32 v4, v16, 5, v15
	v_lshl_add_u32 v6, v16, 6, v15
	s_lshl_b32 s40, s24, 12                                   // 4096 * wave
	v_add_u32 v6, s40, v6
	v_lshlrev_b32 v5, 4, v0
	v_add_u32 v5, s40, v5

// The state as F32: K 32 i + 16 j + 4 g .. + 3 of row c, j = 0, 1.
	global_load_dwordx2 v[96:97], v7, s[16:17]
	global_load_dwordx2 v[98:99], v7, s[16:17] offset:32
	s_waitcnt vmcnt(0)                                        // the state
	v_lshlrev_b32 v54, 16, v96
	v_and_b32 v55, 0xffff0000, v96
	v_lshlrev_b32 v56, 16, v97
	v_and_b32 v57, 0xffff0000, v97
	v_lshlrev_b32 v58, 16, v98
	v_and_b32 v59, 0xffff0000, v98
	v_lshlrev_b32 v60, 16, v99
	v_and_b32 v61, 0xffff0000, v99

// One chunk: load the wave's part of k, the tokens' w, v and g; absent tokens read the last one.
.Lnetra_gdn_h_m8192_bv16_varlen_gfx950_chunk:
	s_min_u32 s29, s28, 64
	s_sub_u32 s29, s29, 1                                     // last valid token of the chunk
	s_lshl_b32 s38, s29, 7
	s_lshr_b32 s39, s29, 25
	s_add_u32 s38, s12, s38                                   // g + 128 * token
	s_addc_u32 s39, s13, s39
	s_load_dword s30, s[38:39], 0                             // g_last
	v_min_u32 v16, s29, v9
	v_add_u32 v17, 16, v9
	v_min_u32 v17, s29, v17
	v_add_u32 v18, 32, v9
	v_min_u32 v18, s29, v18
	v_add_u32 v19, 48, v9
	v_min_u32 v19, s29, v19
	v_lshl_add_u32 v16, v16, 12, v10
	global_load_dwordx4 v[20:23], v16, s[4:5]
	v_lshl_add_u32 v17, v17, 12, v10
	global_load_dwordx4 v[24:27], v17, s[4:5]
	v_lshl_add_u32 v18, v18, 12, v10
	global_load_dwordx4 v[28:31], v18, s[4:5]
	v_lshl_add_u32 v19, v19, 12, v10
	global_load_dwordx4 v[32:35], v19, s[4:5]
	v_min_u32 v15, s29, v8
	v_lshl_add_u32 v13, v15, 13, v11                          // v: 8192 * token + 8 g
	v_lshl_add_u32 v14, v15, 13, v12                          // w: 8192 * token + 16 g
	v_lshlrev_b32 v15, 7, v15                                 // g: 128 * token
	global_load_dwordx4 v[36:39], v14, s[8:9]
	global_load_dwordx4 v[40:43], v14, s[8:9] offset:64
	global_load_dwordx4 v[44:47], v14, s[8:9] offset:128
	global_load_dwordx4 v[48:51], v14, s[8:9] offset:192
	global_load_dwordx2 v[52:53], v13, s[6:7]
	global_load_dword v15, v15, s[12:13]

// H = bf16(S), to LDS for all waves and to h.
	v_cvt_pk_bf16_f32 v96, v54, v55
	v_cvt_pk_bf16_f32 v97, v56, v57
	v_cvt_pk_bf16_f32 v98, v58, v59
	v_cvt_pk_bf16_f32 v99, v60, v61
	ds_write_b64 v1, v[96:97]
	ds_write_b64 v1, v[98:99] offset:32
	global_store_dwordx2 v7, v[96:97], s[14:15]
	global_store_dwordx2 v7, v[98:99], s[14:15] offset:32
	s_waitcnt vmcnt(8)                                        // k, which w, v, g and 2 stores follow
	ds_write_b128 v5, v[20:23] offset:6400
	ds_write_b128 v5, v[24:27] offset:7424
	ds_write_b128 v5, v[28:31] offset:8448
	ds_write_b128 v5, v[32:35] offset:9472
	s_waitcnt lgkmcnt(0)                                      // g_last, and the wave's LDS writes
	s_barrier

// w . H: rows of H are V, columns are tokens; 32 values of K a multiplication.
	ds_read_b128 v[62:65], v2
	ds_read_b128 v[66:69], v2 offset:64
	ds_read_b128 v[70:73], v2 offset:128
	ds_read_b128 v[74:77], v2 offset:192
	s_waitcnt vmcnt(4)                                        // w, which v, g and 2 stores follow
	s_waitcnt lgkmcnt(0)                                      // H
	v_mfma_f32_16x16x32_bf16 v[78:81], v[62:65], v[36:39], 0
	v_mfma_f32_16x16x32_bf16 v[78:81], v[66:69], v[40:43], v[78:81]
	v_mfma_f32_16x16x32_bf16 v[78:81], v[70:73], v[44:47], v[78:81]
	v_mfma_f32_16x16x32_bf16 v[78:81], v[74:77], v[48:51], v[78:81]

// e = exp(g_last - g), 0 where that is not a decay or the token is absent; exp(g_last).
	s_waitcnt vmcnt(2)                                        // v and g, which 2 stores follow
	v_sub_f32 v15, s30, v15                                   // g_last - g
	v_mul_f32 v90, s31, v15
	v_cmp_gt_f32 vcc, s32, v90                                // a subnormal result
	s_nop 1                                                   // a select reads VCC after 2 wait states
	v_cndmask_b32 v94, 0, v92, vcc
	v_cndmask_b32 v95, 0, v93, vcc
	v_fma_f32 v90, s31, v15, v94
	v_exp_f32 v90, v90
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_ldexp_f32 v90, v90, v95
	v_cmp_ge_f32 vcc, 0, v15                                  // g_last - g <= 0
	v_cmp_ge_u32 s[36:37], s29, v8                            // the token is valid
	s_and_b64 vcc, vcc, s[36:37]
	v_cndmask_b32 v90, 0, v90, vcc
	v_mov_b32 v15, s30
	v_mul_f32 v91, s31, v15
	v_cmp_gt_f32 vcc, s32, v91                                // a subnormal result
	s_nop 1                                                   // a select reads VCC after 2 wait states
	v_cndmask_b32 v94, 0, v92, vcc
	v_cndmask_b32 v95, 0, v93, vcc
	v_fma_f32 v91, s31, v15, v94
	v_exp_f32 v91, v91
	s_nop 0                                                   // a transcendental is ready after 1 wait state
	v_ldexp_f32 v91, v91, v95

// x = v - w . H; v_new = bf16(x) of valid tokens.
	v_lshlrev_b32 v96, 16, v52
	v_and_b32 v97, 0xffff0000, v52
	v_lshlrev_b32 v98, 16, v53
	v_and_b32 v99, 0xffff0000, v53
	v_sub_f32 v78, v96, v78
	v_sub_f32 v79, v97, v79
	v_sub_f32 v80, v98, v80
	v_sub_f32 v81, v99, v81
	v_cvt_pk_bf16_f32 v96, v78, v79
	v_cvt_pk_bf16_f32 v97, v80, v81
	s_mov_b64 exec, s[36:37]
	global_store_dwordx2 v13, v[96:97], s[10:11]
	s_mov_b64 exec, -1

// xs = bf16(x * e), to LDS for all waves.
	v_mul_f32 v78, v78, v90
	v_mul_f32 v79, v79, v90
	v_mul_f32 v80, v80, v90
	v_mul_f32 v81, v81, v90
	v_cvt_pk_bf16_f32 v98, v78, v79
	v_cvt_pk_bf16_f32 v99, v80, v81
	ds_write_b64 v3, v[98:99] offset:4352
	s_waitcnt lgkmcnt(0)                                      // the LDS write of xs
	s_barrier

// Sums of xs * k: rows are K, columns are V; 32 tokens a multiplication, 8 g .. 8 g + 7 of them in lane
// (g, c), read transposed four at a time.
	ds_read_b64_tr_b16 v[36:37], v4 offset:4352               // xs
	ds_read_b64_tr_b16 v[38:39], v4 offset:4480
	ds_read_b64_tr_b16 v[40:41], v4 offset:5376
	ds_read_b64_tr_b16 v[42:43], v4 offset:5504
	ds_read_b64_tr_b16 v[20:21], v6 offset:6400               // k
	ds_read_b64_tr_b16 v[22:23], v6 offset:6656
	ds_read_b64_tr_b16 v[24:25], v6 offset:8448
	ds_read_b64_tr_b16 v[26:27], v6 offset:8704
	ds_read_b64_tr_b16 v[28:29], v6 offset:6432
	ds_read_b64_tr_b16 v[30:31], v6 offset:6688
	ds_read_b64_tr_b16 v[32:33], v6 offset:8480
	ds_read_b64_tr_b16 v[34:35], v6 offset:8736
	s_waitcnt lgkmcnt(0)                                      // xs and k
	v_mfma_f32_16x16x32_bf16 v[82:85], v[20:23], v[36:39], 0
	v_mfma_f32_16x16x32_bf16 v[82:85], v[24:27], v[40:43], v[82:85]
	v_mfma_f32_16x16x32_bf16 v[86:89], v[28:31], v[36:39], 0
	v_mfma_f32_16x16x32_bf16 v[86:89], v[32:35], v[40:43], v[86:89]

// Advance every base to the next chunk: 64 tokens, one state of h.
	s_add_u32 s4, s4, 0x40000                                 // k
	s_addc_u32 s5, s5, 0
	s_add_u32 s6, s6, 0x80000                                 // v
	s_addc_u32 s7, s7, 0
	s_add_u32 s8, s8, 0x80000                                 // w
	s_addc_u32 s9, s9, 0
	s_add_u32 s10, s10, 0x80000                               // v_new
	s_addc_u32 s11, s11, 0
	s_add_u32 s12, s12, 0x2000                                // g
	s_addc_u32 s13, s13, 0
	s_add_u32 s14, s14, 0x100000                              // h
	s_addc_u32 s15, s15, 0

// S = fma(S, exp(g_last), sums).
	v_fma_f32 v54, v54, v91, v82
	v_fma_f32 v55, v55, v91, v83
	v_fma_f32 v56, v56, v91, v84
	v_fma_f32 v57, v57, v91, v85
	v_fma_f32 v58, v58, v91, v86
	v_fma_f32 v59, v59, v91, v87
	v_fma_f32 v60, v60, v91, v88
	v_fma_f32 v61, v61, v91, v89
	s_sub_u32 s28, s28, 64
	s_cmp_gt_i32 s28, 0
	s_cbranch_scc1 .Lnetra_gdn_h_m8192_bv16_varlen_gfx950_chunk

// state = bf16(S).
	v_cvt_pk_bf16_f32 v96, v54, v55
	v_cvt_pk_bf16_f32 v97, v56, v57
	v_cvt_pk_bf16_f32 v98, v58, v59
	v_cvt_pk_bf16_f32 v99, v60, v61
	global_store_dwordx2 v7, v[96:97], s[16:17]
	global_store_dwordx2 v7, v[98:99], s[16:17] offset:32
.Lnetra_gdn_h_m8192_bv16_varlen_gfx950_done:
	s_endpgm
.Lnetra_gdn_h_m8192_bv16_varlen_gfx950_end:
	.size netra_gdn_h_m8192_bv16_varlen_gfx950, .Lnetra_gdn_h_m8192_bv16_varlen_gfx950_end-netra_gdn_h_m8192_bv16_varlen_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_gdn_h_m8192_bv16_varlen_gfx950
		.amdhsa_group_segment_fixed_size 22784
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 104
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 100
		.amdhsa_next_free_sgpr 42
		.amdhsa_accum_offset 100
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
  - .name: netra_gdn_h_m8192_bv16_varlen_gfx950
    .symbol: netra_gdn_h_m8192_bv16_varlen_gfx950.kd
    .kernarg_segment_size: 104
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 22784
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 256
    .vgpr_count: 100
    .agpr_count: 0
    .sgpr_count: 42
    .args:
      - {.name: k, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: v, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: w, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: v_new, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: g, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: h, .offset: 40, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: state, .offset: 48, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_write}
      - {.name: state_idx, .offset: 56, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: cu_seqlens, .offset: 64, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: chunk_offsets, .offset: 72, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: T, .offset: 80, .size: 4, .value_kind: by_value}
      - {.name: scratch, .offset: 88, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: profile, .offset: 96, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
...
	.end_amdgpu_metadata
