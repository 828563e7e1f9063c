"""Reading the operand text of the disassembler."""

from __future__ import annotations

import pytest

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.model.operands import Decoded, Operand, Unsupported, decode, scalar_name


def read(text: str) -> Decoded:
    mnemonic, _, operands = text.partition(" ")
    return decode(Instruction(0x100, mnemonic, operands, (0,), 4, text))


def kinds(text: str) -> list[tuple[str, int, int]]:
    return [(o.kind, o.index, o.dwords) for o in read(text).operands]


def test_registers_and_ranges():
    assert kinds("v_mfma_f32_16x16x32_bf16 a[0:3], v[4:7], v[8:11], a[0:3]") == [
        ("a", 0, 4),
        ("v", 4, 4),
        ("v", 8, 4),
        ("a", 0, 4),
    ]
    assert kinds("v_cmp_gt_u32_e32 vcc, s10, v0") == [("s", 106, 2), ("s", 10, 1), ("v", 0, 1)]
    assert kinds("s_mov_b32 m0, exec_hi") == [("s", 124, 1), ("s", 127, 1)]


def test_constants_are_inline_or_literal():
    operands = read("v_add3_u32 v0, -16, 64, 0x40").operands[1:]
    assert [(o.value, o.is_literal) for o in operands] == [(-16, False), (64, False), (64, True)]
    lit = read("s_addc_u32 s3, s3, lit(0xffffffff)").operands[2]
    assert (lit.kind, lit.value, lit.is_literal) == ("int", 0xFFFFFFFF, True)
    assert read("v_mul_f32_e32 v0, -0.5, v1").operands[1] == Operand("float", "-0.5")


def test_sign_modifiers():
    first, second, third = read("v_fma_f32 v0, -v1, |v2|, -|s3|").operands[1:]
    assert (first.negate, first.absolute) == (True, False)
    assert (second.negate, second.absolute) == (False, True)
    assert (third.kind, third.negate, third.absolute) == ("s", True, True)
    assert read("v_add_u32_sdwa v0, sext(v1), v2").operands[1].sign_extend


def test_encodings_and_modifiers():
    decoded = read("v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0x3")
    assert (decoded.base, decoded.encoding) == ("v_mov_b32", "dpp")
    assert decoded.flag_list("quad_perm", 4, 0) == (1, 0, 3, 2)
    assert (decoded.number("row_mask"), decoded.number("bank_mask")) == (15, 3)
    assert decoded.number("offset") == 0
    buffer = read("buffer_load_dword v1, v0, s[0:3], 0 offen offset:4 lds")
    assert dict(buffer.modifiers) == {"offen": "", "offset": "4", "lds": ""}
    assert buffer.next_pc == 0x104
    packed = read("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], 1.0 op_sel_hi:[1,1,0]")
    assert packed.flag_list("op_sel_hi", 3, 1) == (1, 1, 0)
    assert packed.flag_list("op_sel", 3, 0) == (0, 0, 0)


def test_words_that_are_no_registers():
    operands = read("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1").operands
    assert [o.kind for o in operands] == ["word", "int"]
    assert read("s_barrier").operands == ()
    assert read("s_waitcnt vmcnt(0) lgkmcnt(0)").operands == ()
    assert read("global_load_dword v0, v[2:3], off").operands[2].text == "off"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s_mov_b32 s0, ttmp3", 'operand "ttmp3"'),
        ("v_mov_b32 v0, v[9:4]", 'operand "v[9:4]"'),
        ("v_mov_b32 v0, -off", 'operand "-off"'),
        ("v_mov_b32 v0, v1 what=3", 'modifier "what=3"'),
    ],
)
def test_what_cannot_be_read_is_named(text, message):
    with pytest.raises(Unsupported) as caught:
        read(text)
    assert str(caught.value) == message


def test_unwanted_modifiers_are_named():
    decoded = read("v_add_f32_e64 v0, v1, v2 clamp mul:2")
    decoded.allow("clamp", "mul")
    with pytest.raises(Unsupported) as caught:
        decoded.allow("clamp")
    assert str(caught.value) == 'modifier "mul"'


def test_names_of_scalar_registers():
    assert [scalar_name(i) for i in (3, 102, 106, 107, 124, 126)] == [
        "s3",
        "flat_scratch_lo",
        "vcc_lo",
        "vcc_hi",
        "m0",
        "exec_lo",
    ]
