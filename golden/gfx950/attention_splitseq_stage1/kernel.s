// SPDX-License-Identifier: MIT
// Attention of one query row over one split of its visible keys, for the 8 query heads of one
// KV head, with FP8 keys and values: normalised partial outputs and their log-sum-exp.
//
// void netra_attention_splitseq_stage1_gfx950(
//     const bf16     *q,              //   0  256 values at row * q_tok + head * q_head
//     const fp8_e4m3 *k_buf,          //   8  256 values at slot * k_tok + kv_head * k_head
//     const fp8_e4m3 *v_buf,          //  16  256 values at slot * v_tok + kv_head * v_head
//     float           sm_scale,       //  24  4 bytes of padding follow
//     const int32_t  *seq_lens,       //  32  [M], keys that the row sees, 1 .. 2^25
//     const uint64_t *kv_indices,     //  40  [keys], the slot of each key, low dword used
//     float          *mid,            //  48  256 values at row * mid_tok + head * mid_head
//     float          *lse,            //  56      + split * mid_split; lse at that / 256
//     const int32_t  *num_kv_splits,  //  64  [M], 1 .. 129
//     uint32_t        q_tok,          //  72  strides in elements, those of q, k and v are
//     uint32_t        q_head,         //  76  multiples of 16
//     uint32_t        k_tok,          //  80
//     uint32_t        k_head,         //  84
//     uint32_t        v_tok,          //  88
//     uint32_t        v_head,         //  92
//     uint32_t        mid_tok,        //  96
//     uint32_t        mid_head,       // 100
//     uint32_t        mid_split,      // 104  4 bytes of padding follow
//     void           *scratch,        // 112  not read
//     void           *profile);       // 120  not read
//
// Grid (M, 2, splits), 256 work-items: x = query row, y = KV head, z = split.
//
//     n   = seq_lens[row];  per = ceil(ceil(n / num_kv_splits[row]) / 32) * 32
//     keys z * per .. min(z * per + per, n) - 1; a split without keys writes nothing
//     m, l, acc = -1e20, 0, 0;  Q8 = fp8(q)
//     for each tile of 32 keys:
//         S   = (K Q8) * sm_scale, -inf behind the last key
//         M   = max(m, max S);  a = exp(m - M);  m = M;  P = exp(S - M)
//         l   = l * a + sum P;  acc = acc * a + fp8(P) V
//     mid = acc / l;  lse = m + ln l
//
// The conversions to FP8 saturate (FP16_OVFL). exp(x) = v_exp(x * log2 e): what it flushes to zero
// is below 2^-126, while l >= 1. acc / l by a refined reciprocal and one correction, which
// is the correctly rounded quotient of normal numbers.
//
// Four waves; wave w owns dimensions 64 w .. 64 w + 63 of the output and computes all scores of
// the tile. Lane = 16 g + c: column c of every matrix product is head 8 y + c % 8 (c >= 8 repeats
// and is not stored). A score register r of subtile j holds key 16 j + 4 g + r, and the bytes of
// fp8(P) for one product of 32 keys are those registers in order: byte i of a lane is key
// 16 (i / 4) + 4 g + i % 4, and the rows of V are read from LDS in this order.
//
// SGPR  0:1    kernarg segment, until the arguments are read
//       2:4    work-group x, y, z (= row, KV head, split)
//       5      n, then the last key of the split
//       6      splits, then the first key of the tile
//       7      per, then end of the split
//       8:9    q, then q + 2 * row * q_tok
//       10:11  k_buf, then its row of the KV head
//       12:13  v_buf, then its row of the KV head and wave
//       14:15  sm_scale, twice
//       16:17  seq_lens
//       18:19  kv_indices
//       20:21  mid, then mid + 256 * wave
//       22:23  lse
//       24:25  num_kv_splits, then row * mid_tok + split * mid_split
//       26:27  log2 e, twice
//       28:36  q_tok, q_head, k_tok, k_head, v_tok, v_head, mid_tok, mid_head, mid_split
//       37     wave
//       38     4 * row, then keys of the split from the tile on
//       39     ln 2
//       40:47  temporaries; masks of four score registers
// VGPR  0      work-item, then head
//       1      c
//       2      4 * g
//       3      key of a tile half that the lane stages, lane / 4
//       4:5    m, l
//       6:7    a (at the end 1 / l), temporary
//       8      temporary
//       9      -inf
//       10:11  16 * g, 0
//       12:13  k_buf row of the KV head + 16 * g; at the end the element offset in mid
//       14:15  v_buf row of the KV head and wave + 16 * (lane % 4); at the end the address in mid
//       16, 17 LDS addresses: of the staged value, of the first transposed read
//       18:21  slots: keys of subtiles 0, 1; staged keys of halves 0, 1
//       22:29  their addresses
//       30:37  S, then P, of subtiles 0, 1
//       38:39  fp8(P)
//       40:55  Q8: [128 dimensions][first, second half of an operand]
//       56:71  acc: 4 tiles of 16 dimensions
//       72:103 q in BF16; K: [128 dimensions][subtile]; then V transposed; then quotients, errors
//       104:111 staged values of halves 0, 1
// LDS   wave w at 2560 * w: V[32 keys][64 dimensions], 80 bytes a row

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected netra_attention_splitseq_stage1_gfx950
	.globl netra_attention_splitseq_stage1_gfx950
	.p2align 8
	.type netra_attention_splitseq_stage1_gfx950,@function
