"""Guards: a unit whose constants a template does not support is refused, and says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from netra_build.asm.closure import include_closure
from netra_build.asm.diagnostics import AssemblyFailed, Diagnostic
from netra_build.asm.toolchain import Toolchain

TARGET = {"NETRA_TARGET_GFX": 950, "NETRA_WAVE_SIZE": 64}
SHAPE = {
    "NETRA_HIDDEN_SIZE": 2048,
    "NETRA_INTERMEDIATE_SIZE": 512,
    "NETRA_M": 1,
    "NETRA_SCALE_BLOCK": 128,
    "NETRA_TOPK": 9,
    "NETRA_WEIGHT_LAYOUT_ID": 1,
}
LEAVES = {
    "NETRA_MOE_GATE_UP_MFMA": ("moe/gate_up_fp8_mfma.inc", {**TARGET, **SHAPE}),
    "NETRA_MOE_SILU_QUANT": ("moe/silu_quant.inc", {**TARGET, **SHAPE}),
    "NETRA_MOE_DOWN_REDUCE_MFMA_2WAVE": (
        "moe/down_reduce_fp8_mfma_2wave.inc",
        {**TARGET, **SHAPE, "NETRA_WAVES_PER_WG": 2},
    ),
}
EVERY_CONSTANT = [
    (macro, constant) for macro, (_, constants) in LEAVES.items() for constant in constants
]


def errors(
    root: Path, toolchain: Toolchain, macro: str, constants: dict[str, int]
) -> list[Diagnostic]:
    """Assemble a leaf with these constants and return the errors of the assembler."""
    template = f"kernels/gfx950/templates/{LEAVES[macro][0]}"
    closure = include_closure(template, lambda name: (root / name).read_bytes(), template)
    lines = [f"\t.set {name}, {value}" for name, value in constants.items()]
    unit = "\n".join([*lines, f'\t.include "{template}"', f"\t{macro} k", ""])
    try:
        toolchain.assemble_tree({**closure.data_by_name, "unit.s": unit.encode()}, "unit.s")
    except AssemblyFailed as failed:
        return [found for found in failed.diagnostics if found.severity == "error"]
    return []


def test_the_right_constants_are_accepted(root: Path, toolchain: Toolchain) -> None:
    for macro, (_, constants) in LEAVES.items():
        assert errors(root, toolchain, macro, constants) == []


@pytest.mark.parametrize(("macro", "constant"), EVERY_CONSTANT)
def test_a_wrong_constant_is_refused(
    root: Path, toolchain: Toolchain, macro: str, constant: str
) -> None:
    constants = LEAVES[macro][1]
    right = constants[constant]
    found = errors(root, toolchain, macro, {**constants, constant: right + 32})
    assert [error.text for error in found] == [
        f"{constant} has another value; expected {right}, got {right + 32}"
    ]


@pytest.mark.parametrize(("macro", "constant"), EVERY_CONSTANT)
def test_a_missing_constant_is_refused(
    root: Path, toolchain: Toolchain, macro: str, constant: str
) -> None:
    constants = LEAVES[macro][1]
    rest = {name: value for name, value in constants.items() if name != constant}
    found = errors(root, toolchain, macro, rest)
    assert [error.text for error in found] == [
        f"{constant} is not set; expected {constants[constant]}"
    ]


def test_each_wrong_constant_is_named(root: Path, toolchain: Toolchain) -> None:
    """Two faults are two messages; what would follow from them is not reported."""
    macro = "NETRA_MOE_SILU_QUANT"
    constants = {**LEAVES[macro][1], "NETRA_M": -4, "NETRA_TOPK": 8}
    assert [error.text for error in errors(root, toolchain, macro, constants)] == [
        "NETRA_M has another value; expected 1, got -4",
        "NETRA_TOPK has another value; expected 9, got 8",
    ]


def test_the_error_is_placed_at_the_instance(root: Path, toolchain: Toolchain) -> None:
    macro = "NETRA_MOE_SILU_QUANT"
    template = f"kernels/gfx950/templates/{LEAVES[macro][0]}"
    closure = include_closure(template, lambda name: (root / name).read_bytes(), template)
    unit = f'\t.include "{template}"\n\t{macro} k\n'
    with pytest.raises(AssemblyFailed) as failed:
        toolchain.assemble_tree({**closure.data_by_name, "unit.s": unit.encode()}, "unit.s")
    assert str(failed.value) == "unit.s:2:2: NETRA_TARGET_GFX is not set; expected 950"


def test_a_shift_by_no_power_of_two_is_refused(root: Path, toolchain: Toolchain) -> None:
    name = "kernels/gfx950/templates/common/addressing.inc"
    closure = include_closure(name, lambda path: (root / path).read_bytes(), name)
    for value in (48, 0, -8):
        unit = f'\t.include "{name}"\n\tNETRA_LANE_OFFSET 1, 0, {value}\n'
        with pytest.raises(AssemblyFailed) as failed:
            toolchain.assemble_tree({**closure.data_by_name, "unit.s": unit.encode()}, "unit.s")
        assert str(failed.value) == (
            f"unit.s:2:2: a shift needs another value; expected a power of two, got {value}"
        )
