"""Every implemented instruction against an independent statement of what it does."""

from __future__ import annotations

from types import ModuleType

import every_compare
import every_convert
import every_float
import every_integer
import every_lane
import every_matrix
import every_memory
import every_scalar
import numpy as np
import pytest
from every_bench import helpers, run_rows
from every_operands import Row, row

from netra_build.checkasm.hazards.effects import known_mnemonics
from netra_build.checkasm.model.isa.catalogue import coverage
from netra_build.checkasm.model.isa.table import TABLE

MODULES = (
    every_integer,
    every_scalar,
    every_float,
    every_compare,
    every_convert,
    every_memory,
    every_lane,
    every_matrix,
)
ROWS = [each for module in MODULES for each in module.ROWS]
OWN_TESTS = {
    "s_endpgm": "test_nothing_runs_behind_the_end",
    "s_barrier": "test_barriers_hand_over_what_was_written",
}
"""Instructions that no row can hold, by the test of this file that shows them."""

NOT_TESTED: dict[str, str] = {}
"""Implemented instructions without an independent statement, with the reason. It must shrink."""


def waves_of(module: ModuleType) -> int:
    """A scalar instruction sees one set of operands per wavefront, a vector instruction 64."""
    return {every_scalar: 32, every_lane: 8, every_matrix: 1}.get(module, 2)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_rows_hold(bench, seed, is_full, module: ModuleType):
    waves = waves_of(module) * (6 if is_full else 1)
    assert run_rows(bench, module.ROWS, seed, waves) == {}


def without_rows(implemented: tuple[str, ...], rows: list[Row]) -> list[str]:
    """Return the instructions that nothing tests."""
    tested = {each.name for each in rows} | set(OWN_TESTS) | set(NOT_TESTED)
    return sorted(set(implemented) - tested)


def test_every_implemented_instruction_is_tested():
    assert without_rows(coverage(known_mnemonics()).implemented, ROWS) == []


def test_an_instruction_without_a_row_is_named():
    fewer = [each for each in ROWS if each.name != "v_lerp_u8"]
    assert without_rows(coverage(known_mnemonics()).implemented, fewer) == ["v_lerp_u8"]


def test_lists_of_exceptions_are_not_stale():
    names = {each.name for each in ROWS}
    implemented = set(coverage(known_mnemonics()).implemented)
    assert sorted(names - implemented) == []
    assert sorted((set(OWN_TESTS) | set(NOT_TESTED)) - implemented) == []
    assert sorted(set(NOT_TESTED) & (names | set(OWN_TESTS))) == []
    assert sorted(set(OWN_TESTS.values()) - set(globals())) == []
    assert sorted(implemented - known_mnemonics()) == []


def spelled(each: Row) -> bool:
    """Tell whether the row's text runs the instruction that the row is for."""
    words = (each.text or "{plain}").replace("{plain}", each.name).split()
    plain = [word.removesuffix("_e32").removesuffix("_sdwa") for word in words]
    return each.name in plain


def test_rows_run_the_instruction_they_name():
    assert [each.name for each in ROWS if not spelled(each)] == []
    assert not spelled(row("v_add_u32", "u32 : u32", abs, "v_sub_u32 {x}, {a}, 1"))


EXCHANGED = [
    ("v_sub_u32", "v_subrev_u32"),
    ("v_max_i32", "v_max_u32"),
    ("v_mul_hi_u32", "v_mul_hi_i32"),
    ("v_max3_f32", "v_med3_f32"),
    ("v_sqrt_f64", "v_rsq_f64"),
    ("v_floor_f16", "v_trunc_f16"),
    ("v_cmp_lt_f32", "v_cmp_nge_f32"),
    ("v_cmpx_le_i16", "v_cmpx_le_u16"),
    ("v_cvt_pk_f16_f32", "v_cvt_pkrtz_f16_f32"),
    ("v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32"),
    ("s_flbit_i32", "s_flbit_i32_b32"),
    ("s_cmp_gt_i32", "s_cmp_gt_u32"),
    ("s_orn1_saveexec_b64", "s_orn2_saveexec_b64"),
    ("s_cbranch_vccz", "s_cbranch_vccnz"),
    ("global_load_sbyte", "global_load_ubyte"),
    ("flat_atomic_smax_x2", "flat_atomic_umax_x2"),
    ("buffer_atomic_inc", "buffer_atomic_add"),
    ("ds_sub_u32", "ds_rsub_u32"),
    ("ds_read_b64_tr_b8", "ds_read_b64_tr_b16"),
    ("v_permlane16_swap_b32", "v_permlane32_swap_b32"),
    ("v_mfma_f32_16x16x32_fp8_bf8", "v_mfma_f32_16x16x32_bf8_fp8"),
]


