"""The first instruction that differs, in listings written by hand: branches by where they lead."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from netra_build.asm.objects.listings import parse_disassembly
from netra_build.stages.equivalence import text_difference

NOP, ADD, SUB, END = "s_nop 0", "s_add_u32 s0, s0, s1", "s_sub_u32 s0, s0, s1", "s_endpgm"
WORDS = {NOP: 0xBF800000, ADD: 0x80000100, SUB: 0x80800100, END: 0xBF810000}


def side(*lines: str) -> SimpleNamespace:
    """Return one side: its instructions, of four bytes each; ``N`` alone branches over N."""
    text = "0000000000001000 <k>:\n"
    words = []
    for index, line in enumerate(lines):
        address = 0x1000 + 4 * index
        word, target = WORDS.get(line), ""
        if word is None:
            word = 0xBF850000 | int(line) & 0xFFFF
            target = f" <k+{4 * (index + 1 + int(line)):#x}>"
            line = f"s_cbranch_scc1 {int(line) & 0xFFFF}"
        text += f"\t{line}    // {address:012X}: {word:08X}{target}\n"
        words.append(word)
    code = SimpleNamespace(text=tuple(words), text_address=0x1000)
    return SimpleNamespace(code=code, listing=parse_disassembly(text).instructions)


CASES = [
    ("an edit behind a branch over it", [ADD, "3", NOP, SUB, ADD, END],
     [ADD, "2", NOP, ADD, END], 3, "0x000c s_sub_u32 s0, s0, s1", "0x000c s_add_u32 s0, s0, s1"),
    ("one that ends the other side", ["2", NOP, ADD, END], ["1", NOP, END],
     2, "0x0008 s_add_u32 s0, s0, s1", "0x0008 s_endpgm"),
    ("a branch alone", [ADD, "2", NOP, ADD, END], [ADD, "1", NOP, ADD, END],
     1, "0x0004 s_cbranch_scc1 2", "0x0004 s_cbranch_scc1 1"),
    ("a branch to a place before the edit", ["1", NOP, NOP, ADD, END], ["2", NOP, NOP, SUB, END],
     0, "0x0000 s_cbranch_scc1 1", "0x0000 s_cbranch_scc1 2"),
    ("a branch to another instruction", ["2", NOP, ADD, SUB, END], ["3", NOP, NOP, ADD, END],
     0, "0x0000 s_cbranch_scc1 2", "0x0000 s_cbranch_scc1 3"),
    ("a branch back over the edit", [NOP, ADD, SUB, "65532", END], [NOP, ADD, "65533", END],
     2, "0x0008 s_sub_u32 s0, s0, s1", "0x0008 s_cbranch_scc1 65533"),
    ("a side that has ended", [NOP, END, NOP], [NOP, END], 2, "0x0008 s_nop 0", None),
]  # fmt: skip


@pytest.mark.parametrize(("what", "ours", "theirs", "index", "made", "golden"), CASES)
def test_the_edit_is_named(what, ours, theirs, index, made, golden) -> None:
    shown = {"index": index, "generated": made, "golden": golden}
    assert text_difference(side(*ours), side(*theirs)) == shown
    swapped = {"index": index, "generated": golden, "golden": made}
    assert text_difference(side(*theirs), side(*ours)) == swapped


def test_equal_texts_have_no_difference() -> None:
    assert text_difference(side("1", NOP, END), side("1", NOP, END)) is None
