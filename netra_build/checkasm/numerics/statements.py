"""The statements of a kernel library: which file states which tactic, with what it imports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from netra_build.checkasm.numerics.statement_source import (
    FOLDER,
    Statement,
    declared,
    neighbours,
)
from netra_build.core.errors import BadInput, nearest_hint
from netra_build.formats.library import Library

MAX_FILES = 1024
REMEMBERED = 256
"""Files whose declarations are kept for the next plan, by name and content."""

_NAME = re.compile(r"[a-z][a-z0-9_]*\.py\Z")


def stated_tactics(library: Library) -> Mapping[str, str]:
    """Return the ids of all tactics that a library states, each with the name of its file.

    ``BadInput`` for a tactic that is stated twice, and for a file whose declaration is unusable.
    """
    place_by_tactic: dict[str, tuple[str, int]] = {}
    for name in _file_names(library):
        for tactic, line in _declared(library.read(name), name):
            if tactic in place_by_tactic:
                first = ":".join(map(str, place_by_tactic[tactic]))
                fact = f'tactic "{tactic}" is stated twice, first in {first}'
                raise BadInput(fact, location=f"{name}:{line}")
            place_by_tactic[tactic] = name, line
    return {tactic: name for tactic, (name, _) in place_by_tactic.items()}


def statement_names(library: Library, tactic: str) -> tuple[str, ...]:
    """Return the file that states a tactic, then all neighbours that it reaches by import.

    Nothing when the library does not state it. ``BadInput`` for a neighbour that is not there.
    """
    name = stated_tactics(library).get(tactic)
    found: dict[str, None] = {}
    waiting = [] if name is None else [name]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = None
        for neighbour, line in neighbours(library.read(name), name):
            if not library.has(neighbour):
                fact = f'statement imports "{neighbour}", which is not there'
                hint = nearest_hint(neighbour, _file_names(library))
                raise BadInput(fact, location=f"{name}:{line}", hint=hint)
            waiting.append(neighbour)
    return tuple(found)


def read_statement(library: Library, tactic: str) -> Statement:
    """Return the statement of a tactic; ``BadInput`` with the nearest known tactic."""
    names = statement_names(library, tactic)
    if not names:
        hint = nearest_hint(tactic, stated_tactics(library))
        raise BadInput(f'no numeric contract for "{tactic}"', hint=hint)
    return Statement(tactic, {name: library.read(name) for name in names})


def _file_names(library: Library) -> list[str]:
    paths = library.disk.files_under(library.root / FOLDER, ".py")
    names = [path.name for path in paths if path.parent == library.root / FOLDER]
    found = sorted(f"{FOLDER}/{name}" for name in names if _NAME.match(name))
    if len(found) > MAX_FILES:
        expected, got = f"at most {MAX_FILES}", len(found)
        raise BadInput("too many statement files", location=FOLDER, expected=expected, got=got)
    return found


@lru_cache(REMEMBERED)
def _declared(data: bytes, name: str) -> tuple[tuple[str, int], ...]:
    return declared(data, name)
