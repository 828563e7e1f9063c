"""How wavefronts start, part and meet again."""

from __future__ import annotations

import numpy as np


def test_preloaded_kernargs_start_behind_the_compatibility_prologue(bench):
    """The first 256 bytes are for firmware without preload and must not run."""
    body = """
    s_trap 2
    .p2align 8
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v3, s6
    v_mov_b32 v4, s4
    v_mov_b32 v5, s5
    s_mov_b64 exec, 1
    global_store_dwordx2 v1, v[4:5], s[2:3]
    global_store_dword v1, v3, s[2:3] offset:8
    """
    data, other = np.zeros(64, np.uint32), np.zeros(4, np.uint32)
    options = {
        "user_sgprs": 6,
        "extra": ".amdhsa_user_sgpr_kernarg_preload_length 4\n"
        ".amdhsa_user_sgpr_kernarg_preload_offset 0",
    }
    outcome = bench.launch(body, {"data": data, "other": other}, **options)
    assert bench.lines(outcome) == []
    low, high, group = outcome.outputs["data"][:3].tolist()
    address = low | high << 32
    assert address % 256 == 0
    assert address >> 32 != 0
    assert group == 0


def test_user_registers_come_in_the_order_of_the_descriptor(bench):
    """Dispatch pointer first, then the kernarg pointer, then the work-group ids."""
    body = """
    s_load_dwordx2 s[10:11], s[2:3], 0x0
    s_load_dword s12, s[0:1], 0x4
    s_load_dword s13, s[0:1], 0xc
    v_lshlrev_b32 v1, 2, v0
    s_waitcnt lgkmcnt(0)
    s_and_b32 s12, s12, 0xffff
    v_mov_b32 v4, s12
    v_mov_b32 v5, s13
    v_mov_b32 v6, s4
    v_mov_b32 v7, s5
    s_cmp_eq_u32 s5, 1
    s_cbranch_scc0 .Lend
    s_mov_b64 exec, 1
    global_store_dwordx4 v1, v[4:7], s[10:11]
    .Lend:
    """
    options = {"user_sgprs": 4, "extra": ".amdhsa_user_sgpr_dispatch_ptr 1"}
    data = np.zeros(64, np.uint32)
    run = {"grid": (1, 2, 1), "block": (64, 1, 1)}
    outcome = bench.launch(body, {"data": data}, **run, **options)
    assert bench.lines(outcome) == []
    assert outcome.outputs["data"][:4].tolist() == [64, 64, 0, 1]


def test_waves_that_loop_differently_meet_again(bench):
    """Wave w adds w + 1 five times over; after the loop all store together."""
    body = """
    s_load_dwordx2 s[2:3], s[0:1], 0x0
    v_lshrrev_b32 v2, 6, v0
    v_readfirstlane_b32 s4, v2
    s_mov_b32 s5, 0
    v_mov_b32 v3, 0
    v_lshlrev_b32 v1, 2, v0
    s_waitcnt lgkmcnt(0)
    .Lagain:
    v_add_u32 v3, 5, v3
    s_add_u32 s5, s5, 1
    s_cmp_le_u32 s5, s4
    s_cbranch_scc1 .Lagain
    s_barrier
    global_store_dword v1, v3, s[2:3]
    """
    data = np.zeros(512, np.uint32)
    outcome = bench.launch(body, {"data": data}, block=(512, 1, 1))
    assert bench.lines(outcome) == []
    assert outcome.outputs["data"].tolist() == [5 * (i // 64 + 1) for i in range(512)]
    stores = outcome.report.instructions_by_mnemonic["global_store_dword"]
    assert stores == 8


def test_waves_that_part_keep_their_own_registers(bench):
    body = """
    s_load_dwordx2 s[2:3], s[0:1], 0x0
    v_lshrrev_b32 v2, 6, v0
    v_lshlrev_b32 v1, 2, v0
    v_readfirstlane_b32 s4, v2
    s_bitcmp1_b32 s4, 0
    s_cbranch_scc1 .Lodd
    v_mov_b32 v3, s4
    s_mov_b32 s6, 100
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1
    s_branch .Lmeet
    .Lodd:
    v_mov_b32 v3, 7
    s_mov_b32 s6, 200
    .Lmeet:
    s_getreg_b32 s7, hwreg(HW_REG_MODE, 23, 1)
    s_waitcnt lgkmcnt(0)
    v_add_u32 v3, s6, v3
    v_lshl_add_u32 v3, s7, 16, v3
    global_store_dword v1, v3, s[2:3]
    """
    outcome = bench.launch(body, {"data": np.zeros(256, np.uint32)}, block=(256, 1, 1))
    assert bench.lines(outcome) == []
    found = outcome.outputs["data"].reshape(4, 64)[:, 0].tolist()
    assert found == [0x10000 + 100, 207, 0x10000 + 102, 207]


def test_many_work_groups_run_in_batches(bench):
    body = """
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_lshl_b32 s6, s2, 2
    v_mov_b32 v1, s6
    v_mov_b32 v2, s2
    s_mov_b64 exec, 1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[4:5]
    """
    outcome = bench.launch(body, {"data": np.zeros(700, np.uint32)}, grid=(700, 1, 1))
    assert bench.lines(outcome) == []
    assert outcome.outputs["data"].tolist() == list(range(700))


def test_one_array_for_two_arguments_is_one_buffer(bench):
    body = """
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v2, 9
    global_store_dword v1, v2, s[4:5]
    s_waitcnt vmcnt(0)
    global_load_dword v3, v1, s[6:7]
    s_waitcnt vmcnt(0)
    v_add_u32 v3, 1, v3
    global_store_dword v1, v3, s[6:7]
    """
    shared = np.zeros(64, np.uint32)
    outcome = bench.launch(body, {"a": shared, "b": shared})
    assert bench.lines(outcome) == []
    assert outcome.outputs["a"].tolist() == outcome.outputs["b"].tolist() == [10] * 64
    apart = bench.launch(body, {"a": shared, "b": shared.copy()})
    assert apart.outputs["a"].tolist() == [9] * 64
    assert apart.outputs["b"].tolist() == [1] * 64


def test_the_descriptor_switches_saturation_on(bench, case):
    job = case("s_getreg_b32 s30, hwreg(HW_REG_MODE)", {}, {}, (), scalar_results=(30,))
    plain, saturating = (bench.run([job], overflow=bit)[0][0][0] for bit in (0, 1))
    assert (int(plain), int(saturating)) == (0x3F0, 0x8003F0)
