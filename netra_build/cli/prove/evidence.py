"""``netra evidence`` and ``promote``: evidence about kernels, and the maturity that it allows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from netra_build.cli.options import Command, add_library_root
from netra_build.cli.places import library_of
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, EvidenceIncomplete, Refused, nearest_hint
from netra_build.formats.golden import (
    EVIDENCE_FOLDER,
    HARDWARE,
    SIMULATED,
    Evidence,
    GoldenSource,
    evidence_of,
    golden_sources,
    read_evidence,
    require_evidence,
)
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import FORMAT_CATALOG, TARGET


def _add_evidence_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb and the files."""
    parser.add_argument("verb", choices=["add"])
    parser.add_argument(
        "file", nargs="+", help="netra-numerics-1 report or netra-evidence-1 record"
    )
    add_library_root(parser)


def _run_evidence(options: argparse.Namespace) -> int:
    """Check every file against the golden digests, then write all records."""
    library = library_of(options)
    disk = RealDisk()
    found = [read_evidence(disk.read_bytes(Path(name)), name) for name in options.file]
    for name, evidence in zip(options.file, found, strict=True):
        _refuse_other_bytes(golden_of(library, evidence, name), evidence, name)
    for evidence in found:
        name = f"{EVIDENCE_FOLDER}/{evidence.file_name}"
        disk.write_bytes(library.root / name, pretty_bytes(evidence.document()))
        print(f"{evidence.label}: {evidence.scope}, {evidence.launches} launches -> {name}")
    return 0


def golden_of(library: Library, evidence: Evidence, location: str) -> GoldenSource:
    """Return the golden source that evidence names; ``BadInput`` when there is none."""
    sources = golden_sources(library, evidence.tactic)
    for source in sources:
        if source.variant == evidence.variant:
            return source
    known = [source.label for source in sources]
    raise BadInput(
        f'no golden source "{evidence.label}"',
        location=location,
        hint=nearest_hint(evidence.label, known),
    )


def _refuse_other_bytes(golden: GoldenSource, evidence: Evidence, location: str) -> None:
    expected = golden.digests["text_sha256"]
    if evidence.text_sha256 != expected:
        raise Refused(
            f"evidence of {golden.label} speaks of another .text",
            location=location,
            expected=expected,
            got=evidence.text_sha256,
        )


NEXT = {"experiment": "verified", "verified": "accepted"}


def _add_promote_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the tactic."""
    parser.add_argument("tactic", nargs="+", help="tactic id, without target")
    add_library_root(parser)


def _run_promote(options: argparse.Namespace) -> int:
    """Rewrite the catalogs of all tactics named, or none."""
    library = library_of(options)
    documents: dict[str, dict[str, Any]] = {}
    lines = [promote(library, tactic, documents) for tactic in options.tactic]
    for name, document in documents.items():
        library.disk.write_bytes(library.root / name, pretty_bytes(document))
    print("\n".join(lines))
    return 0


def promote(library: Library, tactic: str, documents: dict[str, dict[str, Any]]) -> str:
    """Raise one tactic by one step in ``documents`` (by file name); return what was done."""
    name, entry = _find(library, tactic, documents)
    maturity = entry["maturity"]
    if maturity not in NEXT:
        raise Refused(f'"{tactic}" is {maturity}', location=name, hint="there is no step above")
    raised = NEXT[maturity]
    sources = golden_sources(library, tactic)
    if not sources:
        raise EvidenceIncomplete(f'"{tactic}" has no golden source', location=name)
    for source in sources:
        require_evidence(library, source, raised)
    scope = HARDWARE if raised == "accepted" else SIMULATED
    files = [f"{EVIDENCE_FOLDER}/{e.file_name}" for s in sources for e in evidence_of(library, s)]
    digests = [sha256_hex(library.read(file)) for file in sorted(files)]
    entry["maturity"], entry["acceptance_scope"] = raised, scope
    entry["evidence_set"] = tactic
    documents[name].setdefault("evidence_sets", {})[tactic] = {
        "evidence_root": EVIDENCE_FOLDER,
        "lock_name": f"{tactic}.{scope}",
        "lock_sha256": digests[0] if len(digests) == 1 else sha256_hex("\n".join(digests).encode()),
    }
    return f"{tactic}: {maturity} -> {raised} ({scope})"


def _find(
    library: Library, tactic: str, documents: dict[str, dict[str, Any]]
) -> tuple[str, dict[str, Any]]:
    """Return the catalog file of a tactic and its entry in ``documents``."""
    known = []
    for name in library.json_names(f"manifests/{TARGET}/tactics"):
        document = documents.get(name) or library.read_object(name)
        if document.get("format") != FORMAT_CATALOG:
            continue
        for entry in document["tactics"]:
            known.append(entry["id"])
            if entry["id"] == tactic:
                documents[name] = document
                return name, entry
    raise BadInput(
        f'unknown tactic "{tactic}"', location="netra promote", hint=nearest_hint(tactic, known)
    )


EVIDENCE = Command(
    "add FILE: keep a numeric report, or evidence that you bring from hardware",
    _add_evidence_arguments,
    _run_evidence,
)
PROMOTE = Command(
    "raise a tactic's maturity as far as its evidence allows", _add_promote_arguments, _run_promote
)
