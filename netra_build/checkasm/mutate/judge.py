"""The judge: which check of the project catches a mutant; the cheapest checks run first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from netra_build.asm.objects.code_object import CodeObject, read_code_object
from netra_build.asm.objects.listings import Disassembly, parse_disassembly
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.hazards.checker import check_code_object
from netra_build.checkasm.hazards.conformity import all_facts
from netra_build.checkasm.hazards.findings import ERROR
from netra_build.checkasm.model.arith.transcendental import SECOND_NEAREST
from netra_build.checkasm.model.findings import ENDLESS_LOOP
from netra_build.checkasm.model.launch import DEFAULT_BUDGET, Options, Outcome, Prepared, prepare
from netra_build.checkasm.mutate.intervals import Bounds
from netra_build.checkasm.mutate.mutant import (
    ASSEMBLER,
    CONFORM,
    DYNAMIC,
    LONG_RUN,
    MODEL,
    NUMERICS,
    ORDERING,
    STATIC,
    Mutant,
    Source,
    Verdict,
)
from netra_build.checkasm.mutate.proofs import Clean, identical, prove_ordering, prove_value
from netra_build.checkasm.numerics.scenario import Scenario
from netra_build.checkasm.numerics.statement_source import Statement
from netra_build.checkasm.numerics.suite import RANDOM, Suite, load_suite
from netra_build.core.errors import BadInput, NetraError, Refused

LONG_SEEDS = 6

FEW_WAVES = 64
"""Wavefronts of the reduced launch that comes first."""

BUDGET_FACTOR = 16
SPARE_BUDGET = 10_000

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Subject:
    """The kernel to be mutated. Without a ``statement`` there is no launch to compare with."""

    name: str
    unit: bytes
    statement: Statement | None = None
    specialization: Mapping[str, int] = field(default_factory=dict)
    seed: int = 1
    contract: Mapping[str, Any] = field(default_factory=dict)
    """What ``conform`` compares the code object with; empty for no comparison."""
    bounds: Bounds | None = None
    """The limits of the contract; without them no interval proves a value mutant harmless."""

    @property
    def tactic(self) -> str:
        """Id of the tactic whose launches the kernel has to pass, empty without any."""
        return "" if self.statement is None else self.statement.tactic


@dataclass(frozen=True)
class _Built:
    hsaco: bytes
    code: CodeObject
    listing: Disassembly
    text: str

    def disassemble(self, hsaco: bytes, *, label: str = "") -> str:
        """Return the existing listing."""
        return self.text


@dataclass
class _Machines:
    """One kernel on two models: approximate results are nearest, or second nearest."""

    nearest: Prepared

    @cached_property
    def second(self) -> Prepared:
        """Return the kernel on the second machine."""
        return self.nearest.approximating(SECOND_NEAREST)

    def of(self, scenario: Scenario) -> Prepared:
        """Return the machine that a scenario is stated for."""
        return self.second if scenario.is_second_nearest else self.nearest


class Judge:
    """Judges mutants of one kernel; has the unmutated kernel, its launches and their budgets."""

    def __init__(self, subject: Subject, source: Source, tools: Toolchain) -> None:
        """Run the unmutated kernel; raise ``Refused`` when a check reports something."""
        self.subject, self.source, self.tools = subject, source, tools
        built = self._build(source.text())
        self.symbol = built.code.kernels[0].symbol
        check, found = self._at_rest(built)
        if found:
            raise _refused(check, self.source.name, "\n".join(found))
        self.clean = Clean(built.code, built.code.kernels[0], built.listing, source)
        self.budget = DEFAULT_BUDGET
        self.suite = None if subject.statement is None else load_suite(subject.statement)
        self.runs = () if self.suite is None else tuple(self._runs(built, self.suite))

    def judge(self, mutant: Mutant) -> Verdict:
        """Return the verdict on one mutant."""
        try:
            built = self._build(self.source.text(mutant))
        except NetraError as error:
            return Verdict(mutant, ASSEMBLER, error.fact)
        if identical(self.clean.code, built.code):
            return Verdict(mutant, "", "", "the same .text, descriptor and metadata")
        check, found = self._at_rest(built)
        if found:
            return Verdict(mutant, check, found[0])
        check, detail = self._execute(built, self.runs)
        if check:
            return Verdict(mutant, check, detail)
        if mutant.kind in ORDERING:
            return Verdict(mutant, "", "", prove_ordering(self.clean, mutant))
        if self.subject.bounds is not None:
            bounds = self.subject.bounds
            proof = prove_value(self.clean, built.code, built.listing, mutant, bounds)
            if proof:
                return Verdict(mutant, "", "", proof)
        check, detail = self._execute(built, self.long_runs)
        return Verdict(mutant, LONG_RUN if check else "", detail)

    # Building and static checks

    def _build(self, unit: bytes) -> _Built:
        hsaco = self.tools.link([self.tools.assemble(unit, name=self.source.name)])
        text = self.tools.disassemble(hsaco)
        code = read_code_object(hsaco, self.source.name)
        return _Built(hsaco, code, parse_disassembly(text, self.source.name), text)

    def _at_rest(self, built: _Built) -> tuple[str, list[str]]:
        """Return the check that executes nothing and fails first, and what it says."""
        findings = check_code_object(built.code, built.listing)
        errors = [f"{one.rule}: {one.message}" for one in findings if one.severity == ERROR]
        return (STATIC, errors) if errors else (CONFORM, self._deviations(built))

    def _deviations(self, built: _Built) -> list[str]:
        """Return the deviations of the code object from its contract."""
        contract = self.subject.contract
        if not contract:
            return []
        try:
            facts = list(all_facts(built.code, {self.symbol: contract}, self.source.name))
        except BadInput as error:
            return [error.fact]
        return [
            f"{what} differs; expected {expected}, got {got}"
            for what, expected, got in facts
            if expected != got
        ]

    # Executing

    def _runs(self, built: _Built, suite: Suite) -> Iterator[Scenario]:
        """Yield a reduced launch of the first scenario, then every launch of the quick suite."""
        subject = self.subject
        prepared = self._prepare(built)
        scenarios = list(suite.launches(subject.specialization, [subject.seed]))
        self.is_approximate = prepared.nearest.has_approximate_results
        if self.is_approximate:
            scenarios += suite.second_launches(subject.specialization, subject.seed)
        # A mutant may run a multiple of the unmutated kernel's instructions, but not forever.
        self.budget = max([self._budget(prepared, scenario) for scenario in scenarios])
        first = scenarios[0]
        small = _reduced(first.grid, -(-first.block[0] * first.block[1] * first.block[2] // 64))
        if small != first.grid:
            part = replace(first, grid=small)
            outputs = first.by_name(self._launch(prepared, part).outputs.values())
            yield replace(part, expected=_written(first, outputs))
        yield from scenarios

    @cached_property
    def long_runs(self) -> tuple[Scenario, ...]:
        """The random case with further seeds, then the other cases with second nearest results.

        They are made for the first mutant that reaches them, and checked with the unmutated kernel.
        """
        subject, suite = self.subject, self.suite
        if suite is None:
            return ()
        constants = subject.specialization
        seeds = range(subject.seed + 1, subject.seed + 1 + LONG_SEEDS)
        further = list(islice(suite.launches(constants, seeds), LONG_SEEDS))
        if self.is_approximate:
            cases = [one for one in suite.entry.cases if one != RANDOM]
            further += suite.second_launches(constants, subject.seed, cases)
        prepared = self._prepare(self._build(self.source.text()))
        for one in further:
            self._budget(prepared, one)
        return tuple(further)

    def _prepare(self, built: _Built) -> _Machines:
        return _Machines(prepare(built.hsaco, self.symbol, built, self.source.name))

    def _budget(self, prepared: _Machines, scenario: Scenario) -> int:
        """Run the unmutated kernel, which has to pass every check; return a mutant's budget."""
        outcome = self._launch(prepared, scenario)
        check, detail = _flaw(scenario, outcome)
        if check:
            raise _refused(check, f"{self.source.name}: {scenario.label}", detail)
        groups = scenario.grid[0] * scenario.grid[1] * scenario.grid[2]
        return BUDGET_FACTOR * (outcome.report.wave_instructions // groups) + SPARE_BUDGET

    def _launch(self, prepared: _Machines, scenario: Scenario) -> Outcome:
        values = list(scenario.values.values())
        options = Options(budget=self.budget, seed=self.subject.seed, max_findings=1)
        return prepared.of(scenario).launch(scenario.grid, scenario.block, values, options)

    def _execute(self, built: _Built, runs: Iterable[Scenario]) -> tuple[str, str]:
        """Return the check that catches the mutant when it runs, and its message."""
        try:
            prepared = self._prepare(built)
            for run in runs:
                outcome = self._launch(prepared, run)
                check, detail = _flaw(run, outcome)
                if check:
                    return check, f"{run.label}: {detail}"
        except BadInput as error:
            return MODEL, error.fact
        return "", ""


def _refused(check: str, location: str, detail: str) -> Refused:
    return Refused(f"{check} checks flag the unmutated kernel", location=location, detail=detail)


def _flaw(scenario: Scenario, outcome: Outcome) -> tuple[str, str]:
    """Return the check that a finished launch fails, and its message."""
    if not outcome.report.is_clean:
        kinds = outcome.report.counts
        kind = next((one for one in kinds if one != ENDLESS_LOOP), ENDLESS_LOOP)
        first = next((one.line() for one in outcome.report.findings), "")
        return DYNAMIC, f"{kind}: {first}"
    outputs = scenario.by_name(outcome.outputs.values())
    if name := scenario.written_input(outputs):
        return NUMERICS, f'input "{name}" was written'
    for result in scenario.compare(outputs):
        if not result.is_equal:
            return NUMERICS, result.line()
    return "", ""


def _reduced(grid: tuple[int, int, int], waves: int) -> tuple[int, int, int]:
    """Return a part of the grid with at most ``FEW_WAVES`` wavefronts, x first."""
    left = max(1, FEW_WAVES // waves)
    sizes = []
    for size in grid:
        sizes.append(min(size, left))
        left = max(1, left // sizes[-1])
    return sizes[0], sizes[1], sizes[2]


def _written(scenario: Scenario, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return the expectation of a reduced launch: elements that it does not reach are unchanged."""
    result = {}
    for name, wanted in scenario.expected.items():
        before = scenario.values[name]
        assert not isinstance(before, int)
        bits = f"u{before.dtype.itemsize}"
        changed = np.ascontiguousarray(before).view(bits) != outputs[name].view(bits)
        result[name] = np.where(changed, wanted, before)
    return result
