"""A finished request as other checkouts can use it: what it was made from and made, by content.

A trace holds relative names and digests alone. Where the same files have the same contents it says
what would be made, and the store has the bytes. What decided about the request tells traces apart
and lies in the record of the store; what was made is a blob of its own, which is only read when the
trace fits: nearly all that are kept are of other sources.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from netra_build.build.cache.contents import TRACE, TRACE_FORMAT
from netra_build.build.cache.store import Store
from netra_build.build.freshness.input_trace import InputTrace, RecordingDisk, absolute
from netra_build.build.graph.actions import Paths
from netra_build.build.graph.product import Product
from netra_build.core.canonical_json import Json, parse_object, plain_canonical_bytes, plain_text
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk, confined_path
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.folders import ConfinedRoot
from netra_build.core.stamps import Row, check_texts

OUTPUTS_BELOW = "build/"
OTHER_FORM = (KeyError, TypeError, ValueError, AttributeError)


class Asked(NamedTuple):
    """What decided about a request, by paths relative to its checkout."""

    inputs: Mapping[str, str]
    """The BLAKE3 of each file that was read."""
    answers: tuple[tuple[str, str, bool], ...] = ()
    """Kind of question, path and answer."""
    listings: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """Folder, suffix and the names below it."""


def read_asked(document: Any) -> Asked:
    """Return what was asked from its document; ``BadInput`` for any other."""
    try:
        return Asked(
            inputs=dict(_digests(document["inputs"].items())),
            answers=tuple((str(kind), str(n), bool(a)) for kind, n, a in document["answers"]),
            listings=tuple((str(f), str(s), _texts(n)) for f, s, n in document["listings"]),
        )
    except OTHER_FORM:
        raise BadInput("not a trace", location="store") from None


@dataclass(frozen=True)
class Made:
    """All that a request made, by paths relative to its checkout."""

    groups: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """Each action digest with the BLAKE3 of each file that was made, in the order of its roles.

    It is empty for files of which no action is known.
    """
    products: tuple[tuple[str, str], ...] = ()
    """Folder and seal of each product that has its folder to itself."""
    said: tuple[str, ...] = ()
    requests: Mapping[str, Json] = field(default_factory=dict)
    """What was asked for, as the record of runs has it."""

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The BLAKE3 of each file."""
        return {name: digest for _, files in self.groups for name, digest in files}

    def makers(self) -> list[tuple[str, Paths]]:
        """Return each action digest that is known with what was made by it."""
        return [(action, tuple(dict(files))) for action, files in self.groups if action]

    def products_in(self, base: str) -> list[Product]:
        """Return the products as they lie in a checkout; ``BadInput`` for one that leads out."""
        return [
            Product(
                confined_path(Path(base), folder, "store"),
                seal,
                _names_below(self.outputs, folder),
                RealDisk(),
                is_alone=True,
            )
            for folder, seal in self.products
        ]

    def document(self) -> dict[str, Json]:
        """Return what was made as plain JSON."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def read_made(document: Any) -> Made:
    """Return what was made from its document; ``BadInput`` for any other."""
    try:
        groups = tuple((str(action), _digests(files)) for action, files in document["groups"])
        products = tuple((str(folder), str(seal)) for folder, seal in document["products"])
        made = Made(groups, products, _texts(document["said"]), _requests(document["requests"]))
        if len(made.outputs) != sum(len(files) for _, files in groups):
            raise ValueError("a file is named twice")
    except OTHER_FORM:
        raise BadInput("not a trace", location="store") from None
    return made


class KeptTrace:
    """A trace in a store; what was made is read when it is asked for."""

    def __init__(self, record: Any, store: Store) -> None:
        """Take what the store's record says; ``BadInput`` for a record of another form."""
        if not isinstance(record, dict) or record.get("format") != TRACE_FORMAT:
            raise BadInput("not a trace", location="store")
        self.code, self.made_digest = str(record.get("code")), str(record.get("made"))
        self.asked = read_asked(record.get("asked"))
        self._store = store

    @cached_property
    def made(self) -> Made:
        """What the request made; ``BadInput`` when that is gone, or is of another form."""
        data = self._store.get_blob(self.made_digest)
        if data is None:
            raise BadInput("a part of a trace is gone", location="store")
        return read_made(parse_object(data, "store"))


def kept_traces(store: Store, key: str) -> Iterator[KeptTrace]:
    """Yield the traces that are kept of a request, the newest first."""
    for record in store.get_records(TRACE, key):
        try:
            yield KeptTrace(record, store)
        except BadInput:
            continue


def keep_trace(store: Store, key: str, code: str, asked: Asked, made: Made, base: str) -> None:
    """Keep a trace, and of its outputs what the store does not have yet.

    ``code`` is the digest of the code, the tool chain and what else runs. What the traces have made
    that this one takes the place of goes.
    """
    for action, files in made.groups:
        for name, digest in () if store.has_outputs(action) else files:
            if not store.has_blob(digest):
                store.put_blob(RealDisk().read_bytes(base + name))
    digest = store.put_blob(plain_canonical_bytes(made.document()))
    record = {"format": TRACE_FORMAT, "code": code, "asked": asked._asdict(), "made": digest}
    before = {kept.made_digest for kept in kept_traces(store, key)}
    store.put_record(TRACE, key, record)
    for gone in before - {kept.made_digest for kept in kept_traces(store, key)}:
        store.drop_blob(gone)


