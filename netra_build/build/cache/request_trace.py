"""A finished request as others can use it: what it was made from and what it made, by content.

A trace holds relative names and digests alone. In another checkout whose files have the same
contents it says what would be made there, and the store has the bytes. What decided about the
request tells traces apart and lies in the record of the store; what was made is a blob of its own,
which is only read when the trace fits: nearly all that are kept are of other sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from netra_build.build.cache.contents import TRACE, TRACE_FORMAT
from netra_build.build.cache.store import Store
from netra_build.build.freshness.input_trace import InputTrace
from netra_build.build.record.tally import Paths
from netra_build.core.canonical_json import Json, parse_object, plain_canonical_bytes, plain_text
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk, RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.stamps import Row, check_texts, groups_in

OUTPUTS_BELOW = "build/"
OTHER_FORM = (KeyError, TypeError, ValueError, AttributeError)


@dataclass(frozen=True)
class Asked:
    """What decided about a request, by paths relative to its checkout."""

    inputs: Mapping[str, str]
    """The BLAKE3 of each file that was read."""
    answers: tuple[tuple[str, str, bool], ...] = ()
    """Kind of question, path and answer."""
    listings: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """Folder, suffix and the names below it."""

    def document(self) -> dict[str, Json]:
        """Return what was asked as plain JSON."""
        return {
            "inputs": dict(self.inputs),
            "answers": [list(answer) for answer in self.answers],
            "listings": [[folder, suffix, [*names]] for folder, suffix, names in self.listings],
        }


def read_asked(document: Any) -> Asked:
    """Return what was asked from its document; ``BadInput`` for any other."""
    try:
        return Asked(
            inputs=_digests(document["inputs"].items()),
            answers=tuple((str(kind), str(n), bool(a)) for kind, n, a in document["answers"]),
            listings=tuple((str(f), str(s), _texts(n)) for f, s, n in document["listings"]),
        )
    except OTHER_FORM:
        raise _not_a_trace() from None


@dataclass(frozen=True)
class TracedProduct:
    """A folder that a request makes whole: its seal and the names of all its files."""

    folder: str
    seal: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Made:
    """All that a request made, by paths relative to its checkout."""

    groups: tuple[tuple[str, Mapping[str, str]], ...]
    """Each action digest with the BLAKE3 of each file that was made, in the order of its roles.

    It is empty for the files of which no action is known.
    """
    products: tuple[TracedProduct, ...] = ()
    said: tuple[str, ...] = ()
    requests: Mapping[str, Json] = field(default_factory=dict)
    """What was asked for, as the record of runs has it."""

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The BLAKE3 of each file."""
        return {name: digest for _, files in self.groups for name, digest in files.items()}

    def makers(self) -> list[tuple[str, Paths]]:
        """Return each action digest that is known with what was made by it."""
        return [(action, tuple(files)) for action, files in self.groups if action]

    def document(self) -> dict[str, Json]:
        """Return what was made as plain JSON."""
        return {
            "groups": [(action, [*files.items()]) for action, files in self.groups],
            "products": [(product.folder, product.seal) for product in self.products],
            "said": self.said,
            "requests": self.requests,
        }


def read_made(document: Any) -> Made:
    """Return what was made from its document; ``BadInput`` for any other."""
    try:
        groups = tuple((str(action), _digests(files)) for action, files in document["groups"])
        names = [name for _, files in groups for name in files]
        if len({*names}) != len(names):
            raise ValueError("a file is named twice")
        products = tuple(
            TracedProduct(str(folder), str(seal), _names_below(names, str(folder)))
            for folder, seal in document["products"]
        )
        return Made(groups, products, _texts(document["said"]), _requests(document["requests"]))
    except OTHER_FORM:
        raise _not_a_trace() from None


@dataclass(frozen=True)
class Trace:
    """All that decided about a request, and all that it made."""

    code: str
    """Digest of the code, the tool chain and what else runs; no path is part of it."""
    asked: Asked
    made: Made


class KeptTrace:
    """A trace in a store; what was made is read when it is asked for."""

    def __init__(self, record: Any, store: Store) -> None:
        """Take what the store's record says; ``BadInput`` for a record of another form."""
        if not isinstance(record, dict) or record.get("format") != TRACE_FORMAT:
            raise _not_a_trace()
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


