"""Operand model: what instructions read and write, worked out by hand from the ISA documents."""

from __future__ import annotations

import pytest

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.hazards.effects import (
    base_mnemonic,
    decode_effects,
    describe,
    expand_braces,
    find_form,
    split_operands,
)


def instruction(text: str) -> Instruction:
    """Return an instruction of this text; its words do not matter here."""
    mnemonic, _, operands = text.partition(" ")
    return Instruction(0, mnemonic, operands, (0,), 4, text)


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("s_mov_b32 s0, 0xff", "", "s0"),
        ("s_add_u32 s0, s1, s2", "s[1:2]", "s0, scc"),
        ("s_addc_u32 s0, s1, 0", "s1, scc", "s0, scc"),
        ("s_cselect_b32 s0, s1, s2", "s[1:2], scc", "s0"),
        ("s_cmov_b32 s0, s1", "s[0:1], scc", "s0"),
        ("s_cmp_lt_i32 s0, s1", "s[0:1]", "scc"),
        ("s_cmpk_eq_u32 s0, 0x5", "s0", "scc"),
        ("s_addk_i32 s0, 0x5", "s0", "s0, scc"),
        ("s_mul_i32 s0, s1, s2", "s[1:2]", "s0"),
        ("s_and_saveexec_b64 s[0:1], vcc", "vcc, exec", "s[0:1], scc, exec"),
        ("s_cbranch_vccnz 5", "vcc", ""),
        ("s_cbranch_scc0 5", "scc", ""),
        ("s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 4)", "mode", "s0"),
        ("s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s5", "s5", "mode"),
        ("s_load_dwordx4 s[4:7], s[0:1], 0x10", "s[0:1]", "s[4:7]"),
        ("s_load_dword s4, s[0:1], s9 offset:0x4", "s[0:1], s9", "s4"),
        ("s_memtime s[4:5]", "", "s[4:5]"),
        ("s_endpgm", "", ""),
        ("v_mov_b32_e32 v0, s3", "s3, exec", "v0"),
        ("v_fma_f32 v0, -v1, |v2|, v3 clamp", "v[1:3], exec", "v0"),
        ("v_fmac_f32_e32 v0, v1, v2", "v[0:2], exec", "v0"),
        ("v_cmp_lt_f32_e32 vcc, v0, v1", "v[0:1], exec", "vcc"),
        ("v_cmp_lt_f32_e64 s[2:3], v0, v1", "v[0:1], exec", "s[2:3]"),
        ("v_cmpx_lt_f32_e32 vcc, v0, v1", "v[0:1], exec", "vcc, exec"),
        ("v_cndmask_b32_e64 v0, v1, v2, s[4:5]", "v[1:2], s[4:5], exec", "v0"),
        ("v_add_co_u32_e32 v0, vcc, v1, v2", "v[1:2], exec", "v0, vcc"),
        ("v_addc_co_u32_e32 v0, vcc, v1, v2, vcc", "v[1:2], vcc, exec", "v0, vcc"),
        ("v_mad_u64_u32 v[0:1], s[2:3], v4, v5, v[6:7]", "v[4:7], exec", "v[0:1], s[2:3]"),
        ("v_div_scale_f32 v0, vcc, v1, v1, v2", "v[1:2], exec", "v0, vcc"),
        ("v_div_fmas_f32 v0, v1, v2, v3", "v[1:3], vcc, exec", "v0"),
        ("v_readfirstlane_b32 s0, v1", "v1, exec", "s0"),
        ("v_readlane_b32 s0, v1, s2", "v1, s2, exec", "s0"),
        ("v_writelane_b32 v0, s1, m0", "v0, s1, m0, exec", "v0"),
        ("v_swap_b32 v0, v1", "v[0:1], exec", "v[0:1]"),
        ("v_permlane32_swap_b32_e32 v0, v1", "v[0:1], exec", "v[0:1]"),
        ("v_accvgpr_read_b32 v0, a1", "a1, exec", "v0"),
        ("v_accvgpr_write_b32 a0, v1", "v1, exec", "a0"),
        ("v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf", "v[0:1], exec", "v0"),
        ("v_cvt_pk_fp8_f32 v0, v1, v2", "v[0:2], exec", "v0"),
        ("v_mad_u16 v0, v1, v2, v3 op_sel:[0,0,0,1]", "v[0:3], exec", "v0"),
        (
            "v_add_u16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD",
            "v[0:2], exec",
            "v0",
        ),
        ("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] op_sel_hi:[1,0,1]", "v[2:7], exec", "v[0:1]"),
        (
            "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], a[0:3]",
            "v[4:19], a[0:3], exec",
            "v[0:3]",
        ),
        ("v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], 0", "v[4:11], exec", "v[0:3]"),
        (
            "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[20:23], v24, v25 "
            "op_sel_hi:[0,0,0]",
            "v[4:25], exec",
            "v[0:3]",
        ),
        (
            "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10 cbsz:3",
            "v[0:10], exec",
            "v[0:3]",
        ),
        ("global_load_dwordx4 v[0:3], v4, s[2:3] offset:16", "v4, s[2:3], exec", "v[0:3]"),
        ("global_load_dword v0, v[2:3], off", "v[2:3], exec", "v0"),
        ("global_store_dwordx2 v0, v[2:3], s[4:5]", "v0, v[2:3], s[4:5], exec", ""),
        ("global_atomic_add v0, v[2:3], v1, off sc0", "v[1:3], exec", "v0"),
        ("global_atomic_add v[2:3], v1, off", "v[1:3], exec", ""),
        ("buffer_load_dword v0, v1, s[4:7], s3 offen", "v1, s[3:7], exec", "v0"),
        ("buffer_load_dword v1, s[4:7], 0 offen lds", "v1, s[4:7], m0, exec", ""),
        ("buffer_store_dword v0, off, s[4:7], 0", "v0, s[4:7], exec", ""),
        ("buffer_atomic_add v0, v1, s[4:7], 0 offen sc0", "v[0:1], s[4:7], exec", "v0"),
        ("global_load_lds_dword v[0:1], off", "v[0:1], m0, exec", ""),
        ("flat_load_dword v0, v[2:3]", "v[2:3], exec", "v0"),
        ("scratch_load_dword v0, off, s3 offset:4", "s3, exec", "v0"),
        ("ds_read_b128 v[0:3], v4 offset:16", "v4, exec", "v[0:3]"),
        ("ds_write2st64_b64 v0, v[2:3], v[4:5] offset1:1", "v0, v[2:5], exec", ""),
        ("ds_bpermute_b32 v0, v1, v2", "v[1:2], exec", "v0"),
        ("ds_add_rtn_u32 v0, v1, v2", "v[1:2], exec", "v0"),
        ("ds_gws_barrier v0 gds", "v0, m0, exec", ""),
        ("ds_gws_sema_v gds", "m0, exec", ""),
    ],
)
def test_reads_and_writes(text: str, reads: str, writes: str) -> None:
    """Explicit and implied registers, in the order in which they are described."""
    effects = decode_effects(instruction(text))
    assert effects.kind != "unknown"
    assert (sorted_words(describe(effects.reads)), sorted_words(describe(effects.writes))) == (
        sorted_words(reads),
        sorted_words(writes),
    )


