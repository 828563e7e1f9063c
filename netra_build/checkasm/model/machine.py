"""The machine: runs groups of wavefronts, splits and joins them, releases barriers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from netra_build.asm.objects.disassembly import Instruction
from netra_build.checkasm.model.arrays import Array, Scratch, first_true
from netra_build.checkasm.model.findings import (
    DIVERGENT_BARRIER,
    ENDLESS_LOOP,
    KERNARG_OVER_READ,
    LDS_OUT_OF_BOUNDS,
    LDS_RACE,
    LOST_PROGRAM_COUNTER,
    MISSING_WAIT,
    OUT_OF_BOUNDS,
    UNINITIALISED,
    UNINITIALISED_LDS,
    Collector,
    Finding,
)
from netra_build.checkasm.model.group import Group
from netra_build.checkasm.model.interfaces import Outcome
from netra_build.checkasm.model.lds import LocalStore
from netra_build.checkasm.model.memory import AddressSpace
from netra_build.checkasm.model.operands import Decoded, Unsupported, refuse
from netra_build.core.errors import BadInput, NetraError

Run = Callable[[Group], Outcome]


MAX_HISTORY_BYTES = 1 << 28
"""What may be recorded lane by lane of the operations of wavefronts that met again."""

COPY_BYTES_PER_STEP = 1 << 16
"""Bytes that are copied in about the time of one cheap instruction."""


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


@dataclass
class Step:
    """One decoded instruction with its semantics and how often wavefronts executed it."""

    run: Run
    next_pc: int
    source: Decoded
    weight: int = 1
    """What one execution takes of the budget, in cheap instructions."""
    count: int = 0


class Program:
    """Instructions by address, turned into semantics when they are first executed."""

    def __init__(
        self,
        instructions: Mapping[int, Instruction],
        build: Callable[[Instruction], Step],
        location: str,
    ) -> None:
        self._instructions = instructions
        self._build = build
        self._location = location
        self.steps: dict[int, Step] = {}

    def rebuilt(self, build: Callable[[Instruction], Step]) -> Program:
        """Return a program of the same instructions, with other semantics and no counts."""
        return Program(self._instructions, build, self._location)

    def mnemonics(self) -> set[str]:
        """Return the mnemonics in the code, without encoding suffixes."""
        return {one.mnemonic.removesuffix("_e32").removesuffix("_e64")
                for one in self._instructions.values()}  # fmt: skip

    def step(self, pc: int) -> Step | None:
        """Return the step at ``pc``, or None when no instruction starts there."""
        step = self.steps.get(pc)
        if step is not None:
            return step
        instruction = self._instructions.get(pc)
        if instruction is None:
            return None
        try:
            step = self._build(instruction)
        except Unsupported as reason:
            raise refuse(instruction, self._location, str(reason)) from None
        except (IndexError, KeyError, ValueError, AttributeError, TypeError):
            raise refuse(instruction, self._location, "the operands") from None
        self.steps[pc] = step
        return step

    def counts(self) -> dict[int, int]:
        """Return the wave-instructions executed, by address."""
        return {pc: step.count for pc, step in self.steps.items()}

    def counts_since(self, before: Mapping[int, int]) -> dict[str, int]:
        """Return the wave-instructions executed since ``before``, by mnemonic in order."""
        result: dict[str, int] = {}
        for pc, step in self.steps.items():
            more = step.count - before.get(pc, 0)
            if more:
                name = step.source.source.mnemonic
                result[name] = result.get(name, 0) + more
        return dict(sorted(result.items()))


@dataclass
class Machine:
    """Everything that the wavefronts of one batch of work-groups share."""

    program: Program
    memory: AddressSpace
    lds: LocalStore
    checks: Checks
    collector: Collector
    workgroup_ids: Array
    """int64[workgroups, 3]"""
    waves_per_workgroup: int
    accum_offset: int
    budget: int
    """Cheap lock-step instructions that may still run; dear ones count several times."""
    location: str
    code_base: int = 0
    """Address at which the code object is loaded; program counters count from it."""
    waiting: list[tuple[Group, Step]] = field(default_factory=list)
    serial: int = 0
    scratch: Scratch = field(default_factory=Scratch)
    ended: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        self.ended = np.zeros(len(self.workgroup_ids), np.int64)

    def next_serial(self) -> int:
        """Return a number that no other memory operation has."""
        self.serial += 1
        return self.serial

    def register_name(self, row: int) -> str:
        """Name a row of the vector register file."""
        if row >= self.accum_offset:
            return f"a{row - self.accum_offset}"
        return f"v{row}"

    def report(self, kind: str, source: Decoded, g: Group, bad: Array, detail: str) -> None:
        """Record one finding; ``bad`` is bool[n, 64], or bool[n, 1] when no lane is to blame."""
        if not self.checks.reports(kind):
            return
        row, lane = first_true(bad)
        x, y, z = (int(i) for i in self.workgroup_ids[g.workgroup[row]])
        self.collector.add(
            Finding(
                kind,
                source.pc,
                source.text,
                (x, y, z),
                int(g.wave[row]) % self.waves_per_workgroup,
                lane if bad.shape[1] > 1 else None,
                detail,
            )
        )

    # Running

    def run(self, first: Group) -> None:
        """Run until every wavefront has ended, or a finding stops the batch."""
        runnable = [first]
        while runnable or self.waiting:
            if not runnable:
                runnable = self._release()
                continue
            group, runnable = self._pick(runnable)
            limit = min((g.pc for g in runnable), default=1 << 62)
            runnable.extend(self._advance(group, limit))
            if self.budget <= 0:
                return

    def _pick(self, runnable: list[Group]) -> tuple[Group, list[Group]]:
        """Take out the group with the lowest program counter, joined with those that met it."""
        lowest = min(g.pc for g in runnable)
        here = [g for g in runnable if g.pc == lowest]
        group = here[0]
        apart = [g for g in runnable if g.pc != lowest]
        for other in here[1:]:
            if other.mode == group.mode:
                group = group.join(other)
                self._charge_copy(group)
                self._refuse_histories(group)
            else:
                apart.append(other)
        return group, apart

    def _refuse_histories(self, g: Group) -> None:
        """Refuse what would take too much memory: every wavefront with accesses of its own."""
        size = g.board.size_bytes()
        if size > MAX_HISTORY_BYTES:
            raise BadInput(
                f"too many different memory operations are under way at {g.pc:#x}",
                location=self.location,
                expected=f"records of at most {MAX_HISTORY_BYTES} bytes",
                got=size,
            )

    def _advance(self, g: Group, limit: int) -> list[Group]:
        """Run ``g`` until it splits, ends, waits, or meets the other groups at ``limit``."""
        step: Step | None = None
        program, steps = self.program, self.program.steps
        pc = g.pc
        try:
            while True:
                step = steps.get(pc) or program.step(pc)
                if step is None:
                    return self._lost(g, pc)
                step.count += g.n
                self.budget -= step.weight
                if self.budget <= 0:
                    return self._exhausted(g, step)
                outcome = step.run(g)
                if outcome is None:
                    g.pc = pc = step.next_pc
                elif isinstance(outcome, int):
                    g.pc = pc = outcome
                else:
                    return outcome
                if pc >= limit:
                    return [g]
        except NetraError:
            raise
        except Unsupported as reason:
            assert step is not None
            raise refuse(step.source.source, self.location, str(reason)) from None
        except Exception as error:
            assert step is not None
            what = f"it ({type(error).__name__}: {error})"
            raise refuse(step.source.source, self.location, what) from error

    def _exhausted(self, g: Group, step: Step) -> list[Group]:
        everyone = np.ones((g.n, 1), np.bool_)
        detail = "instruction budget is used up"
        self.report(ENDLESS_LOOP, step.source, g, everyone, detail)
        return []

    def _lost(self, g: Group, pc: int) -> list[Group]:
        """End wavefronts whose program counter points at no instruction."""
        known = next(iter(self.program.steps.values()), None)
        if known is None:
            raise BadInput(f"no instruction at {pc:#x}", location=self.location)
        where = Instruction(pc, "", "", (), 0, f"no instruction at {pc:#x}")
        source = Decoded(where, "", "", ())
        everyone = np.ones((g.n, 1), np.bool_)
        self.report(LOST_PROGRAM_COUNTER, source, g, everyone, "program counter left the code")
        return self.end(g)

    # Control flow that needs more than one wavefront

    def branch(self, g: Group, taken: Array, target: int, next_pc: int) -> Outcome:
        """Jump where ``taken`` (bool[n]) says so; a disagreement splits the group."""
        if taken.all():
            return target
        if not taken.any():
            return next_pc
        self._charge_copy(g)
        there, here = g.take(np.flatnonzero(taken)), g.take(np.flatnonzero(~taken))
        there.pc, here.pc = target, next_pc
        return [here, there]

    def charge(self, steps: int) -> None:
        """Take from the budget what an instruction costs beyond its weight, in cheap ones."""
        self.budget -= steps

    def _charge_copy(self, g: Group) -> None:
        """Splitting and joining copy registers: a program may not do that without end."""
        self.charge(g.V.nbytes // COPY_BYTES_PER_STEP)

    def end(self, g: Group) -> list[Group]:
        """Note that all wavefronts of ``g`` ended."""
        np.add.at(self.ended, g.workgroup, 1)
        return []

    def barrier(self, g: Group, step_source: Decoded) -> Outcome:
        """Make ``g`` wait until all wavefronts of its work-groups arrive."""
        if self.waves_per_workgroup == 1:
            self._cross(g)
            return None
        arrived = np.bincount(g.workgroup, minlength=len(self.ended))
        if not self.waiting and np.all((arrived == 0) | (arrived == self.waves_per_workgroup)):
            self._cross(g)
            return None
        g.pc = step_source.next_pc
        self.waiting.append((g, Step(lambda _: None, g.pc, step_source)))
        return []

    def _cross(self, g: Group) -> None:
        self.lds.epoch[np.unique(g.workgroup)] += np.uint32(1)
        self.lds.cross_barrier(g)

    def _release(self) -> list[Group]:
        """Let everyone pass: nobody runs any more, so all that are alive have arrived."""
        waiting, self.waiting = self.waiting, []
        self._check_barrier(waiting)
        touched = np.unique(np.concatenate([g.workgroup for g, _ in waiting]))
        self.lds.epoch[touched] += np.uint32(1)
        for g, _ in waiting:
            self.lds.cross_barrier(g)
        return [g for g, _ in waiting]

    def _check_barrier(self, waiting: list[tuple[Group, Step]]) -> None:
        place = np.zeros(len(self.ended), np.int64)
        for g, step in waiting:
            left = self.ended[g.workgroup] > 0
            if left.any():
                detail = "some waves of the work-group have ended"
                self.report(DIVERGENT_BARRIER, step.source, g, left[:, None], detail)
            other = (place[g.workgroup] != 0) & (place[g.workgroup] != step.next_pc)
            if other.any() and self.checks.same_barrier:
                detail = "another wave of the work-group waits at a different barrier"
                self.report(DIVERGENT_BARRIER, step.source, g, other[:, None], detail)
            place[g.workgroup] = step.next_pc
