"""Intervals of scalar results: what they prove, and what takes the proof away."""

from __future__ import annotations

import pytest

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.listings import parse_disassembly
from netra_build.checkasm.hazards.flow import build_flow
from netra_build.checkasm.mutate.intervals import ANYTHING, Bounds, Value, scalar_steps
from netra_build.checkasm.mutate.mutant import read_unit
from netra_build.checkasm.mutate.proofs import Clean, prove_value
from netra_build.checkasm.mutate.value import value_mutants

BOUNDS = Bounds((100, 8, 1), 256, {"ids": 7}, {"stride": 4096})
POINTERS = "s_load_dwordx4 s[4:7], s[0:1], 0\n"
IDS = POINTERS + "s_load_dwordx2 s[8:9], s[4:5], 0\n"
STRIDE = "s_load_dwordx2 s[8:9], s[0:1], 16\n"
ARGUMENTS = """      - {.name: ids, .offset: 0, .size: 8, .value_kind: global_buffer}
      - {.name: data, .offset: 8, .size: 8, .value_kind: global_buffer}
      - {.name: stride, .offset: 16, .size: 4, .value_kind: by_value}
      - {.name: other, .offset: 20, .size: 4, .value_kind: by_value}"""
LAST = -2
"""The instruction in front of s_endpgm."""


def results(bench: object, body: str, **options: object) -> list[Value]:
    """Return what each instruction of a kernel with the arguments ids, data and stride writes."""
    hsaco = bench.build(body, ("ids", "data"), kernarg=24, args=ARGUMENTS, **options)
    code = read_code_object(hsaco, "k")
    listing = parse_disassembly(bench.toolchain.disassemble(hsaco))
    flow = build_flow(code.kernels[0], listing)[0]
    found = scalar_steps(code.kernels[0], flow, BOUNDS)
    return [found[at].first() if at in found else ANYTHING for at in range(len(flow.instructions))]


# The kernel pointer is s[0:1], the work-group ids are s2, s3, s4.
CASES = [
    ("s_mov_b32 s9, 5", Value(5, 5)),
    ("s_mov_b32 s9, -1", Value(2**32 - 1, 2**32 - 1)),
    ("s_mov_b32 s9, s2", Value(0, 99)),
    ("s_mov_b32 s9, s20", ANYTHING),
    ("s_lshl_b32 s9, s3, 4", Value(0, 112)),
    ("s_lshl_b32 s9, s2, 30", ANYTHING),
    ("s_lshr_b32 s9, s2, 7", Value(0, 0)),
    ("s_lshr_b32 s9, s2, 6", Value(0, 1)),
    ("s_lshr_b32 s9, s1, 20", ANYTHING),
    ("s_lshr_b32 s9, s2, s3", ANYTHING),
    ("s_mul_i32 s9, s2, s3", Value(0, 693)),
    ("s_mul_i32 s9, s2, 0x4000000", ANYTHING),
    ("s_and_b32 s9, s20, 15", Value(0, 15)),
    ("s_add_u32 s9, s2, 3", Value(3, 102)),
    ("s_add_u32 s9, s2, -1", ANYTHING),
    ("s_addc_u32 s9, s2, 3", Value(3, 103)),
    ("s_add_u32 s9, s0, s2", Value(origin="the kernarg segment")),
    ("s_sub_u32 s9, s2, 1", ANYTHING),
    ("s_mul_hi_u32 s9, s2, s3", Value(0, 0)),
    ("s_mul_hi_u32 s9, s2, -1", Value(0, 98)),
    ("s_mul_hi_u32 s9, s2, s1", ANYTHING),
    # The carry of a sum that keeps to 32 bits is known, that of a comparison is not.
    ("s_add_u32 s8, s2, 3\ns_addc_u32 s9, 0, 0", Value(0, 0)),
    ("s_add_u32 s8, s20, 3\ns_addc_u32 s9, 0, 0", Value(0, 1)),
    ("s_cmp_eq_u32 s2, 1\ns_addc_u32 s9, 0, 0", Value(0, 1)),
    ("s_lshr_b32 s8, s2, 7\ns_addc_u32 s9, 0, 0", Value(0, 0)),
    ("s_and_b32 s8, 3, 3\ns_addc_u32 s9, 0, 0", Value(1, 1)),
    ("s_lshr_b32 s8, s2, 6\ns_addc_u32 s9, 0, 0", Value(0, 1)),
    (STRIDE + "s_mov_b32 s10, s8", Value(0, 4096)),
    (STRIDE + "s_mov_b32 s10, s9", ANYTHING),
    (STRIDE + "s_mul_hi_u32 s10, s8, s2", Value(0, 0)),
    ("v_lshrrev_b32 v1, 6, v0\nv_readfirstlane_b32 s9, v1", Value(0, 3)),
    ("v_and_b32 v1, 63, v0\nv_readfirstlane_b32 s9, v1", Value(0, 63)),
    ("s_mov_b64 exec, 1\nv_mov_b32 v1, 3\nv_readfirstlane_b32 s9, v1", ANYTHING),
    ("s_mov_b32 exec_lo, 1\nv_mov_b32 v1, 3\nv_readfirstlane_b32 s9, v1", ANYTHING),
    ("s_mov_b32 s9, 1\ns_cbranch_scc1 .Lp\ns_mov_b32 s9, 2\n.Lp:\ns_mov_b32 s8, s9", ANYTHING),
    ("s_mov_b32 s9, 1\ns_cbranch_scc1 .Lp\ns_mov_b32 s9, 1\n.Lp:\ns_mov_b32 s8, s9", Value(1, 1)),
    ("s_mov_b32 s9, 1\n.Lp:\ns_add_u32 s9, s9, 1\ns_cbranch_scc1 .Lp\ns_mov_b32 s8, s9", ANYTHING),
    (POINTERS + "s_mov_b32 s9, s5", Value(origin="ids")),
    (POINTERS + "s_mov_b32 s9, s6", Value(origin="data")),
    (IDS + "s_mov_b32 s10, s9", Value(0, 7)),
    (IDS.replace("s[4:5]", "s[6:7]") + "s_mov_b32 s10, s9", ANYTHING),
    (POINTERS + "s_add_u32 s4, s4, s2\ns_addc_u32 s5, s5, 0\ns_load_dword s8, s[4:5], 0\n"
     "s_lshr_b32 s9, s8, 3", Value(0, 0)),
    (POINTERS + "s_add_u32 s4, s4, s6\ns_load_dword s8, s[4:5], 0\ns_lshr_b32 s9, s8, 3",
     Value(0, 2**29 - 1)),
]  # fmt: skip