def sorted_words(shown: str) -> list[str]:
    """Compare descriptions regardless of the order of their parts."""
    return sorted(shown.split(", ")) if shown else []


@pytest.mark.parametrize(
    ("text", "traits"),
    [
        ("v_exp_f32_e32 v0, v1", {"transcendental"}),
        ("v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]", {"partial"}),
        ("v_cvt_pk_fp8_f32 v0, v1, v2", set()),
        ("v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[1,0,0]", set()),
        ("v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3 op_sel:[0,0,0,1]", {"partial"}),
        ("v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,1,0]", {"partial"}),
        ("v_cvt_scalef32_sr_fp8_f32 v0, v1, v2, v3 op_sel:[0,0,0,1]", {"partial"}),
        ("v_pk_mul_f32 v[0:1], v[2:3], v[4:5] op_sel:[0,1]", {"packed"}),
        ("v_add_u16_sdwa v0, v1, v2 dst_sel:DWORD src0_sel:WORD_1", set()),
        ("v_add_u16_sdwa v0, v1, v2 dst_sel:BYTE_1 src0_sel:WORD_1", {"partial"}),
        ("v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3]", {"dpp"}),
        ("buffer_load_dword v1, s[4:7], 0 offen lds", {"lds_dma"}),
        ("buffer_load_dword v0, v1, s[4:7], 0 offen", {"load"}),
    ],
)
def test_traits(text: str, traits: set[str]) -> None:
    """The marks that the rules ask for."""
    assert decode_effects(instruction(text)).traits == traits


@pytest.mark.parametrize(
    ("text", "operands", "modifiers"),
    [
        ("", (), ()),
        ("v0, v1", ("v0", "v1"), ()),
        ("v0, v1 row_shr:1 bound_ctrl:1", ("v0", "v1"), ("row_shr:1", "bound_ctrl:1")),
        ("gds", (), ("gds",)),
        ("sc1", (), ("sc1",)),
        ("v[0:1], off", ("v[0:1]", "off"), ()),
        ("s0, hwreg(HW_REG_MODE, 0, 4)", ("s0", "hwreg(HW_REG_MODE, 0, 4)"), ()),
        ("hwreg(HW_REG_MODE, 23, 1), 1", ("hwreg(HW_REG_MODE, 23, 1)", "1"), ()),
        ("vmcnt(0) lgkmcnt(0)", ("vmcnt(0)",), ("lgkmcnt(0)",)),
        ("v0, -|v1|", ("v0", "-|v1|"), ()),
        ("v0, v1, neg(3) op_sel:[0,1]", ("v0", "v1", "neg(3)"), ("op_sel:[0,1]",)),
        ("v0, v1, -v[2:3]", ("v0", "v1", "-v[2:3]"), ()),
    ],
)
def test_operands_are_split(text: str, operands: tuple, modifiers: tuple) -> None:
    """Operands at commas outside parentheses, modifiers behind the last."""
    assert split_operands(text) == (operands, modifiers)


def test_unknown_mnemonic_has_no_effects() -> None:
    """Its kind says so; the checker turns that into a finding."""
    effects = decode_effects(instruction(".long 0xffffffff"))
    assert (effects.kind, effects.reads, effects.writes) == ("unknown", 0, 0)


def test_suffixes_and_braces() -> None:
    """One look-up serves all encodings; braces expand as in a shell."""
    assert base_mnemonic("v_mov_b32_dpp") == "v_mov_b32"
    assert base_mnemonic("v_mov_b32_e64_dpp") == "v_mov_b32"
    assert base_mnemonic("s_mov_b32") == "s_mov_b32"
    assert find_form("v_mov_b32_e99") is None
    assert list(expand_braces("a_{b,c}_{1,2} e{,_x}")) == [
        *("a_b_1", "a_b_2", "a_c_1", "a_c_2", "e", "e_x")
    ]
