"""One mutation run on one kernel: make the mutants, choose a sample, judge them, join the results.

Mutants are judged in this process, or in several that were started for it.
Behind it stand the guards of a template, which are removed one at a time: does another text still
refuse a wrong constant?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from netra_build.asm.native.session import with_native_part
from netra_build.asm.source.closure import Closure
from netra_build.asm.tools.bounds import USUAL
from netra_build.asm.tools.bounds import Bounds as ToolBounds
from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain, find_toolchain
from netra_build.checkasm.hazards.conformity import abi_facts
from netra_build.checkasm.mutate.intervals import Bounds
from netra_build.checkasm.mutate.judge import Judge, Subject
from netra_build.checkasm.mutate.mutant import (
    GUARD,
    GUARD_TEST,
    KINDS,
    Mutant,
    Source,
    Verdict,
    choose,
    read_unit,
)
from netra_build.checkasm.mutate.report import Result
from netra_build.checkasm.mutate.statements import declared_mutants, ordering_mutants
from netra_build.checkasm.mutate.value import value_mutants
from netra_build.checkasm.numerics.statements import read_statement
from netra_build.core.errors import NetraError, Refused
from netra_build.formats.catalogs.tactic import FixedTactic
from netra_build.formats.golden import GoldenSource
from netra_build.formats.launch import KernelAbi, read_abi
from netra_build.formats.library import Library

SAMPLE = 200
MUTANTS_PER_TURN = 4


def golden_subject(library: Library, golden: GoldenSource, tactic: FixedTactic | None) -> Subject:
    """Return the subject of one golden source; ``tactic`` is its catalog entry if there is one.

    ``BadInput`` when the library does not state the tactic.
    """
    abi = read_abi(library, golden.tactic)
    specialization = dict(golden.specialization)
    block = tactic.launch_block.resolve(_constants(tactic, specialization)) if tactic else 0
    return Subject(
        name=golden.source,
        unit=library.read(golden.source),
        statement=read_statement(library, golden.tactic),
        specialization=specialization,
        contract=_contract(tactic, abi, block) if tactic else {},
        bounds=_bounds(abi, block) if tactic and abi else None,
    )


def _constants(tactic: FixedTactic, specialization: Mapping[str, int]) -> dict[str, int]:
    return {**{name: values[0] for name, values in tactic.contract_constants}, **specialization}


def _contract(tactic: FixedTactic, abi: KernelAbi | None, block: int) -> dict[str, Any]:
    return {
        "kernarg_size": tactic.kernarg_size,
        "launch": {"block": [block, 1, 1], "lds_bytes": tactic.lds_bytes},
        **(abi_facts(abi, tactic.max_threads) if abi else {}),
    }


def _bounds(abi: KernelAbi, block: int) -> Bounds | None:
    """Return what the record limits, None when it limits nothing."""
    if abi.limits is None:
        return None
    return Bounds(abi.limits.grid, block, dict(abi.limits.elements), dict(abi.limits.values))


@dataclass(frozen=True)
class ToolPlace:
    """Where to find the tool chain, so that each process can open its own."""

    explicit: Path | None = None
    rocm: Path | None = None
    local: Path | None = None
    native: Path | None = None
    """Folder of the native part; without it the programs are started for every mutant."""

    bounds: ToolBounds = USUAL

    def open(self) -> Toolchain:
        """Return the tool chain; raises what ``find_toolchain`` raises."""
        programs = find_toolchain(
            self.explicit, rocm_path=self.rocm, local=self.local, bounds=self.bounds
        )
        return with_native_part(programs, self.native, workers=1)


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

    Raises ``Refused`` when a check reports the unmutated kernel.
    """
    source = read_unit(subject.name, subject.unit)
    chosen, possible = choose_mutants(source, plan)
    verdicts = list(judge_all(subject, place, chosen, plan.jobs))
    if template is not None and GUARD in plan.kinds:
        guards = list(guard_verdicts(template, place.open()))
        possible[GUARD] = len(guards)
        verdicts += guards
    verdicts.sort(key=lambda one: KINDS.index(one.mutant.kind))
    return Result(subject.name, subject.tactic, plan.seed, possible, tuple(verdicts))


