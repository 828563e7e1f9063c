"""Attention kernels in the functional model against their numpy statements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kernel_launches import Fault, assembled, chosen_launches, faulty, found_kinds, launched
from kernel_sources import golden_text
from kernel_statements import entry_of, scenario

from netra_build.asm.tools.toolchain import Toolchain

PREPARE = "attention_splitseq_prepare"
STAGE1 = "attention_splitseq_stage1"
STAGE2 = "attention_splitseq_stage2"
GQA4 = "attention_gqa4_fp8kv"
GQA8 = "attention_gqa8_fp8kv"
OURS = (PREPARE, STAGE1, STAGE2, GQA4, GQA8)
VARIANTS = [(tactic, variant) for tactic in OURS for variant in entry_of(tactic).specializations]
QUICK_CASES = 3
SLOW = {"window_edges", "window_lengths", "beyond_window"}
"""Cases that only a full run executes, except where a test names them."""


WRONG_VALUES = (
    Fault(PREPARE, "v_mov_b32 v3, 0", "v_mov_b32 v3, -1", "negative_slots", "unified_indices"),
    Fault(PREPARE, "s_add_u32 s17, s16, 1", "s_add_u32 s17, s16, 0", "random", "seq_lens"),
    Fault(
        PREPARE, "v_cmp_gt_u32 vcc, s15, v0", "v_cmp_ge_u32 vcc, s15, v0", "no_token", "seq_lens"
    ),
    Fault(STAGE2, "s_add_u32 s23, s23, 31", "s_add_u32 s23, s23, 0", "one_split", "out"),
    Fault(STAGE2, "s_addc_u32 s23, s23, 0", "s_nop 0", "extents", "out"),
    Fault(STAGE2, "v_ldexp_f32 v10, v10, v14", "s_nop 0", "far_apart", "out"),
    Fault(STAGE2, "s_cmp_lt_u32 s20, s21", "s_cmp_le_u32 s20, s21", "tile_edges", "out"),
    Fault(STAGE2, "v_mul_f32 v4, v4, v9", "s_nop 0", "random", "out"),
    Fault(STAGE1, "v_cmp_lt_i32 s[42:43], 1, v8", "v_cmp_le_i32 s[42:43], 1, v8", "masks", "mid"),
    Fault(STAGE1, "s_mov_b32 s39, 0x3f317218", "s_mov_b32 s39, 0x3f800000", "masks", "lse"),
    Fault(STAGE1, "v_and_b32 v0, 7, v1", "v_and_b32 v0, 3, v1", "masks", "mid"),
    Fault(STAGE1, "v_permlane32_swap_b32 v7, v8", "s_nop 0", "spread_keys", "mid"),
    Fault(STAGE1, "fp16_overflow 1", "fp16_overflow 0", "saturation", "mid"),
    Fault(GQA4, "v_cmp_lt_i32 s[44:45], 34, v8", "v_cmp_lt_i32 s[44:45], 35, v8", "masks", "out"),
    Fault(GQA4, "s_max_i32 s28, s28, 0", "s_nop 0", "masks", "out"),
    Fault(GQA4, "s_sub_u32 s36, s36, 4095", "s_sub_u32 s36, s36, 4096", "beyond_window", "out"),
    Fault(GQA4, "s_cmp_le_i32 s36, -15", "s_cmp_le_i32 s36, 15", "beyond_window", "out"),
    Fault(GQA4, "v_cmp_le_i32 s[42:43], 1, v8", "v_cmp_lt_i32 s[42:43], 1, v8", "no_prefix", "out"),
    Fault(
        GQA8, "s_lshl_b32 s36, s4, 2", "s_lshl_b32 s36, s4, 1", "no_prefix", "out", variant="qo32"
    ),
    Fault(GQA8, "v_mov_b32 v4, v8", "s_nop 0", "short_prefixes", "out", variant="qo32"),
    Fault(GQA8, "fp16_overflow 1", "fp16_overflow 0", "saturation", "out", variant="qo32"),
)
FINDINGS = (
    Fault(PREPARE, "s_waitcnt vmcnt(0)", "s_nop 0", "random", "missing-wait"),
    Fault(PREPARE, "s_mov_b64 exec, vcc", "s_nop 0", "one_token", "out-of-bounds"),
    Fault(STAGE2, "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(1)", "one_split", "missing-wait"),
    Fault(STAGE1, "s_waitcnt vmcnt(6)", "s_waitcnt vmcnt(7)", "masks", "missing-wait"),
    Fault(STAGE1, "v_min_u32 v19, s5, v19", "s_nop 0", "masks", "out-of-bounds"),
    Fault(STAGE1, "s_mul_i32 s40, s37, 2560", "s_mov_b32 s40, 0", "one_split", "lds-race"),
    Fault(GQA4, "\ts_barrier\n", "\ts_nop 0\n", "tile_edges", "lds-race"),
    Fault(GQA4, "v_min_u32 v16, s6, v1", "v_mov_b32 v16, v1", "no_prefix", "out-of-bounds"),
    Fault(
        GQA8,
        "s_waitcnt vmcnt(10)",
        "s_waitcnt vmcnt(11)",
        "short_prefixes",
        "missing-wait",
        variant="qo32",
    ),
    Fault(GQA8, "s_sub_u32 s34, 17408, s34", "s_nop 0", "tile_edges", "lds-race", variant="qo32"),
    Fault(
        GQA8,
        "v_min_u32 v8, s6, v17",
        "v_mov_b32 v8, v17",
        "no_prefix",
        "out-of-bounds",
        variant="qo32",
    ),
)


@pytest.mark.parametrize(("tactic", "variant"), VARIANTS)
def test_a_kernel_meets_its_statement(
    root: Path,
    toolchain: Toolchain,
    sample: Callable[[list, int], list],
    is_full: bool,
    seed: int,
    tactic: str,
    variant: str,
) -> None:
    prepared = assembled(toolchain, golden_text(root, tactic, variant), tactic)
    chosen = chosen_launches(tactic, seed, is_full, SLOW, lambda cases: sample(cases, QUICK_CASES))
    for case, number in chosen:
        launch = scenario(tactic, variant, case, number)
        assert launched(prepared, launch) == ([], []), launch.label


def test_the_window_hides_what_it_should(root: Path, toolchain: Toolchain) -> None:
    prepared = assembled(toolchain, golden_text(root, GQA4), GQA4)
    assert launched(prepared, scenario(GQA4, "", "beyond_window")) == ([], [])


@pytest.mark.parametrize("fault", WRONG_VALUES, ids=Fault.label)
def test_a_wrong_value_is_seen(root: Path, toolchain: Toolchain, fault: Fault) -> None:
    _, lines = launched(*faulty(root, toolchain, fault))
    assert [line for line in lines if line.startswith(f'output "{fault.seen}"')] != []


@pytest.mark.parametrize("fault", FINDINGS, ids=Fault.label)
def test_a_fault_of_order_is_found(root: Path, toolchain: Toolchain, fault: Fault) -> None:
    assert fault.seen in found_kinds(*faulty(root, toolchain, fault))
