"""``netra validate``: derive an engine directory again and compare; build it with ``--build``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.source.closure import include_closure
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Action, Graph, Place, Root, check_graph
from netra_build.build.graph.product import refuse_unfinished
from netra_build.build.run.executor import built_files
from netra_build.chains import VIEWS, listing_action, read_parameters
from netra_build.cli.options import add_library_root, add_toolchain, say_kept
from netra_build.cli.places import library_of, toolchain_if_any, toolchain_of
from netra_build.core.canonical_json import Json, canonical_text, parse_object
from netra_build.core.disk import Disk, RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.processes import collector_paused
from netra_build.formats.fields import Fields
from netra_build.formats.launch import read_launch
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import KIND_GOLDEN
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
from netra_build.plan.instances import INCLUDES
from netra_build.stages import read_object
from netra_build.stages.assemble import ASSEMBLE, LINK
from netra_build.stages.close_includes import CLOSE
from netra_build.stages.engine_documents import EMIT
from netra_build.stages.strip_object import LAY_OUT

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
        f"netra: note: no tool chain; {len(names)} files are taken at their word,"
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
    graph = _graph(engine, candidates, golden)
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


def _graph(engine: EngineFolder, candidates: list[Fields], golden: list[Fields]) -> Graph:
    """Return the graph of the code objects, whose sources and includes are in the directory."""
    actions = [action for item in candidates for action in _kernel_actions(engine, item)]
    actions += [action for operation in golden for action in _golden_actions(operation)]
    status = "passed" if candidates else "not_applicable"
    plan: dict[str, Json] = {**engine.document(VALIDATION_PLAN), "cross_assembly": status}
    written = {"document": Place(Root.OUT, VALIDATION_PLAN)}
    actions.append(EMIT.apply("validation plan", {}, written, {"document": plan}))
    graph = Graph(str(engine.root), tuple(actions))
    check_graph(graph)
    return graph


def _kernel_actions(engine: EngineFolder, candidate: Fields) -> list[Action]:
    """Make one code object from its source in the directory, list and read it."""
    symbol, source = candidate.text("symbol"), candidate.text("source")
    template = candidate.text("template").removeprefix(f"{INCLUDES}/")
    closure = include_closure(
        template, lambda name: engine.read(f"{INCLUDES}/{name}"), candidate.place("template")
    )
    unit = Place(Root.SOURCE, source)
    includes = {name: Place(Root.SOURCE, f"{INCLUDES}/{name}") for name in closure.names}
    closed = {"closure": _work(symbol, ".closure.json"), "flat": _work(symbol, ".flat.s")}
    told: dict[str, Json] = {"location": source, "template": template}
    flat, made = {"flat": closed["flat"]}, {"object": _work(symbol, ".o")}
    linked = {"linked": _work(symbol, ".linked.hsaco")}
    hsaco = Place(Root.OUT, f"hsaco/{symbol}.hsaco")
    views = {role: _described(symbol, suffix) for role, suffix in VIEWS.items()}
    threads = read_launch(candidate.child("launch")).block[0]
    record = read_parameters(hsaco.name, [(symbol, threads)], [source])
    return [
        CLOSE.apply(symbol, {"unit": unit, **includes}, closed, told),
        ASSEMBLE.apply(symbol, flat, made, hints={f"main:{source}": unit, **includes}),
        LINK.apply(symbol, {"object 000": made["object"]}, linked),
        LAY_OUT.apply(symbol, linked, {"hsaco": hsaco}),
        read_object.STAGE.apply(symbol, {"hsaco": hsaco}, views, record),
        listing_action(symbol, hsaco, _described(symbol, ".dis"), hsaco.name),
    ]


def _golden_actions(operation: Fields) -> list[Action]:
    """List and read one golden object."""
    hsaco, symbol = Place(Root.SOURCE, operation.text("hsaco")), operation.text("kernel_symbol")
    stem = stem_of(hsaco.name)
    views = {role: _described(stem, suffix) for role, suffix in VIEWS.items()}
    views["text"] = _work(stem, ".text")
    threads = read_launch(operation.child("launch")).work_items
    record = read_parameters(hsaco.name, [(symbol, threads)], [])
    record["stated"] = {"symbol": symbol, "artifact_kind": operation.text("artifact_kind")}
    return [
        listing_action(stem, hsaco, _described(stem, ".dis"), hsaco.name),
        read_object.STAGE.apply(stem, {"hsaco": hsaco}, views, record),
    ]


def _work(stem: str, suffix: str) -> Place:
    return Place(Root.WORK, stem + suffix)


def _described(stem: str, suffix: str) -> Place:
    return Place(Root.OUT, f"metadata/{stem}{suffix}")


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
