"""What all wavefronts of one batch of work-groups share: memory, budget, checks and findings."""

from __future__ import annotations

from dataclasses import dataclass, field

from netra_build.checkasm.model.arrays import Array, Scratch, first_true
from netra_build.checkasm.model.findings import Checks, Collector, Finding
from netra_build.checkasm.model.lds import LocalStore, Waves
from netra_build.checkasm.model.memory import AddressSpace
from netra_build.checkasm.model.operands import Decoded


@dataclass
class Batch:
    """The shared state of the wavefronts that run together."""

    memory: AddressSpace
    lds: LocalStore
    checks: Checks
    collector: Collector
    workgroup_ids: Array
    """int64[workgroups, 3]"""
    waves_per_workgroup: int
    accum_offset: int
    budget: int
    """Cheap lock-step instructions that may still run; expensive ones count several times."""
    scratch: Scratch = field(default_factory=Scratch)
    serial: int = 0

    def next_serial(self) -> int:
        """Return a number that no other memory operation has."""
        self.serial += 1
        return self.serial

    def charge(self, steps: int) -> None:
        """Take from the budget what an instruction costs beyond its weight, in cheap ones."""
        self.budget -= steps

    def register_name(self, row: int) -> str:
        """Name a row of the vector register file."""
        if row >= self.accum_offset:
            return f"a{row - self.accum_offset}"
        return f"v{row}"

    def report(self, kind: str, source: Decoded, g: Waves, bad: Array, detail: str) -> None:
        """Record one finding; ``bad`` is bool[n, 64], or bool[n, 1] when it concerns no lane."""
        if not self.checks.reports(kind):
            return
        row, lane = first_true(bad)
        x, y, z = (int(i) for i in self.workgroup_ids[g.workgroup[row]])
        wave = int(g.wave[row]) % self.waves_per_workgroup
        place = lane if bad.shape[1] > 1 else None
        self.collector.add(Finding(kind, source.pc, source.text, (x, y, z), wave, place, detail))