@pytest.mark.parametrize(("body", "value"), CASES)
def test_an_interval(bench: object, body: str, value: Value) -> None:
    assert results(bench, body, ids=0)[LAST] == value


def test_several_dimensions_share_the_work_item_register(bench: object) -> None:
    body = "v_lshrrev_b32 v1, 8, v0\nv_readfirstlane_b32 s9, v1"
    assert results(bench, body, ids=0)[LAST] == Value(0, 0)
    assert results(bench, body, ids=1)[LAST] == Value(0, 2**24 - 1)


PROOFS = [
    ("s_lshr_b32 s9, s2, 20", "s_lshr_b32 s9, s3, 20", True),
    ("s_lshr_b32 s9, s2, 20", "s_lshr_b32 s9, s2, 21", True),
    ("s_lshr_b32 s9, s2, 7", "s_lshr_b32 s9, s2, 6", False),
    ("s_lshr_b32 s9, s2, 20", "s_lshr_b32 s8, s2, 20", False),
    ("s_lshr_b32 s9, s2, 20", "s_lshr_b32 s9, s1, 20", False),
    ("s_lshr_b32 s9, s2, 20", "", False),
    ("s_mul_hi_u32 s9, s2, s3", "s_mul_hi_u32 s9, s3, s3", True),
    ("s_mul_hi_u32 s9, s2, s1", "s_mul_hi_u32 s9, s3, s1", False),
    ("s_add_u32 s9, 0, 0", "s_add_u32 s9, 0, 1", False),
    # The sum may be the same although the carry out is not: nothing is known of the carry.
    ("s_add_u32 s9, s20, 0", "s_add_u32 s9, s19, 0", False),
    ("v_mov_b32 v1, 0", "v_mov_b32 v1, 1", False),
]


def proof_of(bench: object, head: str, before: str, after: str) -> str:
    """Return the proof about one mutant of the last instruction of a kernel."""
    unit = bench.unit(head + before, ("ids", "data"), ids=0).encode()
    source = read_unit("k.s", unit)
    line = max(one.line for one in source.statements if one.text == before)
    (mutant,) = (
        one
        for one in value_mutants(source)
        if (one.before, one.after, one.line) == (before, after, line)
    )
    sides = []
    for text in (unit, source.text(mutant)):
        hsaco = bench.toolchain.link([bench.toolchain.assemble(text)])
        listing = parse_disassembly(bench.toolchain.disassemble(hsaco))
        sides.append((read_code_object(hsaco, "k"), listing))
    (code, listing), (other, others) = sides
    clean = Clean(code, code.kernels[0], listing, source)
    return prove_value(clean, other, others, mutant, BOUNDS)


@pytest.mark.parametrize(("before", "after", "is_proven"), PROOFS)
def test_a_proof_needs_the_same_number_in_the_same_register(
    bench: object, before: str, after: str, is_proven: bool
) -> None:
    proof = proof_of(bench, "", before, after)
    assert proof == ("the result is 0 either way in every launch of the contract") * is_proven


THERE = "0 is there already, in every launch of the contract"
DELETIONS = [
    ("s_mul_hi_u32 s9, s2, s3\n", "s_mul_hi_u32 s9, s3, s3", THERE),
    ("s_mul_hi_u32 s8, s2, s3\n", "s_mul_hi_u32 s9, s3, s3", ""),
    ("s_mov_b32 s9, 1\n", "s_mul_hi_u32 s9, s3, s3", ""),
    # SCC has to be there already, too.
    ("s_add_u32 s8, s2, s3\ns_mov_b32 s9, 0\n", "s_addc_u32 s9, s9, 0", THERE),
    ("s_cmp_eq_u32 s2, 1\ns_mov_b32 s9, 0\n", "s_lshr_b32 s9, s2, 20", ""),
    ("s_lshr_b32 s9, s2, 20\n", "s_lshr_b32 s9, s2, 20", THERE),
]


@pytest.mark.parametrize(("head", "before", "proof"), DELETIONS)
def test_what_was_taken_out_must_have_left_what_was_there(
    bench: object, head: str, before: str, proof: str
) -> None:
    assert proof_of(bench, head, before, "") == proof
