"""What each kind of mutant makes of an instruction, and how mutants are chosen."""

from __future__ import annotations

import re

import pytest

from netra_build.checkasm.mutate.mutant import (
    KINDS,
    ORDERING,
    SUMMARY_BY_KIND,
    VALUE,
    Mutant,
    Parts,
    choose,
    read_unit,
    register_neighbours,
    same_base,
    split_instruction,
)
from netra_build.checkasm.mutate.statements import ordering_mutants
from netra_build.checkasm.mutate.value import value_mutants


def made(text: str, kind: str) -> list[str]:
    """Return the texts that one kind makes of one instruction."""
    return [one.after for one in value_mutants(read_unit("k.s", text.encode())) if one.kind == kind]


def orders(text: str) -> list[tuple[str, int, str]]:
    """Return kind, line and text of every ordering mutant."""
    found = ordering_mutants(read_unit("k.s", text.encode()))
    return [(one.kind, one.line, one.after) for one in found]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("s_endpgm", Parts("s_endpgm", ())),
        ("s_nop 0", Parts("s_nop", ("0",))),
        (
            "v_max3_f32 v32, |v20|, -v21, neg(v[2:3])",
            Parts("v_max3_f32", ("v32", "|v20|", "-v21", "neg(v[2:3])")),
        ),
        (
            "global_load_dwordx4 v[4:7], v1, s[2:3] offset:16 sc0",
            Parts("global_load_dwordx4", ("v[4:7]", "v1", "s[2:3]"), ("offset:16", "sc0")),
        ),
        (
            "v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf",
            Parts("v_mov_b32_dpp", ("v1", "v2"), ("quad_perm:[1,0,3,2]", "row_mask:0xf")),
        ),
        ("s_add_u32 s1, s2, NAME * 4", Parts("s_add_u32", ("s1", "s2", "NAME * 4"))),
    ],
)
def test_an_instruction_is_split_and_put_together(text: str, parts: Parts) -> None:
    assert split_instruction(text) == parts
    assert parts.text() == text


@pytest.mark.parametrize(
    ("operand", "neighbours"),
    [
        ("v7", ["v8", "v6"]),
        ("v0", ["v1"]),
        ("-|v3|", ["-|v4|", "-|v2|"]),
        ("v[4:5]", ["v[6:7]", "v[2:3]"]),
        ("a[0:15]", ["a[2:17]"]),
        ("s[8:15]", ["s[12:19]", "s[4:11]"]),
        ("s[2:3]", ["s[4:5]", "s[0:1]"]),
        ("vcc", []),
        ("0x10", []),
        ("s[NAME]", []),
        ("vs1", []),
    ],
)
def test_a_register_moves_by_its_alignment(operand: str, neighbours: list[str]) -> None:
    assert list(register_neighbours(operand)) == neighbours


@pytest.mark.parametrize(
    ("number", "written", "text"),
    [(17, "16", "17"), (17, "0x0010", "0x0011"), (-1, "0x1", "-0x1"), (3, "-4", "3")],
)
def test_a_number_keeps_its_base(number: int, written: str, text: str) -> None:
    assert same_base(number, written) == text


def test_waits_are_deleted_and_weakened_up_to_what_is_outstanding() -> None:
    loads = "global_load_dword v1, v0, s[2:3]\n" * 4 + "s_load_dword s4, s[2:3], 0\n"
    assert orders(loads + "s_waitcnt vmcnt(1) lgkmcnt(0)\ns_waitcnt vmcnt(0)\n") == [
        ("wait-delete", 6, ""),
        ("wait-weaken", 6, "s_waitcnt vmcnt(2) lgkmcnt(0)"),
        ("wait-weaken", 6, "s_waitcnt vmcnt(3) lgkmcnt(0)"),
        ("wait-weaken", 6, "s_waitcnt vmcnt(63) lgkmcnt(0)"),
        ("wait-weaken", 6, "s_waitcnt vmcnt(1) lgkmcnt(15)"),
        ("wait-delete", 7, ""),
        ("wait-weaken", 7, "s_waitcnt vmcnt(63)"),
    ]


def test_nops_and_barriers() -> None:
    assert orders("s_nop 0\ns_nop 2\ns_barrier\nv_nop\n") == [
        ("nop-delete", 1, ""),
        ("nop-delete", 2, ""),
        ("nop-shrink", 2, "s_nop 1"),
        ("barrier-drop", 3, ""),
    ]


