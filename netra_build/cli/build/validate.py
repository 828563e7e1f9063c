"""``netra validate``: derive an engine directory again and compare; build it with ``--build``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.product import refuse_unfinished
from netra_build.build.run.executor import built_files
from netra_build.cli.options import LIBRARY_AROUND, TOOLCHAIN, at_path, command, flag, say, say_kept
from netra_build.cli.places import library_of, toolchain_at, toolchain_if_any
from netra_build.core.canonical_json import Json, canonical_text, parse_object
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.processes import collector_paused
from netra_build.formats.fields import Fields
from netra_build.formats.vocabulary import KIND_GOLDEN
from netra_build.in_place import in_place_graph
from netra_build.inspect.validate.built import check_notes
from netra_build.inspect.validate.engine import verify_engine
from netra_build.inspect.validate.engine_folder import (
    MANIFEST,
    SEAL,
    EngineFolder,
    refuse_former_sources,
    stem_of,
)
from netra_build.plan.documents import VALIDATION_PLAN


@command(
    "check an engine directory, and build its code objects on request",
    at_path("--engine", "engine directory", required=True),
    flag("--static", "check only (the default)"),
    flag("--build", "assemble the kernels as well"),
    flag("--strict", "refuse weak plans too"),
    flag("--self-contained", "do not compare with the library's tactics"),
    TOOLCHAIN,
    LIBRARY_AROUND,
)
def validate_command(options: argparse.Namespace) -> int:
    """Validate and print the summary as one JSON line."""
    disk = RealDisk()
    library = library_of(options, beside=options.engine)
    refuse_unfinished(options.engine, disk)
    tools = None
    if not options.build and disk.is_folder(options.engine / "metadata"):
        tools = toolchain_if_any(options)
    with collector_paused():
        verdict = verify_engine(
            options.engine,
            disk,
            library,
            tools,
            self_contained=options.self_contained,
            strict=options.strict,
        )
    result = verdict.summary
    if options.build:
        engine = EngineFolder(options.engine, disk)
        result["built"] = build_engine(
            engine, lambda: toolchain_at(options.toolchain), strict=options.strict
        )
    elif verdict.unverified and tools is None:
        print(
            f"netra: note: no tool chain; {len(verdict.unverified)} files are not verified,"
            f' the first is "{verdict.unverified[0]}"',
            file=sys.stderr,
        )
    if verdict.former:
        say_kept(options.engine, verdict.former)
    print(canonical_text(result), end="")
    return 0


def build_engine(
    engine: EngineFolder, find_tools: Callable[[], Toolchain], *, strict: bool = False
) -> list[dict[str, Json]]:
    """Build every kernel of a valid engine and return the records, generated ones first.

    With ``strict`` a finding of the static checks raises ``Refused``.

    Nothing is written before all kernels are built and conform to their contracts. Raises
    ``BadInput`` for a source of another engine or one that does not assemble, an object that breaks
    its contract and a golden object that is not there; ``ToolchainFailed`` when a program fails.
    """
    refuse_sealed(engine)
    refuse_former_sources(engine)
    plan = engine.fields(VALIDATION_PLAN)
    candidates = sorted(plan.objects("candidates"), key=lambda item: item.text("source"))
    golden_by_path: dict[str, Fields] = {}
    for operation in engine.fields(MANIFEST).objects("operations"):
        if operation.value.get("artifact_kind") == KIND_GOLDEN:
            golden_by_path.setdefault(operation.text("hsaco"), operation)
    for path, operation in golden_by_path.items():
        _check_golden(engine, path, operation)
    golden = list(golden_by_path.values())
    graph = in_place_graph(engine, candidates, golden, strict=strict)
    files = built_files(graph, engine.root, find_tools(), say)
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


def _check_golden(engine: EngineFolder, path: str, operation: Fields) -> None:
    place = engine.location(path)
    if not engine.has(path):
        raise BadInput(
            "golden code object is not in the engine",
            location=place,
            hint="compile with --golden-artifact-root",
        )
    digest, actual = operation.digest("hsaco_sha256"), engine.sha256(path)
    if actual != digest:
        fact = "golden code object has another digest"
        raise BadInput(fact, location=place, expected=digest, got=actual)
    code = read_code_object(engine.read(path), place)
    check_notes(code, operation, place, symbol_key="kernel_symbol")