netra_attention_splitseq_stage1_gfx950:
// The arguments; meanwhile the lane map.
	s_load_dwordx4 s[8:11], s[0:1], 0                         // q, k_buf
	s_load_dwordx2 s[12:13], s[0:1], 16                       // v_buf
	s_load_dword s14, s[0:1], 24                              // sm_scale
	s_load_dwordx8 s[16:23], s[0:1], 32                       // seq_lens, kv_indices, mid, lse
	s_load_dwordx2 s[24:25], s[0:1], 64                       // num_kv_splits
	s_load_dwordx8 s[28:35], s[0:1], 72                       // q_tok .. mid_head
	s_load_dword s36, s[0:1], 104                             // mid_split
	s_lshl_b32 s38, s2, 2                                     // 4 * row
	v_lshrrev_b32 v8, 6, v0
	v_and_b32 v1, 15, v0                                      // c
	v_readfirstlane_b32 s37, v8                               // wave
	v_bfe_u32 v2, v0, 4, 2                                    // g
	v_lshlrev_b32 v10, 4, v2                                  // 16 * g
	v_mov_b32 v11, 0
	v_lshlrev_b32 v2, 2, v2                                   // 4 * g
	v_bfe_u32 v3, v0, 2, 4                                    // lane / 4
	v_and_b32 v14, 3, v0
	v_lshlrev_b32 v14, 4, v14                                 // 16 * (lane % 4)
	v_mov_b32 v15, 0
	s_waitcnt lgkmcnt(0)                                      // the arguments
	s_load_dword s5, s[16:17], s38                            // n
	s_load_dword s6, s[24:25], s38                            // splits
	s_waitcnt lgkmcnt(0)                                      // n and splits

// q = (n + splits - 1) / splits: an estimate of 2^32 / splits from the FP32 reciprocal, one
// integer Newton step, then at most one correction of the quotient (n <= 2^25, splits <= 129).
	v_cvt_f32_u32 v8, s6
	v_rcp_iflag_f32 v8, v8
	s_nop 0                                                   // a transcendental result needs 1 wait state
	v_mul_f32 v8, 0x4f7ffffe, v8                              // * (2^32 - 512)
	v_cvt_u32_f32 v8, v8
	s_nop 0                                                   // v_readfirstlane needs 1 wait state
	v_readfirstlane_b32 s7, v8                                // R, about 2^32 / splits
	s_sub_u32 s40, 0, s6
	s_mul_i32 s40, s40, s7                                    // 2^32 - splits * R
	s_mul_hi_u32 s40, s7, s40
	s_add_u32 s40, s7, s40                                    // R after the step
	s_add_u32 s41, s5, s6
	s_sub_u32 s41, s41, 1                                     // numerator
	s_mul_hi_u32 s7, s41, s40                                 // q, at most 1 too small
	s_mul_i32 s40, s7, s6
	s_sub_u32 s40, s41, s40                                   // remainder
	s_cmp_ge_u32 s40, s6
	s_addc_u32 s7, s7, 0

