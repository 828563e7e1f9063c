// SPDX-License-Identifier: MIT
// Causal attention of the new tokens of one sequence over its FP8 prefix and over themselves, for
// 4 query heads of one KV head; head dimension 256.
//
// void netra_attention_gqa8_fp8kv_qo64_gfx950(
//     const bf16     *q,           //  0  [tokens, 16, 256]
//     const bf16     *k_ext,       //  8  [tokens, 2, 256], keys of the new tokens
//     const bf16     *v_ext,       // 16  [tokens, 2, 256]
//     bf16           *out,         // 24  [tokens, 16, 256]
//     const fp8_e4m3 *k_buf,       // 32  [slots, 2, 256]
//     const fp8_e4m3 *v_buf,       // 40  [slots, 2, 256]
//     const uint64_t *qo_indptr,   // 48  [B + 1], low dwords used
//     const int32_t  *kv_indptr,   // 56  [B + 1]
//     const uint64_t *kv_indices,  // 64  [prefix tokens], the slot of each key, low dword used
//     float           sm_scale,    // 72
//     uint32_t        qo_bits,     // 76  bits of an element of qo_indptr, not read
//     void           *scratch,     // 80  not read
//     void           *profile);    // 88  not read
//
// Grid (B, 2, 2), 512 work-items: x = sequence, y = KV head, z = group of 4 query heads.
//
//     T = qo_indptr[x + 1] - qo_indptr[x] new tokens (at most 16), n prefix keys
//     m, l, acc = -1e20, 0, 0;  Q8 = fp8(q)
//     for each tile of 64 prefix keys:
//         S   = (K Q8) * sm_scale, -inf behind the last key
//         M   = max(m, max S);  a = exp(m - M);  m = M;  P = exp(S - M)
//         l   = l * a + sum P;  acc = acc * a + fp8(P) V
//     once more with the new tokens as keys: q, not Q8; token t sees keys 0 .. t; bf16(P)
//     out = bf16(acc / l)
//
// The conversions to FP8 saturate (FP16_OVFL). exp(x) = v_exp(x * log2 e): what it flushes to zero
// is below 2^-126, while l >= 1 (the last key of a token is itself). acc / l by a refined
// reciprocal and one correction, which is the correctly rounded quotient of normal numbers.
//
// 8 waves; wave w owns dimensions 128 (w % 2) .. + 127 of the output of head 8 y + 4 z + w / 2; both
// waves of a head compute all its scores.
// Lane = 16 g + c: column c of every matrix product is token min(c, T - 1); columns c >= T are not
// stored. A score register r of subtile j holds key 16 j + 4 g + r, and the bytes of fp8(P) for one
// product of 32 keys are those registers in order: byte i of a lane is key 16 (i / 4) + 4 g + i % 4,
// and the rows of V are read from LDS in this order. All waves stage one tile of V, in two buffers
// by turns, so one barrier a tile is enough.
//
// SGPR  0:1    kernarg segment, until the arguments are read
//       2:4    work-group x, y, z (= sequence, KV head, group of heads)
//       5      first token
//       6      T, then last token
//       7      n
//       8:15   q, k_ext, v_ext, out, then their rows of the head
//       16:23  k_buf, v_buf, qo_indptr, kv_indptr
//       24:25  kv_indices of the sequence
//       26:27  sm_scale, twice
//       28     first key of the tile
//       29     last key
//       30     head
//       31     wave
//       32:33  log2 e, twice
//       34     LDS offset of the buffer in turn
//       35     bytes of a row of k_buf and v_buf
//       36, 37 temporaries
//       38, 39 bytes of a token in q and out, in k_ext and v_ext
//       40:47  temporaries; masks of four score registers
// VGPR  0      work-item
//       1      c
//       2      4 * g
//       3      key of a tile half that the work-item stages, work-item / 16
//       4:5    m, l
//       6:7    a (at the end 1 / l), temporary
//       8      temporary
//       9      -inf
//       10:11  k_buf row of the KV head + 16 * g
//       12:13  v_buf row of the KV head + 16 * (work-item % 16)
//       14, 15 LDS addresses: of the staged value, of the first transposed read
//       16     token of the column
//       17     temporary
//       18:23  slots: keys of subtiles 0 .. 3; staged keys of halves 0, 1
//       24:35  their addresses
//       18:25  staged values of halves 0, 1
//       36:51  S, then P, of subtiles 0 .. 3
//       52:55  fp8(P), or bf16(P)
//       56:71  Q8: [128 dimensions][first, second half of an operand]
//       72:103 acc: 8 tiles of 16 dimensions
//       104:167 q in BF16; K: [128 dimensions][subtile]; V transposed; q and k_ext of the new tokens
// LDS   V[2][64 keys][256 dimensions], 272 bytes a row; at the end v_ext[16][256], 528 bytes a row

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_attention_gqa8_fp8kv_qo64_gfx950
	.globl netra_attention_gqa8_fp8kv_qo64_gfx950
	.p2align 8
	.type netra_attention_gqa8_fp8kv_qo64_gfx950,@function
