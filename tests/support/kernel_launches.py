"""Golden sources of our kernels, as they are or with a fault, launched in the functional model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kernel_sources import golden_text
from kernel_statements import entry_of, scenario

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.model.launch import Options, Prepared, prepare
from netra_build.checkasm.numerics.scenario import Scenario

SEEDS = 20
"""Seeds of random inputs in a full run."""


@dataclass(frozen=True)
class Fault:
    """A change of a golden source and a launch that shows it."""

    tactic: str
    old: str
    new: str
    case: str
    seen: str
    """Output that differs, or kind of the finding."""
    variant: str = ""

    def label(self) -> str:
        """Return the name of the test that seeds this fault."""
        return f"{self.tactic}-{self.new}"


def assembled(toolchain: Toolchain, source: str, location: str) -> Prepared:
    """Assemble and link a source and make its kernel ready to be launched."""
    data = toolchain.link([toolchain.assemble(source.encode())])
    symbol = read_code_object(data, location).kernels[0].symbol
    return prepare(data, symbol, toolchain, location)


def faulty(root: Path, toolchain: Toolchain, fault: Fault) -> tuple[Prepared, Scenario]:
    """Return the changed kernel and the launch that shows the change."""
    source = golden_text(root, fault.tactic, fault.variant)
    assert fault.old in source
    prepared = assembled(toolchain, source.replace(fault.old, fault.new), fault.tactic)
    return prepared, scenario(fault.tactic, fault.variant, fault.case)


def launched(prepared: Prepared, launch: Scenario) -> tuple[list[str], list[str]]:
    """Return the lines of all findings, and of all outputs that differ or inputs that changed."""
    outcome = prepared.launch(launch.grid, launch.block, dict(launch.values), Options())
    results = [launch.values[name] for name in launch.expected]
    written = [
        f'input "{name}" was written'
        for name, array in outcome.outputs.items()
        if not any(launch.values[name] is result for result in results)
        and array.tobytes() != launch.values[name].tobytes()
    ]
    lines = [result.line() for result in launch.compare(outcome.outputs) if not result.is_equal]
    return [finding.line() for finding in outcome.report.findings], [*lines, *written]


def found_kinds(prepared: Prepared, launch: Scenario) -> set[str]:
    """Return the kinds of the findings of a launch."""
    outcome = prepared.launch(launch.grid, launch.block, dict(launch.values), Options())
    return {finding.kind for finding in outcome.report.findings}


def chosen_launches(
    tactic: str,
    seed: int,
    is_full: bool,
    slow: set[str],
    choose: Callable[[list[str]], list[str]],
) -> list[tuple[str, int]]:
    """Return (case, seed) of the launches of one run; a full run has every case and 20 seeds."""
    cases = [case for case in entry_of(tactic).cases if is_full or case not in slow]
    launches = [(case, seed) for case in choose(cases)]
    if is_full:
        launches += [("random", other) for other in range(seed + 1, seed + SEEDS)]
    return launches