@pytest.mark.parametrize(
    ("text", "kind", "after"),
    [
        ("v_sub_f32 v1, v2, v3", "swap-sources", ["v_sub_f32 v1, v3, v2"]),
        ("v_add_f32 v1, v2, v3", "swap-sources", []),
        ("v_mul_f32 v1, v2, v3", "swap-sources", []),
        ("s_add_u32 s1, s2, s3", "swap-sources", []),
        (
            "v_fma_f32 v1, v2, v3, v4",
            "swap-sources",
            ["v_fma_f32 v1, v4, v3, v2", "v_fma_f32 v1, v2, v4, v3"],
        ),
        ("v_cndmask_b32 v1, v2, v3, vcc", "swap-sources", ["v_cndmask_b32 v1, v3, v2, vcc"]),
        ("v_sub_f32 v1, v2, v2", "swap-sources", []),
        (
            "global_load_dwordx2 v[2:3], v1, s[2:3] offset:8",
            "immediate",
            [
                "global_load_dwordx2 v[2:3], v1, s[2:3] offset:16",
                "global_load_dwordx2 v[2:3], v1, s[2:3] offset:0",
                "global_load_dwordx2 v[2:3], v1, s[2:3] offset:9",
            ],
        ),
        (
            "global_store_short v1, v2, s[2:3]",
            "immediate",
            ["global_store_short v1, v2, s[2:3] offset:2"],
        ),
        ("ds_read_b128 v[0:3], v4", "immediate", ["ds_read_b128 v[0:3], v4 offset:16"]),
        ("s_load_dword s1, s[2:3], 0", "immediate", ["s_load_dword s1, s[2:3], 4"]),
        (
            "v_and_b32 v1, 63, v2",
            "immediate",
            ["v_and_b32 v1, 64, v2", "v_and_b32 v1, 62, v2"],
        ),
        (
            "v_add_u32 v1, 0x0f, v2",
            "immediate",
            ["v_add_u32 v1, 0x10, v2", "v_add_u32 v1, 0x0e, v2"],
        ),
        ("v_add_f32 v1, 1.0, v2", "immediate", ["v_add_f32 v1, 2.0, v2", "v_add_f32 v1, 0.5, v2"]),
        ("s_cbranch_scc1 4", "immediate", []),
        (
            "v_mov_b32 v1, v2",
            "register",
            ["v_mov_b32 v2, v2", "v_mov_b32 v0, v2", "v_mov_b32 v1, v3", "v_mov_b32 v1, v1"],
        ),
        (
            "v_add_f32_dpp v1, v1, v1 row_shr:1 row_mask:0xf",
            "dpp-control",
            [
                "v_add_f32_dpp v1, v1, v1 row_shr:2 row_mask:0xf",
                "v_add_f32_dpp v1, v1, v1 row_shr:1 row_mask:0xe",
                "v_add_f32_dpp v1, v1, v1 row_shr:1 row_mask:0x7",
            ],
        ),
        (
            "v_mov_b32_dpp v1, v2 quad_perm:[0,1,2,3]",
            "dpp-control",
            [
                "v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2]",
                "v_mov_b32_dpp v1, v2 quad_perm:[1,0,2,3]",
            ],
        ),
        ("v_mov_b32_dpp v1, v2 row_bcast:15", "dpp-control", ["v_mov_b32_dpp v1, v2 row_bcast:31"]),
        (
            "v_mov_b32_dpp v1, v2 row_mirror",
            "dpp-control",
            ["v_mov_b32_dpp v1, v2 row_half_mirror"],
        ),
        ("s_cbranch_scc1 .Lend", "condition", ["s_cbranch_scc0 .Lend"]),
        ("s_cbranch_execz .Lend", "condition", ["s_cbranch_execnz .Lend"]),
        ("s_cmp_lt_u32 s1, s2", "condition", ["s_cmp_le_u32 s1, s2"]),
        ("s_cmp_eq_u32 s1, s2", "condition", ["s_cmp_lg_u32 s1, s2"]),
        ("v_cmp_eq_u32 vcc, v1, v2", "condition", ["v_cmp_ne_u32 vcc, v1, v2"]),
        ("v_cmp_eq_f32 vcc, v1, v2", "condition", ["v_cmp_lg_f32 vcc, v1, v2"]),
        (
            "s_mov_b32 exec_lo, 0x0000ffff",
            "exec-bound",
            [
                "s_mov_b32 exec_lo, 0x1fffe",
                "s_mov_b32 exec_lo, 0x7fff",
                "s_mov_b32 exec_lo, 0x1ffff",
            ],
        ),
        (
            "s_mov_b64 exec, -1",
            "exec-bound",
            ["s_mov_b64 exec, 0xfffffffffffffffe", "s_mov_b64 exec, 0x7fffffffffffffff"],
        ),
        ("s_mov_b32 exec_lo, 0", "exec-bound", []),
        ("s_mov_b32 s1, 0xffff", "exec-bound", []),
        ("s_endpgm", "instruction-delete", [""]),
        ("s_waitcnt vmcnt(0)", "instruction-delete", []),
        ("s_nop 0", "immediate", []),
    ],
)
def test_a_kind_makes_exactly_these(text: str, kind: str, after: list[str]) -> None:
    assert made(text, kind) == after


