"""Speed of the functional model on the golden kernels: ``./netra python bench/bench_simulate.py``.

Prints millions of wave-instructions per second of wall and of CPU time, the best of several runs,
with all checks on and off. The last column divides CPU speed with checks on by that of a bare numpy
multiplication of as many wavefronts, measured between the runs: it changes little when other
programs share the machine. Run it with ``OPENBLAS_NUM_THREADS=1``, so that CPU time is comparable.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.tools.toolchain import Toolchain, find_toolchain
from netra_build.checkasm.model.arrays import LANES
from netra_build.checkasm.model.findings import Checks
from netra_build.checkasm.model.launch import BATCH_WAVES, Options, Prepared, prepare
from netra_build.checkasm.numerics.scenario import Scenario
from netra_build.checkasm.numerics.statements import read_statement, stated_tactics
from netra_build.checkasm.numerics.suite import load_suite
from netra_build.core.disk import RealDisk
from netra_build.formats.library import Library

ROOT = Path(__file__).resolve().parent.parent
OFF = Checks(waits=False, races=False, bounds=False, uninitialised=False, kernargs=False)
REPEATED = {"moe_silu_quant_decode_m1": 64}
"""Launches of a few wavefronts say what a launch costs; these are measured with as many tokens
too, every array and number of the scenario repeated or multiplied."""

REFERENCE_STEPS = 200


@dataclass(frozen=True)
class Speed:
    """Seconds of one launch, and what it executed."""

    executed: int
    wall: float
    cpu: float

    def shorter(self, other: Speed) -> Speed:
        """Return the best of both, each clock on its own."""
        return Speed(self.executed, min(self.wall, other.wall), min(self.cpu, other.cpu))


def prepared_golden(toolchain: Toolchain, tactic: str, variant: str) -> Prepared | None:
    """Return a golden kernel ready to be launched, or None when it has no source here."""
    source = ROOT / "golden" / "gfx950" / tactic / variant / "kernel.s"
    if not source.is_file():
        return None
    hsaco = toolchain.link([toolchain.assemble(source.read_bytes())])
    symbol = read_code_object(hsaco, tactic).kernels[0].symbol
    return prepare(hsaco, symbol, toolchain, tactic)


def repeated(launch: Scenario, times: int) -> Scenario:
    """Return the launch for ``times`` as many tokens; its work-groups are rows of all arrays."""
    values = {
        name: np.concatenate([value] * times) if isinstance(value, np.ndarray) else value * times
        for name, value in launch.values.items()
    }
    grid = (launch.grid[0] * times, *launch.grid[1:])
    return replace(launch, values=values, grid=grid)


def once(prepared: Prepared, launch: Scenario, checks: Checks) -> Speed:
    """Run one launch."""
    wall, cpu = time.perf_counter(), time.process_time()
    args = list(launch.values.values())
    outcome = prepared.launch(launch.grid, launch.block, args, Options(checks=checks))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return Speed(outcome.report.wave_instructions, wall, cpu)


def reference() -> Speed:
    """Run what a model without any overhead would do for vector instructions."""
    a = np.full((BATCH_WAVES, LANES), 1.5, np.float32)
    result = np.empty_like(a)
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(REFERENCE_STEPS):
        np.multiply(a, a, out=result)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return Speed(REFERENCE_STEPS * BATCH_WAVES, wall, cpu)


def print_row(name: str, prepared: Prepared, launch: Scenario, runs: int) -> None:
    """Measure one launch and print its row."""
    once(prepared, launch, Checks())
    on, off = once(prepared, launch, Checks()), once(prepared, launch, OFF)
    bare = reference()
    for _ in range(runs - 1):
        on, bare = on.shorter(once(prepared, launch, Checks())), bare.shorter(reference())
        off = off.shorter(once(prepared, launch, OFF))
    speed = on.executed / on.cpu
    print(
        f"{name:52}{on.executed:12}{on.wall * 1e3:8.1f}{on.executed / on.wall / 1e6:8.2f}"
        f"{speed / 1e6:8.2f}{off.executed / off.cpu / 1e6:8.2f}"
        f"{speed * bare.cpu / bare.executed:8.1%}",
        flush=True,
    )


def main() -> None:
    """Measure the tactics whose id holds the given word, all without one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    toolchain = find_toolchain(None)
    head = f"{'wave-instr.':>12}{'ms':>8}{'M/s':>8}{'M/cpu s':>8}{'no chk':>8}{'of bare':>8}"
    print(f"{'tactic':52}{head}")
    library = Library(ROOT, RealDisk())
    for tactic in stated_tactics(library):
        suite = load_suite(read_statement(library, tactic))
        for variant in suite.entry.specializations:
            prepared = prepared_golden(toolchain, tactic, variant) if args.word in tactic else None
            if prepared is None:
                continue
            name, launch = f"{tactic} {variant}".strip(), suite.scenario(variant)
            print_row(name, prepared, launch, args.runs)
            if times := REPEATED.get(tactic):
                print_row(f"{name}, x {times}", prepared, repeated(launch, times), args.runs)


if __name__ == "__main__":
    main()
