"""``netra rebuild RECIPE``: run every stage of a product, whatever exists, without SCons."""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from os.path import normpath
from pathlib import Path

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.freshness.input_trace import InputTrace, absolute
from netra_build.build.graph.actions import Action, Graph, Place, Root
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import run_action, run_graph
from netra_build.cli.options import add_recipe, wait_for_build
from netra_build.cli.places import library_of, toolchain_of
from netra_build.core.disk import RealDisk, sealed_folder
from netra_build.core.errors import BadInput
from netra_build.formats.build_recipe import ObjectsRecipe
from netra_build.formats.library import Library
from netra_build.requests import EngineRequest, engine_graph, find_recipe, objects_graph

WORKERS = 4

HELP = "build a product from nothing, every stage once, without SCons"


@dataclass(frozen=True)
class Rebuilt:
    """What a rebuild made: the product, and the digest of each of its files by path."""

    execution: Execution
    out: Path
    written: dict[str, str]

    def line(self) -> str:
        """Return the closing line."""
        graph = self.execution.graph
        return f"{graph.name}: {len(graph.actions)} actions, product in {self.out}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the recipe and its options."""
    add_recipe(parser)


def run(options: argparse.Namespace) -> int:
    """Build the product of a recipe."""
    print(rebuild(options, library_of(options)).line())
    return 0


def rebuild(
    options: argparse.Namespace, library: Library, input_trace: InputTrace | None = None
) -> Rebuilt:
    """Build the product; intermediate files lie in a folder that is removed.

    What it is made from is noted in ``input_trace``. Raises what planning and the stages raise.
    """
    graph, kind = _graph(options, library)
    out = Path(normpath(options.out) if options.out else library.root / "build" / kind / graph.name)
    tools = toolchain_of(options, library, input_trace)
    wait_for_build(f"{library.root}/build")
    with sealed_folder() as work:
        paths = {
            Root.SOURCE: library.root,
            Root.WORK: work,
            Root.OUT: out,
            Root.EXTERNAL: Path(options.golden_root or "."),
        }
        alone = not options.out
        execution = Execution(graph, Folders(paths), RealDisk(), tools, has_own_folder=alone)
        if execution.product is not None:
            execution.product.refuse_foreign()
        _note_sources(execution, input_trace or InputTrace())
        written = run_graph(execution)
    kept = {path: digest for path, digest in written.items() if not path.startswith(f"{work}/")}
    return Rebuilt(execution, out, kept)


def built_files(graph: Graph, source: Path, tools: Toolchain) -> dict[str, bytes]:
    """Run a graph in a folder that is removed; return the files of its product by name.

    Actions that do not wait for each other run side by side: their programs are other processes.
    """
    disk = RealDisk()
    with sealed_folder() as place, ThreadPoolExecutor(max_workers=WORKERS) as pool:
        out = place / "out"
        paths = {Root.SOURCE: source, Root.WORK: place / "work", Root.OUT: out}
        run = partial(run_action, execution=Execution(graph, Folders(paths), disk, tools))
        for actions in _levels(graph):
            list(pool.map(run, actions))
        return {name: disk.read_bytes(out / name) for name in graph.products(Root.OUT)}


def _levels(graph: Graph) -> list[list[Action]]:
    """Return the actions of a graph in groups, each of which needs only the groups before it."""
    level_by_place: dict[Place, int] = {}
    levels: dict[int, list[Action]] = {}
    for action in graph.actions:
        level = 1 + max((level_by_place.get(place, 0) for _, place in action.inputs), default=0)
        level_by_place |= {place: level for _, place in action.outputs}
        levels.setdefault(level, []).append(action)
    return [levels[level] for level in sorted(levels)]


def _note_sources(execution: Execution, input_trace: InputTrace) -> None:
    for action in execution.graph.actions:
        for _, place in (*action.inputs, *action.hints):
            if place not in execution.graph.producers:
                input_trace.saw_file(absolute(execution.folders.path(place)))


def _graph(options: argparse.Namespace, library: Library) -> tuple[Graph, str]:
    """Return the graph of what is asked for, and the folder that its kind of product lies in."""
    asked = options.engine
    if not asked.endswith(".json") and isinstance(find_recipe(library, asked), ObjectsRecipe):
        for name in ("profile", "golden_root"):
            if getattr(options, name):
                shown = name.replace("_", "-")
                raise BadInput(f"--{shown} is for engines, not for code objects", location=asked)
        return objects_graph(library, asked, locked=options.locked), "recipes"
    request = EngineRequest(
        recipe=asked,
        profile=options.profile,
        golden_root=options.golden_root,
        locked=options.locked,
    )
    return engine_graph(library, request), "engines"
