"""``netra rebuild ENGINE``: run every stage of an engine, whatever exists, without SCons."""

from __future__ import annotations

import argparse
from pathlib import Path

from netra_build.commands.places import add_library_root, add_toolchain, library_of, toolchain_of
from netra_build.core.disk import RealDisk, sealed_folder
from netra_build.core.execute import Execution, Folders, run_graph
from netra_build.core.graph import Root
from netra_build.requests import EngineRequest, engine_graph

HELP = "build an engine from nothing, every stage once, without SCons"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the recipe and its options."""
    parser.add_argument("engine", help="recipe of an engine, by name or file")
    parser.add_argument("--out", metavar="DIR", help="default: build/engines/NAME")
    parser.add_argument("--profile", help="serving profile, instead of the recipe's")
    parser.add_argument("--golden-root", metavar="DIR", help="golden code objects to copy")
    parser.add_argument("--locked", action="store_true", help="refuse missing or stale pins")
    add_library_root(parser)
    add_toolchain(parser)


def run(options: argparse.Namespace) -> int:
    """Build the engine; intermediate files lie in a folder that is removed."""
    library = library_of(options)
    request = EngineRequest(
        recipe=options.engine,
        profile=options.profile,
        golden_root=options.golden_root,
        locked=options.locked,
    )
    graph = engine_graph(library, request)
    out = Path(options.out or library.root / "build" / "engines" / graph.name)
    tools = toolchain_of(options, library)
    with sealed_folder() as work:
        folders = Folders(
            {
                Root.SOURCE: library.root,
                Root.WORK: work,
                Root.OUT: out,
                Root.EXTERNAL: Path(options.golden_root or "."),
            }
        )
        execution = Execution(graph, folders, RealDisk(), tools)
        if execution.product is not None:
            execution.product.refuse_foreign()
        run_graph(execution)
    print(f"{graph.name}: {len(graph.actions)} actions, engine in {out}")
    return 0
