"""Every dynamic check finds its seeded fault, says where, and is silent on the clean twin."""

from __future__ import annotations

import numpy as np
import pytest

from netra_build.simulate import Checks

LOAD = """
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
"""
DATA = np.arange(256, dtype=np.uint32)


def lines(outcome) -> list[str]:
    return [finding.line() for finding in outcome.report.findings]


def details(outcome) -> list[tuple[str, str, str, int, int | None]]:
    """Kind, fact, instruction, wave and lane of each finding: all but the address."""
    found = outcome.report.findings
    return [(f.kind, f.detail, f.instruction, f.wave, f.lane) for f in found]


def clean_and_faulty(bench, body: str, fault: tuple[str, str], **options):
    """Run ``body`` as it is, which must be silent, and with one text replaced."""
    old, new = fault
    assert body.count(old) == 1
    args = options.pop("args", {"data": DATA})
    clean = bench.launch(body, args, **options)
    assert lines(clean) == []
    return bench.launch(body.replace(old, new), args, **options)


# Waits


def test_missing_wait_for_a_vector_load(bench):
    body = (
        LOAD
        + """
    global_load_dword v2, v1, s[2:3]
    s_waitcnt vmcnt(0)
    v_add_u32 v3, v2, v2
    """
    )
    outcome = clean_and_faulty(bench, body, ("s_waitcnt vmcnt(0)", "s_nop 0"))
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
    outcome = clean_and_faulty(bench, body, ("vmcnt(1)", "vmcnt(2)"))
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
    outcome = clean_and_faulty(bench, body, ("0x0f70", "0xcf7f"))
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
    outcome = clean_and_faulty(bench, body, ("lgkmcnt(00)", "lgkmcnt(1)"))
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
    outcome = clean_and_faulty(bench, body, ("v_mov_b32 v6, v4", "v_mov_b32 v6, v5"), lds=512)
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
    outcome = clean_and_faulty(bench, body, ("s_waitcnt vmcnt(0)", "s_nop 0"))
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
    assert lines(outcome) == []
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
    outcome = clean_and_faulty(bench, body, ("exec, 0xff00", "exec, 0x1ff80"))
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
    assert lines(outcome) == []
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
    outcome = clean_and_faulty(bench, body, fault, block=(128, 1, 1))
    found = [(f.kind, f.wave, f.detail.split(" is ")[0]) for f in outcome.report.findings]
    assert sorted(found) == [("missing-wait", 0, "v2"), ("missing-wait", 1, "v3")]
    assert outcome.outputs["data"][:128].tolist() == list(range(128))


# LDS races


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
    outcome = clean_and_faulty(bench, SHARE, fault, **TWO_WAVES)
    assert ("lds-race", "LDS byte 256 is read with no barrier since wave 1 used it") in [
        (f.kind, f.detail) for f in outcome.report.findings
    ]


def test_race_write_after_read(bench):
    outcome = clean_and_faulty(bench, SHARE, ("s_barrier // again", "s_nop 0"), **TWO_WAVES)
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
    outcome = clean_and_faulty(bench, body, ("s_barrier", "s_nop 0"), **TWO_WAVES)
    assert ("lds-race", "LDS byte 256 is written with no barrier since wave 1 used it") in [
        (f.kind, f.detail) for f in outcome.report.findings
    ]


def test_race_of_a_write_that_a_barrier_finds_under_way(bench):
    """Without the wait the write may come after the barrier; the other wave's read races."""
    fault = ("s_waitcnt lgkmcnt(0)\ns_barrier\nds_read", "s_nop 0\ns_barrier\nds_read")
    outcome = clean_and_faulty(bench, SHARE, fault, **TWO_WAVES)
    assert "lds-race" in [f.kind for f in outcome.report.findings]


def test_race_of_a_read_that_a_barrier_finds_under_way(bench):
    """The read is waited for only after the barrier, behind which the other wave writes."""
    body = SHARE.replace("ds_write_b32 v1, v4", "s_waitcnt lgkmcnt(0)\nds_write_b32 v1, v4")
    fault = ("s_waitcnt lgkmcnt(0)\ns_barrier // again", "s_nop 0\ns_barrier // again")
    outcome = clean_and_faulty(bench, body, fault, **TWO_WAVES)
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
    outcome = clean_and_faulty(bench, body, fault, block=(256, 1, 1), lds=64)
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
    assert lines(outcome) == []


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
    outcome = clean_and_faulty(bench, DIRECT, ("s_waitcnt vmcnt(0)", "s_nop 0"), lds=256)
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
    outcome = clean_and_faulty(bench, body, fault, **TWO_WAVES)
    assert {f.kind for f in outcome.report.findings} == {"lds-race"}


# Bounds


def test_load_past_the_end_names_lane_and_buffer(bench):
    body = (
        LOAD
        + """
    global_load_dword v2, v1, s[2:3] offset:768
    s_waitcnt vmcnt(0)
    """
    )
    outcome = clean_and_faulty(bench, body, ("offset:768", "offset:772"))
    ((kind, detail, text, wave, lane),) = details(outcome)
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
    outcome = clean_and_faulty(bench, body, ("s[2:3]\n    ", "s[2:3] offset:-4\n    "))
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
    outcome = clean_and_faulty(bench, body, ("s_addc_u32 s5, s3, 0", "s_mov_b32 s5, s3"))
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
    assert lines(outcome) == []
    after = outcome.outputs["data"].tolist()
    assert after[:64] == [9] * 33 + list(range(33, 64))
    assert after[128:192] == list(range(33)) + [0] * 31