def keep_trace(store: Store, key: str, trace: Trace, base: str, disk: Disk) -> None:
    """Keep a trace, and of its outputs what the store does not have yet.

    What the traces have made that it takes the place of goes.
    """
    made = trace.made
    for action, files in made.groups:
        for name, digest in () if store.has_outputs(action) else files.items():
            if not store.has_blob(digest):
                store.put_blob(disk.read_bytes(Path(base + name)))
    record: dict[str, Json] = {
        "format": TRACE_FORMAT,
        "code": trace.code,
        "asked": trace.asked.document(),
        "made": store.put_blob(plain_canonical_bytes(made.document())),
    }
    before = {kept.made_digest for kept in kept_traces(store, key)}
    store.put_record(TRACE, key, record)
    for digest in before - {kept.made_digest for kept in kept_traces(store, key)}:
        store.drop_blob(digest)


def trace_of(
    input_trace: InputTrace,
    base: str,
    code: str,
    outputs: Mapping[str, Row],
    actions: Sequence[tuple[str, int]],
    products: Sequence[TracedProduct],
    said: Iterable[str],
    requests: Mapping[str, Json] | None = None,
) -> Trace | None:
    """Return the trace of a request that was just finished.

    None when it looked outside ``base``, or made something outside the build folder: another
    checkout says nothing about that. ``input_trace`` is that of the library alone; ``actions``
    are the digests of those that made the first outputs, each with the number of its outputs.
    """
    start, build = len(base), base + OUTPUTS_BELOW
    digests = {path[start:]: digest for path, (_, digest) in outputs.items()}
    counts = [count for _, count in actions]
    known = zip((action for action, _ in actions), groups_in(digests, counts), strict=True)
    groups = [*known, ("", tuple(digests)[sum(counts) :])]
    made = Made(
        tuple((action, {name: digests[name] for name in names}) for action, names in groups),
        tuple(products),
        tuple(said),
        _portable(requests or {}),
    )
    if not all(path.startswith(build) for path in outputs) or any(input_trace.environment.values()):
        return None
    if any({*_names_below(digests, one.folder)} != {*one.names} for one in products):
        return None
    asked = _asked_of(input_trace, base, outputs)
    return None if asked is None else Trace(code, asked, made)


def _asked_of(input_trace: InputTrace, base: str, outputs: Mapping[str, Row]) -> Asked | None:
    """Return what was looked at besides the outputs, None when that lies outside ``base``."""
    seen = {path: digest for path, (_, digest) in input_trace.files.items() if path not in outputs}
    paths = [
        *seen,
        *(path for _, path in input_trace.answers),
        *(item[0] for item in input_trace.listings),
    ]
    if not all(path.startswith(base) for path in paths):
        return None
    start, disk = len(base), RealDisk()
    return Asked(
        {p[start:]: digest or blake3_hex(disk.read_bytes(p)) for p, digest in seen.items()},
        tuple((kind, path[start:], answer) for (kind, path), answer in input_trace.answers.items()),
        tuple((key[0][start:], key[1] or "", names) for key, names in input_trace.listings.items()),
    )


def _portable(requests: Mapping[str, Json]) -> dict[str, Json]:
    """Return the requests in which no text is an absolute path."""
    return {name: request for name, request in requests.items() if '"/' not in plain_text(request)}


def _names_below(outputs: Iterable[str], folder: str) -> tuple[str, ...]:
    prefix = f"{folder}/"
    return tuple(name.removeprefix(prefix) for name in outputs if name.startswith(prefix))


def _not_a_trace() -> BadInput:
    return BadInput("not a trace", location="store")


def _digests(files: Any) -> dict[str, str]:
    found = dict(files)
    check_texts([*found, *found.values()])
    if len(found) != len(files):
        raise ValueError("a file is named twice")
    return found


def _requests(value: Any) -> dict[str, Json]:
    check_texts(list(value))
    if not all(isinstance(one, dict) and isinstance(one["graph"], str) for one in value.values()):
        raise TypeError("not a request")
    return dict(value)


def _texts(value: Any) -> tuple[str, ...]:
    check_texts(value)
    return tuple(value)
