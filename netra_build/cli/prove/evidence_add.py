"""``netra evidence add FILE``: keep evidence about a kernel whose bytes it names."""

from __future__ import annotations

import argparse
from pathlib import Path

from netra_build.cli.options import add_library_root
from netra_build.cli.places import library_of
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, Refused
from netra_build.core.nearest import nearest_hint
from netra_build.formats.evidence import FOLDER, Evidence, read_evidence
from netra_build.formats.golden import GoldenSource, golden_sources
from netra_build.formats.library import Library

HELP = "add FILE: keep a numeric report, or evidence that you bring from hardware"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb and the files."""
    parser.add_argument("verb", choices=["add"])
    parser.add_argument(
        "file", nargs="+", help="netra-numerics-1 report or netra-evidence-1 record"
    )
    add_library_root(parser)


def run(options: argparse.Namespace) -> int:
    """Check every file against the golden digests, then write all records."""
    library = library_of(options)
    disk = RealDisk()
    found = [read_evidence(disk.read_bytes(Path(name)), name) for name in options.file]
    for name, evidence in zip(options.file, found, strict=True):
        _refuse_other_bytes(golden_of(library, evidence, name), evidence, name)
    for evidence in found:
        name = f"{FOLDER}/{evidence.file_name}"
        disk.write_bytes(library.root / name, pretty_bytes(evidence.document()))
        print(f"{evidence.label}: {evidence.scope}, {evidence.launches} launches -> {name}")
    return 0


def golden_of(library: Library, evidence: Evidence, location: str) -> GoldenSource:
    """Return the golden source that evidence speaks of; ``BadInput`` when there is none."""
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
