"""Every gfx950 mnemonic by class: which operands are written, tied or implied.

Pure data. Braces expand as in a shell, none are nested. A suffix ``_e32``, ``_e64``, ``_dpp`` or
``_sdwa`` is taken off before the lookup. Written from the public CDNA3 and CDNA4 instruction set
documents; a test compares it with what the disassembler (LLVM 22.1.8) prints for every opcode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """Mnemonics that treat their operands alike: ``destinations`` counts the leading operands that
    are written, ``tied`` says that these are read as well, ``reads`` and ``writes`` name implied
    registers, ``traits`` are marks that the rules use."""

    mnemonics: str
    destinations: int = 1
    tied: bool = False
    reads: str = ""
    writes: str = ""
    traits: str = ""


_FLOAT = "{f,lt,eq,le,gt,lg,ge,o,u,nge,nlg,ngt,nle,neq,nlt,tru}"
_INTEGER = "{f,lt,eq,le,gt,ne,ge,t}"
_COMPARES = (
    f"v_CMP_{_FLOAT}_{{f16,f32,f64}} v_CMP_{_INTEGER}_{{i16,u16,i32,u32,i64,u64}} "
    "v_CMP_class_{f16,f32,f64}"
)

VECTOR = (
    Family("v_nop v_clrexcp v_mfma_ld_scale_b32", destinations=0),
    Family(
        "v_{add,sub,subrev,mul,min,max}_{f16,f32} v_{add,mul,min,max,ldexp}_f64 v_mul_legacy_f32 "
        "v_{add,sub}_{i16,i32} v_{add,sub,subrev}_{u16,u32} v_mul_lo_{u16,u32} v_mul_hi_{u32,i32} "
        "v_{min,max}_{i16,u16,i32,u32} v_mul_{i32_i24,hi_i32_i24,u32_u24,hi_u32_u24} "
        "v_{lshlrev,lshrrev}_{b16,b32,b64} v_ashrrev_{i16,i32,i64} v_{and,or,xor,xnor,not}_b32 "
        "v_{madmk,madak}_f16 v_{fmamk,fmaak}_f32 v_ldexp_{f16,f32} v_mov_{b32,b64} "
        "v_cvt_{f64_i32,f64_u32,f64_f32,i32_f64,u32_f64,f32_f64,f32_i32,f32_u32,u32_f32,i32_f32} "
        "v_cvt_{f16_f32,f32_f16,rpi_i32_f32,flr_i32_f32,off_f32_i4} v_cvt_f32_ubyte{0,1,2,3} "
        "v_cvt_{f16_u16,f16_i16,u16_f16,i16_f16,norm_i16_f16,norm_u16_f16,f32_bf16} "
        "v_cvt_{f32,pk_f32}_{fp8,bf8} v_{trunc,ceil,rndne,floor,fract}_{f16,f32,f64} v_bfrev_b32 "
        "v_ffbh_{u32,i32} v_ffbl_b32 v_frexp_exp_{i32_f64,i32_f32,i16_f16} "
        "v_frexp_mant_{f16,f32,f64} v_screen_partition_4se_b32 v_sat_pk_u8_i16 v_prng_b32 "
        "v_cndmask_b32 "
        "v_mad_{i32_i24,u32_u24,f16,u16,i16,u32_u16,i32_i16,legacy_f16,legacy_u16,legacy_i16} "
        "v_cube{id,sc,tc,ma}_f32 v_bfe_{u32,i32} v_bfi_b32 v_fma_{f16,f32,f64,legacy_f16} "
        "v_lerp_u8 v_align{bit,byte}_b32 v_{min3,max3,med3}_{f16,i16,u16,f32,i32,u32} "
        "v_sad_{u8,hi_u8,u16,u32} v_cvt_pk_u8_f32 v_div_fixup_{f16,f32,f64,legacy_f16} v_msad_u8 "
        "v_qsad_pk_u16_u8 v_mqsad_{pk_u16_u8,u32_u8} v_perm_b32 v_xad_u32 v_lshl_add_{u32,u64} "
        "v_add_lshl_u32 v_add3_u32 v_lshl_or_b32 v_and_or_b32 v_or3_b32 v_bitop3_{b16,b32} "
        "v_ashr_pk_{i8,u8}_i32 v_cvt_pk_{f16,bf16}_f32 v_bcnt_u32_b32 v_mbcnt_{lo,hi}_u32_b32 "
        "v_trig_preop_f64 v_bfm_b32 v_cvt_pknorm_{i16,u16}_{f16,f32} v_cvt_pkrtz_f16_f32 "
        "v_cvt_pk_{u16_u32,i16_i32} v_pack_b32_f16 v_{minimum3,maximum3}_f32 "
        "v_accvgpr_{read,write,mov}_b32 "
        "v_cvt_scalef32_pk_{f32,f16,bf16}_{fp8,bf8,fp4} v_cvt_scalef32_f32_{fp8,bf8} "
        "v_cvt_scalef32_2xpk16_{fp6,bf6}_f32 v_cvt_scalef32_sr_pk32_{fp6,bf6}_{f32,f16,bf16} "
        "v_cvt_scalef32_pk32_{f32,f16,bf16}_{fp6,bf6} v_cvt_scalef32_pk32_{fp6,bf6}_{f16,bf16}"
    ),
    Family(
        "v_pk_mad_{i16,u16} v_pk_mul_lo_u16 v_pk_{add,sub,min,max}_{i16,u16} "
        "v_pk_{add,min,max}_f16 v_pk_fma_{f16,f32} v_fma_mix_f32 "
        "v_pk_{lshlrev,lshrrev}_b16 v_pk_ashrrev_i16 v_pk_mul_{f16,f32} v_pk_add_f32 v_pk_mov_b32 "
        "v_pk_{minimum3,maximum3}_f16",
        traits="packed",
    ),
    Family(
        "v_{exp,log,rcp,rsq,sqrt,sin,cos}_{f16,f32} v_{exp,log}_legacy_f32 v_rcp_iflag_f32 "
        "v_{rcp,rsq,sqrt}_f64",
        traits="transcendental",
    ),
    Family(
        "v_{add,sub,subrev,addc,subb,subbrev}_co_u32 v_mad_{u64_u32,i64_i32} v_div_scale_{f32,f64}",
        destinations=2,
    ),
    Family("v_div_fmas_{f32,f64}", reads="vcc", traits="div_fmas"),
    Family(
        "v_dot2c_f32_{f16,bf16} v_dot2c_i32_i16 v_dot4c_i32_i8 v_dot8c_i32_i4",
        tied=True,
        traits="dot",
    ),
    Family(
        "v_dot2_f32_{f16,bf16} v_dot2_i32_i16 v_dot2_u32_u16 v_dot4_{i32_i8,u32_u8} "
        "v_dot8_{i32_i4,u32_u4}",
        traits="dot packed",
    ),
    Family(
        "v_fmac_{f32,f64} v_mac_f16 v_pk_fmac_f16 v_cvt_pkaccum_u8_f32 "
        "v_cvt_pk_{fp8,bf8}_f32 v_cvt_sr_{fp8,bf8}_f32 v_cvt_sr_{f16,bf16}_f32 "
        "v_cvt_scalef32_{pk,sr}_{fp8,bf8}_{f32,f16,bf16} v_cvt_scalef32_f16_{fp8,bf8} "
        "v_cvt_scalef32_{pk,sr_pk}_fp4_{f32,f16,bf16}",
        tied=True,
    ),
    Family(_COMPARES.replace("CMP", "cmp"), traits="compare"),
    Family(_COMPARES.replace("CMP", "cmpx"), writes="exec", traits="compare"),
    Family("v_fma_mix{lo,hi}_f16", tied=True, traits="packed"),
    Family("v_swap_b32", destinations=2, tied=True),
    Family("v_permlane{16,32}_swap_b32", destinations=2, tied=True, traits="permlane"),
    Family("v_readfirstlane_b32", traits="readlane"),
    Family("v_readlane_b32", traits="readlane lane_select"),
    Family("v_writelane_b32", tied=True, traits="writelane lane_select"),
)

_SUFFIX_16 = "{f16,bf16}"
_EIGHT = "{fp8,bf8}_{fp8,bf8}"
MATRIX = (
    Family(f"v_mfma_f32_4x4x4_16b_{_SUFFIX_16} v_mfma_i32_4x4x4_16b_i8", traits="xdl2"),
    Family(
        f"v_mfma_f32_16x16x16_{_SUFFIX_16} v_mfma_f32_16x16x32_{_SUFFIX_16} "
        f"v_mfma_f32_16x16x32_{_EIGHT} v_mfma_i32_16x16x32_i8 v_mfma_i32_16x16x64_i8",
        traits="xdl4",
    ),
    Family(
        f"v_mfma_f32_16x16x4_4b_{_SUFFIX_16} v_mfma_f32_32x32x8_{_SUFFIX_16} "
        f"v_mfma_f32_32x32x16_{_SUFFIX_16} v_mfma_f32_32x32x16_{_EIGHT} v_mfma_i32_16x16x4_4b_i8 "
        "v_mfma_i32_32x32x16_i8 v_mfma_i32_32x32x32_i8 v_mfma_{,scale_}f32_16x16x128_f8f6f4",
        traits="xdl8",
    ),
    Family(
        f"v_mfma_f32_32x32x4_2b_{_SUFFIX_16} v_mfma_i32_32x32x4_2b_i8 "
        "v_mfma_{,scale_}f32_32x32x64_f8f6f4",
        traits="xdl16",
    ),
    Family("v_mfma_f32_4x4x1_16b_f32", traits="sgemm2"),
    Family("v_mfma_f32_16x16x1_4b_f32 v_mfma_f32_16x16x4_f32", traits="sgemm8"),
    Family("v_mfma_f32_32x32x1_2b_f32 v_mfma_f32_32x32x2_f32", traits="sgemm16"),
    Family("v_mfma_f64_4x4x4_4b_f64", traits="dgemm4"),
    Family("v_mfma_f64_16x16x4_f64", traits="dgemm16"),
    Family(
        f"v_smfmac_f32_16x16x{{32,64}}_{_SUFFIX_16} v_smfmac_f32_16x16x{{64,128}}_{_EIGHT} "
        "v_smfmac_i32_16x16x{64,128}_i8",
        tied=True,
        traits="xdl4 sparse",
    ),
    Family(
        f"v_smfmac_f32_32x32x{{16,32}}_{_SUFFIX_16} v_smfmac_f32_32x32x{{32,64}}_{_EIGHT} "
        "v_smfmac_i32_32x32x{32,64}_i8",
        tied=True,
        traits="xdl8 sparse",
    ),
)

SCALAR = (
    Family(
        "s_mov_{b32,b64} s_brev_{b32,b64} s_ff{0,1}_i32_{b32,b64} s_flbit_i32_{b32,b64} "
        "s_flbit_i32{,_i64} s_sext_i32_{i8,i16} s_getpc_b64 s_bitreplicate_b64_b32 s_movk_i32 "
        "s_mul_i32 s_mul_hi_{u32,i32} s_bfm_{b32,b64} s_pack_{ll,lh,hh}_b32_b16"
    ),
    Family("s_bitset{0,1}_{b32,b64} s_mulk_i32", tied=True),
    Family("s_cmov_{b32,b64} s_cmovk_i32", tied=True, reads="scc"),
    Family("s_cselect_{b32,b64}", reads="scc"),
    Family("s_{addc,subb}_u32", reads="scc", writes="scc"),
    Family("s_addk_i32", tied=True, writes="scc"),
    Family(
        "s_not_{b32,b64} s_wqm_{b32,b64} s_bcnt{0,1}_i32_{b32,b64} s_quadmask_{b32,b64} s_abs_i32 "
        "s_{add,sub}_{u32,i32} s_{min,max}_{i32,u32} "
        "s_{and,or,xor,andn2,orn2,nand,nor,xnor}_{b32,b64} s_{lshl,lshr}_{b32,b64} "
        "s_ashr_{i32,i64} s_bfe_{u32,i32,u64,i64} s_absdiff_i32 s_lshl{1,2,3,4}_add_u32",
        writes="scc",
    ),
    Family(
        "s_{and,or,xor,andn1,andn2,orn1,orn2,nand,nor,xnor}_saveexec_b64 s_andn{1,2}_wrexec_b64",
        reads="exec",
        writes="exec scc",
    ),
    Family(
        "s_cmp_{lt,eq,lg,gt,ge,le}_{i32,u32} s_cmp_{eq,lg}_u64 s_bitcmp{0,1}_{b32,b64} "
        "s_cmpk_{eq,lg,gt,ge,lt,le}_{i32,u32}",
        destinations=0,
        writes="scc",
    ),
    Family("s_getreg_b32", reads="mode", traits="getreg"),
    Family("s_setreg_b32 s_setreg_imm32_b32", 0, writes="mode", traits="setreg"),
    Family(
        "s_movrels_{b32,b64} s_movreld_{b32,b64} s_set_gpr_idx_{idx,on,off,mode} s_setvskip",
        reads="m0",
        traits="indirect_register",
    ),
)

_WIDTHS = "{dword,dwordx2,dwordx4,dwordx8,dwordx16}"
_RMW = "{swap,cmpswap,add,sub,smin,umin,smax,umax,and,or,xor,inc,dec}{,_x2}"
_ATOMICS = (
    f"UNIT_atomic_{_RMW} UNIT_atomic_{{add_f32,pk_add_f16,add_f64,min_f64,max_f64,pk_add_bf16}}"
)
_LOADS = (
    "{ubyte,sbyte,ushort,sshort,dword,dwordx2,dwordx3,dwordx4,"
    "ubyte_d16,ubyte_d16_hi,sbyte_d16,sbyte_d16_hi,short_d16,short_d16_hi}"
)
_STORES = "{byte,byte_d16_hi,short,short_d16_hi,dword,dwordx2,dwordx3,dwordx4}"
_FORMATS = "{x,xy,xyz,xyzw,d16_x,d16_xy,d16_xyz,d16_xyzw}"

FAMILIES_BY_KIND: Mapping[str, tuple[Family, ...]] = {
    "valu": VECTOR,
    "mfma": MATRIX,
    "salu": SCALAR,
    "branch": (
        Family("s_branch", 0, traits="always"),
        Family("s_cbranch_scc{0,1}", 0, reads="scc"),
        Family("s_cbranch_vcc{z,nz}", 0, reads="vcc"),
        Family("s_cbranch_exec{z,nz}", 0, reads="exec"),
        Family("s_cbranch_cdbg{sys,user,sys_or_user,sys_and_user}", 0),
        Family("s_call_b64", traits="call"),
    ),
    "jump": (
        Family("s_setpc_b64 s_rfe_b64 s_rfe_restore_b64 s_cbranch_{g,i}_fork", 0),
        Family("s_swappc_b64 s_cbranch_join"),
    ),
    "end": (Family("s_endpgm s_endpgm_saved s_endpgm_ordered_ps_done", 0),),
    "wait": (Family("s_waitcnt", 0),),
    "nop": (Family("s_nop", 0),),
    "barrier": (Family("s_barrier", 0),),
    "message": (Family("s_sendmsg s_sendmsghalt s_ttracedata", 0, reads="m0"),),
    "misc": (
        Family(
            "s_wakeup s_setkill s_sethalt s_sleep s_setprio s_trap s_icache_inv s_incperflevel "
            "s_decperflevel",
            0,
        ),
        Family("buffer_inv", 0),
    ),
    "smem": (
        Family(
            f"s_{{load,buffer_load}}_{_WIDTHS} s_scratch_load_{{dword,dwordx2,dwordx4}} s_memtime "
            "s_memrealtime",
            traits="load",
        ),
        Family("s_{store,buffer_store,scratch_store}_{dword,dwordx2,dwordx4}", 0),
        Family(f"s_{{atomic,buffer_atomic}}_{_RMW}", tied=True, traits="load"),
        Family("s_dcache_{inv,wb,inv_vol,wb_vol,discard,discard_x2} s_atc_probe{,_buffer}", 0),
    ),
    "vmem": (
        Family(
            f"{{buffer,global,scratch}}_load_{_LOADS} {{buffer,tbuffer}}_load_format_{_FORMATS} "
            "buffer_load_format_d16_hi_x",
            traits="load",
        ),
        Family(
            f"{{buffer,global,scratch}}_store_{_STORES} {{buffer,tbuffer}}_store_format_{_FORMATS} "
            "buffer_store_format_d16_hi_x",
            0,
            traits="store",
        ),
        Family(_ATOMICS.replace("UNIT", "{buffer,global}"), 0, traits="atomic"),
        Family(
            "{global,scratch}_load_lds_{ubyte,sbyte,ushort,sshort,dword} "
            "global_load_lds_{dwordx3,dwordx4}",
            0,
            reads="m0",
            traits="lds_dma",
        ),
        Family("buffer_wbl2", 0),
    ),
    "flat": (
        Family(f"flat_load_{_LOADS}", traits="load"),
        Family(f"flat_store_{_STORES}", 0, traits="store"),
        Family(_ATOMICS.replace("UNIT", "flat"), 0, traits="atomic"),
    ),
    "ds": (
        Family("ds_nop", 0),
        Family(
            "ds_read_{b32,b64,b96,b128,i8,u8,i16,u16,u8_d16,u8_d16_hi,i8_d16,i8_d16_hi,u16_d16,"
            "u16_d16_hi} ds_{read2,read2st64}_{b32,b64} ds_read_b64_tr_{b4,b8,b16} "
            "ds_read_b96_tr_b6",
            traits="load lds_read",
        ),
        Family("ds_swizzle_b32 ds_{permute,bpermute}_b32", traits="load cross_lane"),
        Family("ds_read_addtid_b32", reads="m0", traits="load lds_read m0_address"),
        Family("ds_{consume,append}", reads="m0", traits="load lds_read lds_write"),
        Family(
            "ds_write_{b8,b16,b32,b64,b96,b128,b8_d16_hi,b16_d16_hi} "
            "ds_{write2,write2st64}_{b32,b64}",
            0,
            traits="lds_write",
        ),
        Family("ds_write_addtid_b32", 0, reads="m0", traits="lds_write m0_address"),
        Family(
            "ds_{add,sub,rsub,inc,dec,min,max}_{u32,u64} ds_{min,max}_{i32,i64} "
            "ds_{and,or,xor,mskor}_{b32,b64} ds_cmpst_{b32,b64,f32,f64} ds_{add,min,max}_{f32,f64} "
            "ds_pk_add_{f16,bf16}",
            0,
            traits="lds_read lds_write",
        ),
        Family(
            "ds_{add,sub,rsub,inc,dec,min,max}_rtn_{u32,u64} ds_{min,max}_rtn_{i32,i64} "
            "ds_{and,or,xor,mskor,wrxchg,wrxchg2,wrxchg2st64}_rtn_{b32,b64} ds_wrap_rtn_b32 "
            "ds_cmpst_rtn_{b32,b64,f32,f64} ds_{add,min,max}_rtn_{f32,f64} "
            "ds_pk_add_rtn_{f16,bf16} ds_condxchg32_rtn_b64",
            traits="load lds_read lds_write",
        ),
    ),
    "gws": (Family("ds_gws_{init,sema_v,sema_br,sema_p,barrier,sema_release_all}", 0, reads="m0"),),
}
"""Kind is the unit that runs an instruction."""
