"""The launches that a tactic has to pass, as its statement makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from netra_build.checkasm.numerics.arithmetic import second_nearest
from netra_build.checkasm.numerics.loader import load_entry
from netra_build.checkasm.numerics.scenario import Asked, Entry, Scenario
from netra_build.checkasm.numerics.statement_source import Statement
from netra_build.core.errors import BadInput, nearest_hint

RANDOM = "random"
SECOND = "second_nearest"
T = TypeVar("T")


@dataclass(frozen=True)
class Suite:
    """The launches of one tactic; the same words always give the same bytes."""

    tactic: str
    entry: Entry

    def scenario(self, variant: str = "", case: str = RANDOM, seed: int = 1) -> Scenario:
        """Return one launch; ``variant`` names a specialization (``waves4``).

        ``BadInput`` names the nearest known word.
        """
        specialization = _known(self.entry.specializations, variant, "variant", self.tactic)
        _known(dict.fromkeys(self.entry.cases), case, "input case", self.tactic)
        return self._made(specialization, case, seed)

    def launches(
        self, specialization: Mapping[str, int], seeds: Sequence[int]
    ) -> Iterator[Scenario]:
        """Yield the random case with every seed, then every other case with the first seed.

        ``BadInput`` when there is no statement about the specialization.
        """
        chosen = self._specialization(specialization)
        for seed in seeds:
            yield self._made(chosen, RANDOM, seed)
        for case in self.entry.cases:
            if case != RANDOM:
                yield self._made(chosen, case, seeds[0])

    def second_launches(
        self, specialization: Mapping[str, int], seed: int, cases: Sequence[str] = (RANDOM,)
    ) -> Iterator[Scenario]:
        """Yield cases as stated for a machine whose plain results are the second nearest numbers.

        They add nothing for a kernel without such instructions. Raises what ``launches`` does.
        """
        chosen = self._specialization(specialization)
        for case in cases:
            with second_nearest():
                made = self._made(chosen, case, seed)
            label = f"{self.tactic}/{case}_{SECOND}/{seed}"
            yield replace(made, label=label, is_second_nearest=True)

    def _made(self, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
        return self.entry.make(Asked(self.tactic, specialization, case, seed))

    def _specialization(self, asked: Mapping[str, int]) -> Mapping[str, int]:
        """Return the entry's specialization that agrees with the given constants."""
        for known in self.entry.specializations.values():
            if all(asked.get(name) == value for name, value in known.items()):
                return known
        raise BadInput(f'no numeric contract for "{self.tactic}" with {dict(asked)}')


def load_suite(statement: Statement) -> Suite:
    """Return the launches of a statement; ``BadInput`` names a mistake in it."""
    return Suite(statement.tactic, load_entry(statement))


def _known(table: Mapping[str, T], name: str, what: str, location: str) -> T:
    if name not in table:
        hint = nearest_hint(name, table)
        raise BadInput(f'unknown {what} "{name}"', location=location, hint=hint)
    return table[name]
