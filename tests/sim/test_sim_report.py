"""Barriers, endless programs and what the report says."""

from __future__ import annotations

import numpy as np
import pytest

from netra_build.checkasm.model.findings import Checks
from netra_build.checkasm.model.launch import Options, launch

LOAD = """
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
"""
DATA = np.arange(256, dtype=np.uint32)


def test_barrier_that_some_waves_left_out_by_ending(bench):
    body = """
    v_readfirstlane_b32 s4, v0
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc1 .Lstay
    s_barrier
    s_endpgm
    .Lstay:
    s_barrier // stay
    """
    fault = ("s_barrier // stay", "s_nop 0")
    outcome = bench.twin(body, fault, {"data": DATA}, block=(128, 1, 1))
    assert bench.details(outcome) == [
        ("divergent-barrier", "some waves of the work-group have ended", "s_barrier", 1, None)
    ]


def test_different_barriers_are_reported_on_request(bench):
    body = """
    v_readfirstlane_b32 s4, v0
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc1 .Lstay
    s_barrier
    s_endpgm
    .Lstay:
    s_barrier
    """
    run = {"block": (128, 1, 1)}
    assert bench.lines(bench.launch(body, {"data": DATA}, **run)) == []
    outcome = bench.launch(body, {"data": DATA}, checks=Checks(same_barrier=True), **run)
    fact = "another wave of the work-group waits at a different barrier"
    assert [(f.kind, f.detail) for f in outcome.report.findings] == [("divergent-barrier", fact)]


def test_endless_loop_uses_up_the_budget(bench):
    body = """
    s_mov_b32 s4, 0
    .Lagain:
    s_add_u32 s4, s4, 1
    s_cmp_eq_u32 s4, 100
    s_cbranch_scc0 .Lagain
    """
    outcome = bench.twin(
        body, ("s_cbranch_scc0 .Lagain", "s_branch .Lagain"), {"data": DATA}, budget=1000
    )
    ((kind, detail, text, wave, lane),) = bench.details(outcome)
    assert (kind, detail) == ("endless-loop", "instruction budget is used up")
    assert text.startswith("s_branch ")
    assert (wave, lane) == (0, None)
    assert outcome.report.wave_instructions < 1100


def test_program_counter_that_leaves_the_code(bench):
    body = "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 8\ns_setpc_b64 s[4:5]"
    outcome = bench.twin(body, ("s4, s4, 8", "s4, s4, 0x4000"), {"data": DATA})
    assert [(f.kind, f.detail) for f in outcome.report.findings] == [
        ("lost-program-counter", "program counter left the code")
    ]


def test_findings_beyond_the_limit_are_counted(bench):
    body = "v_mov_b32 v2, v9\n" + "\n".join(f"v_mov_b32 v2, v{r}" for r in range(10, 20))
    hsaco = bench.build(body)
    run = {"toolchain": bench.toolchain, "options": Options(max_findings=3)}
    outcome = launch(hsaco, "bench", (1, 1, 1), (64, 1, 1), [DATA], **run)
    assert len(outcome.report.findings) == 3
    assert outcome.report.counts == {"uninitialised-register": 11}
    assert not outcome.report.is_clean


@pytest.mark.parametrize(
    ("switch", "body"),
    [
        ("waits", LOAD + "global_load_dword v2, v1, s[2:3]\nv_mov_b32 v3, v2"),
        ("bounds", LOAD + "global_load_dword v2, v1, s[2:3] offset:1024"),
        ("uninitialised", "v_mov_b32 v3, v2"),
        ("kernargs", "s_load_dword s2, s[0:1], 0x8"),
    ],
)
def test_each_check_can_be_switched_off(bench, switch, body):
    assert len(bench.lines(bench.launch(body, {"data": DATA}))) == 1
    assert bench.lines(bench.launch(body, {"data": DATA}, checks=Checks(**{switch: False}))) == []


def test_counters_and_the_line_of_a_finding(bench):
    body = "v_mov_b32 v2, 1\nv_mov_b32 v3, v9"
    outcome = bench.launch(body, {"data": DATA}, grid=(2, 1, 1), block=(128, 1, 1))
    report = outcome.report
    assert report.wave_instructions == 12
    assert report.instructions_by_mnemonic == {"s_endpgm": 4, "v_mov_b32_e32": 8}
    (finding,) = report.findings
    assert finding.line() == (
        f"{finding.pc:#x}: uninitialised-register: v9 was never written; "
        'instruction "v_mov_b32_e32 v3, v9", work-group 0,0,0 wave 0 lane 0'
    )


def test_inputs_are_not_modified(bench):
    data = DATA.copy()
    body = LOAD + "v_mov_b32 v2, 5\nglobal_store_dword v1, v2, s[2:3]"
    outcome = bench.launch(body, {"data": data})
    assert data.tolist() == DATA.tolist()
    assert outcome.outputs["data"][:64].tolist() == [5] * 64
