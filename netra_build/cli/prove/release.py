"""``netra verify`` and ``reproduce``: whether a release is what it states, and made again equal."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import MADE_ROOTS, Place, Root
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import run_action
from netra_build.checkasm.mutate import SCORES
from netra_build.cli.look.diff_text import Writer, difference_text
from netra_build.cli.options import LIBRARY_AROUND, TOOLCHAIN, at_path, command, flag, option
from netra_build.cli.places import library_of, toolchain_at, toolchain_if_any
from netra_build.core.canonical_json import Json, canonical_text
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import RealDisk, sealed_folder
from netra_build.core.errors import (
    EXIT_DONE,
    EXIT_REFUSED,
    BadInput,
    NetraError,
    Refused,
    ToolchainFailed,
)
from netra_build.core.processes import collector_paused
from netra_build.core.texts import table_text
from netra_build.formats.library import Library, open_library
from netra_build.inspect.diff.package import origin_difference, release_difference
from netra_build.inspect.report.page import Scores, read_scores, report_page
from netra_build.inspect.report.read_product import read_facts
from netra_build.inspect.validate.package import Finding, Means, check_integrity, verify_package
from netra_build.release.archive import (
    MAX_ARCHIVE_BYTES,
    Package,
    read_archive,
    settings,
    write_archive,
)
from netra_build.release.layout import ENVELOPE, PAGE
from netra_build.release.oci import open_package
from netra_build.release.origin import (
    SOURCE_PREFIX,
    TOOL_ROLES,
    Origin,
    environment_of,
    product_files,
)
from netra_build.release.provenance import MAX_KEY_BYTES, read_provenance
from netra_build.releasing import ReleaseRequest, plan_release
from netra_build.stages import release_package

PAGE_LIBRARIES = ("Jinja2", "MarkupSafe")
VERIFICATION, REPRODUCTION = "netra-verification-1", "netra-reproduction-1"


@command(
    "verify a release package: signature, every digest and every claim",
    at_path("package", "archive, OCI layout or its tar", metavar="PACKAGE"),
    at_path("--key", "Ed25519 public key (PEM) that must have signed"),
    option("--name", help="name that the release has to have"),
    option("--version", metavar="X.Y.Z", help="version that it has to have"),
    flag("--json", "print the findings as JSON"),
    LIBRARY_AROUND,
    TOOLCHAIN,
)
def verify_command(options: argparse.Namespace) -> int:
    """Print what was verified and what was not; raise for anything wrong."""
    disk = RealDisk()
    library = _library(options)
    means = Means(
        disk=disk,
        library=library,
        find_tools=lambda: toolchain_if_any(options),
        key=None if options.key is None else disk.read_bytes(options.key, max_bytes=MAX_KEY_BYTES),
        key_location=str(options.key),
        name=options.name,
        version=options.version,
    )
    location = str(options.package)
    with collector_paused():
        package = open_package(options.package, disk)
        findings = verify_package(package, location, means)
        findings.append(verify_page(package, location, library))
    if options.json:
        head = {"format": VERIFICATION, "package": package.top, "verdict": "verified"}
        print(canonical_text({**head, "findings": list(map(asdict, findings))}), end="")
        return 0
    words = {True: "verified", False: "not verified"}
    rows = [(found.what, words[found.is_verified], found.detail) for found in findings]
    left = sum(not found.is_verified for found in findings)
    print(table_text(("what", "verdict", "how"), rows))
    print(f"{package.top}: verified" + (f"; {left} things could not be" if left else ""))
    return 0


def _library(options: argparse.Namespace) -> Library | None:
    """Return the library whose schemas are used; None when none was named and none is here."""
    try:
        return library_of(options)
    except BadInput:
        if options.library_root:
            raise
        return None


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
    product = product_files(origin.asked, package.files)
    made = report_page(read_facts(product, origin.asked.name), scores)
    if made != package.files[PAGE]:
        raise Refused("page is not the one of the product", location=f"{location}/{PAGE}")
    return Finding("page", True, "made again from the product")


def _scores(origin: Origin, library: Library | None) -> Scores | None:
    """Return the recorded mutation scores, if the library at hand has them."""
    if library is None or not library.disk.is_file(library.root / SCORES):
        return None
    data = library.read(SCORES)
    return read_scores(data, SCORES) if sha256_hex(data) == origin.sources.get(SCORES) else None


COLUMNS = "state", "file"
DIFFERENT = "\n\ndifferent"


@command(
    "make a release again from its sources and compare every byte",
    at_path("package", "NAME-VERSION-gfx950.tar.zst", metavar="PACKAGE"),
    at_path("--source", "kernel library", required=True, metavar="DIR"),
    option("--golden-root", metavar="DIR", help="golden code objects to copy"),
    flag("--json", "print every difference as JSON"),
    flag("--all", "also print what only follows"),
    TOOLCHAIN,
)
def reproduce_command(options: argparse.Namespace) -> int:
    """Print whether the package was made again, or how it differs; 0 when every byte is equal."""
    disk, location = RealDisk(), str(options.package)
    data = disk.read_bytes(options.package, max_bytes=MAX_ARCHIVE_BYTES)
    package = read_archive(data, location)
    record, origin = check_integrity(package, location)
    library = open_library(disk, options.source, ())
    tools = toolchain_at(options.toolchain)
    refuse_other_tools(origin, tools)
    with collector_paused():
        made = rebuild(library, origin, tools, options.golden_root)
        files: dict[str, bytes] = made.pop("files")
        if ENVELOPE in package.files:
            # Nobody else has the key; the statement that it signs is compared like any other file.
            files[ENVELOPE] = package.files[ENVELOPE]
        found = release_difference(package.files, files, origin.asked.folder)
        is_same = found["equal"] and write_archive(Package(package.top, files)) == data
    document = {
        "format": REPRODUCTION,
        "package": package.top,
        **found,
        **made,
        "equal": is_same,
        "compressor": {"recorded": record["archive"], "here": settings()},
        "compared": len(package.files),
    }
    if options.json:
        print(canonical_text(document), end="")
    else:
        print(reproduction_text(document, show_all=options.all))
    return EXIT_DONE if document["equal"] else EXIT_REFUSED


def refuse_other_tools(origin: Origin, tools: Toolchain) -> None:
    """Raise ``ToolchainFailed`` unless the tool chain is of the recorded versions."""
    found = tools.identity()
    for role in TOOL_ROLES:
        keys = role, f"{role}_version"
        wanted, got = (
            " ".join(side.get(k, "none") for k in keys) for side in (origin.toolchain, found)
        )
        if wanted != got:
            raise ToolchainFailed(
                f"{role} is not the recorded one",
                location="--toolchain",
                expected=wanted,
                got=got,
                hint="name a folder that holds the recorded one with --toolchain DIR",
            )


def rebuild(
    library: Library, origin: Origin, tools: Toolchain, golden_root: str | None
) -> dict[str, Json]:
    """Make a release again in a new folder, as far as possible.

    Returns the ``files`` of the package that were made, the ``refusals`` of actions that failed,
    and how sources and environment differ from the recorded ones. Pins are not checked and a
    failed action stops only those that need its outputs: a difference is to be shown, not refused.
    """
    asked = origin.asked
    request = ReleaseRequest(
        recipe=PurePosixPath(asked.recipe).stem,
        kind=asked.kind,
        version=asked.version,
        profile=asked.profile,
        golden_root=golden_root,
        locked=False,
    )
    graph = plan_release(library, request)
    with sealed_folder() as folder:
        paths = {root: folder / root.value for root in MADE_ROOTS}
        paths |= {Root.SOURCE: library.root, Root.EXTERNAL: Path(golden_root or ".")}
        execution = Execution(graph, Folders(paths), library.disk, tools)
        refusals = run_what_can(execution)
        described = next(a for a in graph.actions if a.stage is release_package.RECORD)
        sources = {
            role.removeprefix(SOURCE_PREFIX): library.read(place.name)
            for role, place in described.inputs
            if role.startswith(SOURCE_PREFIX)
        }
        environment = dict(described.parameters)["environment"]
        # The action of the archive, the last one, names all files of the package.
        places = {name: execution.folders.path(place) for name, place in graph.actions[-1].inputs}
        disk = execution.disk
        made = {name: disk.read_bytes(path) for name, path in places.items() if disk.is_file(path)}
    differing = origin_difference(origin, sources, environment)
    return {"files": made, "refusals": refusals, **differing}


def run_what_can(execution: Execution) -> list[str]:
    """Run every action whose inputs exist; return the messages of those that failed."""
    made: set[Place] = set()
    refusals = []
    for action in execution.graph.actions:
        if all(place in made or place.root not in MADE_ROOTS for _, place in action.inputs):
            try:
                run_action(action, execution)
            except NetraError as error:
                refusals.append(f"{action.stage.label}: {error}")
                continue
            made |= {place for _, place in action.outputs}
    return refusals


def reproduction_text(document: Mapping[str, Json], *, show_all: bool = False) -> str:
    """Return the comparison for people, without a final newline."""
    top, count = document["package"], document["compared"]
    if document["equal"]:
        return f"{top}: identical, {count} files and the archive"
    writer, whole = Writer(show_all), Writer(show_all=True)
    whole.table("sources that differ", COLUMNS, _rows(document["sources"]))
    whole.changes("Python and its libraries", document["environment"])
    recorded, here = document["compressor"]["recorded"], document["compressor"]["here"]
    rows = [(k, v, here.get(k)) for k, v in recorded.items() if v != here.get(k)]
    whole.table("compressor", ("", "recorded", "here"), rows)
    for row in document["code"]:
        text = difference_text(row["difference"], show_all=show_all)
        whole.blocks.append(f"{row['name']}\n{text.removesuffix(DIFFERENT)}")
    for name, lines in document["lines"].items():
        shown = [f"  {sign} {number:>5}  {text}" for sign, number, text in lines]
        whole.blocks.append("\n".join([f"source {name}", *shown]))
    for name, changes in document["documents"].items():
        if show_all:
            whole.changes(name, changes)
    writer.table("files that differ", COLUMNS, _rows(document["files"]))
    writer.blocks += [f"the rebuild refused: {refusal}" for refusal in document["refusals"]]
    if not document["files"]:
        said = "files are identical, the archive is not: another compressor wrote it"
        writer.blocks.append(said)
    writer.blocks.append(f"{top}: different, {len(document['files'])} of {count} files")
    return "\n\n".join([*whole.blocks, *writer.blocks])


def _rows(pairs: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    return [(pair["state"], pair["old"] or pair["new"]) for pair in pairs]