netra_attention_gqa8_fp8kv_qo64_gfx950:
// The arguments, then the token and prefix ranges of the sequence; meanwhile the lane map.
	s_load_dwordx8 s[8:15], s[0:1], 0                         // q, k_ext, v_ext, out
	s_load_dwordx8 s[16:23], s[0:1], 32                       // k_buf, v_buf, qo_indptr, kv_indptr
	s_load_dwordx2 s[24:25], s[0:1], 64                       // kv_indices
	s_load_dword s26, s[0:1], 72                              // sm_scale
	v_lshrrev_b32 v8, 6, v0
	v_and_b32 v1, 15, v0                                      // c
	v_readfirstlane_b32 s31, v8                               // wave
	v_bfe_u32 v2, v0, 4, 2                                    // g
	v_lshlrev_b32 v10, 4, v2                                  // 16 * g
	v_mov_b32 v11, 0
	v_lshlrev_b32 v2, 2, v2                                   // 4 * g
	v_lshlrev_b32 v6, 1, v10                                  // 32 * g
	v_mov_b32 v7, 0
	v_lshrrev_b32 v3, 4, v0                                   // work-item / 16
	v_and_b32 v12, 15, v0
	v_lshlrev_b32 v12, 4, v12                                 // 16 * (work-item % 16)
	v_mov_b32 v13, 0
	s_lshl_b32 s36, s2, 3
	s_lshl_b32 s37, s2, 2
	s_waitcnt lgkmcnt(0)                                      // the arguments
	s_add_u32 s20, s20, s36                                   // qo_indptr + x
	s_addc_u32 s21, s21, 0
	s_add_u32 s22, s22, s37                                   // kv_indptr + x
	s_addc_u32 s23, s23, 0
	s_load_dword s5, s[20:21], 0                              // first token
	s_load_dword s6, s[20:21], 8                              // end of the tokens
	s_load_dwordx2 s[40:41], s[22:23], 0                      // first index of the prefix, its end
	s_waitcnt lgkmcnt(0)                                      // the ranges
	s_cmp_eq_u32 s6, s5
	s_cbranch_scc1 .Lnetra_attention_gqa8_fp8kv_qo64_gfx950_done // no token
	s_sub_u32 s7, s41, s40                                    // n
	s_sub_u32 s29, s7, 1                                      // last key
	s_sub_u32 s6, s6, s5                                      // T
	s_sub_u32 s6, s6, 1                                       // last token
	s_mov_b32 s41, 0
	s_lshl_b64 s[40:41], s[40:41], 3
	s_add_u32 s24, s24, s40
	s_addc_u32 s25, s25, s41

// Rows of the head: q, out (the wave's dimensions), k_ext, v_ext, k_buf, v_buf.
	s_lshl_b32 s30, s3, 3
	s_lshl_b32 s36, s4, 2
	s_add_u32 s30, s30, s36
	s_lshr_b32 s36, s31, 1
	s_add_u32 s30, s30, s36                                   // head = 8 * y + 4 * z + wave / 2
	s_lshl_b32 s36, s30, 9                                    // 512 * head
	s_add_u32 s8, s8, s36
	s_addc_u32 s9, s9, 0
	s_add_u32 s14, s14, s36
	s_addc_u32 s15, s15, 0
	s_and_b32 s37, s31, 1
	s_lshl_b32 s36, s37, 8                                    // 256 * (wave % 2)
	s_add_u32 s14, s14, s36
	s_addc_u32 s15, s15, 0
	s_lshl_b32 s36, s3, 9                                     // 512 * y
	s_add_u32 s10, s10, s36
	s_addc_u32 s11, s11, 0
	s_add_u32 s12, s12, s36
	s_addc_u32 s13, s13, 0
	s_lshl_b32 s36, s3, 8                                     // 256 * y
	s_add_u32 s16, s16, s36
	s_addc_u32 s17, s17, 0
	s_add_u32 s18, s18, s36
	s_addc_u32 s19, s19, 0
	v_lshl_add_u64 v[10:11], v[10:11], 0, s[16:17]
	v_lshl_add_u64 v[12:13], v[12:13], 0, s[18:19]
	s_movk_i32 s38, 8192
	s_movk_i32 s39, 1024
	s_movk_i32 s35, 512

// q of the token, in the operand order: 16 values at 16 g, 16 at 64 + 16 g of each 128 dimensions.
	v_min_u32 v16, s6, v1
	v_add_u32 v16, s5, v16                                    // token
	v_mad_u64_u32 v[6:7], vcc, v16, s38, v[6:7]
	v_lshl_add_u64 v[6:7], v[6:7], 0, s[8:9]
	global_load_dwordx4 v[104:107], v[6:7], off
	global_load_dwordx4 v[108:111], v[6:7], off offset:16
	global_load_dwordx4 v[112:115], v[6:7], off offset:128
	global_load_dwordx4 v[116:119], v[6:7], off offset:144
	global_load_dwordx4 v[120:123], v[6:7], off offset:256
	global_load_dwordx4 v[124:127], v[6:7], off offset:272
	global_load_dwordx4 v[128:131], v[6:7], off offset:384
	global_load_dwordx4 v[132:135], v[6:7], off offset:400

// LDS addresses, constants, the empty sum, the first tile.
	s_movk_i32 s36, 272
	v_mul_lo_u32 v14, s36, v3                                 // staged: row work-item / 16
	v_and_b32 v8, 15, v1
	v_lshl_add_u32 v14, v8, 4, v14                            // byte 16 * (work-item % 16)
	v_bfe_u32 v8, v1, 1, 2                                    // (c / 2) % 4
	v_add_u32 v8, v8, v2                                      // + 4 * g
	v_lshrrev_b32 v15, 3, v1
	v_lshl_add_u32 v8, v15, 4, v8                             // + 16 * (c / 8): the row read
	v_mul_lo_u32 v15, s36, v8
	v_and_b32 v8, 1, v1
	v_lshl_add_u32 v15, v8, 3, v15                            // byte 8 * (c % 2)
	s_lshl_b32 s36, s37, 7
	v_add_u32 v15, s36, v15                                   // + 128 * (wave % 2)
	s_mov_b32 s34, 0                                          // buffer 0
	s_mov_b32 s27, s26                                        // sm_scale
	s_mov_b32 s32, 0x3fb8aa3b                                 // log2 e
	s_mov_b32 s33, s32
	v_mov_b32 v4, 0xe0ad78ec                                  // m = -1e20
	v_mov_b32 v5, 0                                           // l = 0
	v_mov_b32 v9, 0xff800000                                  // -inf
	v_mov_b32 v72, 0                                          // acc = 0
	v_mov_b32 v73, 0
	v_mov_b32 v74, 0
	v_mov_b32 v75, 0
	v_mov_b32 v76, 0
	v_mov_b32 v77, 0
	v_mov_b32 v78, 0
	v_mov_b32 v79, 0
	v_mov_b32 v80, 0
	v_mov_b32 v81, 0
	v_mov_b32 v82, 0
	v_mov_b32 v83, 0
	v_mov_b32 v84, 0
	v_mov_b32 v85, 0
	v_mov_b32 v86, 0
	v_mov_b32 v87, 0
	v_mov_b32 v88, 0
	v_mov_b32 v89, 0
	v_mov_b32 v90, 0
	v_mov_b32 v91, 0
	v_mov_b32 v92, 0
	v_mov_b32 v93, 0
	v_mov_b32 v94, 0
	v_mov_b32 v95, 0
	v_mov_b32 v96, 0
	v_mov_b32 v97, 0
	v_mov_b32 v98, 0
	v_mov_b32 v99, 0
	v_mov_b32 v100, 0
	v_mov_b32 v101, 0
	v_mov_b32 v102, 0
	v_mov_b32 v103, 0
	s_mov_b32 s28, 0
	s_waitcnt vmcnt(0)                                        // q

