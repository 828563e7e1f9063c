"""A finished request as others can use it: what it was made from and what it made, by content.

A trace holds relative names and digests alone. In another checkout whose files have the same
contents it says what would be made there, and the store has the bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from netra_build.build.cache.look import held
from netra_build.build.cache.store import Store, blob_name, entry_name
from netra_build.build.cache.trace_parts import (
    Asked,
    Made,
    TracedProduct,
    not_a_trace,
    outputs_below,
    part_bytes,
    part_of,
    read_asked,
    read_made,
)
from netra_build.build.freshness.input_trace import InputTrace, RecordingDisk
from netra_build.build.freshness.noted import NotedDigests
from netra_build.build.graph.product import Product
from netra_build.build.record.tally import Paths
from netra_build.core.canonical_json import Json, plain_text
from netra_build.core.digests import DIGEST, blake3_hex
from netra_build.core.disk import Disk, RealDisk, confined_path
from netra_build.core.errors import NetraError
from netra_build.core.folders import ConfinedRoot
from netra_build.core.stamps import Row, stamp_of

KIND = "request"
FORMAT = "netra-trace-5"
OUTPUTS_BELOW = "build/"


class AnyTrace(Protocol):
    """What a trace says, whether all of it was read or not."""

    @property
    def code(self) -> str: ...
    @property
    def asked(self) -> Asked: ...
    @property
    def made(self) -> Made: ...


@dataclass(frozen=True)
class Trace:
    """All that decided about a request, and all that it made; paths are relative to ``base``."""

    code: str
    """Digest of the code, the tool chain and what else runs; no path is part of it."""
    asked: Asked
    made: Made


class KeptTrace:
    """A trace in a store; each of its parts is read when it is asked for.

    A part that is gone, or is of another form, raises ``BadInput``.
    """

    def __init__(self, head: Json, store: Store) -> None:
        """Take what the store's record says; ``BadInput`` for a record of another form."""
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise not_a_trace()
        texts = [head.get(part) for part in ("code", "asked", "made")]
        if not all(isinstance(text, str) for text in texts):
            raise not_a_trace()
        self.code, self._asked, self._made = map(str, texts)
        self._store = store

    @property
    def part_digests(self) -> tuple[str, str]:
        """The BLAKE3 of both parts."""
        return self._asked, self._made

    @cached_property
    def asked(self) -> Asked:
        """What decided about the request."""
        return read_asked(part_of(self._store.get_blob(self._asked)))

    @cached_property
    def made(self) -> Made:
        """What the request made."""
        return read_made(part_of(self._store.get_blob(self._made)))


