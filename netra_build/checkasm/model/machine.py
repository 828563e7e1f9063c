"""The machine: runs groups of wavefronts, splits and joins them, releases barriers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.model.batch import Batch
from netra_build.checkasm.model.findings import (
    DIVERGENT_BARRIER,
    ENDLESS_LOOP,
    LOST_PROGRAM_COUNTER,
)
from netra_build.checkasm.model.group import Group, Run, Stop
from netra_build.checkasm.model.operands import Decoded, Unsupported, refuse
from netra_build.core.errors import BadInput, NetraError

MAX_HISTORY_BYTES = 1 << 28
"""Limit on lane-by-lane records of the operations of wavefronts that were joined again."""


@dataclass
class Step:
    """One decoded instruction with its semantics and how often wavefronts executed it."""

    run: Run
    next_pc: int
    source: Decoded
    weight: int = 1
    """Cost of one execution, in cheap instructions."""
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
        """Build the step at ``pc``; None when no instruction starts there."""
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


class Machine:
    """Runs the wavefronts of one batch of work-groups."""

    def __init__(self, program: Program, batch: Batch, location: str) -> None:
        self.program = program
        self.batch = batch
        self.location = location
        self._waiting: list[tuple[Group, Step]] = []
        self._ended = np.zeros(len(batch.workgroup_ids), np.int64)

    def run(self, first: Group) -> None:
        """Run until every wavefront has ended, or a finding stops the batch."""
        runnable = [first]
        while runnable or self._waiting:
            if not runnable:
                runnable = self._release()
                continue
            group, runnable = self._pick(runnable)
            limit = min((g.pc for g in runnable), default=1 << 62)
            runnable.extend(self._advance(group, limit))
            if self.batch.budget <= 0:
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
                group.charge_copy()
                self._refuse_histories(group)
            else:
                apart.append(other)
        return group, apart

    def _refuse_histories(self, g: Group) -> None:
        """Refuse code that needs too much memory: every wavefront with accesses of its own."""
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
        program, steps, batch = self.program, self.program.steps, self.batch
        try:
            while True:
                step = steps.get(g.pc) or program.step(g.pc)
                if step is None:
                    return self._lost(g)
                step.count += g.n
                batch.budget -= step.weight
                if batch.budget <= 0:
                    self._report_all(ENDLESS_LOOP, step.source, g, "instruction budget is used up")
                    return []
                outcome = step.run(g)
                if outcome is None:
                    g.pc = step.next_pc
                elif isinstance(outcome, int):
                    g.pc = outcome
                elif (parts := self._parts(g, step, outcome)) is not None:
                    return parts
                if g.pc >= limit:
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

    def _report_all(self, kind: str, source: Decoded, g: Group, detail: str) -> None:
        self.batch.report(kind, source, g, np.ones((g.n, 1), np.bool_), detail)

    def _lost(self, g: Group) -> list[Group]:
        """End wavefronts whose program counter points at no instruction."""
        if not self.program.steps:
            raise BadInput(f"no instruction at {g.pc:#x}", location=self.location)
        where = Instruction(g.pc, "", "", (), 0, f"no instruction at {g.pc:#x}")
        source = Decoded(where, "", "", ())
        self._report_all(LOST_PROGRAM_COUNTER, source, g, "program counter left the code")
        return self._end(g)

    # What makes wavefronts stop

    def _parts(self, g: Group, step: Step, outcome: Stop | list[Group]) -> list[Group] | None:
        """Return the groups to continue with; None for this one, after its barrier."""
        if isinstance(outcome, list):
            return outcome
        return self._end(g) if outcome is Stop.END else self._arrive(g, step)

    def _end(self, g: Group) -> list[Group]:
        np.add.at(self._ended, g.workgroup, 1)
        return []

    def _arrive(self, g: Group, step: Step) -> list[Group] | None:
        """Make ``g`` wait until all wavefronts of its work-groups arrive."""
        waves = self.batch.waves_per_workgroup
        arrived = np.bincount(g.workgroup, minlength=len(self._ended))
        g.pc = step.next_pc
        if waves == 1 or not (self._waiting or np.any(arrived % waves)):
            self._cross([g])
            return None
        self._waiting.append((g, step))
        return []

    def _cross(self, groups: list[Group]) -> None:
        lds = self.batch.lds
        touched = np.unique(np.concatenate([g.workgroup for g in groups]))
        lds.epoch[touched] += np.uint32(1)
        for g in groups:
            lds.cross_barrier(g)

    def _release(self) -> list[Group]:
        """Release all wavefronts: none runs any more, so all that have not ended have arrived."""
        waiting, self._waiting = self._waiting, []
        self._check_barrier(waiting)
        groups = [g for g, _ in waiting]
        self._cross(groups)
        return groups

    def _check_barrier(self, waiting: list[tuple[Group, Step]]) -> None:
        place = np.zeros(len(self._ended), np.int64)
        for g, step in waiting:
            left = self._ended[g.workgroup] > 0
            if left.any():
                detail = "some waves of the work-group have ended"
                self.batch.report(DIVERGENT_BARRIER, step.source, g, left[:, None], detail)
            other = (place[g.workgroup] != 0) & (place[g.workgroup] != step.next_pc)
            if other.any() and self.batch.checks.same_barrier:
                detail = "another wave of the work-group waits at a different barrier"
                self.batch.report(DIVERGENT_BARRIER, step.source, g, other[:, None], detail)
            place[g.workgroup] = step.next_pc
