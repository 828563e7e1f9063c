"""Address space, counters, lane masks and launch arguments of the functional model."""

from __future__ import annotations

import numpy as np

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.hazards.effects import known_mnemonics
from netra_build.checkasm.model.arrays import lanes_from_masks, masks_from_lanes
from netra_build.checkasm.model.findings import Collector, Finding
from netra_build.checkasm.model.isa.atomics import rounds
from netra_build.checkasm.model.isa.catalogue import coverage
from netra_build.checkasm.model.isa.control import wait_counts
from netra_build.checkasm.model.isa.lds_access import swizzle_lanes
from netra_build.checkasm.model.memory import AddressSpace
from netra_build.checkasm.model.operands import Decoded
from netra_build.checkasm.model.scoreboard import DS, SM, VM, Pending, Scoreboard, join_queues

SOURCE = Decoded(Instruction(0, "x", "", (0,), 4, "x"), "x", "", ())


def space(*sizes: int) -> AddressSpace:
    memory = AddressSpace()
    for at, size in enumerate(sizes):
        data = np.arange(size).astype(np.uint8)
        memory.place(f"b{at}", data, readable=size, writable=at != 1)
    return memory


def gather(memory: AddressSpace, addresses: list[int], width: int):
    told: list[tuple[str, list[bool], str]] = []
    address = np.array([addresses], np.uint64)
    active = np.ones(address.shape, np.bool_)

    def report(kind, bad, detail):
        told.append((kind, bad[0].tolist(), detail))

    values = memory.gather(address, active, width, report)
    return values[:, 0].tolist(), told


def test_buffers_straddle_a_line_of_4_gib_and_keep_apart():
    memory = space(4096, 4096, 64)
    first, second, third = memory.regions
    assert first.base >> 32 != (first.end - 1) >> 32
    assert second.base - first.end >= 1 << 32
    assert third.base % 256 == 0
    assert memory.find(first.base) is first
    assert memory.find(first.end - 1) is first
    assert memory.find(first.end) is None
    assert memory.find(0) is None


def test_gathering_over_several_buffers_and_none():
    memory = space(64, 64)
    a, b = (region.base for region in memory.regions)
    values, told = gather(memory, [a + 4, b + 8, a + 1], 4)
    assert values == [[0x07060504, 0x0B0A0908, 0x04030201]]
    assert told == []
    values, told = gather(memory, [a + 61, b, 5], 4)
    assert values == [[0, 0x03020100, 0]]
    detail = f'address {a + 61:#x} is 3 bytes before the end of "b0" (64 bytes)'
    assert told == [("out-of-bounds", [True, False, True], told[0][2])]
    assert told[0][2].startswith(detail.partition(" is ")[0])


def test_storing_copies_the_callers_array_once():
    mine = np.zeros(16, np.uint8)
    memory = AddressSpace()
    region = memory.place("b", mine, readable=16, writable=True)
    address = np.array([[region.base + 4]], np.uint64)
    active = np.ones((1, 1), np.bool_)
    values = np.array([[[0x04030201]]], np.uint32)
    memory.scatter(address, active, values, 4, lambda *_: None)
    assert mine.tolist() == [0] * 16
    assert region.data.tolist() == [0] * 4 + [1, 2, 3, 4] + [0] * 8
    data = region.data
    memory.scatter(address, active, values, 2, lambda *_: None)
    assert region.data is data


def test_stores_to_read_only_buffers_are_told():
    memory = space(64, 64)
    told = []
    address = np.array([[memory.regions[1].base]], np.uint64)
    memory.scatter(
        address,
        np.ones((1, 1), np.bool_),
        np.zeros((1, 1, 1), np.uint32),
        4,
        lambda kind, _bad, detail: told.append((kind, detail)),
    )
    assert told == [("out-of-bounds", "store to the read-only b1")]


def test_distance_to_the_nearest_buffer():
    memory = space(64, 64)
    first, second = memory.regions
    assert memory.nearest(first.end + 10) == (
        f"address {first.end + 10:#x} is 10 bytes past the end of b0 (64 bytes)"
    )
    assert memory.nearest(second.base - 4).endswith("is 4 bytes before the start of b1 (64 bytes)")
    assert AddressSpace().nearest(5) == "address 0x5 is in no buffer"


def pending(serial: int, queue: str = VM, registers=(1,), present=None) -> Pending:
    return Pending(serial, SOURCE, queue, registers, present=present)


def serials(slots) -> list[list[int]]:
    return [[p.serial for p in slot] for slot in slots]