def test_rows_notice_exchanged_instructions(bench, seed, monkeypatch):
    """Each of these does what its neighbour should do."""
    names = [name for pair in EXCHANGED for name in pair]
    chosen = [each for each in ROWS if each.name in [*names, "v_add_u32", "v_lerp_u8"]]
    for first, second in EXCHANGED:
        builders = TABLE[first], TABLE[second]
        monkeypatch.setitem(TABLE, second, builders[0])
        monkeypatch.setitem(TABLE, first, builders[1])
    found = {text.split()[0] for text in run_rows(bench, chosen, seed, 16)}
    assert sorted(found) == sorted(names)


QUIET = "buffer_inv buffer_wbl2 s_dcache_inv s_dcache_inv_vol s_dcache_wb s_dcache_wb_vol"
QUIET += " s_decperflevel s_icache_inv s_incperflevel s_nop s_setprio s_sleep s_ttracedata v_nop"
"""Instructions that the model is right to do nothing for."""


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_rows_notice_instructions_that_do_nothing(bench, seed, monkeypatch, module: ModuleType):
    """All at once, but for those that rows need beside the one that they are for."""
    names = {each.name for each in module.ROWS} - helpers(module.ROWS)
    assert len(names) > 0.75 * len({each.name for each in module.ROWS})
    for name in names:
        monkeypatch.setitem(TABLE, name, lambda form: lambda group: None)
    chosen = [each for each in module.ROWS if each.name in names]
    if module is every_matrix:
        chosen = list({each.name: each for each in chosen}.values())
    wrong = run_rows(bench, chosen, seed, waves_of(module), is_checked=False)
    found = {text.split()[0] for text in wrong}
    assert sorted(names - found) == sorted(set(QUIET.split()) & names)


def test_nothing_runs_behind_the_end(bench):
    body = """
    s_load_dwordx2 s[2:3], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 5
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[2:3]
    s_endpgm
    global_store_dword v1, v2, s[2:3] offset:256
    """
    outcome = bench.launch(body, {"data": np.zeros(128, np.uint32)})
    assert bench.lines(outcome) == []
    assert outcome.outputs["data"].tolist() == [5] * 64 + [0] * 64


def test_barriers_hand_over_what_was_written(bench):
    """Each of four wavefronts reads from LDS what the next one wrote before the barrier."""
    body = """
    s_load_dwordx2 s[2:3], s[0:1], 0x0
    v_and_b32 v0, 0x3ff, v0
    v_lshlrev_b32 v1, 2, v0
    v_mul_u32_u24 v2, 3, v0
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_add_u32 v3, 64, v0
    v_and_b32 v3, 0xff, v3
    v_lshlrev_b32 v3, 2, v3
    ds_read_b32 v4, v3
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v4, s[2:3]
    """
    data = {"data": np.zeros(256, np.uint32)}
    outcome = bench.twin(body, ("s_barrier", "s_nop 0"), data, block=(256, 1, 1), lds=1024)
    assert {kind for kind, *_ in bench.details(outcome)} == {"lds-race"}
    outcome = bench.launch(body, data, block=(256, 1, 1), lds=1024)
    assert outcome.outputs["data"].tolist() == [3 * ((i + 64) % 256) for i in range(256)]
