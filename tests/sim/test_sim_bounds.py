"""Accesses out of bounds and values never written are found; the clean twin is silent."""

from __future__ import annotations

import numpy as np

LOAD = """
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
"""
DATA = np.arange(256, dtype=np.uint32)


def test_load_past_the_end_names_lane_and_buffer(bench):
    body = (
        LOAD
        + """
    global_load_dword v2, v1, s[2:3] offset:768
    s_waitcnt vmcnt(0)
    """
    )
    outcome = bench.twin(body, ("offset:768", "offset:772"), {"data": DATA})
    ((kind, detail, text, wave, lane),) = bench.details(outcome)
    assert (kind, text) == ("out-of-bounds", "global_load_dword v2, v1, s[2:3] offset:772")
    assert (wave, lane) == (0, 63)
    assert detail.endswith(' is 0 bytes past the end of "data" (1024 bytes)')


def test_store_before_the_start_is_found_and_dropped(bench):
    body = (
        LOAD
        + """
    v_mov_b32 v2, 0
    s_mov_b64 exec, 1
    global_store_dword v1, v2, s[2:3]
    """
    )
    outcome = bench.twin(body, ("s[2:3]\n    ", "s[2:3] offset:-4\n    "), {"data": DATA})
    assert outcome.report.findings[0].detail.endswith(
        'is 4 bytes before the start of "data" (1024 bytes)'
    )
    assert outcome.outputs["data"].tolist() == DATA.tolist()


def test_lost_carry_of_an_address_is_out_of_bounds(bench):
    """Buffers lie across a 4 GiB line, so that a forgotten carry leads astray."""
    body = (
        LOAD
        + """
    s_add_u32 s4, s2, 0x300
    s_addc_u32 s5, s3, 0
    global_load_dword v2, v1, s[4:5]
    s_waitcnt vmcnt(0)
    """
    )
    outcome = bench.twin(body, ("s_addc_u32 s5, s3, 0", "s_mov_b32 s5, s3"), {"data": DATA})
    assert [f.kind for f in outcome.report.findings] == ["out-of-bounds"]


def test_buffer_range_is_part_of_the_program_not_a_finding(bench):
    body = (
        LOAD
        + """
    s_mov_b32 s4, s2
    s_mov_b32 s5, s3
    s_mov_b32 s6, 0x84
    s_mov_b32 s7, 0x27000
    v_mov_b32 v2, 9
    buffer_load_dword v3, v1, s[4:7], 0 offen
    buffer_store_dword v2, v1, s[4:7], 0 offen
    s_waitcnt vmcnt(0)
    global_store_dword v1, v3, s[2:3] offset:512
    """
    )
    outcome = bench.launch(body, {"data": DATA})
    assert bench.lines(outcome) == []
    after = outcome.outputs["data"].tolist()
    assert after[:64] == [9] * 33 + list(range(33, 64))
    assert after[128:192] == list(range(33)) + [0] * 31


def test_lds_out_of_bounds(bench):
    body = """
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 1
    ds_write_b32 v1, v2 offset:256
    """
    outcome = bench.twin(body, ("offset:256", "offset:260"), {"data": DATA}, lds=512)
    assert bench.details(outcome) == [
        (
            "lds-out-of-bounds",
            "LDS bytes 512 to 515 of 512",
            "ds_write_b32 v1, v2 offset:260",
            0,
            63,
        )
    ]


def test_dynamic_lds_adds_to_the_fixed_part(bench):
    body = "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 1\nds_write_b32 v1, v2 offset:256"
    assert bench.lines(bench.launch(body, {"data": DATA}, lds=256, dynamic_lds=256)) == []
    outcome = bench.launch(body, {"data": DATA}, lds=256, dynamic_lds=252)
    assert [f.kind for f in outcome.report.findings] == ["lds-out-of-bounds"]


def test_more_lds_than_there_is(bench):
    assert bench.lines(bench.launch("s_nop 0", {"data": DATA}, lds=160 * 1024)) == []
    outcome = bench.launch("s_nop 0", {"data": DATA}, lds=160 * 1024, dynamic_lds=1)
    assert [(f.kind, f.detail) for f in outcome.report.findings] == [
        ("lds-over-budget", "163841 bytes of LDS wanted, 163840 exist")
    ]
    assert outcome.report.wave_instructions == 0


def test_vector_register_that_was_never_written(bench):
    body = "v_mov_b32 v2, 1\nv_add_u32 v3, v0, v2"
    outcome = bench.twin(body, ("v0, v2", "v0, v9"), {"data": DATA})
    assert bench.details(outcome) == [
        ("uninitialised-register", "v9 was never written", "v_add_u32_e32 v3, v0, v9", 0, 0)
    ]


def test_lanes_written_under_a_mask(bench):
    body = """
    s_mov_b64 exec, 0xff
    v_mov_b32 v2, 1
    s_mov_b64 exec, 0xf0
    v_mov_b32 v3, v2
    """
    outcome = bench.twin(body, ("exec, 0xf0", "exec, 0x1f0"), {"data": DATA})
    assert bench.details(outcome) == [
        ("uninitialised-register", "v2 was never written", "v_mov_b32_e32 v3, v2", 0, 8)
    ]


def test_scalar_register_that_was_never_written(bench):
    body = "s_mov_b32 s8, 1\ns_add_u32 s9, s8, s8"
    outcome = bench.twin(body, ("s_add_u32 s9, s8, s8", "s_add_u32 s9, s8, s10"), {"data": DATA})
    assert bench.details(outcome) == [
        ("uninitialised-register", "s10 was never written", "s_add_u32 s9, s8, s10", 0, None)
    ]


def test_vcc_and_m0_start_without_a_value(bench):
    outcome = bench.launch("s_mov_b32 s8, vcc_lo\ns_mov_b32 s9, m0", {"data": DATA})
    assert [f.detail for f in outcome.report.findings] == [
        "vcc_lo was never written",
        "m0 was never written",
    ]


def test_accumulation_registers_count_too(bench):
    body = "v_accvgpr_write_b32 a3, 1\nv_accvgpr_read_b32 v3, a3"
    outcome = bench.twin(body, ("v3, a3", "v3, a4"), {"data": DATA}, accum=64, vgprs=128, extra="")
    assert [f.detail for f in outcome.report.findings] == ["a4 was never written"]


def test_lds_that_was_never_written(bench):
    body = """
    v_lshlrev_b32 v1, 2, v0
    ds_write_b32 v1, v0
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    """
    fault = ("ds_read_b32 v2, v1", "ds_read_b32 v2, v1 offset:4")
    outcome = bench.twin(body, fault, {"data": DATA}, lds=512)
    fact = "LDS byte 256 is read but never written"
    assert bench.details(outcome) == [
        ("uninitialised-lds", fact, "ds_read_b32 v2, v1 offset:4", 0, 63)
    ]


def test_kernargs_beyond_the_declared_size_are_junk(bench):
    body = "s_load_dwordx2 s[2:3], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s4, s2"
    outcome = bench.twin(body, ("s[0:1], 0x0", "s[0:1], 0x4"), {"data": DATA})
    assert bench.details(outcome) == [
        (
            "kernarg-over-read",
            "read behind the last byte of the kernarg segment",
            "s_load_dwordx2 s[2:3], s[0:1], 0x4",
            0,
            None,
        )
    ]
