"""Differences of two packages of one release: which sources, which code, which files, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from netra_build.core.canonical_json import Json, lower, parse_object
from netra_build.core.digests import sha256_hex
from netra_build.inspect.diff.code_objects import code_difference, read_code_side
from netra_build.inspect.diff.documents import json_changes, renamed_pairs
from netra_build.inspect.diff.sequence import hunks
from netra_build.release.layout import RECORD, SBOM, WRITTEN_LAST
from netra_build.release.origin import Origin

Files = Mapping[str, bytes]
CHANGED, MISSING, ADDED = "changed", "missing", "added"
RENAMED, RENAMED_CHANGED = "same under another hash", "changed under another hash"
SOURCE_SUFFIXES = (".s", ".inc")
MAX_LINES = 20


class Pair(NamedTuple):
    """One file of both packages: its name on each side, if it is there, and what became of it."""

    old: str | None
    new: str | None
    state: str


def release_difference(old: Files, new: Files, folder: str) -> dict[str, Json]:
    """Return everything in which two packages of one release differ.

    ``folder`` is that of the product in them. Code objects are compared by section, descriptor
    field, metadata key and instruction; documents by pointer; sources by line. Files whose names
    differ in a hash alone are compared with each other.
    """
    pairs = file_pairs(old, new)
    changed = [(p.old, p.new) for p in pairs if p.old is not None and p.new is not None]
    return {
        "kind": "release",
        "equal": not pairs,
        "files": [pair._asdict() for pair in pairs],
        "code": [_code(old, new, *names) for names in changed if names[0].endswith(".hsaco")],
        "documents": {
            name: _changes(old[name], new[other], name)
            for name, other in changed
            if _is_document(name, folder)
        },
        "lines": {
            name: _lines(old[name], new[other])
            for name, other in changed
            if name.endswith(SOURCE_SUFFIXES) and old[name] != new[other]
        },
    }


def origin_difference(old: Origin, sources: Files, environment: Json) -> dict[str, Json]:
    """Return which recorded sources are others now, and how Python and its libraries differ."""
    digests = {name: sha256_hex(data).encode() for name, data in sources.items()}
    recorded = {name: digest.encode() for name, digest in old.sources.items()}
    changes = json_changes(lower(old.environment), lower(environment))
    return {
        "sources": [pair._asdict() for pair in file_pairs(recorded, digests)],
        "environment": [change.document() for change in changes],
    }


def file_pairs(old: Files, new: Files) -> list[Pair]:
    """Return every file that differs, by name of the old side, then of the new."""
    renamed = renamed_pairs(old.keys() - new.keys(), new.keys() - old.keys())
    pairs = []
    for name in sorted({*old, *new} - set(renamed.values())):
        if name in renamed:
            is_same = old[name] == new[renamed[name]]
            pairs.append(Pair(name, renamed[name], RENAMED if is_same else RENAMED_CHANGED))
        elif name not in new:
            pairs.append(Pair(name, None, MISSING))
        elif name not in old:
            pairs.append(Pair(None, name, ADDED))
        elif old[name] != new[name]:
            pairs.append(Pair(name, name, CHANGED))
    return pairs


def _code(old: Files, new: Files, name: str, other: str) -> dict[str, Json]:
    one = read_code_side(old[name], _listing(old, name), name)
    two = read_code_side(new[other], _listing(new, other), other)
    return {"name": name, "difference": code_difference(one, two)}


def _listing(files: Files, name: str) -> str | None:
    data = files.get(name.replace("hsaco/", "metadata/").removesuffix(".hsaco") + ".dis")
    return None if data is None else data.decode("utf-8", "backslashreplace")


def _is_document(name: str, folder: str) -> bool:
    """Tell whether a file is a document whose changes say more than that it changed."""
    if name in (SBOM, *WRITTEN_LAST):
        return name == RECORD
    return name.endswith(".json") and "/" not in name.removeprefix(folder)


def _changes(old: bytes, new: bytes, name: str) -> list[Json]:
    changes = json_changes(parse_object(old, name), parse_object(new, name))
    return [change.document() for change in changes]


def _lines(old: bytes, new: bytes) -> list[Json]:
    """Return the lines of a source that differ, with their numbers, at most ``MAX_LINES``."""
    mine, theirs = (data.decode("utf-8", "backslashreplace").split("\n") for data in (old, new))
    rows: list[Json] = []
    for hunk in hunks(mine, theirs):
        rows += [["-", i + 1, mine[i]] for i in hunk.old]
        rows += [["+", i + 1, theirs[i]] for i in hunk.new]
    return rows[:MAX_LINES]