def test_counters_let_the_oldest_go():
    board = Scoreboard()
    done: list = []
    for serial in range(65):
        board.issue(pending(serial), done.append)
    assert serials(done) == [[0], [1]]
    assert len(board.vm) == 63
    assert serials(board.due_vm(62)) == [[2]]
    assert serials(board.due_vm(62)) == []
    assert len(board.due_vm(0)) == 62


def test_scalar_loads_leave_only_at_zero():
    board = Scoreboard()
    for serial, queue in enumerate((SM, DS, DS, SM)):
        board.issue(pending(serial, queue), lambda _: None)
    assert serials(board.due_lgkm(1)) == [[1]]
    assert serials(board.due_lgkm(1)) == []
    assert serials(board.due_lgkm(0)) == [[2], [0], [3]]


def test_a_loop_of_scalar_loads_takes_bounded_memory():
    """A load that was overwritten holds nothing, but nothing waits for it either."""
    board = Scoreboard()
    for serial in range(2000):
        board.by_register.pop(1, None)
        board.issue(pending(serial, SM, (1,)), lambda _: None)
    assert len(board.sm) <= 512
    assert serials(board.sm)[-1] == [1999]


def test_scalar_loads_that_hold_a_register_are_kept():
    board = Scoreboard()
    board.issue(pending(0, SM, (2,)), lambda _: None)
    for serial in range(1, 2000):
        board.by_register.pop(1, None)
        board.issue(pending(serial, SM, (1,)), lambda _: None)
    assert serials(board.sm)[0] == [0]
    assert 2 in board.by_register


def test_a_register_is_free_when_its_last_load_is():
    board = Scoreboard()
    board.issue(pending(1, registers=(7, 8)), lambda _: None)
    board.issue(pending(2, registers=(7,)), lambda _: None)
    first, second = board.vm
    assert board.release(first) == [8]
    assert board.release(second) == [7]
    assert board.by_register == {}


def test_joined_queues_are_aligned_at_the_newest_end():
    left = [(pending(1),), (pending(2),), (pending(3),)]
    right = [(pending(2),), (pending(9),)]
    joined = join_queues(left, right, (1, 2))
    assert serials(joined) == [[1], [2], [3, 9]]
    alone, both, newest = joined
    assert alone[0].present.tolist() == [True, False, False]
    assert both[0].present is None
    assert newest[0].present.tolist() == [True, False, False]
    assert newest[1].present.tolist() == [False, True, True]
    assert newest[1].rows(np.array([0])) is None
    assert newest[1].rows(np.array([0, 2])).present.tolist() == [False, True]


def test_wait_counts_of_the_encoding():
    assert wait_counts(0xBF8CC07F & 0xFFFF) == (63, 0)
    assert wait_counts(0x0F70) == (0, 15)
    assert wait_counts(0xCF7F) == (63, 15)
    assert wait_counts(0x4071) == (17, 0)


def test_lane_masks_go_both_ways():
    low, high = np.array([5, 0], np.uint32), np.array([0x80000000, 1], np.uint32)
    lanes = lanes_from_masks(low, high)
    assert [np.flatnonzero(row).tolist() for row in lanes] == [[0, 2, 63], [32]]
    back = masks_from_lanes(lanes)
    assert [half.tolist() for half in back] == [low.tolist(), high.tolist()]


def test_shared_addresses_take_turns_in_lane_order():
    turns = rounds(np.array([5, 7, 5, 5, 7, 9]))
    assert [turn.tolist() for turn in turns] == [[0, 1, 5], [2, 4], [3]]
    assert rounds(np.array([], np.int64)) == []


def test_swizzle_patterns():
    assert swizzle_lanes(0x8000 | 0b00011011)[:8].tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
    assert swizzle_lanes(0x1F | 16 << 10).tolist() == [i ^ 16 for i in range(64)]
    assert swizzle_lanes(3 << 5).tolist() == [3] * 32 + [35] * 32


def test_findings_are_limited_but_counted():
    collector = Collector(limit=5)
    for pc in range(3):
        for lane in range(6):
            collector.add(Finding("k", pc, "i", (0, 0, 0), 0, lane, "d"))
    assert [(f.pc, f.lane) for f in collector.kept] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]
    assert collector.counts == {"k": 18}


