"""Judging many mutants: in this process, or in several that were started for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from netra_build.asm.native.session import with_native_part
from netra_build.asm.toolchain import Toolchain, find_toolchain
from netra_build.mutate.judge import Judge, Subject, Verdict
from netra_build.mutate.mutant import Mutant, read_unit

MUTANTS_PER_TURN = 4


@dataclass(frozen=True)
class ToolPlace:
    """Where to find the tool chain; what a process needs to open its own."""

    explicit: Path | None = None
    rocm: Path | None = None
    local: Path | None = None
    native: Path | None = None
    """Folder of the native part; without it the programs are started for every mutant."""

    def open(self) -> Toolchain:
        """Return the tool chain; raises what ``find_toolchain`` raises."""
        programs = find_toolchain(self.explicit, rocm_path=self.rocm, local=self.local)
        return with_native_part(programs, self.native, workers=1)


def judge_all(
    subject: Subject, place: ToolPlace, mutants: Sequence[Mutant], jobs: int
) -> Iterator[Verdict]:
    """Yield the verdicts in the order of the mutants, whatever the number of processes.

    Raises what ``Judge`` raises about the unmutated kernel, also when there are no mutants.
    """
    if jobs <= 1 or len(mutants) <= MUTANTS_PER_TURN:
        judge = _open(subject, place)
        yield from (judge.judge(mutant) for mutant in mutants)
        return
    # Started afresh: a forked child would share the parent's workers and their pipes.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _start, (subject, place)) as pool:
        yield from pool.map(_judge, mutants, chunksize=MUTANTS_PER_TURN)


def _open(subject: Subject, place: ToolPlace) -> Judge:
    return Judge(subject, read_unit(subject.name, subject.unit), place.open())


_OF_THIS_PROCESS: list[Judge] = []


def _start(subject: Subject, place: ToolPlace) -> None:
    _OF_THIS_PROCESS.append(_open(subject, place))


def _judge(mutant: Mutant) -> Verdict:
    return _OF_THIS_PROCESS[0].judge(mutant)
