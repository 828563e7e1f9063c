"""LDS races between wavefronts are found; the clean twin is silent."""

from __future__ import annotations

import numpy as np

LOAD = """
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
"""
DATA = np.arange(256, dtype=np.uint32)


SHARE = """
v_lshlrev_b32 v1, 2, v0
v_xor_b32 v2, 0x100, v1
v_mov_b32 v3, 1
ds_write_b32 v1, v3
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v4, v2
s_waitcnt lgkmcnt(0)
s_barrier // again
ds_write_b32 v1, v4
s_waitcnt lgkmcnt(0)
"""
TWO_WAVES = {"block": (128, 1, 1), "lds": 512}


def test_race_read_after_write(bench):
    fault = ("s_barrier\nds_read", "s_nop 0\nds_read")
    outcome = bench.twin(SHARE, fault, {"data": DATA}, **TWO_WAVES)
    assert ("lds-race", "LDS byte 256 is read with no barrier since wave 1 used it") in [
        (f.kind, f.detail) for f in outcome.report.findings
    ]


def test_race_write_after_read(bench):
    outcome = bench.twin(SHARE, ("s_barrier // again", "s_nop 0"), {"data": DATA}, **TWO_WAVES)
    found = [(f.kind, f.detail, f.instruction) for f in outcome.report.findings]
    fact = "LDS byte 0 is overwritten after a read with no barrier since wave 1 used it"
    assert found == [("lds-race", fact, "ds_write_b32 v1, v4")]


def test_race_write_after_write(bench):
    body = """
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v3, 1
    ds_write_b32 v1, v3
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_xor_b32 v2, 0x100, v1
    ds_write_b32 v2, v3
    s_waitcnt lgkmcnt(0)
    """
    outcome = bench.twin(body, ("s_barrier", "s_nop 0"), {"data": DATA}, **TWO_WAVES)
    assert ("lds-race", "LDS byte 256 is written with no barrier since wave 1 used it") in [
        (f.kind, f.detail) for f in outcome.report.findings
    ]


def test_race_of_a_write_that_a_barrier_finds_under_way(bench):
    """Without the wait the write may come after the barrier; the other wave's read races."""
    fault = ("s_waitcnt lgkmcnt(0)\ns_barrier\nds_read", "s_nop 0\ns_barrier\nds_read")
    outcome = bench.twin(SHARE, fault, {"data": DATA}, **TWO_WAVES)
    assert "lds-race" in [f.kind for f in outcome.report.findings]


def test_race_of_a_read_that_a_barrier_finds_under_way(bench):
    """The read is waited for only after the barrier, behind which the other wave writes."""
    body = SHARE.replace("ds_write_b32 v1, v4", "s_waitcnt lgkmcnt(0)\nds_write_b32 v1, v4")
    fault = ("s_waitcnt lgkmcnt(0)\ns_barrier // again", "s_nop 0\ns_barrier // again")
    outcome = bench.twin(body, fault, {"data": DATA}, **TWO_WAVES)
    fact = "LDS byte 0 is overwritten after a read with no barrier since wave 1 used it"
    assert [(f.kind, f.detail) for f in outcome.report.findings] == [("lds-race", fact)]


def test_many_readers_of_one_dword_all_count(bench):
    """All waves read dword 0; a later write by the last one races with the other readers."""
    body = """
    v_mov_b32 v1, 0
    v_mov_b32 v3, 1
    v_cmp_eq_u32 vcc, 0, v0
    s_and_saveexec_b64 s[2:3], vcc
    ds_write_b32 v1, v3
    s_mov_b64 exec, s[2:3]
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v4, v1
    s_waitcnt lgkmcnt(0)
    s_barrier // again
    v_cmp_eq_u32 vcc, 0xff, v0
    s_and_saveexec_b64 s[2:3], vcc
    ds_write_b32 v1, v3
    """
    fault = ("s_barrier // again", "s_nop 0")
    outcome = bench.twin(body, fault, {"data": DATA}, block=(256, 1, 1), lds=64)
    fact = "LDS byte 0 is overwritten after a read with no barrier since several waves used it"
    assert [(f.kind, f.detail, f.wave) for f in outcome.report.findings] == [("lds-race", fact, 3)]


def test_neighbouring_bytes_of_different_waves_do_not_race(bench):
    body = """
    v_mov_b32 v3, 1
    ds_write_b8 v0, v3
    s_waitcnt lgkmcnt(0)
    v_lshrrev_b32 v1, 6, v0
    ds_write_b8 v1, v3 offset:128
    s_waitcnt lgkmcnt(0)
    """
    outcome = bench.launch(body, {"data": DATA}, block=(128, 1, 1), lds=256)
    assert bench.lines(outcome) == []


DIRECT = (
    LOAD
    + """
s_mov_b32 m0, 0
v_lshlrev_b32 v2, 2, v0
global_load_lds_dword v1, s[2:3]
s_waitcnt vmcnt(0)
ds_read_b32 v3, v2
s_waitcnt lgkmcnt(0)
global_store_dword v1, v3, s[2:3] offset:256
"""
)


def test_load_to_lds_must_arrive_before_it_is_read(bench):
    outcome = bench.twin(DIRECT, ("s_waitcnt vmcnt(0)", "s_nop 0"), {"data": DATA}, lds=256)
    fact = "LDS byte 0 is read before the wait for the load that fills it"
    assert [(f.kind, f.detail) for f in outcome.report.findings] == [("missing-wait", fact)]
    assert outcome.outputs["data"][64:128].tolist() == list(range(64))


def test_load_to_lds_must_arrive_before_the_barrier(bench):
    body = (
        LOAD
        + """
    v_readfirstlane_b32 s5, v0
    s_lshl_b32 m0, s5, 2
    v_lshlrev_b32 v2, 2, v0
    v_xor_b32 v2, 0x100, v2
    s_nop 0
    global_load_lds_dword v1, s[2:3]
    s_waitcnt vmcnt(0)
    s_barrier
    s_waitcnt vmcnt(0) // late
    ds_read_b32 v3, v2
    s_waitcnt lgkmcnt(0)
    """
    )
    fault = ("s_waitcnt vmcnt(0)\n    s_barrier", "s_nop 0\n    s_barrier")
    outcome = bench.twin(body, fault, {"data": DATA}, **TWO_WAVES)
    assert {f.kind for f in outcome.report.findings} == {"lds-race"}
