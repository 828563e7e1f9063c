"""Build the code objects of an engine directory, in the published layout (unsealed)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.notes_text import notes_text
from netra_build.asm.objects.rewrite import rewrite
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields
from netra_build.formats.vocabulary import KIND_GOLDEN
from netra_build.plan.documents import INCLUDES
from netra_build.plan.engine_folder import MANIFEST, SEAL, EngineFolder
from netra_build.plan.expected_files import stem_of
from netra_build.plan.former_sources import refuse_former_sources
from netra_build.plan.object_record import check_notes, golden_record, object_record

PLAN = "validation_plan.json"
WORKERS = 4


@dataclass(frozen=True)
class BuiltObject:
    """The files that one code object adds to the engine directory, and its record."""

    files: dict[str, bytes]
    record: dict[str, Json]


def build_engine(engine: EngineFolder, toolchain: Toolchain) -> list[dict[str, Json]]:
    """Build every kernel of a valid engine and return the records, generated ones first.

    Nothing is written before all kernels are built and conform to their contracts. Raises
    ``BadInput`` for a source of another engine or one that does not assemble, an object that breaks
    its contract and a golden object that is not there; ``ToolchainFailed`` when a program fails.
    """
    refuse_sealed(engine)
    refuse_former_sources(engine)
    plan = engine.fields(PLAN)
    candidates = sorted(plan.objects("candidates"), key=lambda item: item.text("source"))
    golden = list(_golden_operations(engine))
    for operation in golden:
        _check_golden(engine, operation)
    built = _each(candidates, lambda item: _build_generated(engine, item, toolchain))
    built += _each(golden, lambda item: _describe_golden(engine, item, toolchain))
    for item in built:
        for name, data in item.files.items():
            engine.replace(name, data)
    status = "passed" if candidates else "not_applicable"
    engine.replace(PLAN, canonical_bytes({**plan.value, "cross_assembly": status}))
    return [item.record for item in built]


def refuse_sealed(engine: EngineFolder) -> None:
    """Raise ``BadInput`` for an engine of ours: what its seal covers is not built in place."""
    if engine.has(SEAL):
        raise BadInput(
            "engine is sealed: its code objects are built already",
            location=str(engine.root),
            hint="netra rebuild or scons engine= makes it anew",
        )


def _each(items: Iterable[Fields], make: Callable[[Fields], BuiltObject]) -> list[BuiltObject]:
    """Make all items at once; the programs run outside of this process."""
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        return list(pool.map(make, items))


def _build_generated(engine: EngineFolder, candidate: Fields, tools: Toolchain) -> BuiltObject:
    source, symbol = candidate.text("source"), candidate.text("symbol")
    hsaco = f"hsaco/{symbol}.hsaco"
    files = {name: engine.read(name) for name in candidate.child("template_files").value}
    files[source] = engine.read(source)
    data = rewrite(tools.link([tools.assemble_tree(files, source, INCLUDES)]), hsaco)
    code = read_code_object(data, hsaco)
    check_notes(code, candidate, hsaco)
    record = object_record(code, candidate, sha256_hex(data), hsaco=hsaco, location=hsaco)
    stem = f"metadata/{symbol}"
    return BuiltObject(
        {
            hsaco: data,
            f"{stem}.dis": tools.disassemble(data, label=hsaco).encode("utf-8"),
            f"{stem}.metadata.txt": notes_text(code, hsaco).encode("utf-8"),
            f"{stem}.text": code.text,
            f"{stem}.json": canonical_bytes(record),
        },
        record,
    )


def _golden_operations(engine: EngineFolder) -> Iterable[Fields]:
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


def _describe_golden(engine: EngineFolder, operation: Fields, tools: Toolchain) -> BuiltObject:
    path = operation.text("hsaco")
    data = engine.read(path)
    code = read_code_object(data, engine.location(path))
    check_notes(code, operation, engine.location(path), symbol_key="kernel_symbol")
    record = golden_record(code, operation, sha256_hex(data), engine.location(path))
    stem = f"metadata/{stem_of(path)}"
    return BuiltObject(
        {
            f"{stem}.dis": tools.disassemble(data, label=path).encode("utf-8"),
            f"{stem}.metadata.txt": notes_text(code, path).encode("utf-8"),
            f"{stem}.json": canonical_bytes(record),
        },
        record,
    )
