"""``netra verify PACKAGE``: signature, digests and claims of a release, and what is unverified."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from netra_build.checkasm.mutate import SCORES
from netra_build.cli.options import add_library_root, add_toolchain
from netra_build.cli.places import library_of, toolchain_if_any
from netra_build.core.canonical_json import Json, canonical_text
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, Refused
from netra_build.core.processes import collector_paused
from netra_build.core.texts import table_text
from netra_build.formats.library import Library
from netra_build.inspect.report.page import Scores, page_bytes, read_scores
from netra_build.inspect.validate.package import Finding, Means, verify_package
from netra_build.release.archive import Package
from netra_build.release.layout import PAGE
from netra_build.release.oci import open_package
from netra_build.release.origin import Origin, environment_of, product_files
from netra_build.release.provenance import MAX_KEY_BYTES, read_provenance

HELP = "verify a release package: signature, every digest and every claim"
PAGE_LIBRARIES = ("Jinja2", "MarkupSafe")
FORMAT = "netra-verification-1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the package, the key and the means."""
    parser.add_argument(
        "package", type=Path, metavar="PACKAGE", help="archive, OCI layout or its tar"
    )
    parser.add_argument("--key", type=Path, help="Ed25519 public key (PEM) that must have signed")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    add_library_root(parser, "else searched around the input")
    add_toolchain(parser)


def run(options: argparse.Namespace) -> int:
    """Print what was verified and what was not; raise for anything wrong."""
    disk = RealDisk()
    library = _library(options)
    means = Means(
        disk=disk,
        library=library,
        find_tools=lambda: toolchain_if_any(options, library.root if library else Path.cwd()),
        key=None if options.key is None else disk.read_bytes(options.key, max_bytes=MAX_KEY_BYTES),
        key_location=str(options.key),
    )
    location = str(options.package)
    with collector_paused():
        package = open_package(options.package, disk)
        findings = verify_package(package, location, means)
        findings.append(verify_page(package, location, library))
    print(_json(package.top, findings) if options.json else _text(package.top, findings))
    return 0


def _library(options: argparse.Namespace) -> Library | None:
    """Return the library whose schemas are used; None when none was named and none is here."""
    try:
        return library_of(options)
    except BadInput:
        if options.library_root:
            raise
        return None


def _json(name: str, findings: list[Finding]) -> str:
    document: dict[str, Json] = {
        "format": FORMAT,
        "package": name,
        "verdict": "verified",
        "findings": [asdict(finding) for finding in findings],
    }
    return canonical_text(document).rstrip("\n")


def _text(name: str, findings: list[Finding]) -> str:
    rows = [
        (finding.what, "verified" if finding.is_verified else "not verified", finding.detail)
        for finding in findings
    ]
    left = sum(not finding.is_verified for finding in findings)
    end = f"{name}: verified; {left} things could not be" if left else f"{name}: verified"
    return f"{table_text(('what', 'verdict', 'how'), rows)}\n{end}"


def verify_page(package: Package, location: str, library: Library | None) -> Finding:
    """Return whether the page of a verified package was made again; ``Refused`` if it differs."""
    if PAGE not in package.files:
        return Finding("page", False, "the package has none")
    origin = read_provenance(package.files, location)
    here, there = environment_of("netra_build.releasing"), origin.environment
    if there["netra_build"] != here["netra_build"]:
        return Finding("page", False, "another version of netra-build made it")
    for name in PAGE_LIBRARIES:
        if there["packages"].get(name) != here["packages"][name]:
            return Finding("page", False, f"another version of {name} made it")
    scores = _scores(origin, library)
    if scores is None and SCORES in origin.sources:
        return Finding("page", False, f'the recorded "{SCORES}" that it shows is not here')
    made = page_bytes(product_files(origin.asked, package.files), scores, origin.asked.name)
    if made != package.files[PAGE]:
        raise Refused("page is not the one of the product", location=f"{location}/{PAGE}")
    return Finding("page", True, "made again from the product")


def _scores(origin: Origin, library: Library | None) -> Scores | None:
    """Return the recorded mutation scores, if the library at hand has them."""
    if library is None or not library.disk.is_file(library.root / SCORES):
        return None
    data = library.read(SCORES)
    return read_scores(data, SCORES) if sha256_hex(data) == origin.sources.get(SCORES) else None
