"""``netra reproduce PACKAGE --source DIR``: make a release again and compare every byte."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import MADE_ROOTS, Place, Root
from netra_build.build.run.execute import Execution, Folders
from netra_build.build.run.executor import run_action
from netra_build.cli.places import add_toolchain, toolchain_at
from netra_build.cli.release.reproduce_text import reproduction_text
from netra_build.core.canonical_json import Json, canonical_text
from netra_build.core.disk import RealDisk, sealed_folder
from netra_build.core.errors import EXIT_DONE, EXIT_REFUSED, NetraError, ToolchainFailed
from netra_build.core.processes import collector_paused
from netra_build.formats.library import Library, open_library
from netra_build.inspect.diff.release import origin_difference, release_difference
from netra_build.inspect.validate.package import check_integrity
from netra_build.release.archive import (
    MAX_ARCHIVE_BYTES,
    Package,
    read_archive,
    write_archive,
)
from netra_build.release.compression import settings
from netra_build.release.layout import ENVELOPE
from netra_build.release.origin import SOURCE_PREFIX, Origin
from netra_build.releasing import ReleaseRequest, plan_release
from netra_build.stages.release import record as release_record

HELP = "make a release again from its sources and compare every byte"
FORMAT = "netra-reproduction-1"
ROLES = ("assembler", "linker", "disassembler")


@dataclass(frozen=True)
class Rebuilt:
    """What a rebuild gave: the files of the package as far as they were made, and what it read.

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
    tools = toolchain_at(options, library.root)
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
    for role in ROLES:
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
    """Make a release again in a new folder, as far as it can be made.

    Pins are not asked for and a gate that says no stops only what needs it: a difference is to be
    shown, not to be refused.
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
        described = next(a for a in graph.actions if a.stage is release_record.STAGE)
        sources = {
            role.removeprefix(SOURCE_PREFIX): library.read(place.name)
            for role, place in described.inputs
            if role.startswith(SOURCE_PREFIX)
        }
        environment = dict(described.parameters)["environment"]
        return Rebuilt(_package_files(execution), sources, environment, refusals)


def run_what_can(execution: Execution) -> tuple[str, ...]:
    """Run every action whose inputs are there; return the messages of those that failed."""
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
