"""``netra new-tactic`` and ``pin``: lay out a tactic that builds, and pin what catalogs name."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from netra_build.asm.source.closure import include_closure
from netra_build.authoring.skeleton import (
    DEFAULT_ARGUMENTS,
    Skeleton,
    abi_record,
    catalog_entry,
    plan_skeleton,
    skeleton_files,
)
from netra_build.checkasm.numerics.statement_source import FOLDER as STATEMENTS
from netra_build.cli.options import LIBRARY, TOOLCHAIN, command, flag, option
from netra_build.cli.places import library_of, toolchain_at
from netra_build.cli.prove.golden import assembled_golden
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import confined_path
from netra_build.core.errors import EXIT_REFUSED, BadInput, NetraError
from netra_build.core.texts import table_text
from netra_build.formats.fields import Fields
from netra_build.formats.golden import GoldenSource
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import FORMAT_CATALOG, TARGET, WAVE_SIZE

REASON = "laid out by netra new-tactic"
NO_EVIDENCE = {"evidence_root": "evidence/none", "lock_name": "none", "lock_sha256": "0" * 64}


@command(
    "FAMILY NAME: lay out a new tactic, which builds and passes, in a checkout of the project",
    option("family", help="dotted, as moe.silu_quant; the first word is its folder"),
    option("name", help="tactic id, without target"),
    option("--operation", metavar="OP", help="operation it serves; default: NAME"),
    option(
        "--arguments",
        nargs="+",
        default=[],
        metavar="NAME:ACCESS",
        help="kernargs in order; ACCESS is read, write, read_write (arrays), u32 or f32; "
        f"default: {' '.join(DEFAULT_ARGUMENTS)}",
    ),
    LIBRARY,
    TOOLCHAIN,
)
def new_tactic_command(options: argparse.Namespace) -> int:
    """Write all files or none, print their names and the next step."""
    plan = plan_skeleton(options.family, options.name, options.operation, options.arguments)
    library = library_of(options)
    _refuse_known(library, plan)
    files = skeleton_files(plan)
    files[plan.abi] = pretty_bytes(abi_record(plan))
    source, tools = f"{plan.golden_folder}/kernel.s", toolchain_at(options.toolchain)
    symbol, digests = assembled_golden(files[source], source, tools)
    golden = GoldenSource(plan.name, "", plan.golden_folder, symbol, {}, digests, (REASON,))
    files[golden.expect] = pretty_bytes(golden.document())
    for name in files:
        path = confined_path(library.root, name, library.location(name))
        if library.disk.is_file(path) or library.disk.is_folder(path):
            raise BadInput("file exists", location=library.location(name))
    files[plan.catalog] = pretty_bytes(_catalog(library, plan, files))
    _write_all(library, files)
    for name in files:
        print(name)
    print(f"\nnext: scons tactic={plan.name}; then write the golden source, see docs/authoring.md")
    return 0


def _refuse_known(library: Library, plan: Skeleton) -> None:
    """Refuse a tactic id that a catalog has, and a library without a folder for its statement."""
    if not library.disk.is_folder(library.root / STATEMENTS):
        raise BadInput(
            "library keeps no numeric statements",
            location=str(library.root / STATEMENTS),
            hint="a tactic is laid out in a checkout of the project",
        )
    for name in library.json_names(f"manifests/{TARGET}/tactics"):
        entries = library.read_object(name).get("tactics")
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict) and entry.get("id") == plan.name:
                raise BadInput(f'tactic "{plan.name}" exists', location=library.location(name))


def _catalog(library: Library, plan: Skeleton, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the family's catalog with the tactic added, or a catalog of its own."""

    def read(name: str) -> bytes:
        return files[name] if name in files else library.read(name, plan.template)

    closure = include_closure(plan.template, read, plan.template)
    entry = catalog_entry(plan, sha256_hex(files[plan.template]), closure.source_closure_sha256)
    document: dict[str, Any] = _empty_catalog()
    if library.disk.is_file(library.root / plan.catalog):
        document = library.read_object(plan.catalog)
        if document.get("format") != FORMAT_CATALOG:
            raise BadInput("file is no tactic catalog", location=library.location(plan.catalog))
    document.setdefault("evidence_sets", {}).setdefault("none", NO_EVIDENCE)
    tactics = Fields(document, library.location(plan.catalog)).array("tactics")
    document["tactics"] = [*tactics, entry]
    return document


def _empty_catalog() -> dict[str, Any]:
    return {
        "format": FORMAT_CATALOG,
        "catalog_version": 1,
        "target": TARGET,
        "wave_size": WAVE_SIZE,
        "default_evidence_set": "none",
        "evidence_sets": {},
        "policy": {
            "instances_generated_into_build_only": True,
            "model_names_in_computational_identity": False,
            "runtime_specialization": False,
        },
        "tactics": [],
    }


def _write_all(library: Library, files: Mapping[str, bytes]) -> None:
    """Write every file, the catalog last; remove the written files when one fails."""
    written = []
    try:
        for name, data in files.items():
            library.disk.write_bytes(library.root / name, data)
            written.append(library.root / name)
    except NetraError:
        for path in written:
            library.disk.remove(path)
            library.disk.remove_empty_folder(path.parent)
        raise


Row = tuple[str, str, str, str]


@command(
    "rewrite the pinned digests of the tactic catalogs and show old and new",
    flag("--check", "write nothing; exit 1 if a pin is stale"),
    LIBRARY,
)
def pin_command(options: argparse.Namespace) -> int:
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
