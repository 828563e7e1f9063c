"""``netra store stat|verify|gc``: the content of the store, its verification, its reduction."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from netra_build.build.cache.contents import (
    OTHER_VERSION,
    WHAT,
    folder_use,
    remove_incomplete,
    verified,
)
from netra_build.build.cache.files import StoreFiles
from netra_build.build.cache.ledger import FOLDERS
from netra_build.build.cache.store import Store, StorePlace, store_place
from netra_build.core.canonical_json import Json, canonical_text
from netra_build.core.errors import BadInput, DamagedStore
from netra_build.core.texts import table_text

HELP = "stat, verify or gc: what the store holds, whether it verifies, making room in it"
COLUMNS = ("what", "files", "bytes")
MOST_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb and the store."""
    parser.add_argument("action", choices=sorted(ACTIONS), help="what is to be done")
    parser.add_argument("--store", metavar="DIR", default="", help="instead of the user's own")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--repair", action="store_true", help="verify: remove what is damaged")
    parser.add_argument(
        "--bytes", type=int, metavar="N", help="gc: keep at most so much (default: the bound)"
    )


def run(options: argparse.Namespace) -> int:
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
    use = folder_use(store.files)
    rows = [(WHAT[name], found.files, found.occupied_bytes) for name, found in use.items()]
    used = sum(use[name].occupied_bytes for name in FOLDERS)
    if options.json:
        folders: dict[str, Json] = {
            name: {"files": found.files, "occupied_bytes": found.occupied_bytes}
            for name, found in use.items()
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
