"""Build the code objects of an engine directory in the published layout: unsealed, in place."""

from __future__ import annotations

from collections.abc import Iterator

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.source.closure import include_closure
from netra_build.asm.tools.toolchain import Toolchain
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
from netra_build.pipeline import published_graph
from netra_build.plan.documents import VALIDATION_PLAN
from netra_build.plan.golden import GoldenObject
from netra_build.plan.instances import INCLUDES
from netra_build.plan.units import PublishedKernel


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
    status = "passed" if candidates else "not_applicable"
    graph = published_graph(
        [_kernel(engine, candidate) for candidate in candidates],
        [_golden_object(operation) for operation in golden],
        {**plan.value, "cross_assembly": status},
    )
    files = built_files(graph, engine.root, tools)
    for candidate in candidates:
        name = f"hsaco/{candidate.text('symbol')}.hsaco"
        check_notes(read_code_object(files[name], name), candidate, name)
    for operation in golden:
        path = operation.text("hsaco")
        code = read_code_object(engine.read(path), engine.location(path))
        check_notes(code, operation, engine.location(path), symbol_key="kernel_symbol")
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


def _kernel(engine: EngineFolder, candidate: Fields) -> PublishedKernel:
    template = candidate.text("template").removeprefix(f"{INCLUDES}/")
    closure = include_closure(
        template, lambda name: engine.read(f"{INCLUDES}/{name}"), candidate.place("template")
    )
    return PublishedKernel(
        symbol=candidate.text("symbol"),
        threads=read_launch(candidate.child("launch")).block[0],
        source=candidate.text("source"),
        template=template,
        includes=closure.names,
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


def _golden_object(operation: Fields) -> GoldenObject:
    stated = {
        "symbol": operation.text("kernel_symbol"),
        "block": read_launch(operation.child("launch")).work_items,
        "artifact_kind": operation.text("artifact_kind"),
    }
    return GoldenObject(operation.text("hsaco").removeprefix("hsaco/"), stated)


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
