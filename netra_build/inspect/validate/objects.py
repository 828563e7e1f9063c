"""Read the code objects of a built engine again and hold its reports against them."""

from __future__ import annotations

from netra_build.asm.objects.code_object import CodeObject, read_code_object
from netra_build.asm.objects.notes_text import notes_text
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput
from netra_build.core.json_difference import first_difference
from netra_build.formats.fields import Fields
from netra_build.inspect.validate.progress import PLAN, check_progress
from netra_build.inspect.validate.reports import ReportVerifier
from netra_build.plan.engine_folder import MANIFEST, EngineFolder
from netra_build.plan.expected_files import golden_path, stem_of
from netra_build.plan.object_record import check_notes, golden_record, object_record


def check_objects(engine: EngineFolder, tools: Toolchain | None = None) -> list[str]:
    """Raise ``BadInput`` when a code object, its record, its notes or its report disagree.

    An engine that was never built has no code object of a generated kernel, and none is asked
    for; one that was built has all of them. Returns the files that stay unverified, most of them
    for want of a tool chain.
    """
    plan = engine.fields(PLAN)
    candidates = list(plan.objects("candidates"))
    built = [item for item in candidates if engine.has(_path(item))]
    if built and len(built) != len(candidates):
        missing = next(item for item in candidates if not engine.has(_path(item)))
        missing.refuse(f'code object "{_path(missing)}" is missing', "symbol")
    reports = ReportVerifier(engine, tools)
    for candidate in built:
        _check_generated(engine, candidate, reports)
    if not built:
        _refuse_leftovers(engine, candidates)
    _check_operations(engine)
    _check_golden(engine, reports)
    check_progress(engine, plan, is_built=bool(built))
    return reports.unverified


def _path(candidate: Fields) -> str:
    return f"hsaco/{candidate.text('symbol')}.hsaco"


def _refuse_leftovers(engine: EngineFolder, candidates: list[Fields]) -> None:
    """Without code objects there can be no reports about them."""
    for candidate in candidates:
        stem = f"metadata/{candidate.text('symbol')}"
        for name in sorted(engine.names):
            if name.startswith(f"{stem}."):
                raise BadInput(
                    f'report is about the missing code object "{_path(candidate)}"',
                    location=engine.location(name),
                )


def _check_generated(engine: EngineFolder, candidate: Fields, reports: ReportVerifier) -> None:
    path, symbol = _path(candidate), candidate.text("symbol")
    code = read_code_object(engine.read(path), engine.location(path))
    record = object_record(
        code, candidate, engine.sha256(path), hsaco=path, location=engine.location(path)
    )
    check_notes(code, candidate, engine.location(path))
    stem = f"metadata/{symbol}"
    _check_views(engine, stem, path, code)
    if engine.has(f"{stem}.json"):
        stated = dict(engine.document(f"{stem}.json"))
        stated.pop("equivalence", None)
        _same(engine, f"{stem}.json", record, stated)
    reports.verify(candidate, code, path)


def _check_views(engine: EngineFolder, stem: str, path: str, code: CodeObject) -> None:
    views = {".text": code.text, ".metadata.txt": notes_text(code, path).encode()}
    for suffix, data in views.items():
        name = stem + suffix
        if engine.has(name) and engine.read(name) != data:
            raise BadInput(
                f'content differs from the code object "{path}"',
                location=engine.location(name),
                expected=f"sha256 {sha256_hex(data)}",
                got=f"sha256 {engine.sha256(name)}",
            )


def _check_operations(engine: EngineFolder) -> None:
    """Hold ``hsaco_sha256`` of every kernel operation against the file it names."""
    for operation in engine.fields(MANIFEST).objects("operations"):
        if "hsaco_sha256" in operation.value and engine.has(operation.text("hsaco")):
            digest = operation.digest("hsaco_sha256")
            actual = engine.sha256(operation.text("hsaco"))
            if digest != actual:
                operation.refuse(
                    "code object has another digest", "hsaco_sha256", expected=digest, got=actual
                )


def _check_golden(engine: EngineFolder, reports: ReportVerifier) -> None:
    """Derive the record of each golden code object, in the form that it is in."""
    operations = list(engine.fields(MANIFEST).objects("operations"))
    for artifact in engine.fields(MANIFEST).objects("golden_artifacts"):
        path = golden_path(artifact)
        stem = f"metadata/{stem_of(path)}"
        if not engine.has(path) or not engine.has(f"{stem}.json"):
            continue
        code = read_code_object(engine.read(path), engine.location(path))
        _check_views(engine, stem, path, code)
        reports.verify_listing(f"{stem}.dis", path, engine.read(path))
        operation = next(item for item in operations if item.value.get("hsaco") == path)
        record = golden_record(code, operation, engine.sha256(path), engine.location(path))
        if "text_sha256" in engine.document(f"{stem}.json"):
            ours = ("hsaco", "sha256", "resources")
            record = {key: record[key] for key in ours} | {"text_sha256": sha256_hex(code.text)}
        _same(engine, f"{stem}.json", record, engine.document(f"{stem}.json"))


def _same(engine: EngineFolder, name: str, expected: Json, actual: Json) -> None:
    if canonical_bytes(expected) == canonical_bytes(actual):
        return
    difference = first_difference(expected, actual)
    if difference is not None:
        raise BadInput(
            "record differs from the code object",
            location=f"{engine.location(name)}#{difference.pointer}",
            expected=difference.expected,
            got=difference.actual,
        )