// per = ceil(q / 32) * 32; the split holds keys s6 .. s7 - 1
	s_add_u32 s7, s7, 31
	s_andn2_b32 s7, s7, 31
	s_mul_i32 s6, s4, s7                                      // z * per
	s_cmp_ge_u32 s6, s5
	s_cbranch_scc1 .Lnetra_attention_splitseq_stage1_gfx950_done // no key
	s_add_u32 s7, s6, s7
	s_min_u32 s7, s7, s5                                      // end
	s_sub_u32 s5, s7, 1                                       // last key

// Addresses: q + 2 * row * q_tok, the rows of the KV head in k_buf and v_buf, the element
// offset of the row and split in mid.
	s_mul_i32 s40, s2, s28
	s_mul_hi_u32 s41, s2, s28
	s_lshl_b64 s[40:41], s[40:41], 1
	s_add_u32 s8, s8, s40
	s_addc_u32 s9, s9, s41
	s_mul_i32 s40, s3, s31
	s_mul_hi_u32 s41, s3, s31
	s_add_u32 s10, s10, s40
	s_addc_u32 s11, s11, s41
	s_mul_i32 s40, s3, s33
	s_mul_hi_u32 s41, s3, s33
	s_add_u32 s12, s12, s40
	s_addc_u32 s13, s13, s41
	s_lshl_b32 s40, s37, 6                                    // 64 * wave
	s_add_u32 s12, s12, s40
	s_addc_u32 s13, s13, 0
	s_mul_i32 s24, s2, s34
	s_mul_hi_u32 s25, s2, s34
	s_mul_i32 s40, s4, s36
	s_mul_hi_u32 s41, s4, s36
	s_add_u32 s24, s24, s40
	s_addc_u32 s25, s25, s41
	s_lshl_b32 s40, s37, 8                                    // 256 * wave
	s_add_u32 s20, s20, s40
	s_addc_u32 s21, s21, 0

// q of the head, 64 values a lane, in the operand order: 16 at 16 g, 16 at 64 + 16 g of each
// 128 dimensions.
	v_and_b32 v0, 7, v1
	s_lshl_b32 s40, s3, 3
	v_add_u32 v0, s40, v0                                     // head = 8 * y + c % 8
	v_mad_u64_u32 v[6:7], vcc, v0, s29, v[10:11]              // head * q_head + 16 * g
	v_lshl_add_u64 v[6:7], v[6:7], 1, s[8:9]
	global_load_dwordx4 v[72:75], v[6:7], off
	global_load_dwordx4 v[76:79], v[6:7], off offset:16
	global_load_dwordx4 v[80:83], v[6:7], off offset:128
	global_load_dwordx4 v[84:87], v[6:7], off offset:144
	global_load_dwordx4 v[88:91], v[6:7], off offset:256
	global_load_dwordx4 v[92:95], v[6:7], off offset:272
	global_load_dwordx4 v[96:99], v[6:7], off offset:384
	global_load_dwordx4 v[100:103], v[6:7], off offset:400

