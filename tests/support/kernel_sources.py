"""Instances and golden sources of our kernels, and what is made of them."""

from __future__ import annotations

from pathlib import Path

from kernel_cases import CASES, TARGET

from netra_build.asm.objects.code_object import CodeObject, read_code_object
from netra_build.asm.objects.metadata import normalised
from netra_build.asm.source.closure import Closure, include_closure
from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain

TEMPLATES = "kernels/gfx950/templates"


def first_choice(tactic: str) -> int:
    """Return a value of the kernel's choice, zero where there is none."""
    choice = CASES[tactic].choice
    return choice.values[0] if choice else 0


def constants_of(tactic: str, value: int) -> dict[str, int]:
    """Return every constant of an instance."""
    case = CASES[tactic]
    chosen = {case.choice.constant: value} if case.choice else {}
    return {**TARGET, **case.constants, **case.definitions, **chosen}


def closure_of(root: Path, tactic: str) -> Closure:
    """Return the include closure of a kernel's template."""
    template = f"{TEMPLATES}/{CASES[tactic].template}"
    return include_closure(template, lambda name: (root / name).read_bytes(), template)


def unit_of(tactic: str, constants: dict[str, int], symbol: str = "k") -> bytes:
    """Return an instance under any name, with a second symbol where the macro takes one."""
    case = CASES[tactic]
    lines = [f"\t.set {name}, {value}" for name, value in constants.items()]
    symbols = f"{symbol}, {symbol}_dual" if case.takes_dual_symbol else symbol
    lines += [f'\t.include "{TEMPLATES}/{case.template}"', f"\t{case.macro} {symbols}", ""]
    return "\n".join(lines).encode()


def generated(
    root: Path, toolchain: Toolchain, tactic: str, value: int, symbol: str = "k"
) -> CodeObject:
    """Assemble and link the template's instance."""
    unit = unit_of(tactic, constants_of(tactic, value), symbol)
    files = {**closure_of(root, tactic).data_by_name, "unit.s": unit}
    return read_code_object(toolchain.link([toolchain.assemble_tree(files, "unit.s")]), symbol)


def errors(root: Path, toolchain: Toolchain, tactic: str, constants: dict[str, int]) -> list[str]:
    """Return the messages of the assembler about an instance."""
    files = {**closure_of(root, tactic).data_by_name, "unit.s": unit_of(tactic, constants)}
    try:
        toolchain.assemble_tree(files, "unit.s")
    except AssemblyFailed as failed:
        return [found.text for found in failed.diagnostics if found.severity == "error"]
    return []


def golden_text(root: Path, tactic: str, variant: str | int = "") -> str:
    """Return a golden source, by the name of its folder or the value of the kernel's choice."""
    if isinstance(variant, int):
        choice = CASES[tactic].choice
        variant = f"{choice.folder}{variant}" if choice else ""
    return (root / "golden/gfx950" / tactic / variant / "kernel.s").read_text(encoding="utf-8")


def linked(toolchain: Toolchain, source: str) -> bytes:
    """Assemble and link a source that includes nothing."""
    return toolchain.link([toolchain.assemble(source.encode())])


def golden(toolchain: Toolchain, source: str) -> CodeObject:
    """Assemble, link and decode a golden source."""
    return read_code_object(linked(toolchain, source), "golden.hsaco")


def parts(code: CodeObject) -> dict[str, object]:
    """Return the three parts that equivalence compares, free of names."""
    return {
        "text": code.text,
        "descriptor": code.kernels[0].descriptor.normalised(),
        "metadata": normalised(dict(code.metadata)),
    }


def differing(left: CodeObject, right: CodeObject) -> list[str]:
    """Return the names of the parts in which two code objects differ."""
    other = parts(right)
    return [name for name, part in parts(left).items() if part != other[name]]
