"""``netra reproduce PACKAGE --source DIR``: make a release again and compare every byte."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import MADE_ROOTS, Place, Root
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import run_action
from netra_build.cli.look.diff_text import Writer, difference_text
from netra_build.cli.options import add_toolchain
from netra_build.cli.places import toolchain_at
from netra_build.core.canonical_json import Json, canonical_text
from netra_build.core.disk import RealDisk, sealed_folder
from netra_build.core.errors import EXIT_DONE, EXIT_REFUSED, NetraError, ToolchainFailed
from netra_build.core.processes import collector_paused
from netra_build.formats.library import Library, open_library
from netra_build.inspect.diff.package import origin_difference, release_difference
from netra_build.inspect.validate.package import check_integrity
from netra_build.release.archive import (
    MAX_ARCHIVE_BYTES,
    Package,
    read_archive,
    settings,
    write_archive,
)
from netra_build.release.layout import ENVELOPE
from netra_build.release.origin import SOURCE_PREFIX, TOOL_ROLES, Origin
from netra_build.releasing import ReleaseRequest, plan_release
from netra_build.stages import release_package

COLUMNS = "state", "file"
HELP = "make a release again from its sources and compare every byte"
FORMAT = "netra-reproduction-1"


@dataclass(frozen=True)
class Rebuilt:
    """The result of a rebuild: the files of the package that were made, and the origin it read.

    ``refusals`` are the messages of the actions that failed.
    """

    files: dict[str, bytes]
    sources: dict[str, bytes]
    environment: Json
    refusals: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the package and where its sources are."""
    parser.add_argument("package", type=Path, metavar="PACKAGE", help="NAME-VERSION-gfx950.tar.zst")
    parser.add_argument("--source", type=Path, required=True, metavar="DIR", help="kernel library")
    parser.add_argument("--golden-root", metavar="DIR", help="golden code objects to copy")
    parser.add_argument("--json", action="store_true", help="print every difference as JSON")
    parser.add_argument("--all", action="store_true", help="also print what only follows")
    add_toolchain(parser)


def run(options: argparse.Namespace) -> int:
    """Print whether the package was made again, or how it differs; 0 when every byte is equal."""
    disk, location = RealDisk(), str(options.package)
    data = disk.read_bytes(options.package, max_bytes=MAX_ARCHIVE_BYTES)
    package = read_archive(data, location)
    record, origin = check_integrity(package, location)
    library = open_library(disk, options.source, ())
    tools = toolchain_at(options.toolchain, library.root)
    refuse_other_tools(origin, tools)
    with collector_paused():
        rebuilt = rebuild(library, origin, tools, options.golden_root)
        document = _compared(package, data, record, origin, rebuilt)
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


def rebuild(library: Library, origin: Origin, tools: Toolchain, golden_root: str | None) -> Rebuilt:
    """Make a release again in a new folder, as far as possible.

    Pins are not checked and a failed action stops only the actions that need its outputs, since a
    difference is to be shown, not refused.
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
        return Rebuilt(_package_files(execution), sources, environment, refusals)


def run_what_can(execution: Execution) -> tuple[str, ...]:
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
    return tuple(refusals)


def _package_files(execution: Execution) -> dict[str, bytes]:
    """Return the files of the package that were made; the archive's action names them all."""
    folders, disk = execution.folders, execution.disk
    inputs = execution.graph.actions[-1].inputs
    paths = {name: folders.path(place) for name, place in inputs}
    return {name: disk.read_bytes(path) for name, path in paths.items() if disk.is_file(path)}


def _compared(
    package: Package, data: bytes, record: dict[str, Json], origin: Origin, rebuilt: Rebuilt
) -> dict[str, Json]:
    """Return the whole comparison: files, causes, refusals and the archive itself."""
    files = dict(rebuilt.files)
    if ENVELOPE in package.files:
        # Nobody else has the key; the statement that it signs is compared like any other file.
        files[ENVELOPE] = package.files[ENVELOPE]
    difference = release_difference(package.files, files, origin.asked.folder)
    is_same = difference["equal"] and write_archive(Package(package.top, files)) == data
    return {
        "format": FORMAT,
        "package": package.top,
        **difference,
        **origin_difference(origin, rebuilt.sources, rebuilt.environment),
        "equal": is_same,
        "compressor": {"recorded": record["archive"], "here": settings()},
        "compared": len(package.files),
        "refusals": list(rebuilt.refusals),
    }


def reproduction_text(document: Mapping[str, Json], *, show_all: bool = False) -> str:
    """Return the comparison for people, without a final newline."""
    top, count = document["package"], document["compared"]
    if document["equal"]:
        return f"{top}: identical, {count} files and the archive"
    writer, whole = Writer(show_all), Writer(show_all=True)
    _causes(document, whole)
    for row in document["code"]:
        whole.blocks.append(f"{row['name']}\n{_code(row['difference'], show_all)}")
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


def _causes(document: Mapping[str, Json], writer: Writer) -> None:
    """Write tables of sources and libraries that are not the recorded ones."""
    writer.table("sources that differ", COLUMNS, _rows(document["sources"]))
    writer.changes("Python and its libraries", document["environment"])
    recorded, here = document["compressor"]["recorded"], document["compressor"]["here"]
    rows = [(k, v, here.get(k)) for k, v in recorded.items() if v != here.get(k)]
    writer.table("compressor", ("", "recorded", "here"), rows)


def _code(difference: Mapping[str, Json], show_all: bool) -> str:
    text = difference_text(difference, show_all=show_all)
    return text.removesuffix("\n\ndifferent")


def _rows(pairs: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    return [(pair["state"], pair["old"] or pair["new"]) for pair in pairs]