// Lane bases of K and V, LDS addresses, constants, the empty sum.
	v_lshl_add_u64 v[12:13], v[10:11], 0, s[10:11]
	v_lshl_add_u64 v[14:15], v[14:15], 0, s[12:13]
	s_mul_i32 s40, s37, 2560                                  // slab of the wave
	s_movk_i32 s41, 80                                        // bytes of a row
	v_mul_lo_u32 v16, s41, v3                                 // staged: row lane / 4
	v_and_b32 v8, 3, v1                                       // lane % 4
	v_lshl_add_u32 v16, v8, 4, v16                            // byte 16 * (lane % 4)
	v_add_u32 v16, s40, v16
	v_bfe_u32 v8, v1, 1, 2                                    // (c / 2) % 4
	v_add_u32 v8, v8, v2                                      // + 4 * g
	v_lshrrev_b32 v17, 3, v1
	v_lshl_add_u32 v8, v17, 4, v8                             // + 16 * (c / 8): the row read
	v_mul_lo_u32 v17, s41, v8
	v_and_b32 v8, 1, v1
	v_lshl_add_u32 v17, v8, 3, v17                            // byte 8 * (c % 2)
	v_add_u32 v17, s40, v17
	s_mov_b32 s39, 0x3f317218                                 // ln 2
	s_mov_b32 s15, s14                                        // sm_scale
	s_mov_b32 s26, 0x3fb8aa3b                                 // log2 e
	s_mov_b32 s27, s26
	v_mov_b32 v4, 0xe0ad78ec                                  // m = -1e20
	v_mov_b32 v5, 0                                           // l = 0
	v_mov_b32 v9, 0xff800000                                  // -inf
	v_mov_b32 v56, 0                                          // acc = 0
	v_mov_b32 v57, 0
	v_mov_b32 v58, 0
	v_mov_b32 v59, 0
	v_mov_b32 v60, 0
	v_mov_b32 v61, 0
	v_mov_b32 v62, 0
	v_mov_b32 v63, 0
	v_mov_b32 v64, 0
	v_mov_b32 v65, 0
	v_mov_b32 v66, 0
	v_mov_b32 v67, 0
	v_mov_b32 v68, 0
	v_mov_b32 v69, 0
	v_mov_b32 v70, 0
	v_mov_b32 v71, 0
	s_waitcnt vmcnt(0)                                        // q

// Q8 = fp8(q)
	v_cvt_scalef32_pk_fp8_bf16 v40, v72, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v40, v73, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v41, v74, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v41, v75, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v42, v76, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v42, v77, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v43, v78, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v43, v79, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v44, v80, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v44, v81, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v45, v82, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v45, v83, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v46, v84, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v46, v85, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v47, v86, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v47, v87, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v48, v88, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v48, v89, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v49, v90, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v49, v91, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v50, v92, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v50, v93, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v51, v94, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v51, v95, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v52, v96, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v52, v97, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v53, v98, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v53, v99, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v54, v100, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v54, v101, 1.0 op_sel:[0,0,1]
	v_cvt_scalef32_pk_fp8_bf16 v55, v102, 1.0
	v_cvt_scalef32_pk_fp8_bf16 v55, v103, 1.0 op_sel:[0,0,1]

.Lnetra_attention_splitseq_stage1_gfx950_tile:
// Slots of the keys; keys behind the last one repeat it.
	v_add_u32 v18, s6, v1                                     // key c of subtile 0
	v_add_u32 v20, s6, v3                                     // key lane / 4 of half 0
	v_add_u32 v19, 16, v18
	v_add_u32 v21, 16, v20
	v_min_u32 v18, s5, v18
	v_min_u32 v19, s5, v19
	v_min_u32 v20, s5, v20
	v_min_u32 v21, s5, v21
	v_lshlrev_b32 v18, 3, v18
	v_lshlrev_b32 v19, 3, v19
	v_lshlrev_b32 v20, 3, v20
	v_lshlrev_b32 v21, 3, v21
	global_load_dword v18, v18, s[18:19]
	global_load_dword v19, v19, s[18:19]
	global_load_dword v20, v20, s[18:19]
	global_load_dword v21, v21, s[18:19]
	s_waitcnt vmcnt(0)                                        // the slots

