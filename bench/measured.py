"""Run a command and say what it took: wall clock, processor time of its whole tree, peak memory."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """What a command took. ``cpu`` is user and system time of it and all it started and waited
    for, ``peak_mb`` the memory of its largest process; both times are seconds."""

    wall: float
    cpu: float
    peak_mb: float
    output: str = ""

    def __add__(self, other: Cost) -> Cost:
        peak = max(self.peak_mb, other.peak_mb)
        return Cost(self.wall + other.wall, self.cpu + other.cpu, peak, self.output + other.output)


def measure(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Cost:
    """Run ``command`` in ``folder``; ``SystemExit`` with what it printed when it fails."""
    with (folder / ".bench-output").open("w+b") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}\n{text[-3000:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)
