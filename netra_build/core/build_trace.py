"""A finished request as others can use it: what it was made from and what it made, by content.

A trace holds relative names and digests alone. In another checkout whose files have the same
contents it says what would be made there, and the store has the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk, RealDisk, confined_path
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.product import Product
from netra_build.core.recording_disk import Looks, RecordingDisk
from netra_build.core.stamps import Stamp, stamp_of
from netra_build.core.store import Store
from netra_build.core.tally import Paths

KIND = "trace"
FORMAT = "netra-trace-3"
OUTPUTS_BELOW = "build/"
BETWEEN = "|"
"""Stands between the rows of what a trace made."""


@dataclass(frozen=True)
class TracedProduct:
    """A folder that a request makes whole: its seal and the names of all its files."""

    folder: str
    seal: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Trace:
    """All that decided about a request, and all that it made; paths are relative to ``base``."""

    code: str
    """Digest of the code, the tool chain and what else runs; no path is part of it."""
    inputs: Mapping[str, str]
    answers: tuple[tuple[str, str, bool], ...]
    listings: tuple[tuple[str, str, tuple[str, ...]], ...]
    made: str
    """Outputs and actions, which are nearly all of a trace, as a text: read when a trace fits."""
    products: tuple[TracedProduct, ...]
    said: tuple[str, ...]

    @property
    def outputs(self) -> Mapping[str, str]:
        """The BLAKE3 of each output; ``BadInput`` when there is none to be read."""
        return self._made[0]

    @property
    def actions(self) -> tuple[tuple[str, Paths], ...]:
        """Each action digest, with the outputs that were made by it in the order of their roles.

        Raises as ``outputs``.
        """
        return self._made[1]

    @cached_property
    def _made(self) -> tuple[dict[str, str], tuple[tuple[str, Paths], ...]]:
        try:
            return _read_made(self.made)
        except (ValueError, IndexError):
            raise BadInput("not a trace", location="store") from None

    def document(self) -> Json:
        """Return the trace as JSON."""
        return {
            "format": FORMAT,
            "code": self.code,
            "inputs": dict(self.inputs),
            "answers": [list(answer) for answer in self.answers],
            "listings": [[f, suffix, list(names)] for f, suffix, names in self.listings],
            "made": self.made,
            "products": [[p.folder, p.seal, list(p.names)] for p in self.products],
            "said": list(self.said),
        }


def read_trace(document: Json) -> Trace:
    """Return the trace in a document; ``BadInput`` for what is none."""
    try:
        if not isinstance(document, dict) or document["format"] != FORMAT:
            raise ValueError("another format")
        read: dict[str, list[list[object]]] = document
        return Trace(
            code=str(document["code"]),
            inputs={str(name): str(digest) for name, digest in _items(document["inputs"])},
            answers=tuple((str(kind), str(n), bool(a)) for kind, n, a in read["answers"]),
            listings=tuple((str(f), str(s), _names(names)) for f, s, names in read["listings"]),
            made=_text(document["made"]),
            products=tuple(
                TracedProduct(str(f), str(s), _names(names)) for f, s, names in read["products"]
            ),
            said=_names(document["said"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadInput("not a trace", location="store") from None


def _items(value: Json) -> list[tuple[str, Json]]:
    if not isinstance(value, dict):
        raise TypeError("no object")
    return list(value.items())


def _made_text(outputs: Mapping[str, str], actions: Mapping[Paths, str]) -> str:
    """Return outputs and actions as rows of one text; an action has the numbers of its outputs.

    JSON has nothing to escape in it, which would take longer to read than all the rest.
    """
    number = {name: str(index) for index, name in enumerate(outputs)}
    rows = [
        f"{digest} {name.replace('%', '%25').replace(BETWEEN, '%7C')}"
        for name, digest in outputs.items()
    ]
    rows += [
        " ".join([digest, *(number[name] for name in names)])
        for names, digest in actions.items()
        if all(name in number for name in names)
    ]
    return BETWEEN.join([str(len(outputs)), *rows])


def _read_made(text: str) -> tuple[dict[str, str], tuple[tuple[str, Paths], ...]]:
    """Return outputs and actions; ``ValueError`` or ``IndexError`` for any other text."""
    count, *rows = text.split(BETWEEN)
    if not 0 <= int(count) <= len(rows):
        raise ValueError("another number of outputs")
    outputs = {}
    for row in rows[: int(count)]:
        digest, _, name = row.partition(" ")
        outputs[name.replace("%7C", BETWEEN).replace("%25", "%")] = digest
    names, actions = list(outputs), []
    for row in rows[int(count) :]:
        digest, *numbers = row.split(" ")
        if not all(number.isdecimal() for number in numbers):
            raise ValueError("no numbers of outputs")
        actions.append((digest, tuple(names[int(number)] for number in numbers)))
    return outputs, tuple(actions)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("no list")
    return tuple(str(name) for name in value)


def trace_of(
    looks: Looks,
    base: str,
    code: str,
    outputs: Mapping[str, tuple[Stamp, str]],
    actions: Mapping[Paths, str],
    products: Sequence[TracedProduct],
    said: Iterable[str],
) -> Trace | None:
    """Return the trace of a request that was just finished.

    None when it looked outside ``base``, or made something outside the build folder: another
    checkout says nothing about that. ``looks`` are those at the library alone; ``actions`` are the
    action digests by outputs.
    """
    seen = {path: digest for path, (_, digest) in looks.files.items() if path not in outputs}
    for path, digest in seen.items():
        if digest is None:
            seen[path] = blake3_hex(RealDisk().read_bytes(Path(path)))
    paths = [*seen, *(path for _, path in looks.answers), *(item[0] for item in looks.listings)]
    if any(looks.environment.values()) or not all(path.startswith(base) for path in paths):
        return None
    made = {path.removeprefix(base): digest for path, (_, digest) in outputs.items()}
    made_by = {
        tuple(path.removeprefix(base) for path in paths): digest
        for paths, digest in actions.items()
    }
    if not all(name.startswith(OUTPUTS_BELOW) for name in made):
        return None
    return Trace(
        code=code,
        inputs={path.removeprefix(base): digest for path, digest in seen.items() if digest},
        answers=tuple(
            (kind, path.removeprefix(base), answer)
            for (kind, path), answer in looks.answers.items()
        ),
        listings=tuple(
            (folder.removeprefix(base), suffix or "", names)
            for (folder, suffix, _), names in looks.listings.items()
        ),
        made=_made_text(made, made_by),
        products=tuple(products),
        said=tuple(said),
    )


def keep_trace(store: Store, key: str, trace: Trace, base: str, disk: Disk) -> None:
    """Keep a trace, and of its outputs what the store does not have yet."""
    kept = {n for action, names in trace.actions if store.has_outputs(action) for n in names}
    for name, digest in trace.outputs.items():
        if name not in kept and not store.has_blob(digest):
            store.put_blob(disk.read_bytes(Path(base + name)))
    store.put_record(KIND, key, trace.document())


def fits(trace: Trace, code: str, base: str, looks: Looks) -> bool:
    """Tell whether a request would be made from the same here; what is asked is noted."""
    if trace.code != code or not _may_fit(trace, base):
        return False
    disk = RecordingDisk(looks)
    questions = {"exists": disk.exists, "is_file": disk.is_file, "is_folder": disk.is_folder}
    try:
        for kind, name, answer in trace.answers:
            if kind not in questions or questions[kind](Path(base + name)) != answer:
                return False
        for folder, suffix, names in trace.listings:
            top = Path(base + folder)
            found = disk.files_under(top, suffix)
            if tuple(path.relative_to(top).as_posix() for path in found) != names:
                return False
        return all(
            blake3_hex(disk.read_bytes(confined_path(Path(base), name, name))) == digest
            for name, digest in trace.inputs.items()
        )
    except NetraError:
        return False


def _may_fit(trace: Trace, base: str) -> bool:
    """Tell whether no input is seen to differ: one checkout is held against several traces.

    Nothing is noted, and a file that its stamp does not tell apart is not looked at again: what
    passes here is looked at in full.
    """
    paths = {base + name: digest for name, digest in trace.inputs.items()}
    return all(_digest_at(path, stamp_of(path)) == digest for path, digest in paths.items())


@lru_cache(maxsize=65_536)
def _digest_at(path: str, stamp: Stamp | None) -> str:
    """Return the BLAKE3 of a file with this stamp, nothing if it cannot be read."""
    try:
        return blake3_hex(RealDisk().read_bytes(path)) if stamp is not None else ""
    except NetraError:
        return ""


def restore(trace: Trace, base: str, store: Store) -> dict[str, str] | None:
    """Write every output that is not there yet; return the digests of all by relative path.

    None when the store lacks one, or a name leads out of the build folder; what was written by
    then is right, and a product that is not whole has no seal. Raises ``NetraError`` when writing
    fails.
    """
    disk = RealDisk()
    products = {f"{p.folder}/{p.seal}": p for p in trace.products}
    later = [(p, f"{p.folder}/") for p in trace.products]
    begun: dict[str, Product] = {}
    contents = _Contents(trace, store)
    for name, digest in sorted(trace.outputs.items(), key=lambda item: item[0] in products):
        path = confined_path(Path(base), name, "store")
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
    return dict(trace.outputs)


class _Contents:
    """The outputs of a trace in a store; those of the action that was asked for last are held."""

    def __init__(self, trace: Trace, store: Store) -> None:
        self._store = store
        self._made_by = {name: made for made in trace.actions for name in made[1]}
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


def _has(disk: Disk, path: Path, digest: str) -> bool:
    return disk.is_file(path) and blake3_hex(disk.read_bytes(path)) == digest


def code_of(looks: Looks, base: str, more: Json) -> str:
    """Return the digest of files of code by name and content, and of what else makes up a code.

    ``base`` is taken off the names. ``more`` holds versions and identities, and no path.
    """
    disk = RealDisk()
    files: dict[str, Json] = {
        path.removeprefix(base): blake3_hex(disk.read_bytes(Path(path))) for path in looks.files
    }
    return blake3_hex(canonical_bytes({"files": files, "more": more}))
