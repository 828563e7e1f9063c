"""The store: what actions made, by action digest, shared by all checkouts of a user.

Blobs lie under the BLAKE3 of their bytes, entries under the action digest; an entry holds the small
outputs and names the blobs of the others. Everything is verified on every read. What does not
verify is removed and counts as absent, so the next writer puts a good one in its place. No method
fails because of the store: one that cannot be read has nothing, one that cannot be written to takes
nothing and says why, once.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from netra_build.build.cache.entry import MAX_ENTRY_BYTES, entry_bytes, read_entry
from netra_build.build.cache.files import StoreFiles, UnsoundFile
from netra_build.build.cache.ledger import Ledger
from netra_build.core.canonical_json import Json, canonical_bytes, parse_object
from netra_build.core.digests import DIGEST, blake3_hex
from netra_build.core.disk import MAX_FILE_BYTES
from netra_build.core.errors import BadInput

DEFAULT_MAX_BYTES = 2 * 1024 * 1024 * 1024
RECORD_FORMAT = "netra-store-record-1"
MAX_RECORD_BYTES = 32 * 1024 * 1024
MOST_RECORDS = 8
"""How many records of one key are kept."""

Read = TypeVar("Read")
KIND = re.compile(r"[a-z][a-z0-9-]{0,31}\Z")


@dataclass
class StoreCounts:
    """What one process did with the store."""

    hits: int = 0
    misses: int = 0
    stored: int = 0
    damaged: int = 0


class Store:
    """An open store; safe to use from several threads, and by many processes at once."""

    def __init__(self, files: StoreFiles, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self.files = files
        self.ledger = Ledger(files, max_bytes)
        self.counts = StoreCounts()
        self.trouble = ""
        """Why nothing more is written, once that is so."""
        self._lock = threading.Lock()

    def opened_anew(self) -> Store:
        """Return the same store for a copy of this process, which must share no lock with it."""
        return Store(self.files, self.ledger.max_bytes)

    def outputs(self, action: str, roles: Collection[str]) -> dict[str, bytes] | None:
        """Return the outputs of an action by role, None unless every one of them verifies."""
        found = self._outputs(action)
        if found is None or found.keys() != {*roles}:
            self._count(misses=1)
            return None
        self._count(hits=1)
        return found

    def output_list(self, action: str, count: int) -> list[bytes] | None:
        """Return the outputs of an action in the order of their roles, None as ``outputs``.

        ``count`` is how many there have to be.
        """
        found = self._outputs(action) if DIGEST.match(action) else None
        if found is None or len(found) != count:
            return None
        return [data for _, data in sorted(found.items())]

    def has_outputs(self, action: str) -> bool:
        """Tell whether there is an entry of an action; whether it verifies is seen when read."""
        return DIGEST.match(action) is not None and self.files.has(entry_name(action))

    def put_outputs(self, action: str, outputs: Mapping[str, bytes]) -> None:
        """Keep the outputs of an action, in place of what was kept of it before."""
        digests = {role: blake3_hex(output) for role, output in outputs.items()}
        entry = entry_bytes(action, outputs, digests)
        if entry is None:
            return
        data, apart = entry
        if not all(self._keep_blob(digests[role], outputs[role]) for role in apart):
            return
        if self._write(entry_name(action), data):
            self._count(stored=1)

    def put_blob(self, data: bytes) -> str:
        """Keep bytes and return their BLAKE3, whether they could be kept or not."""
        digest = blake3_hex(data)
        self._keep_blob(digest, data)
        return digest

    def has_blob(self, digest: str) -> bool:
        """Tell whether something lies under this BLAKE3; whether it verifies is seen when read."""
        return DIGEST.match(digest) is not None and self.files.has(blob_name(digest))

    def get_blob(self, digest: str) -> bytes | None:
        """Return the bytes with this BLAKE3, None if they are not here or do not verify."""
        if not DIGEST.match(digest):
            return None
        name = blob_name(digest)
        data = self._read(name, MAX_FILE_BYTES, partial(_of_digest, digest))
        if data is not None:
            self.files.touch(name)
        return data

    def drop_blob(self, digest: str) -> None:
        """Remove the bytes with this BLAKE3, which nobody needs any more; nothing is fine."""
        if DIGEST.match(digest) and self.files.has(blob_name(digest)):
            self._discard(blob_name(digest))

    def put_record(self, kind: str, key: str, document: Json) -> None:
        """Keep a JSON document under a kind and any key; the newest ``MOST_RECORDS`` remain."""
        wrapped = {"format": RECORD_FORMAT, "kind": kind, "key": key, "document": document}
        data = canonical_bytes(wrapped)
        if len(data) > MAX_RECORD_BYTES:
            return
        name = f"{record_prefix(kind, key)}.{blake3_hex(data)}"
        if self._write(name, data):
            self.files.touch(name)
            for old in self._record_names(kind, key)[MOST_RECORDS:]:
                self._discard(old)

    def get_records(self, kind: str, key: str) -> tuple[Json, ...]:
        """Return the documents kept under a kind and key, newest first, at most eight."""
        found = []
        for name in self._record_names(kind, key)[:MOST_RECORDS]:
            record = self._read(name, MAX_RECORD_BYTES, partial(record_of, name=name))
            if record is not None:
                found.append(record["document"])
        return tuple(found)

    def _keep_blob(self, digest: str, data: bytes) -> bool:
        return len(data) <= MAX_FILE_BYTES and self._write(blob_name(digest), data)

    def _outputs(self, action: str) -> dict[str, bytes] | None:
        """Return what is kept of an action by role, None as soon as something is not here."""
        name = entry_name(action)
        entry = self._read(name, MAX_ENTRY_BYTES, partial(read_entry, action=action))
        if entry is None:
            return None
        found = dict(entry.inner)
        for role, digest in entry.blobs.items():
            blob = self.get_blob(digest)
            if blob is None:
                return None
            found[role] = blob
        self.files.touch(name)
        return found

    def _record_names(self, kind: str, key: str) -> list[str]:
        """Return the names of the records of a key, newest first."""
        prefix = f"{record_prefix(kind, key)}."
        folder = prefix.rpartition("/")[0]
        try:
            found = [file for file in self.files.scan(folder) if file.name.startswith(prefix)]
        except OSError:
            return []
        found.sort(key=lambda file: (-file.used_ns, file.name))
        return [file.name for file in found if DIGEST.match(file.name.removeprefix(prefix))]

    def _read(
        self, name: str, max_bytes: int, parse: Callable[[bytes], Read | None]
    ) -> Read | None:
        """Return what a file says if it verifies; remove what does not."""
        try:
            data = self.files.read(name, max_bytes)
            if data is None:
                return None
            found = parse(data)
            if found is not None:
                return found
        except UnsoundFile:
            pass
        except OSError:
            return None
        self._count(damaged=1)
        self._discard(name)
        return None

    def _write(self, name: str, data: bytes) -> bool:
        """Write a file unless it is there already, byte for byte; tell whether it is there now."""
        if self.trouble:
            return False
        try:
            if self._has(name, data):
                self.files.touch(name)
                return True
            if not self.ledger.reserve(len(data)):
                return False
            self.files.write(name, data)
        except OSError as error:
            self._give_up(error)
            return False
        return True

    def _has(self, name: str, data: bytes) -> bool:
        try:
            return self.files.read(name, len(data)) == data
        except (UnsoundFile, OSError):
            return False

    def _discard(self, name: str) -> None:
        """Remove a file if that is possible; the ledger is told its size."""
        try:
            found = self.files.find(name)
            self.files.remove(name)
            if found is not None:
                self.ledger.release(found.size_bytes)
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        with self._lock:
            reason = (error.strerror or "unknown reason").lower()
            self.trouble = self.trouble or f"store {self.files.root} takes nothing more: {reason}"

    def _count(self, *, hits: int = 0, misses: int = 0, stored: int = 0, damaged: int = 0) -> None:
        with self._lock:
            self.counts.hits += hits
            self.counts.misses += misses
            self.counts.stored += stored
            self.counts.damaged += damaged


def open_store(root: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> Store:
    """Return the store at ``root``, made if there is none.

    Raises ``BadInput`` for a root that is a link or no folder, that belongs to another user, that
    others may write to, or that cannot be made.
    """
    files = StoreFiles(root)
    files.prepare(create=True)
    return Store(files, max_bytes)


def blob_name(digest: str) -> str:
    """Return where a blob lies."""
    return f"blobs/{digest[:2]}/{digest}"


def entry_name(action: str) -> str:
    """Return where the entry of an action lies; ``ValueError`` for what is no digest."""
    if not DIGEST.match(action):
        raise ValueError(f"not an action digest: {action}")
    return f"actions/{action[:2]}/{action}"


def record_prefix(kind: str, key: str) -> str:
    """Return where the records of a key lie, but for the digest at the end."""
    if not KIND.match(kind):
        raise ValueError(f"not a kind of records: {kind}")
    digest = blake3_hex(key.encode("utf-8", "surrogatepass"))
    return f"records/{kind}/{digest[:2]}/{digest}"


def _of_digest(digest: str, data: bytes) -> bytes | None:
    return data if blake3_hex(data) == digest else None


def record_of(data: bytes, name: str) -> dict[str, Json] | None:
    """Return the kind, key and document of a record's file, None for a damaged one."""
    try:
        record = parse_object(data, "record", max_bytes=MAX_RECORD_BYTES)
    except BadInput:
        return None
    kind, key = record.get("kind"), record.get("key")
    if record.get("format") != RECORD_FORMAT or "document" not in record:
        return None
    if not isinstance(kind, str) or not isinstance(key, str) or not KIND.match(kind):
        return None
    return record if name == f"{record_prefix(kind, key)}.{blake3_hex(data)}" else None
