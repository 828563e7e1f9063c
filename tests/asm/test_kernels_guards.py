"""Guards: a unit whose constants a template does not support is refused, and says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_cases import CASES, CHOSEN, FIXED
from kernel_sources import TEMPLATES, closure_of, constants_of, errors, first_choice, unit_of

from netra_build.asm.source.closure import include_closure
from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain

SILU = "moe_silu_quant_decode_m1"


@pytest.mark.parametrize("tactic", CASES)
def test_the_right_constants_are_accepted(root: Path, toolchain: Toolchain, tactic: str) -> None:
    assert errors(root, toolchain, tactic, constants_of(tactic, first_choice(tactic))) == []


@pytest.mark.parametrize(("tactic", "constant"), FIXED)
def test_a_wrong_or_missing_constant_is_refused(
    root: Path, toolchain: Toolchain, tactic: str, constant: str
) -> None:
    constants = constants_of(tactic, first_choice(tactic))
    right = constants.pop(constant)
    missing = errors(root, toolchain, tactic, constants)
    assert missing == [f"{constant} is not set; expected {right}"]
    wrong = errors(root, toolchain, tactic, {**constants, constant: right + 32})
    assert wrong == [f"{constant} has another value; expected {right}, got {right + 32}"]


@pytest.mark.parametrize(("tactic", "constant"), CHOSEN)
def test_a_wrong_or_missing_choice_is_refused(
    root: Path, toolchain: Toolchain, tactic: str, constant: str
) -> None:
    constants, choice = constants_of(tactic, first_choice(tactic)), CASES[tactic].choice
    right = constants.pop(constant)
    is_open = choice is not None and choice.constant == constant
    known = ", ".join(map(str, choice.values if is_open else (right,)))
    missing = errors(root, toolchain, tactic, constants)
    assert missing == [f"{constant} is not set; expected one of {known}"]
    wrong = errors(root, toolchain, tactic, {**constants, constant: 2})
    assert wrong == [f"{constant} has another value; expected one of {known}, got 2"]


def test_each_wrong_constant_is_named(root: Path, toolchain: Toolchain) -> None:
    """Two faults are two messages; what would follow from them is not reported."""
    constants = {**constants_of(SILU, 0), "NETRA_M": -4, "NETRA_TOPK": 8}
    assert errors(root, toolchain, SILU, constants) == [
        "NETRA_M has another value; expected 1, got -4",
        "NETRA_TOPK has another value; expected 9, got 8",
    ]


def test_the_error_is_placed_at_the_instance(root: Path, toolchain: Toolchain) -> None:
    files = {**closure_of(root, SILU).data_by_name, "unit.s": unit_of(SILU, {})}
    with pytest.raises(AssemblyFailed) as failed:
        toolchain.assemble_tree(files, "unit.s")
    assert str(failed.value) == "unit.s:2:2: NETRA_TARGET_GFX is not set; expected 950"


def test_a_shift_by_no_power_of_two_is_refused(root: Path, toolchain: Toolchain) -> None:
    name = f"{TEMPLATES}/common/addressing.inc"
    closure = include_closure(name, lambda path: (root / path).read_bytes(), name)
    for value in (48, 0, -8):
        unit = f'\t.include "{name}"\n\tNETRA_LANE_OFFSET 1, 0, {value}\n'
        with pytest.raises(AssemblyFailed) as failed:
            toolchain.assemble_tree({**closure.data_by_name, "unit.s": unit.encode()}, "unit.s")
        assert str(failed.value) == (
            f"unit.s:2:2: a shift needs another value; expected a power of two, got {value}"
        )
