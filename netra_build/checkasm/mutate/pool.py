"""Judging many mutants: in this process, or in several that were started for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from netra_build.asm.native.session import with_native_part
from netra_build.asm.tools.toolchain import Toolchain, find_toolchain
from netra_build.checkasm.mutate.judge import Judge, Verdict
from netra_build.checkasm.mutate.mutant import Mutant, read_unit
from netra_build.checkasm.mutate.subject import Subject
from netra_build.core.errors import NetraError

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
        for verdict in pool.map(_judge, mutants, chunksize=MUTANTS_PER_TURN):
            if isinstance(verdict, NetraError):
                raise verdict
            yield verdict


def _open(subject: Subject, place: ToolPlace) -> Judge:
    return Judge(subject, read_unit(subject.name, subject.unit), place.open())


_OF_THIS_PROCESS: list[Judge | NetraError] = []


def _start(subject: Subject, place: ToolPlace) -> None:
    """Make the judge of this process; its refusal is kept for whoever asks for a verdict."""
    try:
        _OF_THIS_PROCESS.append(_open(subject, place))
    except NetraError as error:
        _OF_THIS_PROCESS.append(_plain(error))


def _plain(error: NetraError) -> NetraError:
    """Return the error as one of the base classes, which travel between processes."""
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == NetraError.__module__)
    assert issubclass(kind, NetraError)
    return kind(
        error.fact,
        location=error.location,
        expected=None if error.expected is None else str(error.expected),
        got=None if error.got is None else str(error.got),
        hint=error.hint,
        detail=error.detail,
    )


def _judge(mutant: Mutant) -> Verdict | NetraError:
    judge = _OF_THIS_PROCESS[0]
    return judge if isinstance(judge, NetraError) else judge.judge(mutant)
