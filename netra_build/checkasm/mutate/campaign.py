"""One mutation run on one kernel: make the mutants, choose among them, judge, put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from netra_build.checkasm.mutate.declared import declared_mutants
from netra_build.checkasm.mutate.guards import Template, guard_verdicts
from netra_build.checkasm.mutate.judge import Verdict
from netra_build.checkasm.mutate.mutant import (
    GUARD,
    KINDS,
    ORDERING,
    VALUE,
    Mutant,
    Source,
    choose,
    read_unit,
)
from netra_build.checkasm.mutate.ordering import ordering_mutants
from netra_build.checkasm.mutate.pool import ToolPlace, judge_all
from netra_build.checkasm.mutate.report import Result
from netra_build.checkasm.mutate.subject import Subject
from netra_build.checkasm.mutate.value import value_mutants

SAMPLE = 200


@dataclass(frozen=True)
class Plan:
    """What to make. ``sample`` value mutants are chosen by ``seed``, None takes all of them.

    The inputs of launches have the seed of the subject.
    """

    kinds: tuple[str, ...] = KINDS
    seed: int = 1
    sample: int | None = SAMPLE
    ordering_sample: int | None = None
    jobs: int = 1


def run_campaign(
    subject: Subject, place: ToolPlace, plan: Plan, template: Template | None = None
) -> Result:
    """Return the verdicts on one kernel, and on the guards of its template if there is one.

    Raises ``Refused`` when a check flags the unmutated kernel.
    """
    source = read_unit(subject.name, subject.unit)
    chosen, possible = choose_mutants(source, plan)
    verdicts = list(judge_all(subject, place, chosen, plan.jobs))
    if template is not None and GUARD in plan.kinds:
        guards = list(guard_verdicts(template, place.open()))
        possible[GUARD] = len(guards)
        verdicts += guards
    return Result(subject.name, subject.tactic, plan.seed, possible, _sorted(verdicts))


def choose_mutants(source: Source, plan: Plan) -> tuple[list[Mutant], Counter[str]]:
    """Return the mutants to judge, and how many of each kind there could be."""
    makers: tuple[tuple[Callable[[Source], Iterator[Mutant]], Sequence[str], int | None], ...] = (
        (ordering_mutants, ORDERING, plan.ordering_sample),
        (_values, VALUE, plan.sample),
    )
    chosen: list[Mutant] = []
    possible: Counter[str] = Counter()
    for make, kinds, count in makers:
        wanted = [one for one in make(source) if one.kind in plan.kinds and one.kind in kinds]
        possible.update(one.kind for one in wanted)
        chosen += choose(wanted, len(wanted) if count is None else count, plan.seed)
    return chosen, possible


def _values(source: Source) -> Iterator[Mutant]:
    yield from value_mutants(source)
    yield from declared_mutants(source)


def _sorted(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    return tuple(sorted(verdicts, key=lambda one: KINDS.index(one.mutant.kind)))
