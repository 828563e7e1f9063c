"""All differences of two JSON documents, by name, and of two sets of files, by name.

A difference in hashes alone is distinguished from a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from netra_build.core.canonical_json import Json, canonical_text
from netra_build.inspect.diff.sequence import hunks

NAME_KEYS = ("name", "id", "tensor", "tactic", "symbol")
_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{12,}(?![0-9A-Za-z])")

CHANGED, ADDED, REMOVED, MOVED = "changed", "added", "removed", "moved"
MISSING = "missing"
RENAMED, RENAMED_CHANGED = "same under another hash", "changed under another hash"
"""States of files, beside ``changed`` and ``added``."""

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Change:
    """One difference. ``subject`` is the chain of names around it, outermost first.

    ``pointer`` leads into the new document, or into the old one when the value was removed.
    ``is_identity``: both values are equal but for the hashes in them.
    """

    subject: tuple[str, ...]
    pointer: str
    kind: str
    old: Json = None
    new: Json = None
    is_identity: bool = False

    def document(self) -> dict[str, Json]:
        """Return the change as JSON; a side that has no value is left out."""
        record: dict[str, Json] = {
            "subject": list(self.subject),
            "pointer": self.pointer,
            "kind": self.kind,
            "identity": self.is_identity,
        }
        if self.kind != ADDED:
            record["old"] = self.old
        if self.kind != REMOVED:
            record["new"] = self.new
        return record


def without_hashes(text: str) -> str:
    """Return a text with every hash in it replaced by ``#``."""
    return _HASH.sub("#", text)


def json_changes(old: Json, new: Json) -> list[Change]:
    """Return every difference, in the order of the documents.

    Objects of a list are matched by their names where all have one; other lists by position, or
    aligned when their lengths differ. True and 1 differ, and so do 1 and 1.0.
    """
    return list(_walk(old, new, Change((), "", CHANGED)))


def change_rows(old: Json, new: Json) -> list[Json]:
    """Return every difference as JSON."""
    return [change.document() for change in json_changes(old, new)]


def renamed_pairs(old: Iterable[str], new: Iterable[str]) -> dict[str, str]:
    """Return old name to new name where both differ in hashes alone and the match is unique."""
    mine, theirs = _by_mask(old), _by_mask(new)
    return {mine[mask]: theirs[mask] for mask in mine if mask in theirs}


def _by_mask(names: Iterable[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(without_hashes(name), []).append(name)
    return {mask: same[0] for mask, same in found.items() if len(same) == 1}


def _walk(old: Json, new: Json, place: Change) -> Iterable[Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _walk_objects(old, new, place)
    elif isinstance(old, list) and isinstance(new, list):
        key = _name_key(old, new)
        if key is not None:
            yield from _walk_named(old, new, key, place)
        else:
            yield from _walk_lists(old, new, place)
    elif type(old) is not type(new) or old != new:
        are_texts = isinstance(old, str) and isinstance(new, str)
        is_identity = are_texts and without_hashes(old) == without_hashes(new)
        yield replace(place, old=old, new=new, is_identity=is_identity)


def _below(place: Change, key: str | int, *names: str) -> Change:
    """Return the place of a key or index, with the names of the objects there."""
    segment = str(key).replace("~", "~0").replace("/", "~1")
    return Change((*place.subject, *names), f"{place.pointer}/{segment}", CHANGED)


def _walk_objects(
    old: Mapping[str, Json], new: Mapping[str, Json], place: Change
) -> Iterable[Change]:
    renamed = renamed_pairs(old.keys() - new.keys(), new.keys() - old.keys())
    for key in sorted({*old, *new} - set(renamed.values())):
        other = renamed.get(key, key)
        here = _below(place, other)
        if key not in old:
            yield replace(here, kind=ADDED, new=new[key])
        elif other not in new:
            yield replace(here, kind=REMOVED, old=old[key])
        else:
            if other != key:
                yield replace(here, old=key, new=other, is_identity=True)
            yield from _walk(old[key], new[other], here)


def _name_key(old: Sequence[Json], new: Sequence[Json]) -> str | None:
    """Return the key by which all objects of both lists are named, each list without doubles."""
    if not all(isinstance(item, dict) for item in (*old, *new)) or not (old or new):
        return None
    for key in NAME_KEYS:
        sides = [[item.get(key) for item in side] for side in (old, new)]
        is_text = all(isinstance(name, str) for side in sides for name in side)
        if is_text and all(len(set(side)) == len(side) for side in sides):
            return key
    return None


def _walk_named(
    old: Sequence[Mapping[str, Json]],
    new: Sequence[Mapping[str, Json]],
    key: str,
    place: Change,
) -> Iterable[Change]:
    mine = {item[key]: index for index, item in enumerate(old)}
    theirs = {item[key]: index for index, item in enumerate(new)}
    renamed = renamed_pairs(mine.keys() - theirs.keys(), theirs.keys() - mine.keys())
    for name, index in mine.items():
        other = renamed.get(name, name)
        if other in theirs:
            at = theirs[other]
            yield from _walk(old[index], new[at], _below(place, at, other))
        else:
            yield replace(_below(place, index, name), kind=REMOVED, old=old[index])
    taken = set(renamed.values())
    for name, at in theirs.items():
        if name not in mine and name not in taken:
            yield replace(_below(place, at, name), kind=ADDED, new=new[at])
    order = [renamed.get(name, name) for name in mine if renamed.get(name, name) in theirs]
    shared = set(order)
    kept = [name for name in theirs if name in shared]
    if order != kept:
        yield replace(place, kind=MOVED, old=order, new=kept)


def _walk_lists(old: Sequence[Json], new: Sequence[Json], place: Change) -> Iterable[Change]:
    if len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _walk(one, other, _below(place, index))
        return
    for hunk in hunks([canonical_text(i) for i in old], [canonical_text(i) for i in new]):
        shared = min(len(hunk.old), len(hunk.new))
        for index, at in zip(hunk.old[:shared], hunk.new[:shared], strict=True):
            yield from _walk(old[index], new[at], _below(place, at))
        for index in hunk.old[shared:]:
            yield replace(_below(place, index), kind=REMOVED, old=old[index])
        for at in hunk.new[shared:]:
            yield replace(_below(place, at), kind=ADDED, new=new[at])


class Pair(NamedTuple):
    """One file of both packages: its name on each side, if any, and its state."""

    old: str | None
    new: str | None
    state: str


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
