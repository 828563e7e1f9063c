"""Read the code objects of a built engine again and hold its reports against them."""

from __future__ import annotations

from netra_build.asm.objects.code_object import CodeObject, kernel_and_metadata, read_code_object
from netra_build.asm.objects.metadata import KernelMetadata
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Outputs
from netra_build.core.canonical_json import Json, canonical_bytes, parse_object
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput
from netra_build.core.json_difference import first_difference
from netra_build.formats.fields import Fields
from netra_build.formats.launch import Launch, read_launch
from netra_build.inspect.validate.engine_folder import MANIFEST, EngineFolder, golden_path, stem_of
from netra_build.inspect.validate.progress import PLAN, check_progress
from netra_build.inspect.validate.reports import ReportVerifier
from netra_build.stages import read_object


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
    check_notes(code, candidate, engine.location(path))
    threads = read_launch(candidate.child("launch")).block[0]
    views = _views(code, path, (symbol, threads), [candidate.text("source")])
    stem = f"metadata/{symbol}"
    _check_views(engine, stem, path, views)
    if engine.has(f"{stem}.json"):
        stated = dict(engine.document(f"{stem}.json"))
        stated.pop("equivalence", None)
        _same(engine, f"{stem}.json", parse_object(views["record"], path), stated)
    reports.verify(candidate, code, path)


def _views(
    code: CodeObject, hsaco: str, kernel: tuple[str, int], sources: list[str], **stated: Json
) -> Outputs:
    """Return what the build makes of a code object: its text, its notes and its record."""
    parameters = {
        "hsaco": hsaco,
        "kernels": [{"symbol": kernel[0], "threads": kernel[1]}],
        "sources": sources,
        "locked_text_sha256": None,
    }
    return read_object.run({"hsaco": code.data}, parameters | stated, None)


def _check_views(engine: EngineFolder, stem: str, path: str, views: Outputs) -> None:
    for suffix, data in ((".text", views["text"]), (".metadata.txt", views["notes"])):
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
        operation = next(item for item in operations if item.value.get("hsaco") == path)
        kernel = operation.text("kernel_symbol"), read_launch(operation.child("launch")).work_items
        published: dict[str, Json] = {
            "symbol": kernel[0],
            "artifact_kind": operation.text("artifact_kind"),
        }
        is_ours = "text_sha256" in engine.document(f"{stem}.json")
        views = _views(code, path, kernel, [], **({} if is_ours else {"stated": published}))
        _check_views(engine, stem, path, views)
        reports.verify_listing(f"{stem}.dis", path, engine.read(path))
        record = parse_object(views["record"], path)
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


def check_notes(
    code: CodeObject, kernel: Fields, location: str, *, symbol_key: str = "symbol"
) -> None:
    """Hold a code object's own metadata against a candidate or an operation record.

    Raises ``BadInput`` for another target, wave size, kernarg size, LDS size or a work-group
    that is larger than the code object allows.
    """
    symbol = kernel.text(symbol_key)
    _, metadata = kernel_and_metadata(code, symbol, location)
    launch = read_launch(kernel.child("launch"))
    for what, expected, got in _facts(code, metadata, launch, kernel.integer("kernarg_size")):
        if expected != got:
            raise BadInput(
                f'{what} of "{symbol}" differs from its contract',
                location=location,
                expected=expected,
                got=got,
            )
    if launch.work_items > metadata.max_flat_workgroup_size:
        raise BadInput(
            f'work-group of "{symbol}" is larger than its code object allows',
            location=location,
            expected=f"at most {metadata.max_flat_workgroup_size}",
            got=launch.work_items,
        )


def _facts(
    code: CodeObject, metadata: KernelMetadata, launch: Launch, kernarg_size: int
) -> list[tuple[str, object, object]]:
    return [
        ("target", "amdgcn-amd-amdhsa--gfx950", code.target),
        ("wave size", 64, metadata.wavefront_size),
        ("kernarg size", kernarg_size, metadata.kernarg_segment_size),
        ("fixed LDS", launch.lds_bytes, metadata.group_segment_fixed_size),
    ]
