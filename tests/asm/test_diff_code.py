"""``netra diff`` on assembled code objects: instructions, branches, descriptors, metadata."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from netra_build.asm.objects.rewrite import strip
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.cli.main import main
from netra_build.inspect.diff.code_objects import code_difference, read_code_side

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = sorted(ROOT.glob("golden/gfx950/**/kernel.s"))

KERNEL = """
	.globl	SYMBOL
	.p2align	8
	.type	SYMBOL,@function
SYMBOL:
BODY
.LSYMBOL_end:
	.size	SYMBOL, .LSYMBOL_end-SYMBOL
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel SYMBOL
		.amdhsa_next_free_vgpr VGPRS
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 4
		.amdhsa_ieee_mode IEEE
	.end_amdhsa_kernel
	.text
"""
METADATA = """
  - .name: SYMBOL
    .symbol: SYMBOL.kd
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .name: out}
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: LDS
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: VGPRS
    .max_flat_workgroup_size: 64
"""
DEFAULTS = {"VGPRS": "4", "IEEE": "1", "LDS": "0"}

LOOP = """
	s_load_dwordx2 s[0:1], s[0:1], 0x0
	s_mov_b32 s4, 0
LOOP:
	v_mov_b32_e32 v0, s4
	s_add_u32 s4, s4, 1
	s_cmp_lt_u32 s4, 8
	s_cbranch_scc0 OUT
	s_branch LOOP
OUT:
	s_waitcnt lgkmcnt(0)
	global_store_dword v1, v0, s[0:1]
	s_endpgm
"""


def source(**body_by_symbol: Any) -> bytes:
    """Return a unit with one kernel per keyword: its body, or body and changed words."""
    text = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n\t.text\n'
    notes = "\t.amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:"
    for symbol, given in body_by_symbol.items():
        body, words = given if isinstance(given, tuple) else (given, {})
        labels = re.sub(r"\b(LOOP|OUT)\b", rf".L{symbol}_\1", body.strip("\n"))
        replaced = {**DEFAULTS, **words, "BODY": labels, "SYMBOL": symbol}
        for part, whole in ((KERNEL, False), (METADATA, True)):
            for word, value in replaced.items():
                part = part.replace(word, value)
            notes += part if whole else ""
            text += "" if whole else part
    return (text + notes + "\n.end_amdgpu_metadata\n").encode()


@pytest.fixture(scope="module")
def build(toolchain: Toolchain):
    """Return ``build(SYMBOL=BODY, ...)``, the linked object."""
    return lambda **kernels: toolchain.link([toolchain.assemble(source(**kernels))])


@pytest.fixture(scope="module")
def compare(toolchain: Toolchain):
    """Return ``compare(old, new)``, the difference of two objects."""

    def run(old: bytes, new: bytes) -> dict[str, Any]:
        sides = [
            read_code_side(data, toolchain.disassemble(data), label)
            for data, label in ((old, "old"), (new, "new"))
        ]
        return code_difference(*sides)

    return run


def hunks(found: dict[str, Any]) -> list[tuple[list[str], list[str]]]:
    """Return the removed and the added lines of the first kernel's hunks."""
    return [
        ([line["text"] for line in hunk["removed"]], [line["text"] for line in hunk["added"]])
        for hunk in found["kernels"][0]["text"]["instructions"]["hunks"]
    ]


def after(line: str, *more: str) -> str:
    """Return the loop with instructions put behind one line."""
    assert f"\t{line}\n" in LOOP
    return LOOP.replace(f"\t{line}\n", "".join(f"\t{one}\n" for one in (line, *more)))


def test_an_object_equals_itself(build, compare):
    data = build(k=LOOP)
    found = compare(data, data)
    assert found["equal"]
    assert (found["sections"], found["header"], found["metadata"]) == ([], [], [])
    assert [kernel["verdict"] for kernel in found["kernels"]] == ["identical"]


@pytest.mark.parametrize(
    ("place", "offset"),
    [
        ("s_mov_b32 s4, 0", 12),
        ("v_mov_b32_e32 v0, s4", 16),
        ("s_cmp_lt_u32 s4, 8", 24),
        ("s_cbranch_scc0 OUT", 28),
        ("s_branch LOOP", 32),
    ],
)
def test_one_inserted_instruction_is_one_insertion(build, compare, place, offset):
    """Also inside a loop, where every branch over it gets another distance."""
    found = compare(build(k=LOOP), build(k=after(place, "v_add_u32_e32 v2, v3, v4")))
    assert hunks(found) == [([], ["v_add_u32_e32 v2, v3, v4"])]
    text = found["kernels"][0]["text"]["instructions"]
    assert text["hunks"][0]["added"][0]["offset"] == offset
    assert {key: text[key] for key in ("old", "new", "removed", "added")} == {
        "old": 10,
        "new": 11,
        "removed": 0,
        "added": 1,
    }


def test_one_removed_and_one_replaced_instruction(build, compare):
    shorter = LOOP.replace("\ts_cmp_lt_u32 s4, 8\n", "")
    assert hunks(compare(build(k=LOOP), build(k=shorter))) == [(["s_cmp_lt_u32 s4, 8"], [])]
    other = LOOP.replace("s4, 8", "s4, 9")
    assert hunks(compare(build(k=LOOP), build(k=other))) == [
        (["s_cmp_lt_u32 s4, 8"], ["s_cmp_lt_u32 s4, 9"])
    ]