// K: [128 dimensions][subtile], one operand of 32 bytes a lane; V: 16 bytes a lane and half.
	v_mad_u64_u32 v[22:23], vcc, v18, s30, v[12:13]
	v_mad_u64_u32 v[24:25], vcc, v19, s30, v[12:13]
	v_mad_u64_u32 v[26:27], vcc, v20, s32, v[14:15]
	v_mad_u64_u32 v[28:29], vcc, v21, s32, v[14:15]
	global_load_dwordx4 v[72:75], v[22:23], off
	global_load_dwordx4 v[76:79], v[22:23], off offset:64
	global_load_dwordx4 v[80:83], v[24:25], off
	global_load_dwordx4 v[84:87], v[24:25], off offset:64
	global_load_dwordx4 v[88:91], v[22:23], off offset:128
	global_load_dwordx4 v[92:95], v[22:23], off offset:192
	global_load_dwordx4 v[96:99], v[24:25], off offset:128
	global_load_dwordx4 v[100:103], v[24:25], off offset:192
	global_load_dwordx4 v[104:107], v[26:27], off
	global_load_dwordx4 v[108:111], v[28:29], off

// S = K Q8, 128 dimensions at a time
	s_waitcnt vmcnt(6)                                        // K of dimensions 0 .. 127
	v_mfma_f32_16x16x128_f8f6f4 v[30:33], v[72:79], v[40:47], 0
	v_mfma_f32_16x16x128_f8f6f4 v[34:37], v[80:87], v[40:47], 0
	s_waitcnt vmcnt(2)                                        // K of dimensions 128 .. 255
	v_mfma_f32_16x16x128_f8f6f4 v[30:33], v[88:95], v[48:55], v[30:33]
	v_mfma_f32_16x16x128_f8f6f4 v[34:37], v[96:103], v[48:55], v[34:37]
	s_sub_u32 s38, s7, s6                                     // keys from here on
	v_sub_u32 v8, s38, v2                                     // - 4 * g
	s_nop 8                                                   // the products are ready after 12 wait states

// S = S * sm_scale, -inf behind the last key
	v_pk_mul_f32 v[30:31], v[30:31], s[14:15]
	v_pk_mul_f32 v[32:33], v[32:33], s[14:15]
	v_pk_mul_f32 v[34:35], v[34:35], s[14:15]
	v_pk_mul_f32 v[36:37], v[36:37], s[14:15]
	v_cmp_lt_i32 s[40:41], 0, v8
	v_cmp_lt_i32 s[42:43], 1, v8
	v_cmp_lt_i32 s[44:45], 2, v8
	v_cmp_lt_i32 s[46:47], 3, v8
	v_cndmask_b32 v30, v9, v30, s[40:41]
	v_cndmask_b32 v31, v9, v31, s[42:43]
	v_cndmask_b32 v32, v9, v32, s[44:45]
	v_cndmask_b32 v33, v9, v33, s[46:47]
	v_cmp_lt_i32 s[40:41], 16, v8
	v_cmp_lt_i32 s[42:43], 17, v8
	v_cmp_lt_i32 s[44:45], 18, v8
	v_cmp_lt_i32 s[46:47], 19, v8
	v_cndmask_b32 v34, v9, v34, s[40:41]
	v_cndmask_b32 v35, v9, v35, s[42:43]
	v_cndmask_b32 v36, v9, v36, s[44:45]
	v_cndmask_b32 v37, v9, v37, s[46:47]

