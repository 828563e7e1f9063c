"""Each check of the judge catches a fault made for it; each proof holds only where it should."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import pytest
from kernel_statements import statement

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.mutate.campaign import golden_subject
from netra_build.checkasm.mutate.judge import Judge, Subject
from netra_build.checkasm.mutate.mutant import Mutant, Source, Verdict, read_unit
from netra_build.checkasm.mutate.statements import ordering_mutants
from netra_build.core.errors import Refused
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.golden import golden_sources
from netra_build.formats.library import open_library

SILU = "moe_silu_quant_decode_m1"
POINTERS = "s_load_dwordx4 s[4:7], s[0:1], 0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
LOAD = "global_load_dword v2, v1, s[4:5]\n"
STORE = "global_store_dword v1, v1, s[6:7]\n"
USE = "v_add_u32 v3, 1, v2\n"
WAIT = "s_waitcnt vmcnt(0)\n"


@pytest.fixture(scope="module")
def judge(root: Path, toolchain: Toolchain) -> Judge:
    """Return the judge of one real kernel, with its launches, contract and bounds."""
    subject = subject_of(root, toolchain, SILU)
    return Judge(subject, read_unit(subject.name, subject.unit), toolchain)


def subject_of(root: Path, toolchain: Toolchain, tactic: str) -> Subject:
    """Return the subject of a tactic with one golden source."""
    library = open_library(toolchain.disk, root, ())
    (golden,) = golden_sources(library, tactic)
    tactics = load_catalog(library, derive_pins=True).tactics
    (entry,) = (one for one in tactics if one.name == f"gfx950.{tactic}")
    return golden_subject(library, golden, entry)


def mutant_of(source: Source, before: str, after: str, kind: str = "register") -> Mutant:
    """Return the mutant of the one statement that reads ``before``."""
    (index,) = (at for at, one in enumerate(source.statements) if one.text == before)
    return Mutant(kind, index, source.statements[index].line, before, after)


SEEDED = [
    ("s_nop 0", "v_bogus v1", "assembler", "invalid instruction"),
    ("s_waitcnt lgkmcnt(0)", "", "static", 'missing-wait: reads s10 before'),
    ("v_mul_f32 v33, 0x3b124925, v32", "v_mul_f32 v33, 1.0, v60", "static", "vgpr-alloc"),
    ("s_lshl_b32 s12, s2, 12", "s_lshl_b32 s12, s2, 28", "dynamic", "out-of-bounds: "),
    ("v_max_f32 v32, v32, |v27|", "v_max_f32 v32, v35, |v27|", "dynamic", "uninitialised-register"),
    ("s_cbranch_scc1 .Lnetra_moe_silu_quant_decode_m1_gfx950_done", "s_branch 65535", "dynamic",
     "endless-loop"),
    ("v_mul_f32 v23, v23, v7", "v_mul_f32 v23, v23, v6", "numerics", f"{SILU}/random/1: output"),
    ("s_mov_b32 exec_hi, 0x00010001", "s_mov_b32 exec_hi, 1", "numerics", 'output "scale": '),
    ("s_cmp_ge_u32 s2, s10", "s_cmp_gt_u32 s2, s10", "dynamic", f"{SILU}/equal/1: "),
    ("v_fma_f32 v34, v35, v34, v34", "", "numerics", f"{SILU}/random_second_nearest/1: output"),
    (".amdhsa_next_free_sgpr 18", ".amdhsa_next_free_sgpr 34", "conform", "allocated SGPRs (ABI"),
    ("    .max_flat_workgroup_size: 64", "    .max_flat_workgroup_size: 128", "conform",
     "largest work-group (ABI record)"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "check", "detail"), SEEDED)
def test_a_fault_is_caught_by_its_check(
    judge: Judge, before: str, after: str, check: str, detail: str
) -> None:
    verdict = judge.judge(mutant_of(judge.source, before, after))
    assert verdict.check == check
    assert detail in verdict.detail
    assert verdict.check
    assert not verdict.is_survivor


def test_the_model_refuses_what_it_cannot_execute(judge: Judge) -> None:
    verdict = judge.judge(mutant_of(judge.source, "s_nop 0", "s_sethalt 1\ns_nop 0"))
    assert verdict.check == "model"
    assert verdict.detail.startswith('cannot execute instruction "s_sethalt"')


def test_a_further_seed_is_a_check_of_its_own(judge: Judge) -> None:
    """What every build runs is taken away, so that only the further seeds are left."""
    long_only = copy(judge)
    long_only.runs = ()
    fault = mutant_of(judge.source, "v_mul_f32 v23, v23, v7", "v_mul_f32 v23, v23, v6")
    verdict = long_only.judge(fault)
    assert verdict.check == "long run"
    assert verdict.detail.startswith(f"{SILU}/random/2: output")
    labels = [one.label.removeprefix(f"{SILU}/") for one in long_only.long_runs]
    assert labels[:6] == [f"random/{seed}" for seed in range(2, 8)]
    assert len(labels) > 6
    assert all(label.endswith("_second_nearest/1") for label in labels[6:])
    assert not any(label.startswith("random") for label in labels[6:])


def test_the_same_code_is_an_equivalent(judge: Judge) -> None:
    verdict = judge.judge(mutant_of(judge.source, "s_nop 0", "s_nop 0x0"))
    assert (verdict.check, verdict.proof) == ("", "the same .text, descriptor and metadata")


def test_what_the_contract_makes_invisible_is_proven(judge: Judge) -> None:
    """Rows are far below 2**23, so that the shift gives zero either way."""
    shift = "s_lshr_b32 s15, s2, 23"
    verdict = judge.judge(mutant_of(judge.source, shift, "s_lshr_b32 s15, s2, 24"))
    assert verdict.proof == "the result is 0 either way in every launch of the contract"
    assert (verdict.check, verdict.is_survivor) == ("", False)


def test_what_nothing_shows_survives(judge: Judge) -> None:
    """The high half of an address is below 2**16, which no contract says."""
    shift = "s_lshr_b32 s15, s2, 23"
    verdict = judge.judge(mutant_of(judge.source, shift, "s_lshr_b32 s15, s1, 23"))
    assert (verdict.check, verdict.proof, verdict.is_survivor) == ("", "", True)


def test_the_unmutated_kernel_has_to_be_silent(root: Path, toolchain: Toolchain) -> None:
    unit = (root / f"golden/gfx950/{SILU}/kernel.s").read_text()
    faults = {
        "\ts_nop 0 ": ("\t", "k.s: static checks flag the unmutated kernel"),
        "s_lshl_b32 s12, s2, 12": (
            "s_lshl_b32 s12, s2, 13",
            f"k.s: {SILU}/random/1: dynamic checks flag the unmutated kernel",
        ),
        "v_mul_f32 v20, s11, v4": (
            "v_mul_f32 v20, s11, v5",
            f"k.s: {SILU}/random/1: numerics checks flag the unmutated kernel",
        ),
    }
    for before, (after, message) in faults.items():
        assert before in unit
        data = unit.replace(before, after, 1).encode()
        with pytest.raises(Refused) as refused:
            Judge(Subject("k.s", data, statement(SILU)), read_unit("k.s", data), toolchain)
        assert str(refused.value).split("\n")[0] == message


# Proofs, on small kernels that are not executed


def orderings(bench: object, body: str) -> list[Verdict]:
    """Return the verdicts on the mutants that take something out of ``body``."""
    unit = bench.unit(POINTERS + body, ("a", "b")).encode()
    source = read_unit("k.s", unit)
    judge = Judge(Subject("k.s", unit), source, bench.toolchain)
    line = source.instructions()[3]
    chosen = [one for one in ordering_mutants(source) if not one.after and one.index >= line]
    return [judge.judge(one) for one in chosen]


COVERED = "it covers register loads only, and each is waited for again before its use"
NOTHING = "nothing that its counters cover is outstanding on any path"
AT_END = "the program ends behind it without another memory access or barrier"
STATES = "the wait-state table asks for no more states on any path"

PROOFS = [
    (LOAD + WAIT + USE, [("static", "")]),
    (LOAD + WAIT + WAIT + USE, [("", COVERED), ("", NOTHING)]),
    (STORE + WAIT, [("", AT_END)]),
    (STORE + WAIT + LOAD + WAIT + USE, [("", ""), ("static", "")]),
    (STORE + WAIT + "s_barrier\n", [("", ""), ("", "")]),
    ("s_nop 0\n" + STORE, [("", STATES)]),
    ("v_exp_f32 v2, v1\ns_nop 0\nv_mov_b32 v3, v2\n", [("static", "")]),
    (
        "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\ns_waitcnt lgkmcnt(0)\n" + USE,
        [("", COVERED), ("", NOTHING)],
    ),
    (
        "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\ns_waitcnt lgkmcnt(0)\n" + USE,
        [("", ""), ("", ""), ("", NOTHING)],
    ),
    # Around the loop the load of the turn before is outstanding.
    (".Lagain:\n" + WAIT + STORE + LOAD + "s_cbranch_scc1 .Lagain\n" + WAIT + USE,
     [("", ""), ("static", "")]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), PROOFS)
def test_a_proof_needs_its_reason(
    bench: object, body: str, expected: list[tuple[str, str]]
) -> None:
    verdicts = orderings(bench, body)
    assert [(one.check, one.proof) for one in verdicts] == expected


def test_no_proof_where_statements_are_no_instructions(bench: object) -> None:
    """With macros nobody knows which instruction a statement became."""
    macro = ".macro WAIT\ns_waitcnt vmcnt(0)\n.endm\n"
    unit = (macro + bench.unit(POINTERS + LOAD + "WAIT\n" + WAIT + USE, ("a", "b"))).encode()
    source = read_unit("k.s", unit)
    judge = Judge(Subject("k.s", unit), source, bench.toolchain)
    wait = [one for one in ordering_mutants(source) if one.kind == "wait-delete"]
    assert [(one.check, one.proof) for one in map(judge.judge, wait)] == [
        ("", ""),
        ("static", ""),
        ("", ""),
    ]
