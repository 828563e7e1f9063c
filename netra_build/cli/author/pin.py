"""``netra pin``: rewrite the template and closure digests of the library's tactic catalogs."""

from __future__ import annotations

import argparse
from typing import Any

from netra_build.asm.source.closure import include_closure
from netra_build.cli.options import add_library_root
from netra_build.cli.places import library_of
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import EXIT_REFUSED
from netra_build.core.terminal import table_text
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import FORMAT_CATALOG, TARGET

HELP = "rewrite the pinned digests of the tactic catalogs and show old and new"

Row = tuple[str, str, str, str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--check``."""
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a pin is stale"
    )
    add_library_root(parser)


def run(options: argparse.Namespace) -> int:
    """Write what changed, all catalogs or none, and print a table of it."""
    library = library_of(options)
    rows: list[Row] = []
    contents: dict[str, bytes] = {}
    for name in library.json_names(f"manifests/{TARGET}/tactics"):
        document = library.read_object(name)
        if document.get("format") != FORMAT_CATALOG:
            continue
        changed = pin_catalog(library, name, document)
        if changed:
            rows += changed
            contents[name] = pretty_bytes(document)
    if rows:
        print(table_text(("tactic", "pin", "old", "new"), rows))
    if options.check:
        print(f"{len(rows)} stale pins")
        return EXIT_REFUSED if rows else 0
    for name, data in contents.items():
        library.disk.write_bytes(library.root / name, data)
    print(f"{len(rows)} pins rewritten")
    return 0


def pin_catalog(library: Library, name: str, document: dict[str, Any]) -> list[Row]:
    """Put the derived digests into ``document``; return a row for each that differed."""
    rows: list[Row] = []
    for entry in Fields(document, library.location(name)).objects("tactics"):
        template = entry.text("template")
        closure = include_closure(template, library.read, entry.place("template"))
        derived = {
            "template_sha256": sha256_hex(closure.data_by_name[closure.names[0]]),
            "source_closure_sha256": closure.source_closure_sha256,
        }
        for key, value in derived.items():
            old = entry.value.get(key)
            if old != value:
                rows.append((entry.text("id"), key, str(old)[:16], value[:16]))
                entry.value[key] = value
    return rows
