"""Damaged code objects and impossible launches: one error or a finding, in bounded time."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from netra_build.asm.objects.code_object import read_code_object
from netra_build.checkasm.model.arguments import Geometry, build_kernargs
from netra_build.checkasm.model.launch import Options, launch, prepare
from netra_build.checkasm.model.memory import AddressSpace
from netra_build.core.errors import BadInput, NetraError

DATA = np.arange(256, dtype=np.uint32)
BODY = """
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
s_mov_b32 s4, 4
s_waitcnt lgkmcnt(0)
.Lloop:
global_load_dword v2, v1, s[2:3]
s_waitcnt vmcnt(0)
ds_write_b32 v1, v2
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v3, v1
s_waitcnt lgkmcnt(0)
v_cvt_f32_u32 v4, v3
v_rcp_f32 v5, v4
v_fma_f32 v6, v4, v5, 1.0
global_store_dword v1, v3, s[2:3]
s_sub_u32 s4, s4, 1
s_cmp_lg_u32 s4, 0
s_cbranch_scc1 .Lloop
v_cmp_gt_u32 vcc, 64, v0
s_cbranch_vccnz .Lend
v_mfma_f32_16x16x16_bf16 v[8:11], v[2:3], v[4:5], 0
.Lend:
"""


@pytest.fixture(scope="module")
def hsaco(bench) -> bytes:
    return bench.build(BODY, lds=1024)


def fault(action, *arguments, **named) -> str:
    with pytest.raises(NetraError) as caught:
        action(*arguments, **named)
    assert type(caught.value) is BadInput
    return str(caught.value)


def attempt(bench, damaged: bytes) -> str:
    """Return what became of a damaged code object; anything but our errors escapes.

    Some bytes make LLVM's disassembler crash, which is a fault of the object.
    """
    try:
        prepared = prepare(damaged, "bench", bench.toolchain)
        options = Options(budget=20_000)
        report = prepared.launch((2, 1, 1), (128, 1, 1), [DATA], options).report
    except BadInput as error:
        return "refused" if "\n" not in error.line() else error.line()
    return "clean" if report.is_clean else "finding"


def test_damaged_instructions_are_refused_found_or_harmless(bench, hsaco, is_full):
    text = read_code_object(hsaco, "bench").section(".text")
    rng = random.Random(5)
    fates: Counter[str] = Counter()
    for _ in range(5_000 if is_full else 80):
        damaged = bytearray(hsaco)
        for _ in range(rng.choice((1, 2, 20))):
            damaged[text.offset + rng.randrange(text.size)] = rng.randrange(256)
        fates[attempt(bench, bytes(damaged))] += 1
    assert set(fates) == {"clean", "finding", "refused"}


def test_damage_anywhere_in_the_file(bench, hsaco, is_full):
    rng = random.Random(6)
    for _ in range(5_000 if is_full else 80):
        damaged = bytearray(hsaco)
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        assert attempt(bench, bytes(damaged)) in ("clean", "finding", "refused")


def test_cut_files(bench, hsaco):
    for size in range(0, len(hsaco), 997):
        assert attempt(bench, hsaco[:size]) == "refused"


def run(bench, hsaco, grid=(1, 1, 1), block=(64, 1, 1), args=(DATA,), **options):
    return launch(hsaco, "bench", grid, block, args, toolchain=bench.toolchain, **options)


def test_launch_sizes(bench, hsaco):
    sizes = "code object: grid and block need three sizes of at least one"
    assert fault(run, bench, hsaco, (0, 1, 1)) == sizes
    assert fault(run, bench, hsaco, block=(64, -1, -1)) == sizes
    assert fault(run, bench, hsaco, (1, 1)) == sizes
    assert fault(run, bench, hsaco, block=(1025, 1, 1)) == (
        "code object: block is too large; expected at most 1024, got 1025"
    )
    assert fault(run, bench, hsaco, (1 << 30, 1, 1)) == (
        "code object: grid is too large; expected at most 4194304 waves, got 1073741824"
    )


def test_arguments(bench, hsaco):
    assert fault(run, bench, hsaco, args=()) == ("wrong number of arguments; expected 1, got 0")
    assert fault(run, bench, hsaco, args={"date": DATA}) == (
        'kernel has no argument "date"\nhint: did you mean "data"?'
    )
    assert fault(run, bench, hsaco, args={}) == 'argument "data" is missing'
    assert fault(run, bench, hsaco, args=[5]) == (
        'argument "data" is a pointer; expected an array, or 0 for a null pointer, got int'
    )
    assert fault(run, bench, hsaco, args=b"1234") == (
        "kernarg segment has the wrong size; expected 8, got 4"
    )


def test_numbers_as_arguments(bench, toolchain):
    code = read_code_object(bench.build("s_nop 0", ("a", "b")), "bench")
    (kernel,) = code.kernels
    assert kernel.metadata is not None
    first, second = kernel.metadata.arguments
    arguments = (replace(first, value_kind="by_value", size=4), replace(second, value_kind="x"))
    metadata = replace(kernel.metadata, arguments=arguments)
    geometry = Geometry((1, 1, 1), (64, 1, 1))

    def build(a, b=0):
        return build_kernargs(metadata, 16, [a, b], geometry, AddressSpace(), 0)

    assert fault(build, 1 << 32) == 'argument "a" does not fit; expected 4 bytes, got 4294967296'
    assert fault(build, "x") == (
        'argument "a" has the wrong type; expected a number or an array of 4 bytes, got str'
    )
    assert fault(build, -1) == 'argument "b" is a x, which is not modelled'


def test_null_pointers_are_out_of_bounds(bench, hsaco):
    outcome = run(bench, hsaco, args=[0], options=Options(max_findings=1))
    assert next(iter(outcome.report.counts)) == "out-of-bounds"


def test_unknown_kernel(bench, hsaco):
    assert (
        fault(launch, hsaco, "bunch", (1, 1, 1), (64, 1, 1), [DATA], toolchain=bench.toolchain)
        == 'code object: code object has no kernel "bunch"; it has "bench"'
    )


HINT = "\nhint: the functional model refuses what it does not implement, it never guesses"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("s_memtime s[2:3]", 'instruction "s_memtime"'),
        ("v_mov_b32 v127, v0\nv_mov_b32 v3, v120", '"v120", which lies outside the 120 allocated,'),
        ("s_getreg_b32 s2, hwreg(HW_REG_HW_ID)", '"hwreg(HW_REG_HW_ID)"'),
        ("v_mov_b32 v1, 1.0\nv_mul_f32_e64 v2, v1, v1 mul:2", "output multiplier"),
        (
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1",
            "a rounding mode other than nearest even",
        ),
        (
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 0",
            "flushing of half and double subnormals",
        ),
        (
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0",
            "MODE without IEEE mode or DX10 clamping",
        ),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 1), 1", "a MODE field that is not modelled"),
        ("s_mov_b64 s[2:3], src_shared_base", 'operand "src_shared_base"'),
        ("s_mov_b64 exec, 1\nv_permlane32_swap_b32 v0, v0", "lanes switched off"),
    ],
)
def test_what_is_not_modelled_is_refused_by_name_and_address(bench, text, what):
    vgprs = {"vgprs": 120, "accum": 120} if "v120" in text else {}
    text = text.replace("v_mov_b32 v127, v0\n", "")
    message = fault(bench.launch, text, {"data": DATA}, **vgprs)
    head, _, tail = message.partition(' in "')
    assert head == f"bench: cannot execute {what}"
    instruction, _, place = tail.partition('" at ')
    assert int(place.removesuffix(HINT), 16) >= 0
    assert instruction.split()[0].startswith(text.splitlines()[-1].split()[0].split("_e64")[0])
    assert place.endswith(HINT)


@pytest.mark.parametrize(
    ("directive", "what"),
    [
        (".amdhsa_private_segment_fixed_size 16", "private memory"),
        (".amdhsa_float_denorm_mode_16_64 0", "flushing of half and double subnormals"),
        (".amdhsa_float_round_mode_32 1", "a rounding mode other than nearest"),
        (".amdhsa_uses_dynamic_stack 1", "a dynamic stack"),
    ],
)
def test_descriptors_that_ask_for_more(bench, directive, what):
    message = fault(bench.launch, "s_nop 0", {"data": DATA}, extra=directive)
    assert message == f"bench: kernel asks for {what}, which is not modelled"


def test_a_program_may_not_copy_registers_without_end(bench):
    """Splitting and joining in every turn takes from the budget what it costs."""
    body = """
    v_readfirstlane_b32 s4, v0
    .Lagain:
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc1 .Lagain
    s_nop 0
    s_branch .Lagain
    """
    outcome = bench.launch(body, {"data": DATA}, block=(1024, 1, 1), budget=100_000)
    assert list(outcome.report.counts) == ["endless-loop"]
    assert outcome.report.wave_instructions < 1_600_000


@pytest.mark.parametrize(
    ("setup", "dear"),
    [
        ("v_mov_b32 v3, 1.0", "v_fma_f64 v[4:5], v[2:3], v[2:3], v[2:3]"),
        ("v_mov_b32 v3, 1.0", "v_rsq_f64 v[4:5], v[2:3]"),
        ("v_mov_b32 v3, 0", "global_atomic_add v3, v2, s[2:3]"),
        ("v_mov_b32 v3, 0\nds_write_b32 v3, v3", "ds_add_u32 v3, v2"),
        (
            "v_mov_b32 v4, 0x7f00\nv_mov_b32 v6, 0x3f803f80\nv_mov_b32 v7, v6\n"
            "v_and_b32 v5, 0x7f, v0\nv_add_u32 v5, 0xff003f00, v5",
            "v_mfma_f32_16x16x16_bf16 v[8:11], v[4:5], v[6:7], 0",
        ),
    ],
    ids=["fraction", "root", "atomic", "lds-atomic", "cancelling-matrix"],
)
def test_dear_instructions_take_more_of_the_budget(bench, setup, dear):
    """What goes element by element is charged for them: a loop of it ends early."""
    head = "s_load_dwordx2 s[2:3], s[0:1], 0x0\nv_mov_b32 v2, v0"
    body = f"{head}\n{setup}\ns_waitcnt lgkmcnt(0)\n.La:\n{dear}\ns_branch .La"
    launch = {"grid": (4, 1, 1), "block": (1024, 1, 1), "budget": 20_000, "lds": 16}
    outcome = bench.launch(body, {"data": DATA}, **launch)
    assert outcome.report.counts["endless-loop"] == 1
    assert outcome.report.wave_instructions < 64 * 60


def test_histories_of_wavefronts_take_bounded_memory(bench, monkeypatch):
    """Wavefronts that part, access LDS on their own and meet again are recorded one by one."""
    body = """
    v_lshlrev_b32 v1, 2, v0
    v_readfirstlane_b32 s4, v1
    s_mov_b32 s5, 0
    ds_write_b32 v1, v1
    s_waitcnt lgkmcnt(0)
    .Lagain:
    s_cmp_lg_u32 s4, s5
    s_cbranch_scc1 .Lothers
    ds_read_b32 v2, v1
    .Lothers:
    s_addk_i32 s5, 256
    s_cmp_lt_u32 s5, 4096
    s_cbranch_scc1 .Lagain
    """
    launch = {"block": (1024, 1, 1), "lds": 4096}
    assert bench.lines(bench.launch(body, {"data": DATA}, **launch)) == []
    monkeypatch.setattr("netra_build.checkasm.model.machine.MAX_HISTORY_BYTES", 20_000)
    message = fault(bench.launch, body, {"data": DATA}, **launch)
    head, _, tail = message.partition(" at 0x")
    assert head == "bench: too many different memory operations are under way"
    assert tail.partition("; ")[2].startswith("expected records of at most 20000 bytes, got ")
