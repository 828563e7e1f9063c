"""``netra store stat|verify|gc``: the content of the store, its verification, its reduction.

All of it works beside running builds: a file that vanishes meanwhile is no damage, nor is an entry
whose blob was evicted, which the next writer completes, nor what another version of this package
keeps: other checkouts of the user still read it.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

from rich.console import Console
from rich.table import Table

from netra_build.build.cache import contents
from netra_build.build.cache.files import (
    PARTS,
    FoundFile,
    StoreFiles,
    UnsoundFile,
    occupied_bytes,
)
from netra_build.build.cache.ledger import FOLDERS, LEDGER, LOCK
from netra_build.build.cache.store import Store, StorePlace, store_place
from netra_build.cli.options import command, flag, option
from netra_build.core.canonical_json import Json, canonical_text, parse_object
from netra_build.core.digests import DIGEST, blake3_hex
from netra_build.core.disk import MAX_FILE_BYTES
from netra_build.core.errors import BadInput, DamagedStore
from netra_build.core.texts import table_text

COLUMNS = ("what", "files", "bytes")
MOST_SHOWN = 20
WHAT = {
    "actions": "outputs of actions",
    "blobs": "contents",
    "records": "records",
    PARTS: "being written",
}
"""Folder of a store to what it holds."""
OTHER_VERSION = "is of another version"
FIRST_ENTRY_FORMAT = "netra-store-entry-1"
"""The document alone: all outputs were blobs."""


@command(
    "stat, verify or gc: what the store holds, whether it verifies, making room in it",
    option("action", choices=("gc", "stat", "verify"), help="what is to be done"),
    option("--store", metavar="DIR", default="", help="instead of the user's own"),
    flag("--json", "print one JSON document"),
    flag("--repair", "verify: remove what is damaged"),
    option("--bytes", type=int, metavar="N", help="gc: keep at most so much (default: the bound)"),
)
def store_command(options: argparse.Namespace) -> int:
    """Run the verb; raise ``BadInput`` for an unusable store, ``DamagedStore`` for damage."""
    if options.repair and options.action != "verify":
        raise BadInput("--repair is for verify", location="netra store")
    if options.bytes is not None and (options.action != "gc" or options.bytes < 0):
        raise BadInput("--bytes is for gc, and not negative", location="netra store")
    place = store_place(options.store, os.environ)
    if place is None:
        raise BadInput(
            "there is no store", location="netra store", hint="name one with --store, or set HOME"
        )
    files = StoreFiles(place.root)
    is_there = files.prepare(create=False)
    if not is_there and options.action == "gc":
        raise BadInput("there is no store", location=str(place.root))
    try:
        return ACTIONS[options.action](Store(files, place.max_bytes), place, options)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise BadInput(f"store cannot be used: {reason}", location=str(place.root)) from None


def _stat(store: Store, place: StorePlace, options: argparse.Namespace) -> int:
    sizes = {
        name: [occupied_bytes(file.size_bytes) for file in store.files.scan(name)] for name in WHAT
    }
    rows = [(WHAT[name], len(found), sum(found)) for name, found in sizes.items()]
    used = sum(sum(sizes[name]) for name in FOLDERS)
    if options.json:
        folders = {
            name: {"files": len(found), "occupied_bytes": sum(found)}
            for name, found in sizes.items()
        }
        document = {"root": str(place.root), "max_bytes": place.max_bytes, "used_bytes": used}
        print(canonical_text({**document, "folders": folders}), end="")
        return 0
    if sys.stdout.isatty():
        table = Table(*COLUMNS)
        for row in rows:
            table.add_row(*map(str, row))
        Console().print(table)
    else:
        print(table_text(COLUMNS, rows))
    print(f"{place.root}: {used} of {place.max_bytes} bytes in use")
    return 0


def _verify(store: Store, place: StorePlace, options: argparse.Namespace) -> int:
    found = dict(verified(store.files))
    damages = {name: reason for name, reason in found.items() if reason not in ("", OTHER_VERSION)}
    others = sum(reason == OTHER_VERSION for reason in found.values())
    apart = f"of another version: {others}"
    if options.repair:
        for name in damages:
            store.files.remove(name)
    if options.json:
        rows = [{"name": name, "reason": reason} for name, reason in damages.items()]
        removed = len(damages) if options.repair else 0
        document = {"checked": len(found), "damaged": rows, "removed": removed}
        print(canonical_text({**document, "of_another_version": others}), end="")
    if damages and not options.repair:
        raise DamagedStore(
            f"files that do not verify: {len(damages)} of {len(found)}",
            location=str(place.root),
            detail="\n".join([*_lines(damages), *([apart] if others else [])]),
            hint="netra store verify --repair removes them, and builds make them again",
        )
    if not options.json:
        shown = [f"{place.root}: {len(found) - others} files verified"]
        if damages:
            shown = [*_lines(damages), f"{place.root}: files removed: {len(damages)}"]
        if others:
            shown[-1] += f", {apart}"
        print("\n".join(shown))
    return 0


def _lines(damages: dict[str, str]) -> list[str]:
    lines = [f"{name} {reason}" for name, reason in damages.items()]
    more = len(lines) - MOST_SHOWN
    return [*lines[:MOST_SHOWN], *([f"... and {more} more"] if more > 0 else [])]


def _gc(store: Store, place: StorePlace, options: argparse.Namespace) -> int:
    kept = place.max_bytes if options.bytes is None else options.bytes
    incomplete = remove_incomplete(store.files)
    evicted = store.ledger.evict(kept)
    if evicted is None:
        raise BadInput("another process is making room", location=str(place.root))
    files, freed = evicted
    if options.json:
        document = {"evicted_files": files, "evicted_bytes": freed, "incomplete": incomplete}
        print(canonical_text(document), end="")
    else:
        print(f"{place.root}: {files} files of {freed} bytes evicted, {incomplete} incomplete")
    return 0


ACTIONS: dict[str, Callable[[Store, StorePlace, argparse.Namespace], int]] = {
    "gc": _gc,
    "stat": _stat,
    "verify": _verify,
}


def names_other_version(found: Json, ours: str) -> bool:
    """Tell whether a document's format is ``ours`` with another number than in this version."""
    any_version = ours.rstrip("0123456789") + "[0-9]{1,9}"
    return isinstance(found, str) and found != ours and bool(re.fullmatch(any_version, found))