def choose_mutants(source: Source, plan: Plan) -> tuple[list[Mutant], Counter[str]]:
    """Return the mutants to judge, and how many of each kind there could be."""
    chosen: list[Mutant] = []
    possible: Counter[str] = Counter()
    for made, count in (
        (ordering_mutants(source), plan.ordering_sample),
        (chain(value_mutants(source), declared_mutants(source)), plan.sample),
    ):
        wanted = [one for one in made if one.kind in plan.kinds]
        possible.update(one.kind for one in wanted)
        chosen += choose(wanted, len(wanted) if count is None else count, plan.seed)
    return chosen, possible


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
    # Spawned, not forked: a forked child would share the parent's workers and their pipes.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _start, (subject, place)) as pool:
        for verdict in pool.map(_judge, mutants, chunksize=MUTANTS_PER_TURN):
            if isinstance(verdict, NetraError):
                raise verdict
            yield verdict


def _open(subject: Subject, place: ToolPlace) -> Judge:
    return Judge(subject, read_unit(subject.name, subject.unit), place.open())


_OF_THIS_PROCESS: list[Judge | NetraError] = []


def _start(subject: Subject, place: ToolPlace) -> None:
    """Make the judge of this process; its refusal is stored and raised with the first verdict."""
    try:
        _OF_THIS_PROCESS.append(_open(subject, place))
    except NetraError as error:
        _OF_THIS_PROCESS.append(error)


def _judge(mutant: Mutant) -> Verdict | NetraError:
    judge = _OF_THIS_PROCESS[0]
    return judge if isinstance(judge, NetraError) else judge.judge(mutant)


GUARD_MACRO = "NETRA_REQUIRE_EQ"
WRONG_BY = 32
"""Difference between the wrong constant and the right one."""

UNIT = "unit.s"


@dataclass(frozen=True)
class Template:
    """One instance of a template: its own text, its constants and its include closure."""

    instance: bytes
    constants: Mapping[str, int]
    closure: Closure


def guard_verdicts(template: Template, tools: Toolchain) -> Iterator[Verdict]:
    """Yield a verdict for each guard of a constant that the instance sets.

    A guard is caught when the test that every wrong constant is named by its guard fails without
    it. Raises ``Refused`` when the right constants are refused or a wrong one is not.
    """
    if messages := _errors(template, tools, template.instance, {}):
        raise Refused("unmutated template is refused", location=UNIT, detail="\n".join(messages))
    for name, line, constant in _guards(template):
        wrong = _with_wrong(template, constant)
        expected = f"{constant} has another value; "
        before = _errors(template, tools, wrong, {})
        if not any(message.startswith(expected) for message in before):
            raise Refused(f'no guard refuses a wrong "{constant}"', location=f"{name}:{line}")
        after = _errors(template, tools, wrong, {name: _without(template, name, line)})
        statement = _lines(template, name)[line - 1].strip()
        mutant = Mutant(GUARD, 0, line, f"{name}: {statement}", "")
        if any(message.startswith(expected) for message in after):
            yield Verdict(mutant, "", "", "")
        else:
            what = f"is refused otherwise: {after[0]}" if after else "assembles"
            yield Verdict(mutant, GUARD_TEST, f"a wrong {constant} {what}")


def _guards(template: Template) -> Iterator[tuple[str, int, str]]:
    """Yield file, line and constant of each guard."""
    for file in template.closure.files:
        for statement in file.statements:
            constant = statement.operands.split(",")[0].strip()
            if statement.name == GUARD_MACRO and constant in template.constants:
                yield file.name, statement.line, constant


def _lines(template: Template, name: str) -> list[str]:
    return template.closure.data_by_name[name].decode().split("\n")


def _without(template: Template, name: str, line: int) -> bytes:
    lines = _lines(template, name)
    lines[line - 1] = ""
    return "\n".join(lines).encode()


def _with_wrong(template: Template, constant: str) -> bytes:
    value = template.constants[constant]
    right, wrong = f".set {constant}, {value}\n", f".set {constant}, {value + WRONG_BY}\n"
    return template.instance.replace(right.encode(), wrong.encode(), 1)


def _errors(
    template: Template, tools: Toolchain, instance: bytes, changed: Mapping[str, bytes]
) -> list[str]:
    """Return the assembler's errors."""
    files = {**template.closure.data_by_name, **changed, UNIT: instance}
    try:
        tools.assemble_tree(files, UNIT)
    except AssemblyFailed as failed:
        return [one.text for one in failed.diagnostics if one.severity == "error"]
    except NetraError as error:
        return [error.fact]
    return []
