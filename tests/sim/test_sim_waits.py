"""A missing or too small s_waitcnt is found; the clean twin is silent."""

from __future__ import annotations

import numpy as np

LOAD = """
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
"""
DATA = np.arange(256, dtype=np.uint32)


def test_missing_wait_for_a_vector_load(bench):
    body = (
        LOAD
        + """
    global_load_dword v2, v1, s[2:3]
    s_waitcnt vmcnt(0)
    v_add_u32 v3, v2, v2
    """
    )
    outcome = bench.twin(body, ("s_waitcnt vmcnt(0)", "s_nop 0"), {"data": DATA})
    (finding,) = outcome.report.findings
    (load,) = [line for line in ("global_load_dword v2, v1, s[2:3]",) if line in finding.detail]
    assert finding.kind == "missing-wait"
    start = finding.detail.removeprefix(f'v2 is read before the wait for "{load}" at ')
    assert int(start, 16) == finding.pc - 12
    assert (finding.instruction, finding.workgroup) == ("v_add_u32_e32 v3, v2, v2", (0, 0, 0))
    assert (finding.wave, finding.lane) == (0, 0)


def test_wait_count_that_leaves_the_needed_load_open(bench):
    body = (
        LOAD
        + """
    global_load_dword v2, v1, s[2:3]
    global_load_dword v3, v1, s[2:3] offset:256
    s_waitcnt vmcnt(1)
    v_mov_b32 v4, v2
    """
    )
    outcome = bench.twin(body, ("vmcnt(1)", "vmcnt(2)"), {"data": DATA})
    assert [f.kind for f in outcome.report.findings] == ["missing-wait"]
    assert outcome.report.findings[0].instruction == "v_mov_b32_e32 v4, v2"


def test_all_ones_counts_wait_for_nothing(bench):
    body = (
        LOAD
        + """
    global_load_dword v2, v1, s[2:3]
    s_waitcnt 0x0f70
    v_mov_b32 v4, v2
    """
    )
    outcome = bench.twin(body, ("0x0f70", "0xcf7f"), {"data": DATA})
    assert [f.kind for f in outcome.report.findings] == ["missing-wait"]


def test_scalar_loads_need_the_full_wait(bench):
    body = """
    s_load_dwordx2 s[2:3], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    s_load_dword s4, s[2:3], 0x0
    s_load_dword s5, s[2:3], 0x4
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s6, s4
    """
    body = body.replace("s_waitcnt lgkmcnt(0)\n    s_mov", "s_waitcnt lgkmcnt(00)\n    s_mov")
    outcome = bench.twin(body, ("lgkmcnt(00)", "lgkmcnt(1)"), {"data": DATA})
    (finding,) = outcome.report.findings
    assert finding.kind == "missing-wait"
    assert finding.detail.startswith(
        's4 is read before the wait for "s_load_dword s4, s[2:3], 0x0"'
    )
    assert finding.lane is None


def test_lds_reads_of_one_wave_return_in_order(bench):
    body = """
    v_lshlrev_b32 v1, 3, v0
    v_mov_b32 v2, 7
    v_mov_b32 v3, 8
    ds_write_b64 v1, v[2:3]
    ds_read_b32 v4, v1
    ds_read_b32 v5, v1 offset:4
    s_waitcnt lgkmcnt(1)
    v_mov_b32 v6, v4
    """
    outcome = bench.twin(body, ("v_mov_b32 v6, v4", "v_mov_b32 v6, v5"), {"data": DATA}, lds=512)
    (finding,) = outcome.report.findings
    assert finding.detail.startswith('v5 is read before the wait for "ds_read_b32 v5, v1 offset:4"')


def test_overwriting_a_register_that_a_load_still_fills(bench):
    body = (
        LOAD
        + """
    global_load_dword v2, v1, s[2:3]
    s_waitcnt vmcnt(0)
    v_mov_b32 v2, 0
    """
    )
    outcome = bench.twin(body, ("s_waitcnt vmcnt(0)", "s_nop 0"), {"data": DATA})
    (finding,) = outcome.report.findings
    assert finding.detail.startswith("v2 is overwritten before the wait for")


