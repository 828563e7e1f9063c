"""``netra validate``: derive an engine directory again and compare; build it with ``--build``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.product import refuse_unfinished
from netra_build.build.run.executor import built_files
from netra_build.cli.options import add_library_root, add_toolchain, say_kept
from netra_build.cli.places import library_of, toolchain_if_any, toolchain_of
from netra_build.core.canonical_json import Json, canonical_text, parse_object
from netra_build.core.disk import Disk, RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.processes import collector_paused
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import KIND_GOLDEN
from netra_build.in_place import in_place_graph
from netra_build.inspect.validate.built import check_notes
from netra_build.inspect.validate.engine import ValidationOptions, verify_engine
from netra_build.inspect.validate.engine_folder import (
    MANIFEST,
    SEAL,
    EngineFolder,
    refuse_former_sources,
    stem_of,
)
from netra_build.plan.documents import VALIDATION_PLAN

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
    add_library_root(parser, "else searched around the input")


def run(options: argparse.Namespace) -> int:
    """Validate and print the summary as one JSON line."""
    disk = RealDisk()
    library = library_of(options, beside=options.engine)
    refuse_unfinished(options.engine, disk)
    wanted = ValidationOptions(options.self_contained, options.strict)
    tools = _tools(options, library, disk)
    with collector_paused():
        verdict = verify_engine(options.engine, disk, library, wanted, tools)
    result = verdict.summary
    if options.build:
        engine = EngineFolder(options.engine, disk)
        result["built"] = build_engine(engine, lambda: toolchain_of(options, library.root))
    elif verdict.unverified and tools is None:
        _say_unverified(verdict.unverified)
    if verdict.former:
        say_kept(options.engine, verdict.former)
    print(canonical_text(result), end="")
    return 0


def _tools(options: argparse.Namespace, library: Library, disk: Disk) -> Toolchain | None:
    """Return the tool chain if there are code objects to derive again and one is available."""
    if options.build or not disk.is_folder(options.engine / "metadata"):
        return None
    return toolchain_if_any(options, library.root)


def _say_unverified(names: tuple[str, ...]) -> None:
    print(
        f"netra: note: no tool chain; {len(names)} files are not verified,"
        f' the first is "{names[0]}"',
        file=sys.stderr,
    )


def build_engine(
    engine: EngineFolder, find_tools: Callable[[], Toolchain]
) -> list[dict[str, Json]]:
    """Build every kernel of a valid engine and return the records, generated ones first.

    Nothing is written before all kernels are built and conform to their contracts. Raises
    ``BadInput`` for a source of another engine or one that does not assemble, an object that breaks
    its contract and a golden object that is not there; ``ToolchainFailed`` when a program fails.
    """
    refuse_sealed(engine)
    refuse_former_sources(engine)
    plan = engine.fields(VALIDATION_PLAN)
    candidates = sorted(plan.objects("candidates"), key=lambda item: item.text("source"))
    golden = list(_golden_operations(engine))
    for operation in golden:
        _check_golden(engine, operation)
    graph = in_place_graph(engine, candidates, golden)
    files = built_files(graph, engine.root, find_tools())
    for candidate in candidates:
        name = f"hsaco/{candidate.text('symbol')}.hsaco"
        check_notes(read_code_object(files[name], name), candidate, name)
    for name, data in files.items():
        engine.replace(name, data)
    stems = [candidate.text("symbol") for candidate in candidates]
    stems += [stem_of(operation.text("hsaco")) for operation in golden]
    return [parse_object(files[f"metadata/{stem}.json"], stem) for stem in stems]


def refuse_sealed(engine: EngineFolder) -> None:
    """Raise ``BadInput`` for a sealed engine: its files are not built in place."""
    if engine.has(SEAL):
        raise BadInput(
            "engine is sealed: its code objects are built already",
            location=str(engine.root),
            hint="netra rebuild or scons engine= makes it anew",
        )


def _golden_operations(engine: EngineFolder) -> Iterator[Fields]:
    """Yield one operation per golden code object, in operation order."""
    seen: set[str] = set()
    for operation in engine.fields(MANIFEST).objects("operations"):
        if operation.value.get("artifact_kind") == KIND_GOLDEN:
            path = operation.text("hsaco")
            if path not in seen:
                seen.add(path)
                yield operation


def _check_golden(engine: EngineFolder, operation: Fields) -> None:
    path = operation.text("hsaco")
    if not engine.has(path):
        raise BadInput(
            "golden code object is not in the engine",
            location=engine.location(path),
            hint="compile with --golden-artifact-root",
        )
    digest, actual = operation.digest("hsaco_sha256"), engine.sha256(path)
    if actual != digest:
        raise BadInput(
            "golden code object has another digest",
            location=engine.location(path),
            expected=digest,
            got=actual,
        )
    code = read_code_object(engine.read(path), engine.location(path))
    check_notes(code, operation, engine.location(path), symbol_key="kernel_symbol")