// Q8 = fp8(q)
	v_cvt_scalef32_pk_fp8_bf16 v56, v104, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v56, v105, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v57, v106, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v57, v107, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v58, v108, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v58, v109, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v59, v110, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v59, v111, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v60, v112, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v60, v113, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v61, v114, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v61, v115, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v62, v116, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v62, v117, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v63, v118, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v63, v119, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v64, v120, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v64, v121, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v65, v122, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v65, v123, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v66, v124, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v66, v125, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v67, v126, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v67, v127, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v68, v128, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v68, v129, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v69, v130, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v69, v131, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v70, v132, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v70, v133, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v71, v134, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v71, v135, 1.0 op_sel:[0,0,1]
	s_cmp_ge_u32 s28, s7
	s_cbranch_scc1 .Lnetra_attention_gqa8_fp8kv_qo64_gfx950_tail // no prefix

.Lnetra_attention_gqa8_fp8kv_qo64_gfx950_tile:
// Slots of the keys; keys behind the last one repeat it.
	v_add_u32 v18, s28, v1                                    // key c of subtile 0
	v_add_u32 v22, s28, v3                                    // key work-item / 16 of half 0
	v_add_u32 v19, 16, v18
	v_add_u32 v20, 32, v18
	v_add_u32 v21, 48, v18
	v_add_u32 v23, 32, v22
	v_min_u32 v18, s29, v18
	v_min_u32 v19, s29, v19
	v_min_u32 v20, s29, v20
	v_min_u32 v21, s29, v21
	v_min_u32 v22, s29, v22
	v_min_u32 v23, s29, v23
	v_lshlrev_b32 v18, 3, v18
	v_lshlrev_b32 v19, 3, v19
	v_lshlrev_b32 v20, 3, v20
	v_lshlrev_b32 v21, 3, v21
	v_lshlrev_b32 v22, 3, v22
	v_lshlrev_b32 v23, 3, v23
	global_load_dword v18, v18, s[24:25]
	global_load_dword v19, v19, s[24:25]
	global_load_dword v20, v20, s[24:25]
	global_load_dword v21, v21, s[24:25]
	global_load_dword v22, v22, s[24:25]
	global_load_dword v23, v23, s[24:25]
	s_waitcnt vmcnt(0)                                        // the slots

// K: [128 dimensions][subtile], one operand of 32 bytes a lane; V: 16 bytes a lane and half.
	v_mad_u64_u32 v[24:25], vcc, v18, s35, v[10:11]
	v_mad_u64_u32 v[26:27], vcc, v19, s35, v[10:11]
	v_mad_u64_u32 v[28:29], vcc, v20, s35, v[10:11]
	v_mad_u64_u32 v[30:31], vcc, v21, s35, v[10:11]
	v_mad_u64_u32 v[32:33], vcc, v22, s35, v[12:13]
	v_mad_u64_u32 v[34:35], vcc, v23, s35, v[12:13]
	global_load_dwordx4 v[104:107], v[24:25], off
	global_load_dwordx4 v[108:111], v[24:25], off offset:64
	global_load_dwordx4 v[112:115], v[26:27], off
	global_load_dwordx4 v[116:119], v[26:27], off offset:64
	global_load_dwordx4 v[120:123], v[28:29], off
	global_load_dwordx4 v[124:127], v[28:29], off offset:64
	global_load_dwordx4 v[128:131], v[30:31], off
	global_load_dwordx4 v[132:135], v[30:31], off offset:64
	global_load_dwordx4 v[136:139], v[24:25], off offset:128
	global_load_dwordx4 v[140:143], v[24:25], off offset:192
	global_load_dwordx4 v[144:147], v[26:27], off offset:128
	global_load_dwordx4 v[148:151], v[26:27], off offset:192
	global_load_dwordx4 v[152:155], v[28:29], off offset:128
	global_load_dwordx4 v[156:159], v[28:29], off offset:192
	global_load_dwordx4 v[160:163], v[30:31], off offset:128
	global_load_dwordx4 v[164:167], v[30:31], off offset:192
	global_load_dwordx4 v[18:21], v[32:33], off
	global_load_dwordx4 v[22:25], v[34:35], off