// M = max(m, max S) over the keys of the column; a = exp(m - M)
	v_max3_f32 v8, v30, v31, v32
	v_max3_f32 v8, v8, v33, v34
	v_max3_f32 v8, v8, v35, v36
	v_max_f32 v8, v8, v37
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
	v_pk_add_f32 v[30:31], v[30:31], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[32:33], v[32:33], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[34:35], v[34:35], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_add_f32 v[36:37], v[36:37], v[4:5] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]
	v_pk_mul_f32 v[30:31], v[30:31], s[26:27]
	v_pk_mul_f32 v[32:33], v[32:33], s[26:27]
	v_pk_mul_f32 v[34:35], v[34:35], s[26:27]
	v_pk_mul_f32 v[36:37], v[36:37], s[26:27]
	v_exp_f32 v30, v30
	v_exp_f32 v31, v31
	v_exp_f32 v32, v32
	v_exp_f32 v33, v33
	v_exp_f32 v34, v34
	v_exp_f32 v35, v35
	v_exp_f32 v36, v36
	v_exp_f32 v37, v37
	v_cvt_pk_fp8_f32 v38, v30, v31
	v_cvt_pk_fp8_f32 v38, v32, v33 op_sel:[0,0,1]
	v_cvt_pk_fp8_f32 v39, v34, v35
	v_cvt_pk_fp8_f32 v39, v36, v37 op_sel:[0,0,1]
	v_pk_add_f32 v[30:31], v[30:31], v[34:35]
	v_pk_add_f32 v[32:33], v[32:33], v[36:37]
	v_pk_add_f32 v[30:31], v[30:31], v[32:33]
	v_add_f32 v30, v30, v31
	v_fma_f32 v5, v5, v6, v30                                 // l

// acc = acc * a
	v_pk_mul_f32 v[56:57], v[56:57], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[58:59], v[58:59], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[60:61], v[60:61], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[62:63], v[62:63], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[64:65], v[64:65], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[66:67], v[66:67], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[68:69], v[68:69], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[70:71], v[70:71], v[6:7] op_sel_hi:[1,0]

// acc = acc + fp8(P) V: V goes through the slab of the wave, whose LDS operations are done in
// order, and comes back transposed.
	s_waitcnt vmcnt(0)                                        // V
	ds_write_b128 v16, v[104:107]
	ds_write_b128 v16, v[108:111] offset:1280
	ds_read_b64_tr_b8 v[72:73], v17
	ds_read_b64_tr_b8 v[74:75], v17 offset:16
	ds_read_b64_tr_b8 v[76:77], v17 offset:32
	ds_read_b64_tr_b8 v[78:79], v17 offset:48
	s_waitcnt lgkmcnt(0)                                      // V transposed
	v_mfma_f32_16x16x32_fp8_fp8 v[56:59], v[72:73], v[38:39], v[56:59]
	v_mfma_f32_16x16x32_fp8_fp8 v[60:63], v[74:75], v[38:39], v[60:63]
	v_mfma_f32_16x16x32_fp8_fp8 v[64:67], v[76:77], v[38:39], v[64:67]
	v_mfma_f32_16x16x32_fp8_fp8 v[68:71], v[78:79], v[38:39], v[68:71]

// The next tile.
	s_add_u32 s6, s6, 32
	s_cmp_lt_u32 s6, s7
	s_cbranch_scc1 .Lnetra_attention_splitseq_stage1_gfx950_tile

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

// acc / l = q + (acc - l * q) / l with q = acc * (1 / l)
	v_pk_mul_f32 v[72:73], v[56:57], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[74:75], v[58:59], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[76:77], v[60:61], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[78:79], v[62:63], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[80:81], v[64:65], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[82:83], v[66:67], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[84:85], v[68:69], v[6:7] op_sel_hi:[1,0]
	v_pk_mul_f32 v[86:87], v[70:71], v[6:7] op_sel_hi:[1,0]
	v_pk_fma_f32 v[88:89], v[4:5], v[72:73], v[56:57] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[90:91], v[4:5], v[74:75], v[58:59] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[92:93], v[4:5], v[76:77], v[60:61] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[94:95], v[4:5], v[78:79], v[62:63] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[96:97], v[4:5], v[80:81], v[64:65] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[98:99], v[4:5], v[82:83], v[66:67] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[100:101], v[4:5], v[84:85], v[68:69] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[102:103], v[4:5], v[86:87], v[70:71] op_sel:[1,0,0] neg_lo:[1,0,0] neg_hi:[1,0,0]
	v_pk_fma_f32 v[56:57], v[88:89], v[6:7], v[72:73] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[58:59], v[90:91], v[6:7], v[74:75] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[60:61], v[92:93], v[6:7], v[76:77] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[62:63], v[94:95], v[6:7], v[78:79] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[64:65], v[96:97], v[6:7], v[80:81] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[66:67], v[98:99], v[6:7], v[82:83] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[68:69], v[100:101], v[6:7], v[84:85] op_sel_hi:[1,0,1]
	v_pk_fma_f32 v[70:71], v[102:103], v[6:7], v[86:87] op_sel_hi:[1,0,1]

