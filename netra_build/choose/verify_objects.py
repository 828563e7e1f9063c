"""Read the code objects of a built engine again and hold its reports against them."""

from __future__ import annotations

from netra_build.asm.code_object import CodeObject, read_code_object
from netra_build.asm.notes_text import notes_text
from netra_build.choose.engine_folder import MANIFEST, EngineFolder
from netra_build.choose.object_record import check_notes, object_record
from netra_build.choose.verify_files import golden_path, stem_of
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput
from netra_build.core.json_difference import first_difference
from netra_build.load.fields import Fields


def check_objects(engine: EngineFolder) -> None:
    """Raise ``BadInput`` when a code object, its record, its notes or its report disagree.

    An engine that was never built has no code object of a generated kernel, and none is asked
    for; one that was built has all of them.
    """
    plan = engine.fields("validation_plan.json")
    candidates = list(plan.objects("candidates"))
    built = [item for item in candidates if engine.has(_path(item))]
    if built and len(built) != len(candidates):
        missing = next(item for item in candidates if not engine.has(_path(item)))
        missing.refuse(f'code object "{_path(missing)}" is missing', "symbol")
    for candidate in built:
        _check_generated(engine, candidate)
    if not built:
        _refuse_leftovers(engine, candidates)
    _check_operations(engine)
    _check_golden(engine)


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


def _check_generated(engine: EngineFolder, candidate: Fields) -> None:
    path, symbol = _path(candidate), candidate.text("symbol")
    code = read_code_object(engine.read(path), engine.location(path))
    record = object_record(
        code, candidate, engine.sha256(path), hsaco=path, location=engine.location(path)
    )
    check_notes(code, candidate, engine.location(path))
    stem = f"metadata/{symbol}"
    if engine.has(f"{stem}.equivalence.json"):
        _check_equivalence(engine, stem, code, symbol)
    _check_views(engine, stem, path, code)
    if engine.has(f"{stem}.json"):
        stated = dict(engine.document(f"{stem}.json"))
        stated.pop("equivalence", None)
        _same(engine, f"{stem}.json", record, stated)


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


def _check_equivalence(engine: EngineFolder, stem: str, code: CodeObject, symbol: str) -> None:
    name = f"{stem}.equivalence.json"
    report = engine.fields(name)
    facts: dict[str, Json] = {
        "generated_symbol": symbol,
        "generated_text_sha256": sha256_hex(code.text),
    }
    if engine.has(f"{stem}.golden.text"):
        golden = engine.read(f"{stem}.golden.text")
        facts["golden_text_sha256"] = sha256_hex(golden)
        facts["text_byte_identical"] = golden == code.text
    for key, value in facts.items():
        if report.get(key) != value:
            report.refuse(
                f'"{key}" differs from the code objects', key, expected=value, got=report.get(key)
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


def _check_golden(engine: EngineFolder) -> None:
    for artifact in engine.fields(MANIFEST).objects("golden_artifacts"):
        path = golden_path(artifact)
        name = f"metadata/{stem_of(path)}.json"
        if not engine.has(path) or not engine.has(name):
            continue
        code = read_code_object(engine.read(path), engine.location(path))
        _check_views(engine, f"metadata/{stem_of(path)}", path, code)
        stated = engine.fields(name)
        if stated.digest("sha256") != engine.sha256(path):
            stated.refuse(
                "digest differs from the code object",
                "sha256",
                expected=engine.sha256(path),
                got=stated.digest("sha256"),
            )


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
