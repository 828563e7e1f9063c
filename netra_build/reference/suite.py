"""The launches that a tactic has to pass: quick ones for every build, long ones on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from netra_build.core.errors import BadInput
from netra_build.core.nearest import nearest_hint
from netra_build.reference.scenario import Entry, Scenario
from netra_build.reference.scenarios import SCENARIOS

RANDOM = "random"


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