// S = K Q8, 128 dimensions at a time
	s_waitcnt vmcnt(10)                                       // K of dimensions 0 .. 127
	v_mfma_f32_16x16x128_f8f6f4 v[36:39], v[104:111], v[56:63], 0
	v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[112:119], v[56:63], 0
	v_mfma_f32_16x16x128_f8f6f4 v[44:47], v[120:127], v[56:63], 0
	v_mfma_f32_16x16x128_f8f6f4 v[48:51], v[128:135], v[56:63], 0
	s_waitcnt vmcnt(2)                                        // K of dimensions 128 .. 255
	v_mfma_f32_16x16x128_f8f6f4 v[36:39], v[136:143], v[64:71], v[36:39]
	v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[144:151], v[64:71], v[40:43]
	v_mfma_f32_16x16x128_f8f6f4 v[44:47], v[152:159], v[64:71], v[44:47]
	v_mfma_f32_16x16x128_f8f6f4 v[48:51], v[160:167], v[64:71], v[48:51]
	s_sub_u32 s36, s7, s28                                    // keys from here on
	v_sub_u32 v8, s36, v2                                     // - 4 * g
	s_nop 6                                                   // the products are ready after 12 wait states

// S = S * sm_scale, -inf behind the last key
	v_pk_mul_f32 v[36:37], v[36:37], s[26:27]
	v_pk_mul_f32 v[38:39], v[38:39], s[26:27]
	v_pk_mul_f32 v[40:41], v[40:41], s[26:27]
	v_pk_mul_f32 v[42:43], v[42:43], s[26:27]
	v_pk_mul_f32 v[44:45], v[44:45], s[26:27]
	v_pk_mul_f32 v[46:47], v[46:47], s[26:27]
	v_pk_mul_f32 v[48:49], v[48:49], s[26:27]
	v_pk_mul_f32 v[50:51], v[50:51], s[26:27]
	v_cmp_lt_i32 s[40:41], 0, v8
	v_cmp_lt_i32 s[42:43], 1, v8
	v_cmp_lt_i32 s[44:45], 2, v8
	v_cmp_lt_i32 s[46:47], 3, v8
	v_cndmask_b32 v36, v9, v36, s[40:41]
	v_cndmask_b32 v37, v9, v37, s[42:43]
	v_cndmask_b32 v38, v9, v38, s[44:45]
	v_cndmask_b32 v39, v9, v39, s[46:47]
	v_cmp_lt_i32 s[40:41], 16, v8
	v_cmp_lt_i32 s[42:43], 17, v8
	v_cmp_lt_i32 s[44:45], 18, v8
	v_cmp_lt_i32 s[46:47], 19, v8
	v_cndmask_b32 v40, v9, v40, s[40:41]
	v_cndmask_b32 v41, v9, v41, s[42:43]
	v_cndmask_b32 v42, v9, v42, s[44:45]
	v_cndmask_b32 v43, v9, v43, s[46:47]
	v_cmp_lt_i32 s[40:41], 32, v8
	v_cmp_lt_i32 s[42:43], 33, v8
	v_cmp_lt_i32 s[44:45], 34, v8
	v_cmp_lt_i32 s[46:47], 35, v8
	v_cndmask_b32 v44, v9, v44, s[40:41]
	v_cndmask_b32 v45, v9, v45, s[42:43]
	v_cndmask_b32 v46, v9, v46, s[44:45]
	v_cndmask_b32 v47, v9, v47, s[46:47]
	v_cmp_lt_i32 s[40:41], 48, v8
	v_cmp_lt_i32 s[42:43], 49, v8
	v_cmp_lt_i32 s[44:45], 50, v8
	v_cmp_lt_i32 s[46:47], 51, v8
	v_cndmask_b32 v48, v9, v48, s[40:41]
	v_cndmask_b32 v49, v9, v49, s[42:43]
	v_cndmask_b32 v50, v9, v50, s[44:45]
	v_cndmask_b32 v51, v9, v51, s[46:47]

// M = max(m, max S) over the keys of the column; a = exp(m - M)
	v_max3_f32 v8, v36, v37, v38
	v_max3_f32 v8, v8, v39, v40
	v_max3_f32 v8, v8, v41, v42
	v_max3_f32 v8, v8, v43, v44
	v_max3_f32 v8, v8, v45, v46
	v_max3_f32 v8, v8, v47, v48
	v_max3_f32 v8, v8, v49, v50
	v_max_f32 v8, v8, v51
	v_mov_b32 v7, v8
	s_nop 1                                                   // a lane swap needs 2 wait states
	v_permlane16_swap_b32 v7, v8                              // rows 0, 1 and rows 2, 3
	v_max_f32 v8, v7, v8
	v_mov_b32 v7, v8
	s_nop 1                                                   // a lane swap needs 2 wait states
	v_permlane32_swap_b32 v7, v8                              // both halves
	v_max_f32 v8, v7, v8
	v_max_f32 v8, v4, v8                                      // M
	v_sub_f32 v6, v4, v8
	v_mul_f32 v6, 0x3fb8aa3b, v6                              // * log2 e
	v_exp_f32 v6, v6                                          // a
	v_mov_b32 v4, v8

