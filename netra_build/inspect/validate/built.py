"""A built engine: its code objects, the progress of its validation plan, and its seal."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from netra_build.asm.objects.code_object import CodeObject, kernel_and_metadata, read_code_object
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.canonical_json import Json, canonical_bytes, parse_object, pretty_bytes
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.json_difference import first_difference, hold_same
from netra_build.formats.fields import Fields
from netra_build.formats.launch import read_launch
from netra_build.inspect.validate.engine_folder import (
    MANIFEST,
    SEAL,
    EngineFolder,
    golden_path,
    stem_of,
)
from netra_build.inspect.validate.objects import (
    Claim,
    ObjectVerifier,
    closure_record,
    stated_tools,
)
from netra_build.plan.documents import VALIDATION_PLAN
from netra_build.plan.instances import INCLUDES
from netra_build.stages.engine_documents import (
    SEAL_FORMAT,
    cross_assembly,
    equivalence_status,
    seal_engine,
    static_status,
)

NOT_RUN = "not_run_for_generated_symbol"


def check_objects(engine: EngineFolder, tools: Toolchain | None = None) -> ObjectVerifier:
    """Raise ``BadInput`` when a code object, its record, its notes or its report disagree.

    An engine that was never built has no code object of a generated kernel, and none is
    required; one that was built has all of them. Returns what knows the files that were not
    verified, most of them for lack of a tool chain.
    """
    plan = engine.fields(VALIDATION_PLAN)
    candidates = list(plan.objects("candidates"))
    built = [item for item in candidates if engine.has(_path(item))]
    if built and len(built) != len(candidates):
        missing = next(item for item in candidates if not engine.has(_path(item)))
        missing.refuse(f'code object "{_path(missing)}" is missing', "symbol")
    verifier = ObjectVerifier(engine, tools)
    for candidate in built:
        _check_generated(engine, candidate, verifier)
    if not built:
        _refuse_leftovers(engine, candidates)
    _check_operations(engine)
    _check_golden(engine, verifier)
    _check_progress(engine, plan, is_built=bool(built))
    return verifier


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


def _check_generated(engine: EngineFolder, candidate: Fields, verifier: ObjectVerifier) -> None:
    path, symbol = _path(candidate), candidate.text("symbol")
    code = read_code_object(engine.read(path), engine.location(path))
    check_notes(code, candidate, engine.location(path))
    claim = Claim(
        stem=symbol,
        symbol=symbol,
        tactic=candidate.text("tactic"),
        maturity=candidate.text("maturity"),
        threads=read_launch(candidate.child("launch")).block[0],
        source=candidate.text("source"),
        includes=tuple(candidate.child("template_files").value),
    )
    verifier.verify(symbol, [claim])


def _check_operations(engine: EngineFolder) -> None:
    """Compare ``hsaco_sha256`` of every kernel operation with the file it names."""
    for operation in engine.fields(MANIFEST).objects("operations"):
        if "hsaco_sha256" in operation.value and engine.has(operation.text("hsaco")):
            digest, actual = (
                operation.digest("hsaco_sha256"),
                engine.sha256(operation.text("hsaco")),
            )
            fact = "code object has another digest"
            operation.equal(fact, "hsaco_sha256", expected=digest, got=actual)


def _check_golden(engine: EngineFolder, verifier: ObjectVerifier) -> None:
    """Derive the record of each golden code object, in the form that it is in."""
    operations = list(engine.fields(MANIFEST).objects("operations"))
    for artifact in engine.fields(MANIFEST).objects("golden_artifacts"):
        path = golden_path(artifact)
        stem = f"metadata/{stem_of(path)}"
        if not engine.has(path) or not engine.has(f"{stem}.json"):
            continue
        code = read_code_object(engine.read(path), engine.location(path))
        operation = next(item for item in operations if item.value.get("hsaco") == path)
        symbol = operation.text("kernel_symbol")
        kernels = [(symbol, read_launch(operation.child("launch")).work_items)]
        stated = None
        if "text_sha256" not in engine.document(f"{stem}.json"):
            stated = {"symbol": symbol, "artifact_kind": operation.text("artifact_kind")}
        verifier.verify_views(stem, code, path, kernels, [], stated=stated)
        verifier.verify_listing(f"{stem}.dis", path, code.data)


def check_notes(
    code: CodeObject, kernel: Fields, location: str, *, symbol_key: str = "symbol"
) -> None:
    """Compare a code object's own metadata with a candidate or an operation record.

    Raises ``BadInput`` for another target, wave size, kernarg size, LDS size or a work-group
    that is larger than the code object allows.
    """
    symbol = kernel.text(symbol_key)
    _, metadata = kernel_and_metadata(code, symbol, location)
    launch = read_launch(kernel.child("launch"))
    for what, expected, got in (
        ("target", "amdgcn-amd-amdhsa--gfx950", code.target),
        ("wave size", 64, metadata.wavefront_size),
        ("kernarg size", kernel.integer("kernarg_size"), metadata.kernarg_segment_size),
        ("fixed LDS", launch.lds_bytes, metadata.group_segment_fixed_size),
    ):
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


def _check_progress(engine: EngineFolder, plan: Fields, *, is_built: bool) -> None:
    """Raise ``BadInput`` for a status that the reports of the engine do not support."""
    derived = copy.deepcopy(plan.value)
    candidates, checks = derived["candidates"], []
    for number, candidate in enumerate(candidates):
        stem = f"metadata/{candidate['symbol']}"
        report, checked = f"{stem}.equivalence.json", f"{stem}.checks.json"
        if engine.has(report):
            status = equivalence_status(str(engine.document(report)["verdict"]))
            candidate |= {"equivalence_status": status, "equivalence_report": report}
        else:
            candidate["equivalence_status"] = NOT_RUN
            if candidate.pop("equivalence_report", None) is not None:
                fact = f'report "{report}" is missing'
                plan.refuse(fact, "candidates", number, "equivalence_report")
        if engine.has(checked):
            checks.append(engine.document(checked))
    is_ours = engine.has(SEAL) or bool(checks)
    derived["static"] = static_status(checks) if is_ours else "pending"
    if is_ours:
        derived["cross_assembly"] = cross_assembly(candidates)
    elif candidates:
        derived["cross_assembly"] = "passed" if is_built else "not_run"
    elif derived.get("cross_assembly") != "not_applicable":
        derived["cross_assembly"] = "not_run"
    difference = first_difference(derived, plan.value)
    if difference is not None:
        key = difference.pointer.rpartition("/")[2]
        raise difference.refusal(f'"{key}" differs from the reports', plan.location)


def check_seal(engine: EngineFolder, goldens: Mapping[str, Json]) -> None:
    """Raise ``BadInput`` with the first entry of ``netra.json`` that is not what it must be.

    Checked last, so that a false statement of a document is named by its own pointer first. Only
    the seal's own digest protects the fields on the recipe and the tool chain, and those on golden
    sources that are not in ``goldens``, which has what they give by symbol.
    """
    if not engine.has(SEAL):
        return
    place, fields = engine.location(SEAL), _seal(engine)
    if engine.read(SEAL) != pretty_bytes(fields.value):
        raise BadInput("document is not canonical JSON", location=place)
    fields.word("format", (SEAL_FORMAT,))
    files = fields.child("files")
    for name in files.value:
        if not engine.has(name):
            raise BadInput(f'file "{name}" is missing', location=files.place(name))
    derived = _derived_seal(engine, fields, goldens)
    fields.close(derived)
    fields.hold("engine_id", derived["engine_id"], "seal is of another engine")
    for name, digests in derived["files"].items():
        if name not in files.value:
            raise BadInput("file is not in the seal", location=engine.location(name))
        row, fact = files.child(name), f'file "{name}" differs from the seal'
        row.close(digests)
        for key, value in digests.items():
            if row.get(key) != value or type(row.get(key)) is not type(value):
                row.refuse(fact, key, expected=row.get(key), got=value)
    ours, stated = {"kernels": derived["kernels"]}, {"kernels": fields.get("kernels")}
    hold_same(ours, stated, "seal differs from the reports", place)
    fields.hold("seal_sha256", derived["seal_sha256"], "seal differs from its own digest")


def _derived_seal(
    engine: EngineFolder, fields: Fields, goldens: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the seal written again from the files that it covers, and what it alone says."""
    names = [name for name in engine.names if name != SEAL and not name.endswith("/")]
    inputs = {name: engine.read(name) for name in sorted(names)}
    candidates = list(engine.fields(VALIDATION_PLAN).objects("candidates"))
    symbols = [candidate.text("symbol") for candidate in candidates]
    for candidate, symbol in zip(candidates, symbols, strict=True):
        template, place = candidate.text("template"), candidate.place("template")
        closure = closure_record(engine, template.removeprefix(f"{INCLUDES}/"), place)
        inputs |= {f"closure:{symbol}": closure, f"conform:{symbol}": b""}
    for row, symbol in zip(fields.objects("kernels"), symbols, strict=False):
        golden = goldens.get(symbol, row.get("golden", None))
        if golden is not None:
            inputs[f"golden:{symbol}"] = canonical_bytes(golden)
    parameters = {"symbols": symbols, **{key: fields.get(key) for key in ("recipe", "not_pinned")}}
    tools = stated_tools(fields.child("toolchain").value)
    return parse_object(seal_engine(inputs, parameters, tools)["seal"], SEAL)


def _seal(engine: EngineFolder) -> Fields:
    place = engine.location(SEAL)
    return Fields(parse_object(engine.read(SEAL), place), place)


def altered_file(engine: EngineFolder) -> str:
    """Return the first file that has another digest than the seal states, or nothing."""
    try:
        files = _seal(engine).child("files")
        for name in files.value:
            if engine.has(name) and files.child(name).get("sha256") != engine.sha256(name):
                return str(name)
    except NetraError:
        return ""
    return ""