def test_store_data_may_be_overwritten_at_once(bench):
    body = (
        LOAD
        + """
    v_mov_b32 v2, 5
    global_store_dword v1, v2, s[2:3]
    v_mov_b32 v2, 6
    v_mov_b32 v1, 6
    """
    )
    outcome = bench.launch(body, {"data": DATA})
    assert bench.lines(outcome) == []
    assert outcome.outputs["data"][:64].tolist() == [5] * 64


def test_inactive_lanes_of_a_pending_load_may_be_read(bench):
    body = (
        LOAD
        + """
    v_mov_b32 v2, 1
    s_mov_b64 exec, 0xff
    global_load_dword v2, v1, s[2:3]
    s_mov_b64 exec, 0xff00
    v_mov_b32 v3, v2
    s_waitcnt vmcnt(0)
    """
    )
    outcome = bench.twin(body, ("exec, 0xff00", "exec, 0x1ff80"), {"data": DATA})
    (finding,) = outcome.report.findings
    assert (finding.kind, finding.lane) == ("missing-wait", 7)


def test_a_full_counter_waits_by_itself(bench):
    """The 64th operation finds the counter at 63, so the first load must have returned."""
    loads = "\n".join("global_load_dword v3, v1, s[2:3]" for _ in range(62))
    body = (
        LOAD
        + f"""
    global_load_dword v2, v1, s[2:3]
    {loads}
    global_load_dword v3, v1, s[2:3]
    v_mov_b32 v4, v2
    s_waitcnt vmcnt(0)
    """
    )
    outcome = bench.launch(body, {"data": DATA})
    assert bench.lines(outcome) == []
    outcome = bench.launch(body.replace(loads, loads[: loads.rindex("\n")]), {"data": DATA})
    assert [f.kind for f in outcome.report.findings] == ["missing-wait"]


def test_each_path_of_a_split_keeps_its_own_loads(bench):
    """Wave 0 loads v2, wave 1 loads v3; after they meet again vmcnt(0) covers both."""
    body = (
        LOAD
        + """
    v_readfirstlane_b32 s4, v0
    v_mov_b32 v2, 0
    v_mov_b32 v3, 0
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc0 .Lother
    global_load_dword v2, v1, s[2:3]
    s_branch .Lmeet
    .Lother:
    global_load_dword v3, v1, s[2:3]
    .Lmeet:
    s_waitcnt vmcnt(0)
    v_add_u32 v4, v2, v3
    global_store_dword v1, v4, s[2:3]
    """
    )
    fault = ("s_waitcnt vmcnt(0)", "s_nop 0")
    outcome = bench.twin(body, fault, {"data": DATA}, block=(128, 1, 1))
    found = [(f.kind, f.wave, f.detail.split(" is ")[0]) for f in outcome.report.findings]
    assert sorted(found) == [("missing-wait", 0, "v2"), ("missing-wait", 1, "v3")]
    assert outcome.outputs["data"][:128].tolist() == list(range(128))


def test_one_load_at_two_depths_of_the_counter_is_reported_for_each(bench):
    """One of two waves issues a further load before they meet again."""
    body = (
        LOAD
        + """
    global_load_dword v2, v1, s[2:3]
    v_cmp_gt_u32 vcc, 64, v0
    s_cbranch_vccz .Ltogether
    global_load_dword v3, v1, s[2:3]
    .Ltogether:
    s_waitcnt vmcnt(0)
    v_add_u32 v4, v2, v2
    """
    )
    fault = ("s_waitcnt vmcnt(0)", "s_nop 0")
    outcome = bench.twin(body, fault, {"data": DATA}, block=(128, 1, 1))
    found = [(f.kind, f.wave, f.lane, f.instruction) for f in outcome.report.findings]
    add = "v_add_u32_e32 v4, v2, v2"
    assert sorted(found) == [("missing-wait", 0, 0, add), ("missing-wait", 1, 0, add)]