// P = exp(S - M), in FP8, and l = l * a + sum P
	v_pk_add_f32 v[36:37], v[36:37], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[38:39], v[38:39], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[40:41], v[40:41], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[42:43], v[42:43], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[44:45], v[44:45], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[46:47], v[46:47], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[48:49], v[48:49], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[50:51], v[50:51], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_mul_f32 v[36:37], v[36:37], s[32:33]
	v_pk_mul_f32 v[38:39], v[38:39], s[32:33]
	v_pk_mul_f32 v[40:41], v[40:41], s[32:33]
	v_pk_mul_f32 v[42:43], v[42:43], s[32:33]
	v_pk_mul_f32 v[44:45], v[44:45], s[32:33]
	v_pk_mul_f32 v[46:47], v[46:47], s[32:33]
	v_pk_mul_f32 v[48:49], v[48:49], s[32:33]
	v_pk_mul_f32 v[50:51], v[50:51], s[32:33]
	v_exp_f32 v36, v36
	v_exp_f32 v37, v37
	v_exp_f32 v38, v38
	v_exp_f32 v39, v39
	v_exp_f32 v40, v40
	v_exp_f32 v41, v41
	v_exp_f32 v42, v42
	v_exp_f32 v43, v43
	v_exp_f32 v44, v44
	v_exp_f32 v45, v45
	v_exp_f32 v46, v46
	v_exp_f32 v47, v47
	v_exp_f32 v48, v48
	v_exp_f32 v49, v49
	v_exp_f32 v50, v50
	v_exp_f32 v51, v51
	v_cvt_pk_fp8_f32 v52, v36, v37
	v_cvt_pk_fp8_f32 v52, v38, v39 op_sel:[0,0,1]
	v_cvt_pk_fp8_f32 v53, v40, v41
	v_cvt_pk_fp8_f32 v53, v42, v43 op_sel:[0,0,1]
	v_cvt_pk_fp8_f32 v54, v44, v45
	v_cvt_pk_fp8_f32 v54, v46, v47 op_sel:[0,0,1]
	v_cvt_pk_fp8_f32 v55, v48, v49
	v_cvt_pk_fp8_f32 v55, v50, v51 op_sel:[0,0,1]
	v_pk_add_f32 v[36:37], v[36:37], v[44:45]
	v_pk_add_f32 v[38:39], v[38:39], v[46:47]
	v_pk_add_f32 v[40:41], v[40:41], v[48:49]
	v_pk_add_f32 v[42:43], v[42:43], v[50:51]
	v_pk_add_f32 v[36:37], v[36:37], v[40:41]
	v_pk_add_f32 v[38:39], v[38:39], v[42:43]
	v_pk_add_f32 v[36:37], v[36:37], v[38:39]
	v_add_f32 v36, v36, v37
	v_fma_f32 v5, v5, v6, v36                                 // l

// acc = acc * a
	v_pk_mul_f32 v[72:73], v[72:73], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[74:75], v[74:75], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[76:77], v[76:77], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[78:79], v[78:79], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[80:81], v[80:81], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[82:83], v[82:83], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[84:85], v[84:85], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[86:87], v[86:87], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[88:89], v[88:89], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[90:91], v[90:91], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[92:93], v[92:93], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[94:95], v[94:95], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[96:97], v[96:97], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[98:99], v[98:99], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[100:101], v[100:101], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[102:103], v[102:103], v[6:7] op_sel_hi:[1,0]

// V into the buffer in turn.
	v_add_u32 v8, s34, v14
	v_add_u32 v17, s34, v15
	s_waitcnt vmcnt(0)                                        // V
	ds_write_b128 v8, v[18:21]
	ds_write_b128 v8, v[22:25] offset:8704
	s_waitcnt lgkmcnt(0)                                      // own part of the tile
	s_barrier

// acc = acc + fp8(P) V, 32 keys at a time
	ds_read_b64_tr_b8 v[104:105], v17
	ds_read_b64_tr_b8 v[106:107], v17 offset:16
	ds_read_b64_tr_b8 v[108:109], v17 offset:32
	ds_read_b64_tr_b8 v[110:111], v17 offset:48
	ds_read_b64_tr_b8 v[112:113], v17 offset:64
	ds_read_b64_tr_b8 v[114:115], v17 offset:80
	ds_read_b64_tr_b8 v[116:117], v17 offset:96
	ds_read_b64_tr_b8 v[118:119], v17 offset:112
	ds_read_b64_tr_b8 v[120:121], v17 offset:8704
	ds_read_b64_tr_b8 v[122:123], v17 offset:8720
	ds_read_b64_tr_b8 v[124:125], v17 offset:8736
	ds_read_b64_tr_b8 v[126:127], v17 offset:8752
	ds_read_b64_tr_b8 v[128:129], v17 offset:8768
	ds_read_b64_tr_b8 v[130:131], v17 offset:8784
	ds_read_b64_tr_b8 v[132:133], v17 offset:8800
	ds_read_b64_tr_b8 v[134:135], v17 offset:8816
	s_waitcnt lgkmcnt(8)                                      // V transposed, keys 0 .. 31
	v_mfma_f32_16x16x32_fp8_fp8 v[72:75], v[104:105], v[52:53], v[72:75]
	v_mfma_f32_16x16x32_fp8_fp8 v[76:79], v[106:107], v[52:53], v[76:79]
	v_mfma_f32_16x16x32_fp8_fp8 v[80:83], v[108:109], v[52:53], v[80:83]
	v_mfma_f32_16x16x32_fp8_fp8 v[84:87], v[110:111], v[52:53], v[84:87]
	v_mfma_f32_16x16x32_fp8_fp8 v[88:91], v[112:113], v[52:53], v[88:91]
	v_mfma_f32_16x16x32_fp8_fp8 v[92:95], v[114:115], v[52:53], v[92:95]
	v_mfma_f32_16x16x32_fp8_fp8 v[96:99], v[116:117], v[52:53], v[96:99]
	v_mfma_f32_16x16x32_fp8_fp8 v[100:103], v[118:119], v[52:53], v[100:103]
	s_waitcnt lgkmcnt(0)                                      // V transposed, keys 32 .. 63
	v_mfma_f32_16x16x32_fp8_fp8 v[72:75], v[120:121], v[54:55], v[72:75]
	v_mfma_f32_16x16x32_fp8_fp8 v[76:79], v[122:123], v[54:55], v[76:79]
	v_mfma_f32_16x16x32_fp8_fp8 v[80:83], v[124:125], v[54:55], v[80:83]
	v_mfma_f32_16x16x32_fp8_fp8 v[84:87], v[126:127], v[54:55], v[84:87]
	v_mfma_f32_16x16x32_fp8_fp8 v[88:91], v[128:129], v[54:55], v[88:91]
	v_mfma_f32_16x16x32_fp8_fp8 v[92:95], v[130:131], v[54:55], v[92:95]
	v_mfma_f32_16x16x32_fp8_fp8 v[96:99], v[132:133], v[54:55], v[96:99]
	v_mfma_f32_16x16x32_fp8_fp8 v[100:103], v[134:135], v[54:55], v[100:103]

