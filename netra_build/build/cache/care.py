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
OTHER_VERSION = "is of another version"
ANY_TRACE = re.compile(r"netra-trace-[0-9]{1,9}\Z")


@dataclass(frozen=True)
class FolderUse:
    """How many files a folder of the store has, and what they take in whole blocks."""

    files: int
    occupied_bytes: int


def folder_use(store: Store) -> dict[str, FolderUse]:
    """Return the use of each folder, in the order of ``WHAT``."""
    result = {}
    for folder in WHAT:
        sizes = [occupied_bytes(file.size_bytes) for file in store.files.scan(folder)]
        result[folder] = FolderUse(len(sizes), sum(sizes))
    return result


def verified(store: Store) -> Iterator[tuple[str, str]]:
    """Verify every file that is kept; yield its name and what is wrong with it, if anything.

    ``OTHER_VERSION`` is said of what another version of this package keeps and reads.
    """
    for file in store.files.scan(""):
        if file.is_sound and (file.name in (LEDGER, LOCK) or file.name.startswith(f"{PARTS}/")):
            continue
        yield file.name, _fault(store, file)


def repair(store: Store, names: Iterable[str]) -> None:
    """Remove what does not verify. Raises ``OSError`` for a store that cannot be written to."""
    for name in names:
        store.files.remove(name)


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


def _fault(store: Store, file: FoundFile) -> str:
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
        reason = (error.strerror or "unknown reason").lower()
        return f"cannot be read: {reason}"
    return "" if data is None else FAULTS[folder](file.name, data)


def _blob_fault(name: str, data: bytes) -> str:
    is_right = blake3_hex(data) == name.rpartition("/")[2]
    return "" if is_right else "holds other bytes than its name says"


def _entry_fault(name: str, data: bytes) -> str:
    action = name.rpartition("/")[2]
    if read_entry(data, action) is not None:
        return ""
    return OTHER_VERSION if is_entry_of_other_version(data, action) else "is a damaged entry"


def _record_fault(name: str, data: bytes) -> str:
    record = read_record(data, name)
    if record is None:
        is_other = is_record_of_other_version(data, name)
        return OTHER_VERSION if is_other else "is a damaged record"
    trace = record["document"] if record["kind"] == TRACE_KIND else None
    found = trace.get("format") if isinstance(trace, dict) else None
    return OTHER_VERSION if names_other_version(found, ANY_TRACE, TRACE_FORMAT) else ""


FAULTS = {"blobs": _blob_fault, "actions": _entry_fault, "records": _record_fault}
"""Folder of a store to what says of a file in it what is wrong with it."""
