"""Buffers lie so that a pointer walking through one tile needs its carry; untouched ones return."""

from __future__ import annotations

import numpy as np

ROWS, TILES, LANES = 8, 2, 64

# Work-group x adds up the 8 rows of 64 dwords of its tile, one row a turn.
WALK = """
s_load_dwordx4 s[4:7], s[0:1], 0
v_lshlrev_b32 v1, 2, v0
v_mov_b32 v2, 0
s_lshl_b32 s8, s2, 11
s_waitcnt lgkmcnt(0)
s_add_u32 s4, s4, s8
s_addc_u32 s5, s5, 0
s_mov_b32 s9, 8
.Lturn:
global_load_dword v3, v1, s[4:5]
s_add_u32 s4, s4, 256
s_addc_u32 s5, s5, 0 // walk
s_sub_u32 s9, s9, 1
s_waitcnt vmcnt(0)
v_add_u32 v2, v2, v3
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lturn
s_lshl_b32 s8, s2, 8
v_add_u32 v1, s8, v1
global_store_dword v1, v2, s[6:7]
"""


def test_a_lost_carry_of_a_walking_pointer_is_found(bench) -> None:
    table = np.arange(TILES * ROWS * LANES, dtype=np.uint32).reshape(TILES, ROWS, LANES)
    sums = np.zeros((TILES, LANES), np.uint32)
    args = {"table": table, "sums": sums}
    right = bench.launch(WALK, args, grid=(TILES, 1, 1), ids=0)
    assert bench.lines(right) == []
    assert np.array_equal(right.outputs["sums"], table.sum(axis=1))
    walk = "s_addc_u32 s5, s5, 0 // walk"
    wrong = bench.twin(WALK, (walk, ""), args, grid=(TILES, 1, 1), ids=0)
    assert set(wrong.report.counts) == {"out-of-bounds"}


def test_a_buffer_that_nothing_was_stored_to_is_not_copied(bench) -> None:
    table = np.ones((TILES, ROWS, LANES), np.uint32)
    sums = np.zeros((TILES, LANES), np.uint32)
    outputs = bench.launch(WALK, {"table": table, "sums": sums}, grid=(TILES, 1, 1), ids=0).outputs
    assert np.shares_memory(outputs["table"], table)
    assert not outputs["table"].flags.writeable
    assert table.flags.writeable
    assert not np.shares_memory(outputs["sums"], sums)
    assert not sums.any()