// The next tile.
	s_sub_u32 s34, 17408, s34                                 // the other buffer
	s_add_u32 s28, s28, 64
	s_cmp_lt_u32 s28, s7
	s_cbranch_scc1 .Lnetra_attention_gqa8_fp8kv_qo64_gfx950_tile

.Lnetra_attention_gqa8_fp8kv_qo64_gfx950_tail:
// The new tokens: q and k_ext of token c, 8 values at 8 g of each 32 dimensions, and 16 bytes of v_ext.
	v_lshlrev_b32 v6, 2, v2                                   // 16 * g
	v_mov_b32 v7, 0
	v_mad_u64_u32 v[24:25], vcc, v16, s38, v[6:7]
	v_mad_u64_u32 v[26:27], vcc, v16, s39, v[6:7]
	v_lshl_add_u64 v[24:25], v[24:25], 0, s[8:9]
	v_lshl_add_u64 v[26:27], v[26:27], 0, s[10:11]
	v_and_b32 v6, 31, v0
	v_lshlrev_b32 v6, 4, v6                                   // 16 * (work-item % 32)
	v_lshrrev_b32 v17, 5, v0                                  // token work-item / 32
	v_min_u32 v8, s6, v17
	v_add_u32 v8, s5, v8
	v_mad_u64_u32 v[28:29], vcc, v8, s39, v[6:7]
	v_lshl_add_u64 v[28:29], v[28:29], 0, s[12:13]
	global_load_dwordx4 v[104:107], v[24:25], off
	global_load_dwordx4 v[108:111], v[24:25], off offset:64
	global_load_dwordx4 v[112:115], v[24:25], off offset:128
	global_load_dwordx4 v[116:119], v[24:25], off offset:192
	global_load_dwordx4 v[120:123], v[24:25], off offset:256
	global_load_dwordx4 v[124:127], v[24:25], off offset:320
	global_load_dwordx4 v[128:131], v[24:25], off offset:384
	global_load_dwordx4 v[132:135], v[24:25], off offset:448
	global_load_dwordx4 v[136:139], v[26:27], off
	global_load_dwordx4 v[140:143], v[26:27], off offset:64
	global_load_dwordx4 v[144:147], v[26:27], off offset:128
	global_load_dwordx4 v[148:151], v[26:27], off offset:192
	global_load_dwordx4 v[152:155], v[26:27], off offset:256
	global_load_dwordx4 v[156:159], v[26:27], off offset:320
	global_load_dwordx4 v[160:163], v[26:27], off offset:384
	global_load_dwordx4 v[164:167], v[26:27], off offset:448
	global_load_dwordx4 v[18:21], v[28:29], off
	s_movk_i32 s36, 528
	v_mul_lo_u32 v17, s36, v17
	v_add3_u32 v17, v17, v6, s34                              // LDS address of the staged values
	v_lshrrev_b32 v8, 2, v1
	v_add_u32 v8, v8, v2                                      // row 4 * g + c / 4
	v_mul_lo_u32 v14, s36, v8
	v_and_b32 v8, 3, v1
	v_lshl_add_u32 v14, v8, 3, v14                            // byte 8 * (c % 4)
	s_lshl_b32 s36, s37, 8
	s_add_u32 s36, s36, s34
	v_add_u32 v14, s36, v14                                   // + 256 * (wave % 2)

// S = k_ext q, 32 dimensions at a time
	s_waitcnt vmcnt(1)                                        // q and k_ext
	v_mfma_f32_16x16x32_bf16 v[36:39], v[136:139], v[104:107], 0
	v_mfma_f32_16x16x32_bf16 v[36:39], v[140:143], v[108:111], v[36:39]
	v_mfma_f32_16x16x32_bf16 v[36:39], v[144:147], v[112:115], v[36:39]
	v_mfma_f32_16x16x32_bf16 v[36:39], v[148:151], v[116:119], v[36:39]
	v_mfma_f32_16x16x32_bf16 v[36:39], v[152:155], v[120:123], v[36:39]
	v_mfma_f32_16x16x32_bf16 v[36:39], v[156:159], v[124:127], v[36:39]
	v_mfma_f32_16x16x32_bf16 v[36:39], v[160:163], v[128:131], v[36:39]
	v_mfma_f32_16x16x32_bf16 v[36:39], v[164:167], v[132:135], v[36:39]
	v_sub_u32 v8, v1, v2                                      // c - 4 * g
	s_nop 6                                                   // the product is ready after 8 wait states

// S = S * sm_scale, -inf for the tokens behind the column's own
	v_pk_mul_f32 v[36:37], v[36:37], s[26:27]
	v_pk_mul_f32 v[38:39], v[38:39], s[26:27]
	v_cmp_le_i32 s[40:41], 0, v8
	v_cmp_le_i32 s[42:43], 1, v8
	v_cmp_le_i32 s[44:45], 2, v8
	v_cmp_le_i32 s[46:47], 3, v8
	v_cndmask_b32 v36, v9, v36, s[40:41]
	v_cndmask_b32 v37, v9, v37, s[42:43]
	v_cndmask_b32 v38, v9, v38, s[44:45]
	v_cndmask_b32 v39, v9, v39, s[46:47]