def trace_of(
    input_trace: InputTrace,
    base: str,
    groups: Sequence[tuple[str, Mapping[str, Row]]],
    products: Sequence[Product],
    said: Iterable[str],
    requests: Mapping[str, Json] | None = None,
) -> tuple[Asked, Made] | None:
    """Return what decided about a request that was just finished, and what it made.

    None when it looked outside ``base``, or made something outside the build folder: another
    checkout says nothing about that. ``input_trace`` is that of the library alone; ``groups`` are
    the outputs of each action with its digest, which is empty if it is not known.
    """
    start, outputs = len(base), {path for _, rows in groups for path in rows}
    if not all(path.startswith(base + OUTPUTS_BELOW) for path in outputs):
        return None
    made = Made(
        tuple((one, tuple((p[start:], row[1]) for p, row in rows.items())) for one, rows in groups),
        tuple((absolute(one.folder).removeprefix(base), one.seal) for one in products),
        tuple(said),
        # Only those in which no text is an absolute path mean the same elsewhere.
        {name: one for name, one in (requests or {}).items() if '"/' not in plain_text(one)},
    )
    pairs = zip(products, made.products, strict=True)
    if any({*_names_below(made.outputs, folder)} != one.names for one, (folder, _) in pairs):
        return None
    asked = _asked_of(input_trace, base, outputs)
    return None if asked is None else (asked, made)


def _asked_of(input_trace: InputTrace, base: str, outputs: set[str]) -> Asked | None:
    """Return what was looked at besides the outputs, None when that lies outside ``base``."""
    seen = {path: digest for path, (_, digest) in input_trace.files.items() if path not in outputs}
    answers, listings = input_trace.answers.items(), input_trace.listings.items()
    paths = [*seen, *(path for (_, path), _ in answers), *(key[0] for key, _ in listings)]
    if any(input_trace.environment.values()) or not all(path.startswith(base) for path in paths):
        return None
    start, disk = len(base), RealDisk()
    return Asked(
        {p[start:]: digest or blake3_hex(disk.read_bytes(p)) for p, digest in seen.items()},
        tuple((kind, path[start:], answer) for (kind, path), answer in answers),
        tuple((key[0][start:], key[1] or "", names) for key, names in listings),
    )


def _names_below(outputs: Iterable[str], folder: str) -> tuple[str, ...]:
    prefix = f"{folder}/"
    return tuple(name.removeprefix(prefix) for name in outputs if name.startswith(prefix))


def _digests(files: Any) -> tuple[tuple[str, str], ...]:
    found = tuple((name, digest) for name, digest in files)
    check_texts([text for pair in found for text in pair])
    return found


def _requests(value: Any) -> dict[str, Json]:
    check_texts(list(value))
    if not all(isinstance(one, dict) and isinstance(one["graph"], str) for one in value.values()):
        raise TypeError("not a request")
    return dict(value)


def _texts(value: Any) -> tuple[str, ...]:
    check_texts(value)
    return tuple(value)


def fits(asked: Asked, base: str, input_trace: InputTrace) -> bool:
    """Tell whether a request would be made from the same here; what is asked is noted.

    Of the traces that are kept nearly all differ in an input, so these are looked at first.
    """
    disk, confined = RecordingDisk(input_trace), ConfinedRoot(Path(base))
    questions = {"exists": disk.exists, "is_file": disk.is_file, "is_folder": disk.is_folder}
    try:
        for name, digest in asked.inputs.items():
            if blake3_hex(disk.read_bytes(confined.path(name, name))) != digest:
                return False
        for kind, name, answer in asked.answers:
            if kind not in questions or questions[kind](Path(base + name)) != answer:
                return False
        for folder, suffix, names in asked.listings:
            top = Path(base + folder)
            found = disk.files_under(top, suffix)
            if tuple(path.relative_to(top).as_posix() for path in found) != names:
                return False
    except NetraError:
        return False
    return True


def restore(made: Made, base: str, store: Store) -> dict[str, str] | None:
    """Write every output that is not there yet; return the digests of all by relative path.

    None when the store lacks one, or a name leads out of the build folder; what was written by
    then is right, and a product that is not whole has no seal. Raises ``NetraError`` when writing
    fails.
    """
    disk, confined, products = RealDisk(), ConfinedRoot(Path(base)), made.products_in(base)
    seals = {f"{folder}/{seal}" for folder, seal in made.products}
    for action, pairs in sorted(made.groups, key=lambda one: not seals.isdisjoint(dict(one[1]))):
        files = dict(pairs)
        paths = {name: confined.path(name, "store") for name in files}
        if not all(name.startswith(OUTPUTS_BELOW) for name in files):
            return None
        lacking = [n for n in files if n in seals or not _has(paths[n], files[n])]
        kept = _kept(action, tuple(files), store) if lacking else {}
        for name in sorted(lacking, key=seals.__contains__):
            data = kept.get(name)
            if data is None or blake3_hex(data) != files[name]:
                data = store.get_blob(files[name])
            if data is None:
                return None
            for (folder, _), product in zip(made.products, products, strict=True):
                if name.startswith(f"{folder}/") and not product.has_begun:
                    product.refuse_foreign()
                    product.begin()
            disk.write_output(paths[name], data)
    for product in products:
        if product.has_begun:
            product.finish()
    return dict(made.outputs)


def _kept(action: str, names: Paths, store: Store) -> dict[str, bytes]:
    """Return what the store has of an action by the names of its files."""
    found = store.all_outputs(action) if store.has_outputs(action) else None
    is_whole = found is not None and len(found) == len(names)
    return dict(zip(names, found.values(), strict=True)) if found and is_whole else {}


def _has(path: str, digest: str) -> bool:
    if os.path.islink(path) or not RealDisk().is_file(path):
        return False
    return blake3_hex(RealDisk().read_bytes(path)) == digest