def test_matrix_mutants() -> None:
    text = "v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[24:31], 0 cbsz:1"
    settled = "\n\ts_nop 7\n\ts_nop 7\n\t"
    assert made(text, "matrix-order") == [
        "v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[24:31], v[16:23], 0 cbsz:1",
        f"v_swap_b32 v16, v17{settled}{text}",
        f"v_swap_b32 v24, v25{settled}{text}",
        "v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[24:31], 0",
        f"{text} blgp:1",
    ]
    assert made(text, "swap-sources") == []


def test_no_text_is_made_twice() -> None:
    text = b"v_sub_u32 v1, v2, v1\ns_mov_b64 exec, 3\nv_sub_f32 v2, v1, v2\n"
    texts = [(one.index, one.after) for one in value_mutants(read_unit("k.s", text))]
    assert len(texts) == len(set(texts))
    assert (0, "v_sub_u32 v1, v2, v1") not in texts


def test_a_mutant_changes_its_statement_only() -> None:
    source = read_unit("k.s", b"// head\nfirst: s_nop 1 // why\n\n  s_endpgm\n")
    assert source.text() == b"first:\ns_nop 1\ns_endpgm\n"
    shrunk = next(one for one in ordering_mutants(source) if one.kind == "nop-shrink")
    assert (shrunk.line, shrunk.before) == (2, "s_nop 1")
    assert source.text(shrunk) == b"first:\ns_nop 0\ns_endpgm\n"
    assert shrunk.change() == "s_nop 1 -> s_nop 0"
    assert Mutant("x", 0, 1, "s_nop 0", "").change() == "s_nop 0 -> (nothing)"


def test_macro_bodies_are_mutated_where_they_are_text() -> None:
    source = read_unit("k.s", b".macro M a\ns_nop 1\nv_mov_b32 v\\a, v2\n.endm\nM 1\n")
    assert [one.after for one in ordering_mutants(source)] == ["", "s_nop 0"]
    assert list(value_mutants(source)) == []
    assert not source.is_plain()
    assert read_unit("k.s", b"s_nop 1\n").is_plain()


def many() -> list[Mutant]:
    """Return 300 mutants of a large kind around 5 of a small one."""
    large = [Mutant("register", at, at, "a", str(at)) for at in range(300)]
    small = [Mutant("condition", 300 + at, 0, "a", str(at)) for at in range(5)]
    return large[:150] + small + large[150:]


def test_a_choice_is_seeded_ordered_and_keeps_small_kinds() -> None:
    mutants = many()
    first, again, other = (choose(mutants, 50, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert first == [one for one in mutants if one in first]
    assert [one for one in first if one.kind == "condition"] == mutants[150:155]
    # 50 * 300 / 305, rounded up
    assert sum(one.kind == "register" for one in first) == 50
    assert choose(mutants, 305, 1) == mutants


def test_every_kind_is_named_and_described() -> None:
    assert set(SUMMARY_BY_KIND) == set(KINDS) == set(ORDERING) | set(VALUE)
    assert all(re.fullmatch(r"[a-z][^.]*", text) for text in SUMMARY_BY_KIND.values())
