"""The disassembler's text as records."""

from __future__ import annotations

from pathlib import Path

import pytest

from netra_build.asm.objects.listings import Instruction, Label, parse_disassembly
from netra_build.core.errors import BadInput

SAMPLE = Path(__file__).parent / "asm_samples" / "two_kernels.dis"


def test_a_printed_object_is_read_whole():
    read = parse_disassembly(SAMPLE.read_text())
    assert read.labels == (Label("sample_first", 0x1700), Label("sample_second", 0x1800))
    assert len(read.instructions) == 7 + 54 + 2
    assert read.instructions[0] == Instruction(
        0x1700,
        "s_load_dwordx2",
        "s[4:5], s[0:1], 0x0",
        (0xC0060100, 0),
        8,
        "s_load_dwordx2 s[4:5], s[0:1], 0x0",
    )
    branch = read.instructions[4]
    assert (branch.mnemonic, branch.operands) == ("s_cbranch_scc1", "2")
    assert branch.branch_target == "sample_first+0x24"
    glued = read.instructions[5]
    assert glued.operands == "v[0:3], v[4:11], v[12:19], v[0:3]"
    assert (glued.words, glued.size_bytes) == ((0xD3AD0000, 0x04021904), 8)
    end = read.instructions[-1]
    assert (end.mnemonic, end.operands, end.text) == ("s_endpgm", "", "s_endpgm")
    assert [i.address for i in read.instructions] == sorted(i.address for i in read.instructions)


def test_a_sixteen_byte_instruction_and_skipped_zeros_are_read():
    text = (
        "\t\t...\n\tv_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21"
        " op_sel_hi:[0,0,0]// 00000000128C: D3AC0000 00022B14 D3AD0800 04021904\n"
    )
    (only,) = parse_disassembly(text).instructions
    assert only.words == (0xD3AC0000, 0x00022B14, 0xD3AD0800, 0x04021904)
    assert (only.size_bytes, only.address) == (16, 0x128C)
    assert only.operands.endswith("v20, v21 op_sel_hi:[0,0,0]")


@pytest.mark.parametrize(
    "line",
    ["\ts_nop 0", "\ts_nop 0 // 00000010: XYZ", "\t// 000000001600: BF800000", "\ts_nop // 16: 0"],
)
def test_an_unreadable_line_is_refused_with_its_number(line):
    with pytest.raises(BadInput) as caught:
        parse_disassembly(f"\n{line}\n", "k.dis")
    assert str(caught.value) == "k.dis:2: line is no instruction"
