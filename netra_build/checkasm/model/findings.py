"""The dynamic checks: which ones report, what they found, and how much was executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

MISSING_WAIT = "missing-wait"
LDS_RACE = "lds-race"
OUT_OF_BOUNDS = "out-of-bounds"
LDS_OUT_OF_BOUNDS = "lds-out-of-bounds"
UNINITIALISED = "uninitialised-register"
UNINITIALISED_LDS = "uninitialised-lds"
KERNARG_OVER_READ = "kernarg-over-read"
LDS_OVER_BUDGET = "lds-over-budget"
DIVERGENT_BARRIER = "divergent-barrier"
ENDLESS_LOOP = "endless-loop"
LOST_PROGRAM_COUNTER = "lost-program-counter"
MEMORY_FAULT = "misaligned-access"

KEPT_PER_PLACE = 4
"""Stored findings of one kind at one instruction; further ones are only counted."""


@dataclass(frozen=True)
class Checks:
    """Which dynamic checks report; each can be switched off on its own."""

    waits: bool = True
    races: bool = True
    bounds: bool = True
    uninitialised: bool = True
    kernargs: bool = True
    barriers: bool = True
    same_barrier: bool = False
    """Also report wavefronts of one work-group that wait at different barriers. The hardware
    counts arrivals only, and hand-written kernels use that."""

    def reports(self, kind: str) -> bool:
        """True when findings of ``kind`` are wanted."""
        return bool(getattr(self, CHECK_BY_KIND.get(kind, ""), True))


CHECK_BY_KIND = {
    MISSING_WAIT: "waits",
    LDS_RACE: "races",
    OUT_OF_BOUNDS: "bounds",
    LDS_OUT_OF_BOUNDS: "bounds",
    UNINITIALISED: "uninitialised",
    UNINITIALISED_LDS: "uninitialised",
    KERNARG_OVER_READ: "kernargs",
    DIVERGENT_BARRIER: "barriers",
}
"""The switch that governs a kind of finding; kinds not named here always report."""


@dataclass(frozen=True)
class Finding:
    """One thing that the program did wrong, and where."""

    kind: str
    pc: int
    """Address of the instruction in the code object."""
    instruction: str
    workgroup: tuple[int, int, int]
    wave: int
    """Index of the wavefront in its work-group."""
    lane: int | None
    detail: str

    def line(self) -> str:
        """Return the finding as one line of text."""
        x, y, z = self.workgroup
        lane = "" if self.lane is None else f" lane {self.lane}"
        return (
            f'{self.pc:#x}: {self.kind}: {self.detail}; instruction "{self.instruction}", '
            f"work-group {x},{y},{z} wave {self.wave}{lane}"
        )


@dataclass(frozen=True)
class Report:
    """Findings and counters of one launch."""

    findings: tuple[Finding, ...]
    counts: Mapping[str, int]
    """Number of findings by kind, including those that were not stored."""
    wave_instructions: int
    instructions_by_mnemonic: Mapping[str, int]
    """Wave-instructions executed by mnemonic as the disassembler prints it."""

    @property
    def is_clean(self) -> bool:
        """True when no check found anything."""
        return not self.counts


@dataclass
class Collector:
    """Gathers findings while a launch runs; keeps the first ``limit`` and counts the rest."""

    limit: int
    kept: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    by_place: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, finding: Finding) -> None:
        """Count ``finding`` and keep it while there is room."""
        self.counts[finding.kind] += 1
        place = (finding.kind, finding.pc)
        self.by_place[place] += 1
        if self.by_place[place] <= KEPT_PER_PLACE and len(self.kept) < self.limit:
            self.kept.append(finding)
