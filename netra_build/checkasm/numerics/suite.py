"""The launches that a tactic has to pass: quick ones for every build, long ones on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from netra_build.checkasm.numerics.plain import second_nearest
from netra_build.checkasm.numerics.scenario import Entry, Scenario
from netra_build.checkasm.numerics.scenarios import SCENARIOS
from netra_build.core.errors import BadInput
from netra_build.core.nearest import nearest_hint

RANDOM = "random"
SECOND = "second_nearest"


def launches(
    tactic: str, specialization: Mapping[str, int], seeds: Sequence[int]
) -> Iterator[Scenario]:
    """Yield the random case with every seed, then every other case with the first seed.

    ``BadInput`` when the tactic or the specialization has no statement.
    """
    entry = entry_of(tactic)
    chosen = _specialization(entry, tactic, specialization)
    for seed in seeds:
        yield entry.make(tactic, chosen, RANDOM, seed)
    for case in entry.cases:
        if case != RANDOM:
            yield entry.make(tactic, chosen, case, seeds[0])


def second_launches(
    tactic: str, specialization: Mapping[str, int], seed: int, cases: Sequence[str] = (RANDOM,)
) -> Iterator[Scenario]:
    """Yield cases as stated for a machine whose plain results are the second nearest numbers.

    They tell nothing more about a kernel without such instructions. Raises what ``launches`` does.
    """
    entry = entry_of(tactic)
    chosen = _specialization(entry, tactic, specialization)
    for case in cases:
        with second_nearest():
            made = entry.make(tactic, chosen, case, seed)
        label = f"{tactic}/{case}_{SECOND}/{seed}"
        yield replace(made, label=label, is_second_nearest=True)


def entry_of(tactic: str) -> Entry:
    """Return the entry of a tactic id; ``BadInput`` with the nearest known one."""
    if tactic not in SCENARIOS:
        raise BadInput(f'no numeric contract for "{tactic}"', hint=nearest_hint(tactic, SCENARIOS))
    return SCENARIOS[tactic]


def _specialization(entry: Entry, tactic: str, asked: Mapping[str, int]) -> Mapping[str, int]:
    """Return the entry's specialization that agrees with the constants asked for."""
    for known in entry.specializations.values():
        if all(asked.get(name) == value for name, value in known.items()):
            return known
    raise BadInput(f'no numeric contract for "{tactic}" with {dict(asked)}')
