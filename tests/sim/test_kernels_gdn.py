"""Router, GDN and dense kernels in the functional model against their numpy statements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kernel_launches import Fault, assembled, chosen_launches, faulty, found_kinds, launched
from kernel_sources import golden_text
from kernel_statements import entry_of, scenario

from netra_build.asm.tools.toolchain import Toolchain

CORE = "gdn_verify_core_m12_packed_pair_interleaved"
REPLAY = "gdn_state_replay_m12_fused_exact"
CONV = "gdn_qkvz_conv_m12"
PRECOMPUTE = "gdn_verify_precompute_m12"
PREFILL = "gdn_h_m8192_bv16_varlen"
ROUTER = "router_bf16_verify_m16"
ONE_WAVE = "dense_m1_fp8_one_wave"
FOUR_WAVES = "dense_m1_fp8_four_wave_lds"
OURS = (ROUTER, ONE_WAVE, FOUR_WAVES, PRECOMPUTE, CORE, REPLAY, CONV, PREFILL)
VARIANTS = [(tactic, variant) for tactic in OURS for variant in entry_of(tactic).specializations]
QUICK_CASES = {(CORE, "waves8"): 2, (REPLAY, "waves8"): 3, (CORE, "waves4"): 2, (PREFILL, ""): 3}
SLOW = {"strong_decay"}
"""Cases that only a full run executes; the others stand for what they show."""


WRONG_VALUES = (
    Fault(ROUTER, "row_shr:4", "row_shr:3", "random", "out"),
    Fault(ROUTER, "v_add_f32 v2, v4, v2 ", "v_mov_b32 v2, v4 ", "random", "out"),
    Fault(ROUTER, "s_lshl_b32 s10, s3, 12", "s_lshl_b32 s10, s3, 11", "random", "out"),
    Fault(ONE_WAVE, "s_lshl_b32 s14, s15, 7", "s_lshl_b32 s14, s15, 6", "random", "out"),
    Fault(ONE_WAVE, "v_mul_f32 v4, s19, v4", "v_mul_f32 v4, s18, v4", "random", "out"),
    Fault(
        FOUR_WAVES,
        "ds_read_b128 v[12:15], v1 offset:64",
        "ds_read_b128 v[12:15], v1 offset:48",
        "random",
        "out",
    ),
    Fault(PRECOMPUTE, "row_bcast:15", "row_bcast:31", "random", "kn"),
    Fault(PRECOMPUTE, "0x3db504f3", "0x3db504f4", "random", "qn"),
    Fault(PRECOMPUTE, "v_cmp_eq_f32 vcc, 1.0, v27", "v_cmp_eq_f32 vcc, 2.0, v27", "gates", "decay"),
    Fault(PRECOMPUTE, "v_cndmask_b32 v28, 1.0, v28, vcc", "v_mov_b32 v28, 1.0", "gates", "beta"),
    Fault(CORE, "s_max_i32 s30, s30, 0", "s_nop 0", "slots", "out", variant="waves1"),
    Fault(CORE, "row_ror:4", "row_ror:2", "random", "out", variant="waves1"),
    Fault(
        CORE,
        "s_mov_b32 s42, 0x00080008",
        "s_mov_b32 s42, 0x00010001",
        "random",
        "out",
        variant="waves4",
    ),
    Fault(
        CORE, "v_xor_b32 v1, 0x400, v1", "v_xor_b32 v1, 0, v1", "random", "out", variant="waves8"
    ),
    Fault(
        REPLAY,
        "s_min_i32 s32, s32, 12",
        "s_min_i32 s32, s32, 11",
        "lengths",
        "output_state",
        variant="waves1",
    ),
    Fault(
        REPLAY,
        "v_sub_f32 v13, v13, v77",
        "v_sub_f32 v13, v13, v76",
        "random",
        "output_state",
        variant="waves4",
    ),
    Fault(CONV, "v_and_b32 v15, 0xffff0000, v16", "v_mov_b32 v15, v15", "random", "out"),
    Fault(CONV, "s_cmp_ge_u32 s3, s18", "s_cmp_gt_u32 s3, s18", "fewer", "fault"),
    Fault(PREFILL, "s_and_b64 vcc, vcc, s[36:37]", "s_nop 0", "random", "state"),
    Fault(PREFILL, "v_cmp_ge_f32 vcc, 0, v15", "s_mov_b64 vcc, -1", "growing", "state"),
    Fault(
        PREFILL, "v_ldexp_f32 v91, v91, v95", "v_ldexp_f32 v91, v91, v94", "strong_decay", "state"
    ),
)
FINDINGS = (
    Fault(ROUTER, "s_waitcnt vmcnt(2)", "s_waitcnt vmcnt(3)", "random", "missing-wait"),
    Fault(ONE_WAVE, "s_waitcnt vmcnt(4)", "s_waitcnt vmcnt(5)", "random", "missing-wait"),
    Fault(
        FOUR_WAVES,
        "s_barrier                                                 // every",
        "s_nop 0 //",
        "random",
        "lds-race",
    ),
    Fault(CORE, "\ts_barrier\n", "\ts_nop 0\n", "random", "lds-race", variant="waves4"),
    Fault(
        CORE, "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(2)", "random", "missing-wait", variant="waves1"
    ),
    Fault(
        CORE,
        "s_cselect_b32 s30, s24, 0",
        "s_mov_b32 s30, s24",
        "random",
        "out-of-bounds",
        variant="waves1",
    ),
    Fault(REPLAY, "s_min_u32 s31, s31, s25", "s_nop 0", "slots", "out-of-bounds", variant="waves8"),
    Fault(
        REPLAY,
        "s_add_u32 s14, s14, s29\n\ts_addc_u32 s15, s15, 0",
        "s_add_u32 s14, s14, s29",
        "slots",
        "out-of-bounds",
        variant="waves1",
    ),
    Fault(
        REPLAY,
        "s_waitcnt vmcnt(0)                                        // v and k",
        "s_nop 0 //",
        "random",
        "missing-wait",
        variant="waves1",
    ),
    Fault(CONV, "s_cselect_b32 s26, 0x6000, 0", "s_mov_b32 s26, 0x6000", "random", "out-of-bounds"),
    Fault(CONV, "s_cmp_eq_u32 s21, -1", "s_cmp_eq_u32 s21, -2", "skipped", "out-of-bounds"),
    Fault(PREFILL, "s_waitcnt vmcnt(8)", "s_waitcnt vmcnt(9)", "random", "missing-wait"),
    Fault(PREFILL, "\ts_barrier\n", "\ts_nop 0\n", "random", "lds-race"),
    Fault(PREFILL, "v_min_u32 v15, s29, v8", "v_mov_b32 v15, v8", "random", "out-of-bounds"),
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
    count = QUICK_CASES.get((tactic, variant), 4)
    chosen = chosen_launches(tactic, seed, is_full, SLOW, lambda cases: sample(cases, count))
    for case, number in chosen:
        launch = scenario(tactic, variant, case, number)
        assert launched(prepared, launch) == ([], []), launch.label


@pytest.mark.parametrize("fault", WRONG_VALUES, ids=Fault.label)
def test_a_wrong_value_is_seen(root: Path, toolchain: Toolchain, fault: Fault) -> None:
    findings, lines = launched(*faulty(root, toolchain, fault))
    if fault.seen == "fault":  # The change is seen, as whatever it is.
        assert [*findings, *lines] != []
    else:
        assert [line for line in lines if line.startswith(f'output "{fault.seen}"')] != []


@pytest.mark.parametrize("fault", FINDINGS, ids=Fault.label)
def test_a_fault_of_order_is_found(root: Path, toolchain: Toolchain, fault: Fault) -> None:
    assert fault.seen in found_kinds(*faulty(root, toolchain, fault))
