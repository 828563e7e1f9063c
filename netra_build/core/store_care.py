"""What a store holds, what of it does not verify, and what can go: the care of a store.

Everything works beside running builds: a file that vanishes meanwhile is no damage, and neither is
an entry whose blob was evicted, which the next writer completes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from netra_build.core.digests import DIGEST, blake3_hex
from netra_build.core.disk import MAX_FILE_BYTES
from netra_build.core.store import (
    MAX_RECORD_BYTES,
    Store,
    blob_name,
    entry_name,
    record_of,
)
from netra_build.core.store_entry import MAX_ENTRY_BYTES, read_entry
from netra_build.core.store_files import PARTS, FoundFile, UnsoundFile, occupied_bytes
from netra_build.core.store_ledger import FOLDERS, LEDGER, LOCK

WHAT = {
    "actions": "outputs of actions",
    "blobs": "contents",
    "records": "records",
    PARTS: "being written",
}
"""Folder of a store to what it holds."""


@dataclass(frozen=True)
class FolderUse:
    """How many files a folder of the store has, and what they take in whole blocks."""

    files: int
    occupied_bytes: int


@dataclass(frozen=True)
class Damage:
    """One file that does not verify, and in which way."""

    name: str
    reason: str


def folder_use(store: Store) -> dict[str, FolderUse]:
    """Return the use of each folder, in the order of ``WHAT``."""
    result = {}
    for folder in WHAT:
        sizes = [occupied_bytes(file.size_bytes) for file in store.files.scan(folder)]
        result[folder] = FolderUse(len(sizes), sum(sizes))
    return result


def find_damage(store: Store) -> Iterator[Damage | None]:
    """Verify every file that is kept and yield what is wrong with it, or None for a good one."""
    for file in store.files.scan(""):
        if file.is_sound and (file.name in (LEDGER, LOCK) or file.name.startswith(f"{PARTS}/")):
            continue
        reason = _reason(store, file)
        yield Damage(file.name, reason) if reason else None


def repair(store: Store, damages: Iterable[Damage]) -> None:
    """Remove what does not verify. Raises ``OSError`` for a store that cannot be written to."""
    for damage in damages:
        store.files.remove(damage.name)


def remove_incomplete(store: Store) -> int:
    """Remove the entries that name a blob which is not here and return how many.

    Raises ``OSError`` for a store that cannot be written to.
    """
    removed = 0
    for file in list(store.files.scan("actions")):
        blobs = _blobs_of(store, file.name)
        if blobs is not None and not all(store.files.find(blob_name(b)) for b in blobs):
            store.files.remove(file.name)
            removed += 1
    return removed


def _blobs_of(store: Store, name: str) -> list[str] | None:
    try:
        data = store.files.read(name, MAX_ENTRY_BYTES)
    except (UnsoundFile, OSError):
        return None
    entry = None if data is None else read_entry(data, name.rpartition("/")[2])
    return None if entry is None else list(entry.blobs.values())


def _reason(store: Store, file: FoundFile) -> str:
    """Return why a file does not verify, an empty text for one that does."""
    folder, _, rest = file.name.partition("/")
    if not file.is_sound:
        return "is no regular file of this user"
    digest = rest.rpartition("/")[2]
    is_named = {
        "blobs": file.name == blob_name(digest),
        "actions": DIGEST.match(digest) is not None and file.name == entry_name(digest),
        "records": rest.count("/") == 2,
    }
    if folder not in FOLDERS or not is_named[folder]:
        return "is no file of the store"
    try:
        data = store.files.read(file.name, max(MAX_FILE_BYTES, MAX_RECORD_BYTES))
    except UnsoundFile:
        return "is larger than it may be"
    except OSError as error:
        return f"cannot be read: {(error.strerror or 'unknown reason').lower()}"
    return "" if data is None else _content_reason(folder, file.name, data)


def _content_reason(folder: str, name: str, data: bytes) -> str:
    digest = name.rpartition("/")[2]
    if folder == "blobs":
        return "" if blake3_hex(data) == digest else "holds other bytes than its name says"
    if folder == "actions":
        return "is a damaged entry" if read_entry(data, digest) is None else ""
    return "is a damaged record" if record_of(data, name) is None else ""
