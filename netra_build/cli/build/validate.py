"""``netra validate``: derive again what an engine directory claims; build it with ``--build``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.product import refuse_unfinished
from netra_build.cli.build.published import build_engine, refuse_sealed
from netra_build.cli.options import add_searched_library, add_toolchain, library_anchors, say_kept
from netra_build.cli.places import toolchain_of
from netra_build.core.canonical_json import canonical_text
from netra_build.core.disk import Disk, RealDisk
from netra_build.core.errors import ToolchainFailed
from netra_build.core.processes import collector_paused
from netra_build.formats.library import Library, open_library
from netra_build.inspect.validate.engine import ValidationOptions, verify_engine
from netra_build.inspect.validate.engine_folder import EngineFolder, refuse_former_sources

HELP = "check an engine directory, and build its code objects on request"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--engine", type=Path, required=True, help="engine directory")
    parser.add_argument("--static", action="store_true", help="check only (the default)")
    parser.add_argument("--build", action="store_true", help="assemble the kernels as well")
    parser.add_argument("--strict", action="store_true", help="refuse weak plans too")
    parser.add_argument(
        "--self-contained",
        action="store_true",
        help="do not compare with the library's tactics",
    )
    add_toolchain(parser)
    add_searched_library(parser)


def run(options: argparse.Namespace) -> int:
    """Validate and print the summary as one JSON line."""
    disk = RealDisk()
    anchors = (options.engine, *library_anchors())
    library = open_library(disk, options.library_root, anchors)
    refuse_unfinished(options.engine, disk)
    wanted = ValidationOptions(options.self_contained, options.strict)
    tools = _tools(options, library, disk)
    with collector_paused():
        verdict = verify_engine(options.engine, disk, library, wanted, tools)
    result = verdict.summary
    if options.build:
        engine = EngineFolder(options.engine, disk)
        refuse_sealed(engine)
        refuse_former_sources(engine)
        result["built"] = build_engine(engine, toolchain_of(options, library))
    elif verdict.unverified and tools is None:
        _say_unverified(verdict.unverified)
    if verdict.former:
        say_kept(options.engine, verdict.former)
    print(canonical_text(result), end="")
    return 0


def _tools(options: argparse.Namespace, library: Library, disk: Disk) -> Toolchain | None:
    """Return the tool chain when there are code objects to derive again and it can be had."""
    if options.build or not disk.is_folder(options.engine / "metadata"):
        return None
    try:
        return toolchain_of(options, library)
    except ToolchainFailed:
        if options.toolchain:
            raise
        return None


def _say_unverified(names: tuple[str, ...]) -> None:
    print(
        f"netra: note: no tool chain; {len(names)} files are taken at their word,"
        f' the first is "{names[0]}"',
        file=sys.stderr,
    )
