"""Speed of the functional model on the golden kernels: ``./netra python bench/bench_simulate.py``.

Prints wave-instructions per second, the best of three runs, with all checks on and off.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from netra_build.asm.code_object import read_code_object
from netra_build.asm.toolchain import Toolchain, find_toolchain
from netra_build.reference.scenario import Scenario
from netra_build.reference.scenarios import SCENARIOS, scenario
from netra_build.simulate.launch import Options, Prepared, prepare
from netra_build.simulate.machine import Checks

ROOT = Path(__file__).resolve().parent.parent
OFF = Checks(waits=False, races=False, bounds=False, uninitialised=False, kernargs=False)
RUNS = 3


def prepared_golden(toolchain: Toolchain, tactic: str, variant: str) -> Prepared | None:
    """Return a golden kernel ready to be launched, or None when it has no source here."""
    source = ROOT / "golden" / "gfx950" / tactic / variant / "kernel.s"
    if not source.is_file():
        return None
    hsaco = toolchain.link([toolchain.assemble(source.read_bytes())])
    symbol = read_code_object(hsaco, tactic).kernels[0].symbol
    return prepare(hsaco, symbol, toolchain, tactic)


def best(prepared: Prepared, launch: Scenario, checks: Checks) -> tuple[int, float]:
    """Return the wave-instructions of one launch and the shortest time it took, in seconds."""
    shortest, executed = float("inf"), 0
    for _ in range(RUNS):
        start = time.perf_counter()
        args = list(launch.values.values())
        outcome = prepared.launch(launch.grid, launch.block, args, Options(checks=checks))
        shortest = min(shortest, time.perf_counter() - start)
        executed = outcome.report.wave_instructions
    return executed, shortest


def main() -> None:
    """Measure the tactics whose id holds the given word, all without one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="")
    word = parser.parse_args().word
    toolchain = find_toolchain(None)
    print(f"{'tactic':52}{'wave-instr.':>12}{'ms':>8}{'M/s':>7}{'M/s, checks off':>17}")
    for tactic, entry in SCENARIOS.items():
        for variant in entry.specializations:
            prepared = prepared_golden(toolchain, tactic, variant) if word in tactic else None
            if prepared is None:
                continue
            launch = scenario(tactic, variant)
            executed, seconds = best(prepared, launch, Checks())
            _, unchecked = best(prepared, launch, OFF)
            row = f"{tactic} {variant}".strip()
            print(
                f"{row:52}{executed:12}{seconds * 1e3:8.0f}{executed / seconds / 1e6:7.2f}"
                f"{executed / unchecked / 1e6:17.2f}"
            )


if __name__ == "__main__":
    main()