def test_lds_out_of_bounds(bench):
    body = """
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 1
    ds_write_b32 v1, v2 offset:256
    """
    outcome = clean_and_faulty(bench, body, ("offset:256", "offset:260"), lds=512)
    assert details(outcome) == [
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
    assert lines(bench.launch(body, {"data": DATA}, lds=256, dynamic_lds=256)) == []
    outcome = bench.launch(body, {"data": DATA}, lds=256, dynamic_lds=252)
    assert [f.kind for f in outcome.report.findings] == ["lds-out-of-bounds"]


def test_more_lds_than_there_is(bench):
    assert lines(bench.launch("s_nop 0", {"data": DATA}, lds=160 * 1024)) == []
    outcome = bench.launch("s_nop 0", {"data": DATA}, lds=160 * 1024, dynamic_lds=1)
    assert [(f.kind, f.detail) for f in outcome.report.findings] == [
        ("lds-over-budget", "163841 bytes of LDS wanted, 163840 exist")
    ]
    assert outcome.report.wave_instructions == 0


# Uninitialised values


def test_vector_register_that_was_never_written(bench):
    body = "v_mov_b32 v2, 1\nv_add_u32 v3, v0, v2"
    outcome = clean_and_faulty(bench, body, ("v0, v2", "v0, v9"))
    assert details(outcome) == [
        ("uninitialised-register", "v9 was never written", "v_add_u32_e32 v3, v0, v9", 0, 0)
    ]


def test_lanes_written_under_a_mask(bench):
    body = """
    s_mov_b64 exec, 0xff
    v_mov_b32 v2, 1
    s_mov_b64 exec, 0xf0
    v_mov_b32 v3, v2
    """
    outcome = clean_and_faulty(bench, body, ("exec, 0xf0", "exec, 0x1f0"))
    assert details(outcome) == [
        ("uninitialised-register", "v2 was never written", "v_mov_b32_e32 v3, v2", 0, 8)
    ]


def test_scalar_register_that_was_never_written(bench):
    body = "s_mov_b32 s8, 1\ns_add_u32 s9, s8, s8"
    outcome = clean_and_faulty(bench, body, ("s_add_u32 s9, s8, s8", "s_add_u32 s9, s8, s10"))
    assert details(outcome) == [
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
    outcome = clean_and_faulty(bench, body, ("v3, a3", "v3, a4"), accum=64, vgprs=128, extra="")
    assert [f.detail for f in outcome.report.findings] == ["a4 was never written"]


def test_lds_that_was_never_written(bench):
    body = """
    v_lshlrev_b32 v1, 2, v0
    ds_write_b32 v1, v0
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    """
    fault = ("ds_read_b32 v2, v1", "ds_read_b32 v2, v1 offset:4")
    outcome = clean_and_faulty(bench, body, fault, lds=512)
    fact = "LDS byte 256 is read but never written"
    assert details(outcome) == [("uninitialised-lds", fact, "ds_read_b32 v2, v1 offset:4", 0, 63)]


def test_kernargs_beyond_the_declared_size_are_junk(bench):
    body = "s_load_dwordx2 s[2:3], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s4, s2"
    outcome = clean_and_faulty(bench, body, ("s[0:1], 0x0", "s[0:1], 0x4"))
    assert details(outcome) == [
        (
            "kernarg-over-read",
            "read behind the last byte of the kernarg segment",
            "s_load_dwordx2 s[2:3], s[0:1], 0x4",
            0,
            None,
        )
    ]


# Barriers and endless programs


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
    outcome = clean_and_faulty(bench, body, fault, block=(128, 1, 1))
    assert details(outcome) == [
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
    assert lines(bench.launch(body, {"data": DATA}, **run)) == []
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
    outcome = clean_and_faulty(
        bench, body, ("s_cbranch_scc0 .Lagain", "s_branch .Lagain"), budget=1000
    )
    ((kind, detail, text, wave, lane),) = details(outcome)
    assert (kind, detail) == ("endless-loop", "instruction budget is used up")
    assert text.startswith("s_branch ")
    assert (wave, lane) == (0, None)
    assert outcome.report.wave_instructions < 1100


def test_program_counter_that_leaves_the_code(bench):
    body = "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 8\ns_setpc_b64 s[4:5]"
    outcome = clean_and_faulty(bench, body, ("s4, s4, 8", "s4, s4, 0x4000"))
    assert [(f.kind, f.detail) for f in outcome.report.findings] == [
        ("lost-program-counter", "program counter left the code")
    ]


# The report


def test_findings_beyond_the_limit_are_counted(bench):
    body = "v_mov_b32 v2, v9\n" + "\n".join(f"v_mov_b32 v2, v{r}" for r in range(10, 20))
    hsaco = bench.build(body)
    from netra_build.simulate import launch

    run = {"toolchain": bench.toolchain, "max_findings": 3}
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
    assert len(lines(bench.launch(body, {"data": DATA}))) == 1
    assert lines(bench.launch(body, {"data": DATA}, checks=Checks(**{switch: False}))) == []


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