def verified(files: StoreFiles) -> Iterator[tuple[str, str]]:
    """Verify every file that is kept; yield its name and what is wrong with it, if anything.

    ``OTHER_VERSION`` is said of what another version of this package keeps and reads.
    """
    for file in files.scan(""):
        if file.is_sound and (file.name in (LEDGER, LOCK) or file.name.startswith(f"{PARTS}/")):
            continue
        yield file.name, _fault(files, file)


def remove_incomplete(files: StoreFiles) -> int:
    """Remove the entries that name a blob which is not here and return how many.

    Raises ``OSError`` for a store that cannot be written to.
    """
    removed = 0
    for file in list(files.scan("actions")):
        if not all(files.has(contents.blob_name(digest)) for digest in _blobs_of(files, file.name)):
            files.remove(file.name)
            removed += 1
    return removed


def _blobs_of(files: StoreFiles, name: str) -> list[str]:
    try:
        data = files.read(name, contents.MAX_ENTRY_BYTES)
    except (UnsoundFile, OSError):
        return []
    entry = None if data is None else contents.read_entry(data, name.rpartition("/")[2])
    return [kept for kept in (entry or {}).values() if isinstance(kept, str)]


def _fault(files: StoreFiles, file: FoundFile) -> str:
    folder, _, rest = file.name.partition("/")
    if not file.is_sound:
        return "is no regular file of this user"
    digest = rest.rpartition("/")[2]
    is_named = {
        "blobs": file.name == contents.blob_name(digest),
        "actions": DIGEST.match(digest) is not None and file.name == contents.entry_name(digest),
        "records": rest.count("/") == 2,
    }
    if folder not in FOLDERS or not is_named[folder]:
        return "is no file of the store"
    try:
        data = files.read(file.name, max(MAX_FILE_BYTES, contents.MAX_RECORD_BYTES))
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
    """Say what is wrong with an entry.

    Every version begins with the digest of a document on one line; what comes after the document
    is read by that version alone.
    """
    action = name.rpartition("/")[2]
    if contents.read_entry(data, action) is not None:
        return ""
    found, rest = contents.entry_document(data, action) or ({}, b"")
    is_first = found.get("format") == FIRST_ENTRY_FORMAT
    is_other = names_other_version(found.get("format"), contents.ENTRY_FORMAT)
    return OTHER_VERSION if is_other and not (is_first and rest) else "is a damaged entry"


def _record_fault(name: str, data: bytes) -> str:
    record = contents.read_record(data, name)
    if record is not None:
        trace = record["document"] if record["kind"] == contents.TRACE else None
        found = trace.get("format") if isinstance(trace, dict) else None
        return OTHER_VERSION if names_other_version(found, contents.TRACE_FORMAT) else ""
    with suppress(BadInput):
        found = parse_object(data, "record", max_bytes=contents.MAX_RECORD_BYTES).get("format")
        is_named = name.endswith(f".{blake3_hex(data)}")
        if is_named and names_other_version(found, contents.RECORD_FORMAT):
            return OTHER_VERSION
    return "is a damaged record"


FAULTS = {"blobs": _blob_fault, "actions": _entry_fault, "records": _record_fault}
"""Folder of a store to what says of a file in it what is wrong with it."""
