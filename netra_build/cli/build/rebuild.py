"""Full builds without SCons: ``netra rebuild``, ``recipe``, and the build of ``netra build``."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path
from typing import Any

from netra_build.build.freshness.finished import Finished, confirmed, write_manifest
from netra_build.build.freshness.input_trace import InputTrace, absolute, note_loaded_code
from netra_build.build.freshness.up_to_date import forget
from netra_build.build.graph.actions import Graph, Root
from netra_build.build.graph.product import refuse_unfinished
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import built_files, run_graph
from netra_build.cli.build.validate import build_engine, refuse_sealed
from netra_build.cli.options import RECIPE, TOOLCHAIN, at_path, command, flag, say, wait_for_build
from netra_build.cli.places import library_of, toolchain_at
from netra_build.core.canonical_json import canonical_text, parse_object
from netra_build.core.disk import RealDisk, sealed_folder
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.folders import publish_folder
from netra_build.core.stamps import process_start_ns
from netra_build.formats.build_recipe import ObjectsRecipe
from netra_build.formats.library import Library, open_library
from netra_build.inspect.validate.engine import verify_engine
from netra_build.inspect.validate.engine_folder import (
    MANIFEST,
    EngineFolder,
)
from netra_build.pipeline import RESULT_NAME
from netra_build.requests import EngineRequest, engine_graph, find_recipe, objects_graph


@dataclass(frozen=True)
class Rebuilt:
    """The result of a rebuild: the product, and the digest of each of its files by path."""

    execution: Execution
    out: Path
    written: dict[str, str]
    said: tuple[str, ...] = ()
    """Notes of the plan and warnings of the build."""

    def line(self) -> str:
        """Return the closing line."""
        graph = self.execution.graph
        return f"{graph.name}: {len(graph.actions)} actions, product in {self.out}"


@command("build a product from nothing, every stage once, without SCons", *RECIPE)
def rebuild_command(options: argparse.Namespace) -> int:
    """Build the product of a recipe."""
    print(rebuild(options, library_of(options)).line())
    return 0


def rebuild(
    options: argparse.Namespace, library: Library, input_trace: InputTrace | None = None
) -> Rebuilt:
    """Build the product; intermediate files are in a temporary folder.

    Its inputs are recorded in ``input_trace``. Raises what planning and the stages raise.
    """
    graph, kind = _graph(options, library)
    out = Path(normpath(options.out) if options.out else library.root / "build" / kind / graph.name)
    tools = toolchain_at(options.toolchain, input_trace)
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
        execution.note_sources(input_trace or InputTrace())
        written, warnings = run_graph(execution), execution.warnings()
    kept = {path: digest for path, digest in written.items() if not path.startswith(f"{work}/")}
    for line in warnings:
        say(line)
    return Rebuilt(execution, out, kept, (*graph.notes, *(f"netra: {line}" for line in warnings)))


def _graph(options: argparse.Namespace, library: Library) -> tuple[Graph, str]:
    """Return the graph of the request, and the folder for its kind of product."""
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


OWN_SUFFIXES = (".o", ".hsaco", ".dis", ".metadata", ".text")


@command(
    "build the code objects of a deployment recipe and compare them with their locks",
    at_path("--repo-root", "kernel library root", required=True),
    at_path("--deployment", "recipe, relative to the root", required=True),
    at_path("--output", "folder to write", required=True),
    flag("--allow-unlocked-experiments", "build experiments whose lock is 64 zeros"),
    flag("--strict", "refuse what is a warning without it"),
    TOOLCHAIN,
)
def recipe_command(options: argparse.Namespace) -> int:
    """Build all artifacts, or none, and print their count as one JSON line."""
    library = open_library(RealDisk(), options.repo_root, ())
    path = str(options.repo_root / options.deployment)
    allowed = {"allow_unlocked": options.allow_unlocked_experiments, "strict": options.strict}
    graph = objects_graph(library, path, **allowed)
    files = built_files(graph, library.root, toolchain_at(options.toolchain), say)
    publish_folder(options.output, files, ("generated",), is_recipe_file)
    count = parse_object(files[RESULT_NAME], RESULT_NAME)["artifact_count"]
    result = {"output": str(options.output), "artifacts": count}
    print(canonical_text(result), end="")
    return 0


def is_recipe_file(name: str) -> bool:
    """Tell whether an output folder may hold ``name``, so that it may be replaced."""
    if name.startswith("generated/"):
        return name.endswith((".s", "/"))
    return name == RESULT_NAME or ("/" not in name and name.endswith(OWN_SUFFIXES))


def build_fully(options: argparse.Namespace, request: Mapping[str, Any]) -> int:
    """Build an engine directory as ``validate --build`` does, a recipe's product as ``rebuild``."""
    folder = Path(options.engine)
    if not RealDisk().is_file(folder / MANIFEST):
        return _build_recipe(options, request)
    for name in ("out", "profile", "golden_root", "locked"):
        if getattr(options, name):
            raise BadInput(
                f"--{name.replace('_', '-')} is for recipes, not for an engine directory",
                location=str(folder),
            )
    refuse_unfinished(folder, RealDisk())
    refuse_sealed(EngineFolder(folder, RealDisk()))
    library = library_of(options)
    result = verify_engine(folder, RealDisk(), library).summary
    engine = EngineFolder(folder, RealDisk())
    result["built"] = build_engine(engine, lambda: toolchain_at(options.toolchain))
    print(canonical_text(result), end="")
    return 0


def _build_recipe(options: argparse.Namespace, request: Mapping[str, Any]) -> int:
    input_trace = InputTrace(process_start_ns())
    input_trace.got_answer("is_file", absolute(Path(options.engine) / MANIFEST), False)
    library = library_of(options, input_trace)
    build = f"{library.root}/build"
    wait_for_build(build)
    forget(build, request)
    rebuilt = rebuild(options, library, input_trace)
    print(rebuilt.line())
    _remember(build, request, input_trace, rebuilt)
    return 0


def _remember(
    build: str, request: Mapping[str, Any], input_trace: InputTrace, rebuilt: Rebuilt
) -> None:
    """Record the request as finished, for the up-to-date check of the next one."""
    moment_ns = time.time_ns()
    note_loaded_code(input_trace)
    outputs = confirmed(rebuilt.written)
    if outputs is None:
        return
    product = rebuilt.execution.product
    is_alone = product is not None and product.is_alone
    finished = Finished(
        input_trace=input_trace,
        started_ns=input_trace.started_ns,
        moment_ns=moment_ns,
        base=os.path.join(absolute("."), ""),
        outputs=outputs,
        products={absolute(rebuilt.out): product.names} if product and is_alone else {},
        said=rebuilt.said,
    )
    try:
        write_manifest(RealDisk(), build, request, finished)
    except NetraError:
        return  # a disk that is full or read-only: the next run builds again
