"""Every kernel: template and golden source give the same machine code, as its contract says."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_cases import BUILDS, CASES, GOLDEN_FAULTS
from kernel_sources import (
    closure_of,
    constants_of,
    differing,
    generated,
    golden,
    golden_text,
    unit_of,
)

from netra_build.asm.source.closure import flatten
from netra_build.asm.tools.toolchain import Toolchain


@pytest.mark.parametrize(("tactic", "value"), BUILDS)
def test_template_and_golden_source_are_equivalent(
    root: Path, toolchain: Toolchain, tactic: str, value: int
) -> None:
    ours = generated(root, toolchain, tactic, value, "any_other_name")
    assert differing(ours, golden(toolchain, golden_text(root, tactic, value))) == []


@pytest.mark.parametrize(("tactic", "value", "old", "new", "part"), GOLDEN_FAULTS)
def test_a_fault_in_the_golden_source_is_a_difference(
    root: Path, toolchain: Toolchain, tactic: str, value: int, old: str, new: str, part: str
) -> None:
    source = golden_text(root, tactic, value)
    assert old in source
    theirs = golden(toolchain, source.replace(old, new, 1))
    assert differing(generated(root, toolchain, tactic, value), theirs) == [part]


def test_every_kernel_has_a_seeded_fault() -> None:
    assert {tactic for tactic, *_ in GOLDEN_FAULTS} == set(CASES)


@pytest.mark.parametrize(("tactic", "value"), BUILDS)
def test_the_whole_object_differs_by_names_alone(
    root: Path, toolchain: Toolchain, tactic: str, value: int
) -> None:
    """Under the golden's name also the loaded symbols and their addresses are the same."""
    theirs = golden(toolchain, golden_text(root, tactic, value))
    ours = generated(root, toolchain, tactic, value, theirs.kernels[0].symbol)
    for name in (".text", ".rodata", ".note", ".dynsym", ".dynstr", ".hash"):
        mine, other = ours.section(name), theirs.section(name)
        assert mine is not None
        assert mine == other, name


@pytest.mark.parametrize(("tactic", "value"), BUILDS)
def test_the_flat_unit_gives_the_same_object(
    root: Path, toolchain: Toolchain, tactic: str, value: int
) -> None:
    closure = closure_of(root, tactic)
    unit = unit_of(tactic, constants_of(tactic, value))
    raw = toolchain.assemble_tree({**closure.data_by_name, "unit.s": unit}, "unit.s")
    assert toolchain.assemble(flatten(unit, closure)) == raw


@pytest.mark.parametrize(("tactic", "value"), BUILDS)
def test_the_descriptor_declares_the_contract(
    root: Path, toolchain: Toolchain, tactic: str, value: int
) -> None:
    case, kernel = CASES[tactic], generated(root, toolchain, tactic, value).kernels[0]
    descriptor, metadata = kernel.descriptor, kernel.metadata
    assert metadata is not None
    ids = [getattr(descriptor, f"workgroup_id_{axis}") for axis in "xyz"]
    assert ids == [case.group_ids > at for at in range(3)]
    assert descriptor.kernarg_size == metadata.kernarg_segment_size == case.kernarg_bytes
    assert descriptor.group_segment_fixed_size == case.lds_bytes
    assert metadata.group_segment_fixed_size == case.lds_bytes
    assert metadata.max_flat_workgroup_size == case.work_items
    assert metadata.agpr_count == 0
    if case.registers is not None:
        assert (metadata.vgpr_count, metadata.sgpr_count) == case.registers
        assert descriptor.accum_offset == -(-case.registers[0] // 4) * 4
    assert descriptor.float_denorm_mode_32 == 3
    modes = (descriptor.ieee_mode, descriptor.dx10_clamp, descriptor.fp16_overflow)
    assert modes == (True, True, case.saturates)