def kept_traces(store: Store, key: str) -> Iterator[KeptTrace]:
    """Yield the traces that are kept of a request, the newest first."""
    for head in store.get_records(KIND, key):
        try:
            yield KeptTrace(head, store)
        except NetraError:
            continue


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
    checkout says nothing about that. ``input_trace`` is that of the library alone; ``actions`` are
    the digests of those that made the first outputs, each with the number of its outputs.
    """
    seen = {path: digest for path, (_, digest) in input_trace.files.items() if path not in outputs}
    for path, digest in seen.items():
        if digest is None:
            seen[path] = blake3_hex(RealDisk().read_bytes(Path(path)))
    paths = [
        *seen,
        *(path for _, path in input_trace.answers),
        *(item[0] for item in input_trace.listings),
    ]
    if any(input_trace.environment.values()) or not all(path.startswith(base) for path in paths):
        return None
    if not all(path.startswith(base + OUTPUTS_BELOW) for path in outputs):
        return None
    start = len(base)
    made = Made({path[start:]: digest for path, (_, digest) in outputs.items()}, tuple(actions))
    if any({*outputs_below(made.outputs, one.folder)} != {*one.names} for one in products):
        return None
    asked = Asked(
        inputs={path[start:]: digest for path, digest in seen.items() if digest},
        answers=tuple(
            (kind, path[start:], answer) for (kind, path), answer in input_trace.answers.items()
        ),
        listings=tuple(
            (folder[start:], suffix or "", names)
            for (folder, suffix, _), names in input_trace.listings.items()
        ),
    )
    made = replace(made, products=tuple(products), said=tuple(said))
    return Trace(code, asked, replace(made, requests=_portable(requests or {})))


def _portable(requests: Mapping[str, Json]) -> dict[str, Json]:
    """Return the requests in which no text is an absolute path."""
    return {name: request for name, request in requests.items() if '"/' not in plain_text(request)}


def keep_trace(store: Store, key: str, trace: Trace, base: str, disk: Disk) -> None:
    """Keep a trace, and of its outputs what the store does not have yet.

    The parts of the traces that it takes the place of go.
    """
    made = trace.made
    entries = {action: entry_name(action) for action, _ in made.actions if DIGEST.match(action)}
    there = held(store.files, entries.values())
    kept = {n for action, names in made.makers() if entries.get(action) in there for n in names}
    blobs = {name: blob_name(digest) for name, digest in made.outputs.items() if name not in kept}
    lacking = {*blobs.values()} - held(store.files, {*blobs.values()})
    for name, blob in blobs.items():
        if blob in lacking:
            store.put_blob(disk.read_bytes(Path(base + name)))
    parts = {
        part: store.put_blob(part_bytes(document))
        for part, document in (("asked", trace.asked.document()), ("made", made.document()))
    }
    before = _part_digests(store, key)
    store.put_record(KIND, key, {"format": FORMAT, "code": trace.code, **parts})
    for digest in before - _part_digests(store, key):
        store.drop_blob(digest)


def _part_digests(store: Store, key: str) -> set[str]:
    return {digest for trace in kept_traces(store, key) for digest in trace.part_digests}


class Present:
    """The inputs of a checkout as they are, each looked at once: it is held against many traces."""

    def __init__(self, base: str, noted: NotedDigests | None = None) -> None:
        self._base = base
        self._noted = noted or NotedDigests()
        self._digests: dict[str, str] = {}

    def may_fit(self, asked: Asked) -> bool:
        """Tell whether no input is seen to differ: what passes has to be looked at in full.

        Nothing is noted, and a file that its stamp does not tell apart is not looked at again.
        """
        return all(self._digest(name) == digest for name, digest in asked.inputs.items())

    def _digest(self, name: str) -> str:
        """Return the BLAKE3 of a file, nothing if it cannot be read."""
        if name not in self._digests:
            self._digests[name] = self._read(self._base + name)
        return self._digests[name]

    def _read(self, path: str) -> str:
        stamp = stamp_of(path)
        if stamp is None:
            return ""
        try:
            return self._noted.digest(path, stamp) or blake3_hex(RealDisk().read_bytes(path))
        except NetraError:
            return ""


def fits(trace: AnyTrace, code: str, base: str, input_trace: InputTrace, present: Present) -> bool:
    """Tell whether a request would be made from the same here; what is asked is noted."""
    if trace.code != code or not present.may_fit(trace.asked):
        return False
    asked, disk = trace.asked, RecordingDisk(input_trace)
    questions = {"exists": disk.exists, "is_file": disk.is_file, "is_folder": disk.is_folder}
    try:
        for kind, name, answer in asked.answers:
            if kind not in questions or questions[kind](Path(base + name)) != answer:
                return False
        for folder, suffix, names in asked.listings:
            top = Path(base + folder)
            found = disk.files_under(top, suffix)
            if tuple(path.relative_to(top).as_posix() for path in found) != names:
                return False
        confined = ConfinedRoot(Path(base))
        return all(
            blake3_hex(disk.read_bytes(confined.path(name, name))) == digest
            for name, digest in asked.inputs.items()
        )
    except NetraError:
        return False


def restore(made: Made, base: str, store: Store) -> dict[str, str] | None:
    """Write every output that is not there yet; return the digests of all by relative path.

    None when the store lacks one, or a name leads out of the build folder; what was written by
    then is right, and a product that is not whole has no seal. Raises ``NetraError`` when writing
    fails.
    """
    disk, confined = RealDisk(), ConfinedRoot(Path(base))
    products = {f"{p.folder}/{p.seal}": p for p in made.products}
    later = [(p, f"{p.folder}/") for p in made.products]
    begun: dict[str, Product] = {}
    contents = _Contents(made, store)
    for name, digest in sorted(made.outputs.items(), key=lambda item: item[0] in products):
        path = confined.path(name, "store")
        if not name.startswith(OUTPUTS_BELOW):
            return None
        if name not in products and _has(disk, path, digest):
            continue
        data = contents.get(name, digest)
        if data is None:
            return None
        for traced, prefix in later:
            if name.startswith(prefix):
                _begin(traced, base, begun)
        disk.write_output(path, data)
    for product in begun.values():
        product.finish()
    return dict(made.outputs)


class _Contents:
    """The outputs of a trace in a store; those of the action that was asked for last are held."""

    def __init__(self, made: Made, store: Store) -> None:
        self._store = store
        self._made_by = {name: maker for maker in made.makers() for name in maker[1]}
        self._held_of: tuple[str, Paths] | None = None
        self._held: dict[str, bytes] = {}

    def get(self, name: str, digest: str) -> bytes | None:
        """Return the bytes of an output, which have this BLAKE3; None if they are not here."""
        made = self._made_by.get(name)
        if made is not None and made is not self._held_of:
            action, names = made
            found = self._store.output_list(action, len(names)) or ()
            self._held_of, self._held = made, dict(zip(names, found, strict=False))
        data = self._held.get(name)
        if data is not None and blake3_hex(data) == digest:
            return data
        return self._store.get_blob(digest)


def _begin(traced: TracedProduct, base: str, begun: dict[str, Product]) -> None:
    """Withdraw the seal of a product before its first file is written."""
    if traced.folder not in begun:
        folder = confined_path(Path(base), traced.folder, "store")
        product = Product(folder, traced.seal, traced.names, RealDisk(), is_alone=True)
        product.refuse_foreign()
        product.begin()
        begun[traced.folder] = product


def _has(disk: Disk, path: str, digest: str) -> bool:
    return (
        not os.path.islink(path)
        and disk.is_file(path)
        and blake3_hex(disk.read_bytes(path)) == digest
    )


def digests_below(input_trace: InputTrace, place: str, noted: NotedDigests) -> dict[str, str]:
    """Return the BLAKE3 of what was looked at below a folder, or of a file, by the names there.

    What was neither read nor noted is read now, and that is noted in ``input_trace``.
    """
    found = {}
    for path, (stamp, digest) in list(input_trace.files.items()):
        if path != place and not path.startswith(f"{place}/"):
            continue
        digest = digest or (noted.digest(path, stamp) if stamp is not None else None)
        if digest is None:
            digest = blake3_hex(RealDisk().read_bytes(path))
            input_trace.saw_file(path, digest)
        found[path.removeprefix(place)] = digest
    return found