def test_a_branch_to_another_place_is_a_difference(build, compare):
    moved = LOOP.replace("OUT:\n\ts_waitcnt lgkmcnt(0)\n", "\ts_waitcnt lgkmcnt(0)\nOUT:\n")
    assert hunks(compare(build(k=LOOP), build(k=moved))) == [
        (["s_cbranch_scc0 1 (to 0x0020)"], ["s_cbranch_scc0 2 (to 0x0024)"])
    ]


def test_another_kind_of_branch_is_a_difference(build, compare):
    other = LOOP.replace("s_cbranch_scc0", "s_cbranch_scc1")
    assert hunks(compare(build(k=LOOP), build(k=other))) == [
        (["s_cbranch_scc0 1 (to 0x0020)"], ["s_cbranch_scc1 1 (to 0x0020)"])
    ]


def test_one_kernel_of_two_changes(build, compare):
    one = build(a=LOOP, b=LOOP)
    other = build(a=after("s_mov_b32 s4, 0", "s_nop 1"), b=LOOP)
    found = compare(one, other)
    assert [(k["old_symbol"], k["verdict"]) for k in found["kernels"]] == [
        ("a", "text_differs"),
        ("b", "identical"),
    ]
    assert ".text" in [row["section"] for row in found["sections"]]


def test_kernels_of_one_side_are_listed(build, compare):
    found = compare(build(a=LOOP, b=LOOP), build(b=LOOP, c=LOOP, d=LOOP))
    assert (found["removed"], found["added"]) == (["a"], ["c", "d"])
    assert [kernel["old_symbol"] for kernel in found["kernels"]] == ["b"]


def test_a_renamed_kernel_is_identical(build, compare):
    found = compare(build(k=LOOP), build(another_name=LOOP))
    (kernel,) = found["kernels"]
    assert (kernel["old_symbol"], kernel["new_symbol"]) == ("k", "another_name")
    assert (kernel["verdict"], found["equal"]) == ("identical", False)
    names = [f"netra_{op}_{digest * 16}_gfx950" for digest in "ab" for op in ("up", "down")]
    found = compare(
        build(**dict.fromkeys(names[:2], LOOP)), build(**dict.fromkeys(names[2:], LOOP))
    )
    assert [(k["old_symbol"], k["new_symbol"]) for k in found["kernels"]] == [
        (names[0], names[2]),
        (names[1], names[3]),
    ]


def test_descriptor_and_metadata_fields_are_named(build, compare):
    old = build(k=LOOP)
    (kernel,) = compare(old, build(k=(LOOP, {"IEEE": "0"})))["kernels"]
    assert kernel["verdict"] == "descriptor_differs"
    assert [(c["pointer"], c["old"], c["new"]) for c in kernel["descriptor"]] == [
        ("/ieee_mode", 1, 0)
    ]
    (kernel,) = compare(old, build(k=(LOOP, {"LDS": "64"})))["kernels"]
    assert kernel["verdict"] == "metadata_differs"
    assert [(c["pointer"], c["old"], c["new"]) for c in kernel["metadata"]] == [
        ("/.group_segment_fixed_size", 0, 64)
    ]


def test_sealing_changes_sections_only(build, compare):
    data = build(k=LOOP)
    found = compare(data, strip(data, "k"))
    assert [kernel["verdict"] for kernel in found["kernels"]] == ["identical"]
    assert {".comment", ".symtab"} <= {row["section"] for row in found["sections"]}
    assert ".text" not in [row["section"] for row in found["sections"]]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.parent.name)
def test_one_insertion_into_a_real_kernel_is_one_insertion(path, toolchain, compare):
    text = path.read_bytes()
    lines = text.split(b"\n")
    at = next(i for i, line in enumerate(lines) if line.strip().startswith(b"s_load_dword"))
    changed = b"\n".join([*lines[: at + 1], b"\ts_nop 7", *lines[at + 1 :]])
    old, new = (toolchain.link([toolchain.assemble(data)]) for data in (text, changed))
    found = compare(old, new)
    assert hunks(found) == [([], ["s_nop 7"])]


def test_the_command_prints_the_instructions(build, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("old").write_bytes(build(k=LOOP))
    Path("new").write_bytes(build(k=after("s_mov_b32 s4, 0", "s_nop 1")))
    assert main(["diff", "old", "new"]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[:4] == [
        "kernel: k: text_differs",
        "instructions: 10 -> 11, 0 removed, 1 added",
        "  @@",
        "  + 0x000c  s_nop 1",
    ]
    assert printed[-1] == "different"
    assert main(["diff", "old", "new", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["kernels"][0]["text"]["instructions"]["added"] == 1
    assert main(["diff", "old", "old"]) == 0


def test_equal_text_of_other_words_is_printed_with_the_words(build, tmp_path, monkeypatch, capsys):
    """Two encodings that the disassembler prints alike."""
    monkeypatch.chdir(tmp_path)
    one, other = (LOOP.replace("s_endpgm", f"{word}\n\ts_endpgm") for word in WAITS)
    Path("old").write_bytes(build(k=one))
    Path("new").write_bytes(build(k=other))
    assert main(["diff", "old", "new"]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if " s_getpc_b64" in line]
    assert lines == [
        "  - 0x002c  s_getpc_b64 s[6:7]  // be861c00",
        "  + 0x002c  s_getpc_b64 s[6:7]  // be861c01",
    ]


WAITS = (".long 0xbe861c00", ".long 0xbe861c01")
"""One instruction whose unused source field differs."""
