"""Every tactic that has a statement, and the launches that it has to pass.

Declarations in ``tactics`` are read without importing them, so that a plan, which needs to know
whether there is a statement, does not load numpy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import get_data, iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from netra_build.checkasm.numerics import tactics
from netra_build.core.errors import BadInput, nearest_hint

if TYPE_CHECKING:
    from netra_build.checkasm.numerics.scenario import Entry, Scenario

RANDOM = "random"
SECOND = "second_nearest"
T = TypeVar("T")


@cache
def stated_tactics() -> Mapping[str, str]:
    """Return the ids of all tactics that have a statement, each with its module in ``tactics``."""
    return declared_in(tactics, "TACTICS")


def declared_in(package: ModuleType, table: str) -> dict[str, str]:
    """Return what the modules of a package declare, with the module; none of them is imported.

    A module declares the keys of the literal ``table``, which is its last statement, or, without
    one, its own name.
    """
    found: dict[str, str] = {}
    for _, name, _ in iter_modules(package.__path__):
        source = get_data(package.__name__, f"{name}.py") or b""
        _, mark, literal = source.decode("utf-8").rpartition(f"\n{table} = ")
        found |= dict.fromkeys(_keys(literal) if mark else (name,), name)
    return found


def _keys(literal: str) -> tuple[str, ...]:
    display = ast.parse(literal.strip(), mode="eval").body
    assert isinstance(display, ast.Dict)
    return tuple(str(key.value) for key in display.keys if isinstance(key, ast.Constant))


def entry_of(tactic: str) -> Entry:
    """Return the entry of a tactic id; ``BadInput`` with the nearest known one."""
    if tactic not in stated_tactics():
        hint = nearest_hint(tactic, stated_tactics())
        raise BadInput(f'no numeric contract for "{tactic}"', hint=hint)
    module = import_module(f"{tactics.__name__}.{stated_tactics()[tactic]}")
    entry: Entry = module.TACTICS[tactic] if hasattr(module, "TACTICS") else module.ENTRY
    return entry


def scenario(tactic: str, variant: str = "", case: str = RANDOM, seed: int = 1) -> Scenario:
    """Return one launch; the same words always give the same bytes.

    ``variant`` names a specialization (``waves4``). ``BadInput`` names the nearest known word.
    """
    _known(stated_tactics(), tactic, "tactic", "reference")
    entry = entry_of(tactic)
    specialization = _known(entry.specializations, variant, "variant", tactic)
    _known(dict.fromkeys(entry.cases), case, "input case", tactic)
    return _made(entry, tactic, specialization, case, seed)


def launches(
    tactic: str, specialization: Mapping[str, int], seeds: Sequence[int]
) -> Iterator[Scenario]:
    """Yield the random case with every seed, then every other case with the first seed.

    ``BadInput`` when the tactic or the specialization has no statement.
    """
    entry = entry_of(tactic)
    chosen = _specialization(entry, tactic, specialization)
    for seed in seeds:
        yield _made(entry, tactic, chosen, RANDOM, seed)
    for case in entry.cases:
        if case != RANDOM:
            yield _made(entry, tactic, chosen, case, seeds[0])


def second_launches(
    tactic: str, specialization: Mapping[str, int], seed: int, cases: Sequence[str] = (RANDOM,)
) -> Iterator[Scenario]:
    """Yield cases as stated for a machine whose plain results are the second nearest numbers.

    They add nothing for a kernel without such instructions. Raises what ``launches`` does.
    """
    from netra_build.checkasm.numerics.arithmetic import second_nearest

    entry = entry_of(tactic)
    chosen = _specialization(entry, tactic, specialization)
    for case in cases:
        with second_nearest():
            made = _made(entry, tactic, chosen, case, seed)
        label = f"{tactic}/{case}_{SECOND}/{seed}"
        yield replace(made, label=label, is_second_nearest=True)


def _made(
    entry: Entry, tactic: str, specialization: Mapping[str, int], case: str, seed: int
) -> Scenario:
    from netra_build.checkasm.numerics.scenario import Asked

    return entry.make(Asked(tactic, specialization, case, seed))


def _known(table: Mapping[str, T], name: str, what: str, location: str) -> T:
    if name not in table:
        hint = nearest_hint(name, table)
        raise BadInput(f'unknown {what} "{name}"', location=location, hint=hint)
    return table[name]


def _specialization(entry: Entry, tactic: str, asked: Mapping[str, int]) -> Mapping[str, int]:
    """Return the entry's specialization that agrees with the given constants."""
    for known in entry.specializations.values():
        if all(asked.get(name) == value for name, value in known.items()):
            return known
    raise BadInput(f'no numeric contract for "{tactic}" with {dict(asked)}')
