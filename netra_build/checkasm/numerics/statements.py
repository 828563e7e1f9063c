"""The statements of a kernel library: which file states which tactic, with what it imports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from netra_build.checkasm.numerics.statement_source import (
    FOLDER,
    Statement,
    declared,
    is_import,
    neighbours,
)
from netra_build.core.errors import BadInput, EvidenceIncomplete, nearest_hint
from netra_build.formats.catalogs.catalog import tactic_ids
from netra_build.formats.catalogs.tactic import FixedTactic
from netra_build.formats.golden import SIMULATED, evidence_of, golden_sources
from netra_build.formats.library import Library

MAX_FILES = 1024
REMEMBERED = 256
"""Files whose declarations are kept for the next plan, by name and content."""

_NAME = re.compile(rf"{FOLDER}/[a-z][a-z0-9_]*\.py")
_PLACE = f"it is read as {FOLDER}/NAME.py, NAME of lower-case letters, digits and underscores"


def stated_tactics(library: Library) -> Mapping[str, str]:
    """Return the ids of all tactics that a library states, each with the name of its file.

    ``BadInput`` for a tactic that is stated twice or is in no catalog, for a file whose
    declaration is unusable, and for one without any that no file imports.
    """
    place_by_tactic: dict[str, tuple[str, int]] = {}
    names = _file_names(library)
    known = tactic_ids(library) if names else frozenset()
    idle: list[str] = []
    imported: set[str] = set()
    for name in names:
        stated, needed = _said(library.read(name), name)
        imported |= needed - {name}
        idle += [] if stated else [name]
        for tactic, line in stated:
            if tactic not in known:
                fact, hint = f'no catalog has the tactic "{tactic}"', nearest_hint(tactic, known)
                raise BadInput(fact, location=f"{name}:{line}", hint=hint)
            if tactic in place_by_tactic:
                first = ":".join(map(str, place_by_tactic[tactic]))
                fact = f'tactic "{tactic}" is stated twice, first in {first}'
                raise BadInput(fact, location=f"{name}:{line}")
            place_by_tactic[tactic] = name, line
    for name in idle:
        if name not in imported:
            hint = "end it with TACTICS or ENTRY, or remove it"
            raise BadInput("file states no tactic, and none imports it", location=name, hint=hint)
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
                if not is_import(library.read(name), name, line):
                    continue
                fact = f'statement imports "{neighbour}", which is not there'
                hint = nearest_hint(neighbour, _file_names(library))
                raise BadInput(fact, location=f"{name}:{line}", hint=hint)
            waiting.append(neighbour)
    return tuple(found)


def needed_statement(library: Library, tactic: FixedTactic) -> tuple[str, ...]:
    """Return the files that state a tactic.

    Without them ``EvidenceIncomplete`` if the library states others, and maturity or evidence says
    that this one was simulated.
    """
    name = tactic.name.removeprefix(f"{tactic.target}.")
    found = statement_names(library, name)
    if found or not stated_tactics(library):
        return found
    sources = golden_sources(library, name)
    scopes = {record.scope for source in sources for record in evidence_of(library, source)}
    if SIMULATED in scopes or (tactic.maturity == "verified" and not scopes):
        raise EvidenceIncomplete(
            f'"{name}" counts as simulated, and no file in {FOLDER} states it',
            location=tactic.location,
            hint="state its numeric contract there, or withdraw its maturity and evidence",
        )
    return ()


def read_statement(library: Library, tactic: str) -> Statement:
    """Return the statement of a tactic; ``BadInput`` with the nearest known tactic."""
    names = statement_names(library, tactic)
    if not names:
        hint = nearest_hint(tactic, stated_tactics(library))
        raise BadInput(f'no numeric contract for "{tactic}"', hint=hint)
    return Statement(tactic, {name: library.read(name) for name in names})


def _file_names(library: Library) -> list[str]:
    paths = library.disk.files_under(library.root / FOLDER, ".py")
    found = sorted(path.relative_to(library.root).as_posix() for path in paths)
    if not found and (library.has(FOLDER.partition("/")[0]) or library.has(FOLDER)):
        raise BadInput("not a folder", location=FOLDER)
    for name in found:
        if not _NAME.fullmatch(name):
            raise BadInput("file cannot be a statement", location=name, hint=_PLACE)
    if len(found) > MAX_FILES:
        expected, got = f"at most {MAX_FILES}", len(found)
        raise BadInput("too many statement files", location=FOLDER, expected=expected, got=got)
    return found


@lru_cache(REMEMBERED)
def _said(data: bytes, name: str) -> tuple[tuple[tuple[str, int], ...], frozenset[str]]:
    """Return the tactics that a file declares, and the files that it imports."""
    return declared(data, name), frozenset(file for file, _ in neighbours(data, name))
