"""The store: what actions made, by action digest, shared by all checkouts of a user.

Blobs lie under the BLAKE3 of their bytes, entries under the action digest; an entry holds the small
outputs and names the blobs of the others. Everything is verified on every read. What does not
verify is removed and counts as absent, so the next writer puts a good one in its place. No method
fails because of the store: one that cannot be read has nothing, one that cannot be written to takes
nothing and says why, once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from netra_build.build.cache import contents
from netra_build.build.cache.contents import ANSWER
from netra_build.build.cache.files import StoreFiles, UnsoundFile
from netra_build.build.cache.ledger import Ledger
from netra_build.core.canonical_json import Json, plain_text
from netra_build.core.digests import DIGEST, blake3_hex
from netra_build.core.disk import MAX_FILE_BYTES
from netra_build.core.variables import number_in

DEFAULT_MAX_BYTES = 2 * 1024 * 1024 * 1024
LEAST_BYTES, MOST_BYTES = 1024 * 1024, 2**50
FOLDER, NO_STORE = "netra", "0"
MOST_RECORDS = 8
"""How many records of one key are kept."""

Read = TypeVar("Read")


class Store:
    """An open store; safe to use from several threads, and by many processes at once."""

    def __init__(self, files: StoreFiles, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self.files = files
        self.ledger = Ledger(files, max_bytes)
        self.trouble = ""
        """Why nothing more is written, once that is so."""
        self._lock = threading.Lock()

    def opened_anew(self) -> Store:
        """Return the same store for a copy of this process, which must share no lock with it."""
        return Store(self.files, self.ledger.max_bytes)

    def has_outputs(self, action: str) -> bool:
        """Tell whether there is an entry of an action; whether it verifies is seen when read."""
        return DIGEST.match(action) is not None and self._is_kept(contents.entry_name(action))

    def outputs(self, action: str, roles: Collection[str]) -> dict[str, bytes] | None:
        """Return the outputs of an action by role, None unless every one of them verifies."""
        found = self.all_outputs(action)
        return found if found is not None and found.keys() == {*roles} else None

    def all_outputs(self, action: str) -> dict[str, bytes] | None:
        """Return whatever is kept of an action as ``outputs``, with its roles in their order."""
        name = contents.entry_name(action)
        entry = self._read(
            name, contents.MAX_ENTRY_BYTES, partial(contents.read_entry, action=action)
        )
        if entry is None:
            return None
        found = {}
        for role, kept in entry.items():
            data = self.get_blob(kept) if isinstance(kept, str) else kept
            if data is None:
                return None
            found[role] = data
        self.files.touch(name)
        return found

    def put_outputs(self, action: str, outputs: Mapping[str, bytes]) -> None:
        """Keep the outputs of an action, in place of what was kept of it before."""
        entry = contents.entry_bytes(action, outputs)
        if entry is not None and all(self._put_blob(*blob) for blob in entry[1].items()):
            self._write(contents.entry_name(action), entry[0])

    def has_blob(self, digest: str) -> bool:
        """Tell whether something lies under this BLAKE3; whether it verifies is seen when read."""
        return DIGEST.match(digest) is not None and self._is_kept(contents.blob_name(digest))

    def get_blob(self, digest: str) -> bytes | None:
        """Return the bytes with this BLAKE3, None if they are not here or do not verify."""
        if not DIGEST.match(digest):
            return None
        name = contents.blob_name(digest)
        data = self._read(name, MAX_FILE_BYTES, lambda d: d if blake3_hex(d) == digest else None)
        if data is not None:
            self.files.touch(name)
        return data

    def put_blob(self, data: bytes) -> str:
        """Keep bytes and return their BLAKE3, whether they could be kept or not."""
        digest = blake3_hex(data)
        self._put_blob(digest, data)
        return digest

    def drop_blob(self, digest: str) -> None:
        """Remove the bytes with this BLAKE3, which nobody needs any more; nothing is fine."""
        if self.has_blob(digest):
            self._discard(contents.blob_name(digest))

    def get_records(self, kind: str, key: str) -> Iterator[Json]:
        """Yield the documents kept under a kind and key, newest first, at most eight."""
        for name in self._record_names(kind, key)[:MOST_RECORDS]:
            record = self._read(
                name, contents.MAX_RECORD_BYTES, partial(contents.read_record, name=name)
            )
            if record is not None:
                yield record["document"]

    def put_record(self, kind: str, key: str, document: Json) -> None:
        """Keep a JSON document under a kind and any key; the newest ``MOST_RECORDS`` remain."""
        data = contents.record_bytes(kind, key, document)
        name = contents.record_prefix(kind, key) + blake3_hex(data)
        if len(data) <= contents.MAX_RECORD_BYTES and self._write(name, data):
            self.files.touch(name)
            for old in self._record_names(kind, key)[MOST_RECORDS:]:
                self._discard(old)

    def recall(self, question: Json) -> Json | None:
        """Return the answer kept for a question, None without one."""
        for document in self.get_records(ANSWER, _key(question)):
            if isinstance(document, dict) and document.get("question") == question:
                return document.get("answer")
        return None

    def keep(self, question: Json, answer: Json) -> None:
        """Keep the answer to a question."""
        self.put_record(ANSWER, _key(question), {"question": question, "answer": answer})

    def _is_kept(self, name: str) -> bool:
        with suppress(OSError):
            return self.files.has(name)
        return False

    def _put_blob(self, digest: str, data: bytes) -> bool:
        return len(data) <= MAX_FILE_BYTES and self._write(contents.blob_name(digest), data)

    def _record_names(self, kind: str, key: str) -> list[str]:
        """Return the names of the records of a key, newest first."""
        prefix = contents.record_prefix(kind, key)
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


def open_store(root: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> Store:
    """Return the store at ``root``, made if there is none; ``BadInput`` for an unusable one."""
    files = StoreFiles(root)
    files.prepare(create=True)
    return Store(files, max_bytes)


@dataclass(frozen=True)
class StorePlace:
    """Root and bound of a store."""

    root: Path
    max_bytes: int = DEFAULT_MAX_BYTES


def store_place(asked: str, environment: Mapping[str, str]) -> StorePlace | None:
    """Return the store to use, None for none.

    ``asked`` is a folder, ``0`` for no store, or empty for ``XDG_CACHE_HOME/netra``, else
    ``HOME/.cache/netra``. ``BadInput`` when ``NETRA_STORE_BYTES`` is no bound that can be used.
    """
    if asked == NO_STORE:
        return None
    root = Path(asked).absolute() if asked else _home(environment)
    if root is None:
        return None
    usual, limits = DEFAULT_MAX_BYTES, (LEAST_BYTES, MOST_BYTES)
    most = number_in(environment, "NETRA_STORE_BYTES", usual, *limits, "bytes", "store")
    return StorePlace(root, most)


def _home(environment: Mapping[str, str]) -> Path | None:
    cache, home = environment.get("XDG_CACHE_HOME", ""), environment.get("HOME", "")
    if cache.startswith("/"):  # a relative one is to be ignored
        return Path(cache) / FOLDER
    return Path(home) / ".cache" / FOLDER if home.startswith("/") else None


def _key(question: Json) -> str:
    return blake3_hex(plain_text(question).encode("utf-8", "surrogatepass"))