// mid: 4 dimensions a store; lanes c < 8
	v_mad_u64_u32 v[12:13], vcc, v0, s35, 0                   // head * mid_head
	v_lshl_add_u64 v[12:13], v[12:13], 0, s[24:25]            // element offset
	v_lshl_add_u64 v[10:11], v[10:11], 0, s[20:21]            // mid + 4 * (64 * wave + 4 * g)
	v_lshl_add_u64 v[14:15], v[12:13], 2, v[10:11]
	s_mov_b32 exec_lo, 0x00ff00ff
	s_mov_b32 exec_hi, 0x00ff00ff
	global_store_dwordx4 v[14:15], v[56:59], off
	global_store_dwordx4 v[14:15], v[60:63], off offset:64
	global_store_dwordx4 v[14:15], v[64:67], off offset:128
	global_store_dwordx4 v[14:15], v[68:71], off offset:192

// lse = m + ln 2 * log2 l at offset / 256: wave 0, lanes 0 .. 7
	s_cmp_lg_u32 s37, 0
	s_cbranch_scc1 .Lnetra_attention_splitseq_stage1_gfx950_done
	s_mov_b64 exec, 0xff
	v_log_f32 v8, v5
	v_lshrrev_b64 v[12:13], 8, v[12:13]
	v_fma_f32 v8, v8, s39, v4
	v_lshl_add_u64 v[12:13], v[12:13], 2, s[22:23]
	global_store_dword v[12:13], v8, off
.Lnetra_attention_splitseq_stage1_gfx950_done:
	s_endpgm
.Lnetra_attention_splitseq_stage1_gfx950_end:
	.size netra_attention_splitseq_stage1_gfx950, .Lnetra_attention_splitseq_stage1_gfx950_end-netra_attention_splitseq_stage1_gfx950

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel netra_attention_splitseq_stage1_gfx950
		.amdhsa_group_segment_fixed_size 10240
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 128
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 112
		.amdhsa_next_free_sgpr 48
		.amdhsa_accum_offset 112
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
  - .name: netra_attention_splitseq_stage1_gfx950
    .symbol: netra_attention_splitseq_stage1_gfx950.kd
    .kernarg_segment_size: 128
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 10240
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 256
    .vgpr_count: 112
    .agpr_count: 0
    .sgpr_count: 48
    .args:
      - {.name: q, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: k_buf, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: v_buf, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: sm_scale, .offset: 24, .size: 4, .value_kind: by_value}
      - {.name: seq_lens, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: kv_indices, .offset: 40, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: mid, .offset: 48, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: lse, .offset: 56, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: num_kv_splits, .offset: 64, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: q_tok, .offset: 72, .size: 4, .value_kind: by_value}
      - {.name: q_head, .offset: 76, .size: 4, .value_kind: by_value}
      - {.name: k_tok, .offset: 80, .size: 4, .value_kind: by_value}
      - {.name: k_head, .offset: 84, .size: 4, .value_kind: by_value}
      - {.name: v_tok, .offset: 88, .size: 4, .value_kind: by_value}
      - {.name: v_head, .offset: 92, .size: 4, .value_kind: by_value}
      - {.name: mid_tok, .offset: 96, .size: 4, .value_kind: by_value}
      - {.name: mid_head, .offset: 100, .size: 4, .value_kind: by_value}
      - {.name: mid_split, .offset: 104, .size: 4, .value_kind: by_value}
      - {.name: scratch, .offset: 112, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: profile, .offset: 120, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
...
	.end_amdgpu_metadata
