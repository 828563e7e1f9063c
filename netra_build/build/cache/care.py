"""What a store holds, what of it does not verify, and what can go: the care of a store.

Everything works beside running builds: a file that vanishes meanwhile is no damage, and neither is
an entry whose blob was evicted, which the next writer completes. What another version of this
package keeps is no damage either: other checkouts of the user still read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from netra_build.build.cache.contents import (
    MAX_ENTRY_BYTES,
    MAX_RECORD_BYTES,
    blob_name,
    entry_name,
    is_entry_of_other_version,
    is_record_of_other_version,
    names_other_version,
    read_entry,
    read_record,
)
from netra_build.build.cache.files import PARTS, FoundFile, UnsoundFile, occupied_bytes
from netra_build.build.cache.ledger import FOLDERS, LEDGER, LOCK
from netra_build.build.cache.request_trace import FORMAT as TRACE_FORMAT
from netra_build.build.cache.request_trace import KIND as TRACE_KIND
from netra_build.build.cache.store import Store
from netra_build.core.digests import DIGEST, blake3_hex
from netra_build.core.disk import MAX_FILE_BYTES

WHAT = {
    "actions": "outputs of actions",
    "blobs": "contents",
    "records": "records",
    PARTS: "being written",
}
"""Folder of a store to what it holds."""
ANY_TRACE = re.compile(r"netra-trace-[0-9]{1,9}\Z")


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


@dataclass(frozen=True)
class OtherVersion:
    """One file that another version of this package keeps and reads."""

    name: str


def folder_use(store: Store) -> dict[str, FolderUse]:
    """Return the use of each folder, in the order of ``WHAT``."""
    result = {}
    for folder in WHAT:
        sizes = [occupied_bytes(file.size_bytes) for file in store.files.scan(folder)]
        result[folder] = FolderUse(len(sizes), sum(sizes))
    return result


def find_damage(store: Store) -> Iterator[Damage | OtherVersion | None]:
    """Verify every file that is kept and yield what it is, None for a good one."""
    for file in store.files.scan(""):
        if file.is_sound and (file.name in (LEDGER, LOCK) or file.name.startswith(f"{PARTS}/")):
            continue
        yield _verdict(store, file)


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
        if not all(store.files.has(blob_name(digest)) for digest in _blobs_of(store, file.name)):
            store.files.remove(file.name)
            removed += 1
    return removed


def _blobs_of(store: Store, name: str) -> list[str]:
    try:
        data = store.files.read(name, MAX_ENTRY_BYTES)
    except (UnsoundFile, OSError):
        return []
    entry = None if data is None else read_entry(data, name.rpartition("/")[2])
    return [kept for kept in (entry or {}).values() if isinstance(kept, str)]


def _verdict(store: Store, file: FoundFile) -> Damage | OtherVersion | None:
    folder, _, rest = file.name.partition("/")
    if not file.is_sound:
        return Damage(file.name, "is no regular file of this user")
    digest = rest.rpartition("/")[2]
    is_named = {
        "blobs": file.name == blob_name(digest),
        "actions": DIGEST.match(digest) is not None and file.name == entry_name(digest),
        "records": rest.count("/") == 2,
    }
    if folder not in FOLDERS or not is_named[folder]:
        return Damage(file.name, "is no file of the store")
    try:
        data = store.files.read(file.name, max(MAX_FILE_BYTES, MAX_RECORD_BYTES))
    except UnsoundFile:
        return Damage(file.name, "is larger than it may be")
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        return Damage(file.name, f"cannot be read: {reason}")
    return None if data is None else VERDICTS[folder](file.name, data)


def _of_blob(name: str, data: bytes) -> Damage | None:
    is_right = blake3_hex(data) == name.rpartition("/")[2]
    return None if is_right else Damage(name, "holds other bytes than its name says")


def _of_entry(name: str, data: bytes) -> Damage | OtherVersion | None:
    action = name.rpartition("/")[2]
    if read_entry(data, action) is not None:
        return None
    is_other = is_entry_of_other_version(data, action)
    return OtherVersion(name) if is_other else Damage(name, "is a damaged entry")


def _of_record(name: str, data: bytes) -> Damage | OtherVersion | None:
    record = read_record(data, name)
    if record is None:
        is_other = is_record_of_other_version(data, name)
        return OtherVersion(name) if is_other else Damage(name, "is a damaged record")
    trace = record["document"] if record["kind"] == TRACE_KIND else None
    found = trace.get("format") if isinstance(trace, dict) else None
    return OtherVersion(name) if names_other_version(found, ANY_TRACE, TRACE_FORMAT) else None


VERDICTS = {"blobs": _of_blob, "actions": _of_entry, "records": _of_record}
"""Folder of a store to what says of a file in it whether it verifies."""