// M = max(m, max S); a = exp(m - M)
	v_max3_f32 v8, v36, v37, v38
	v_max_f32 v8, v8, v39
	v_mov_b32 v7, v8
	s_nop 1                                                   // a lane swap needs 2 wait states
	v_permlane16_swap_b32 v7, v8                              // rows 0, 1 and rows 2, 3
	v_max_f32 v8, v7, v8
	v_mov_b32 v7, v8
	s_nop 1                                                   // a lane swap needs 2 wait states
	v_permlane32_swap_b32 v7, v8                              // both halves
	v_max_f32 v8, v7, v8
	v_max_f32 v8, v4, v8                                      // M
	v_sub_f32 v6, v4, v8
	v_mul_f32 v6, 0x3fb8aa3b, v6                              // * log2 e
	v_exp_f32 v6, v6                                          // a
	v_mov_b32 v4, v8

// P = exp(S - M), in BF16, and l = l * a + sum P
	v_pk_add_f32 v[36:37], v[36:37], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[38:39], v[38:39], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_mul_f32 v[36:37], v[36:37], s[32:33]
	v_pk_mul_f32 v[38:39], v[38:39], s[32:33]
	v_exp_f32 v36, v36
	v_exp_f32 v37, v37
	v_exp_f32 v38, v38
	v_exp_f32 v39, v39
	v_cvt_pk_bf16_f32 v52, v36, v37
	v_cvt_pk_bf16_f32 v53, v38, v39
	v_pk_add_f32 v[36:37], v[36:37], v[38:39]
	v_add_f32 v36, v36, v37
	v_fma_f32 v5, v5, v6, v36                                 // l

// acc = acc * a
	v_pk_mul_f32 v[72:73], v[72:73], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[74:75], v[74:75], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[76:77], v[76:77], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[78:79], v[78:79], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[80:81], v[80:81], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[82:83], v[82:83], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[84:85], v[84:85], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[86:87], v[86:87], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[88:89], v[88:89], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[90:91], v[90:91], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[92:93], v[92:93], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[94:95], v[94:95], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[96:97], v[96:97], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[98:99], v[98:99], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[100:101], v[100:101], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[102:103], v[102:103], v[6:7] op_sel_hi:[1,0]

// acc = acc + bf16(P) v_ext
	s_waitcnt vmcnt(0)                                        // v_ext
	ds_write_b128 v17, v[18:21]
	s_waitcnt lgkmcnt(0)                                      // own part of v_ext
	s_barrier
	ds_read_b64_tr_b16 v[104:105], v14
	ds_read_b64_tr_b16 v[106:107], v14 offset:32
	ds_read_b64_tr_b16 v[108:109], v14 offset:64
	ds_read_b64_tr_b16 v[110:111], v14 offset:96
	ds_read_b64_tr_b16 v[112:113], v14 offset:128
	ds_read_b64_tr_b16 v[114:115], v14 offset:160
	ds_read_b64_tr_b16 v[116:117], v14 offset:192
	ds_read_b64_tr_b16 v[118:119], v14 offset:224
	s_waitcnt lgkmcnt(0)                                      // v_ext transposed
	v_mfma_f32_16x16x16_bf16 v[72:75], v[104:105], v[52:53], v[72:75]
	v_mfma_f32_16x16x16_bf16 v[76:79], v[106:107], v[52:53], v[76:79]
	v_mfma_f32_16x16x16_bf16 v[80:83], v[108:109], v[52:53], v[80:83]
	v_mfma_f32_16x16x16_bf16 v[84:87], v[110:111], v[52:53], v[84:87]
	v_mfma_f32_16x16x16_bf16 v[88:91], v[112:113], v[52:53], v[88:91]
	v_mfma_f32_16x16x16_bf16 v[92:95], v[114:115], v[52:53], v[92:95]
	v_mfma_f32_16x16x16_bf16 v[96:99], v[116:117], v[52:53], v[96:99]
	v_mfma_f32_16x16x16_bf16 v[100:103], v[118:119], v[52:53], v[100:103]

// l over the lanes of the column; 1 / l with one Newton step
	v_mov_b32 v7, v5
	s_nop 1                                                   // a lane swap needs 2 wait states
	v_permlane16_swap_b32 v7, v5                              // rows 0, 1 and rows 2, 3
	v_add_f32 v5, v7, v5
	v_mov_b32 v7, v5
	s_nop 1                                                   // a lane swap needs 2 wait states
	v_permlane32_swap_b32 v7, v5                              // both halves
	v_add_f32 v5, v7, v5
	v_rcp_f32 v6, v5
	s_nop 0                                                   // a transcendental result needs 1 wait state
	v_fma_f32 v8, -v5, v6, 1.0
	v_fma_f32 v6, v8, v6, v6                                  // r