REFERENCE_MNEMONICS = """
buffer_load_dword buffer_load_dwordx2 buffer_load_dwordx4 buffer_store_dword buffer_store_dwordx2
buffer_store_dwordx4 buffer_store_short ds_bpermute_b32 ds_read_b128 ds_read_b32
ds_read_b64_tr_b16 ds_read_b64_tr_b8 ds_read_u16 ds_swizzle_b32 ds_write2st64_b64 ds_write_b128
ds_write_b16 ds_write_b16_d16_hi ds_write_b32 ds_write_b64 ds_write_b8 ds_write_b8_d16_hi
global_load_dword global_load_dwordx2 global_load_dwordx4 global_load_ushort global_store_dword
global_store_dwordx2 global_store_dwordx4 global_store_short global_store_short_d16_hi s_abs_i32
s_add_i32 s_add_u32 s_addc_u32 s_addk_i32 s_and_b32 s_and_b64 s_and_saveexec_b64 s_andn2_b32
s_andn2_b64 s_ashr_i32 s_barrier s_bfe_i32 s_bfe_u32 s_branch s_cbranch_execz s_cbranch_scc0
s_cbranch_scc1 s_cbranch_vccnz s_cbranch_vccz s_cmp_eq_u32 s_cmp_eq_u64 s_cmp_ge_u32 s_cmp_gt_i32
s_cmp_le_i32 s_cmp_lg_u32 s_cmp_lt_i32 s_cmp_lt_u32 s_cmpk_gt_i32 s_cmpk_lt_i32 s_cselect_b32
s_cselect_b64 s_endpgm s_load_dword s_load_dwordx2 s_load_dwordx4 s_load_dwordx8 s_lshl1_add_u32
s_lshl2_add_u32 s_lshl_b32 s_lshl_b64 s_lshr_b32 s_max_i32 s_min_i32 s_min_u32 s_mov_b32
s_mov_b64 s_movk_i32 s_mul_hi_u32 s_mul_i32 s_mulk_i32 s_nop s_or_b32 s_or_b64 s_setreg_imm32_b32
s_sext_i32_i16 s_sub_i32 s_sub_u32 s_waitcnt s_xor_b32 v_accvgpr_read_b32 v_accvgpr_write_b32
v_add3_u32 v_add_f32 v_add_lshl_u32 v_add_u32 v_and_b32 v_and_or_b32 v_ashrrev_i32 v_bfe_i32
v_bfe_u32 v_bfi_b32 v_bfrev_b32 v_bitop3_b32 v_cmp_eq_u32 v_cmp_ge_f32 v_cmp_ge_u32 v_cmp_gt_f32
v_cmp_gt_i32 v_cmp_gt_i64 v_cmp_gt_u32 v_cmp_le_i32 v_cmp_le_u32 v_cmp_lt_f32 v_cmp_lt_i64
v_cmp_lt_u32 v_cmp_ne_u32 v_cmp_neq_f32 v_cndmask_b32 v_cvt_f32_f16 v_cvt_f32_i32 v_cvt_f32_u32
v_cvt_pk_bf16_f32 v_cvt_pk_f16_f32 v_cvt_pk_fp8_f32 v_cvt_scalef32_pk_fp8_bf16
v_cvt_scalef32_pk_fp8_f32 v_cvt_u32_f32 v_div_fixup_f32 v_div_fmas_f32 v_div_scale_f32 v_exp_f32
v_fma_f32 v_fmac_f32 v_fmamk_f32 v_ldexp_f32 v_log_f32 v_lshl_add_u32 v_lshl_add_u64
v_lshl_or_b32 v_lshlrev_b32 v_lshlrev_b64 v_lshrrev_b32 v_mad_u32_u24 v_mad_u64_u32 v_max3_f32
v_max_f32 v_max_i32 v_mfma_f32_16x16x128_f8f6f4 v_mfma_f32_16x16x32_bf16
v_mfma_f32_16x16x32_fp8_fp8 v_mov_b32 v_mov_b64 v_mul_f32 v_mul_hi_u32 v_mul_lo_u32 v_mul_u32_u24
v_not_b32 v_or3_b32 v_or_b32 v_perm_b32 v_permlane16_swap_b32 v_permlane32_swap_b32 v_pk_add_f32
v_pk_fma_f32 v_pk_mul_f32 v_rcp_f32 v_rcp_iflag_f32 v_readfirstlane_b32 v_readlane_b32 v_rsq_f32
v_sqrt_f32 v_sub_co_u32 v_sub_f32 v_sub_u32 v_subb_co_u32 v_subbrev_co_u32 v_subrev_co_u32
v_subrev_u32 v_xad_u32 v_xor_b32
"""
"""Base mnemonics that the kernels of the catalog family use."""


def test_coverage_names_what_kernels_use_and_what_is_missing():
    found = coverage(known_mnemonics())
    wanted = REFERENCE_MNEMONICS.split()
    assert len(wanted) == 182
    assert set(wanted) <= set(found.implemented)
    assert "s_memtime" in found.missing
    assert not set(found.implemented) & set(found.missing)
    assert set(found.from_notes) <= set(found.implemented)
