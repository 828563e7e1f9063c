"""Build the code objects of an engine directory in the published layout: unsealed, in place."""

from __future__ import annotations

from collections.abc import Iterator

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.source.closure import include_closure
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Action, Graph, Place, Root, check_graph
from netra_build.chains import VIEWS, listing_action, read_parameters
from netra_build.cli.build.rebuild import built_files
from netra_build.core.canonical_json import Json, parse_object
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields
from netra_build.formats.launch import read_launch
from netra_build.formats.vocabulary import KIND_GOLDEN
from netra_build.inspect.validate.built import check_notes
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


def build_engine(engine: EngineFolder, tools: Toolchain) -> list[dict[str, Json]]:
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
    files = built_files(graph, engine.root, tools)
    for candidate in candidates:
        name = f"hsaco/{candidate.text('symbol')}.hsaco"
        check_notes(read_code_object(files[name], name), candidate, name)
    for name, data in files.items():
        engine.replace(name, data)
    stems = [candidate.text("symbol") for candidate in candidates]
    stems += [stem_of(operation.text("hsaco")) for operation in golden]
    return [parse_object(files[f"metadata/{stem}.json"], stem) for stem in stems]


def refuse_sealed(engine: EngineFolder) -> None:
    """Raise ``BadInput`` for an engine of ours: what its seal covers is not built in place."""
    if engine.has(SEAL):
        raise BadInput(
            "engine is sealed: its code objects are built already",
            location=str(engine.root),
            hint="netra rebuild or scons engine= makes it anew",
        )


def _graph(engine: EngineFolder, candidates: list[Fields], golden: list[Fields]) -> Graph:
    """Return the graph of the code objects, whose sources and includes lie in the directory."""
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
    """Make one code object from its source as it lies there, list and read it."""
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