// out = bf16(q + (acc - l * q) / l), q = acc * (1 / l): 4 dimensions a store; lanes c < T
	v_lshlrev_b32 v10, 1, v2                                  // 8 * g
	v_mov_b32 v11, 0
	v_mad_u64_u32 v[10:11], vcc, v16, s38, v[10:11]
	v_lshl_add_u64 v[10:11], v[10:11], 0, s[14:15]
	v_cmp_ge_u32 vcc, s6, v1
	s_mov_b64 exec, vcc
	v_pk_mul_f32 v[36:37], v[72:73], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[38:39], v[74:75], v[6:7] op_sel_hi:[1,0]
	v_pk_fma_f32 v[40:41], v[4:5], v[36:37], v[72:73] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[42:43], v[4:5], v[38:39], v[74:75] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[72:73], v[40:41], v[6:7], v[36:37] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[74:75], v[42:43], v[6:7], v[38:39] op_sel_hi:[1,0,1]
	v_cvt_pk_bf16_f32 v72, v72, v73
	v_cvt_pk_bf16_f32 v73, v74, v75
	global_store_dwordx2 v[10:11], v[72:73], off
	v_pk_mul_f32 v[36:37], v[76:77], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[38:39], v[78:79], v[6:7] op_sel_hi:[1,0]
	v_pk_fma_f32 v[40:41], v[4:5], v[36:37], v[76:77] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[42:43], v[4:5], v[38:39], v[78:79] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[76:77], v[40:41], v[6:7], v[36:37] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[78:79], v[42:43], v[6:7], v[38:39] op_sel_hi:[1,0,1]
	v_cvt_pk_bf16_f32 v76, v76, v77
	v_cvt_pk_bf16_f32 v77, v78, v79
	global_store_dwordx2 v[10:11], v[76:77], off offset:32
	v_pk_mul_f32 v[36:37], v[80:81], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[38:39], v[82:83], v[6:7] op_sel_hi:[1,0]
	v_pk_fma_f32 v[40:41], v[4:5], v[36:37], v[80:81] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[42:43], v[4:5], v[38:39], v[82:83] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[80:81], v[40:41], v[6:7], v[36:37] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[82:83], v[42:43], v[6:7], v[38:39] op_sel_hi:[1,0,1]
	v_cvt_pk_bf16_f32 v80, v80, v81
	v_cvt_pk_bf16_f32 v81, v82, v83
	global_store_dwordx2 v[10:11], v[80:81], off offset:64
	v_pk_mul_f32 v[36:37], v[84:85], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[38:39], v[86:87], v[6:7] op_sel_hi:[1,0]
	v_pk_fma_f32 v[40:41], v[4:5], v[36:37], v[84:85] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[42:43], v[4:5], v[38:39], v[86:87] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[84:85], v[40:41], v[6:7], v[36:37] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[86:87], v[42:43], v[6:7], v[38:39] op_sel_hi:[1,0,1]
	v_cvt_pk_bf16_f32 v84, v84, v85
	v_cvt_pk_bf16_f32 v85, v86, v87
	global_store_dwordx2 v[10:11], v[84:85], off offset:96
	v_pk_mul_f32 v[36:37], v[88:89], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[38:39], v[90:91], v[6:7] op_sel_hi:[1,0]
	v_pk_fma_f32 v[40:41], v[4:5], v[36:37], v[88:89] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[42:43], v[4:5], v[38:39], v[90:91] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[88:89], v[40:41], v[6:7], v[36:37] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[90:91], v[42:43], v[6:7], v[38:39] op_sel_hi:[1,0,1]
	v_cvt_pk_bf16_f32 v88, v88, v89
	v_cvt_pk_bf16_f32 v89, v90, v91
	global_store_dwordx2 v[10:11], v[88:89], off offset:128
	v_pk_mul_f32 v[36:37], v[92:93], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[38:39], v[94:95], v[6:7] op_sel_hi:[1,0]
	v_pk_fma_f32 v[40:41], v[4:5], v[36:37], v[92:93] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[42:43], v[4:5], v[38:39], v[94:95] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[92:93], v[40:41], v[6:7], v[36:37] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[94:95], v[42:43], v[6:7], v[38:39] op_sel_hi:[1,0,1]
	v_cvt_pk_bf16_f32 v92, v92, v93
	v_cvt_pk_bf16_f32 v93, v94, v95
	global_store_dwordx2 v[10:11], v[92:93], off offset:160
	v_pk_mul_f32 v[36:37], v[96:97], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[38:39], v[98:99], v[6:7] op_sel_hi:[1,0]
	v_pk_fma_f32 v[40:41], v[4:5], v[36:37], v[96:97] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[42:43], v[4:5], v[38:39], v[98:99] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[96:97], v[40:41], v[6:7], v[36:37] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[98:99], v[42:43], v[6:7], v[38:39] op_sel_hi:[1,0,1]
	v_cvt_pk_bf16_f32 v96, v96, v97
	v_cvt_pk_bf16_f32 v97, v98, v99
	global_store_dwordx2 v[10:11], v[96:97], off offset:192
	v_pk_mul_f32 v[36:37], v[100:101], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[38:39], v[102:103], v[6:7] op_sel_hi:[1,0]
	v_pk_fma_f32 v[40:41], v[4:5], v[36:37], v[100:101] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[42:43], v[4:5], v[38:39], v[102:103] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[100:101], v[40:41], v[6:7], v[36:37] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[102:103], v[42:43], v[6:7], v[38:39] op_sel_hi:[1,0,1]
	v_cvt_pk_bf16_f32 v100, v100, v101
	v_cvt_pk_bf16_f32 v101, v102, v103
	global_store_dwordx2 v[10:11], v[100:101], off offset:224
.Lnetra_attention_gqa8_fp8kv_qo64_gfx950_done:
	s_endpgm
.Lnetra_attention_gqa8_fp8kv_qo64_gfx950_end:
	.size netra_attention_gqa8_fp8kv_qo64_gfx950, .Lnetra_attention_gqa8_fp8kv_qo64_gfx950_end-netra_attention_gqa8_fp8kv_qo64_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_attention_gqa8_fp8kv_qo64_gfx950
		.amdhsa_group_segment_fixed_size 34816
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 96
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 168
		.amdhsa_next_free_sgpr 48
		.amdhsa_accum_offset 168
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 1
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: netra_attention_gqa8_fp8kv_qo64_gfx950
    .symbol: netra_attention_gqa8_fp8kv_qo64_gfx950.kd
    .kernarg_segment_size: 96
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 34816
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 512
    .vgpr_count: 168
    .agpr_count: 0
    .sgpr_count: 48
    .args:
      - {.name: q, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: k_ext, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: v_ext, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: out, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: k_buf, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: v_buf, .offset: 40, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: qo_indptr, .offset: 48, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: kv_indptr, .offset: 56, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: kv_indices, .offset: 64, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: sm_scale, .offset: 72, .size: 4, .value_kind: by_value}
      - {.name: qo_bits, .offset: 76, .size: 4, .value_kind: by_value}
      - {.name: scratch, .offset: 80, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: profile, .offset: 88, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
...
	.end_amdgpu_metadata
