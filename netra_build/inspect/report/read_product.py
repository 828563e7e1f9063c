"""Facts of a whole product - an engine directory, or the code objects of a recipe - from its files.

Sizes, digests and resources are derived from the files themselves and compared with the seal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from netra_build.core.canonical_json import parse_object
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields
from netra_build.formats.vocabulary import EXECUTE_KERNEL, TARGET
from netra_build.inspect.diff.documents import Files
from netra_build.inspect.report.facts import (
    FileFacts,
    OperationFacts,
    PlannedObject,
    ReportFacts,
    SealFacts,
)
from netra_build.inspect.report.read_kernels import document, object_facts
from netra_build.release.layout import PAGE
from netra_build.stages.engine_documents import seal_digest

ENGINE, OBJECTS = "engine", "code objects"
MANIFEST, SEAL = "engine.json", "netra.json"
RESULT, PLAN = "build-result.json", "validation_plan.json"
OTHER_OPERATION = "operation mismatch"
MOST_OBJECTS = 4096
MOST_OPERATIONS = 65536
"""More than any product of ours has; a larger page would be unreadable."""

STATUSES = (
    "static",
    "cross_assembly",
    "graph_replay",
    "real_checkpoint_correctness",
    "matched_server_ab",
    "hardware",
)
"""Fields of a validation plan about the whole product, in the order of the page."""
HARDWARE_ALONE = (("hardware", "not_run"),)


def read_facts(files: Files, location: str) -> ReportFacts:
    """Return what the page shows of the product with these files.

    ``BadInput`` when they are neither an engine directory nor a recipe's code objects, and for
    every file that cannot be read.
    """
    if MANIFEST in files:
        return _engine(files)
    if RESULT in files:
        return _objects(files)
    raise BadInput(
        "no engine directory and no code objects of a recipe",
        location=location,
        expected=f'"{MANIFEST}" or "{RESULT}"',
        got="neither",
        hint="name a folder that scons engine= or recipe= has built",
    )


def _engine(files: Files) -> ReportFacts:
    manifest = Fields(parse_object(files[MANIFEST], MANIFEST), MANIFEST)
    seal, plan = document(files, SEAL), document(files, PLAN)
    _refuse_more(manifest, "operations", MOST_OPERATIONS)
    operations = tuple(_operations(manifest, document(files, "explain.json")))
    recipe = None if seal is None else seal.child("recipe")
    name = manifest.text("engine_id") if recipe is None else recipe.text("name")
    planned = _planned(manifest, plan, seal)
    return ReportFacts(
        name=name,
        kind=ENGINE,
        identity=manifest.text("engine_id"),
        target=manifest.text("target"),
        identities=tuple(_engine_identities(manifest, recipe)),
        toolchain=_toolchain(seal),
        statuses=HARDWARE_ALONE
        if plan is None
        else tuple((key, plan.text(key, "not_run")) for key in STATUSES),
        not_pinned=() if seal is None else seal.texts("not_pinned", []),
        operations=operations,
        objects=tuple(object_facts(files, item) for item in planned),
        files=_files(files),
        seal=_seal(files, seal, SEAL),
    )


def _refuse_more(document: Fields, key: str, most: int) -> None:
    count = len(document.array(key))
    if count > most:
        document.refuse("list is too long for a page", key, expected=f"at most {most}", got=count)


def _engine_identities(manifest: Fields, recipe: Fields | None) -> Iterable[tuple[str, str]]:
    profile = next(iter(manifest.objects("profiles", [])), None)
    if recipe is not None:
        yield "model", recipe.text("model")
        allowed = "allowed" if recipe.boolean("allow_experimental", False) else "not allowed"
        yield "golden sources", recipe.text("golden", "optional")
        yield "experiments", allowed
    if profile is not None:
        yield "profile", profile.text("name")
    yield "engine id", manifest.text("engine_id")
    yield "model configuration", manifest.text("model_configuration_hash")
    if (checkpoint := manifest.optional_text("checkpoint_hash")) is not None:
        yield "checkpoint", checkpoint
    compiler = manifest.child("compiler")
    yield "compiler", f"{compiler.text('name')} {compiler.text('version')}"
    yield "compiler sources", compiler.text("source_hash")
    yield "workspace", f"{manifest.integer('workspace_bytes')} bytes"


def _operations(manifest: Fields, explain: Fields | None) -> Iterable[OperationFacts]:
    why = {} if explain is None else dict(map(_reasons, explain.objects("operations")))
    for item in manifest.objects("operations"):
        name = item.text("name")
        is_kernel = item.text("execution") == EXECUTE_KERNEL
        launch = item.child("launch") if item.value.get("launch") is not None else None
        yield OperationFacts(
            index=item.integer("index"),
            name=name,
            symbol=item.optional_text("kernel_symbol") if is_kernel else None,
            fallback=item.text("fallback", "", empty=True),
            tactic=item.optional_text("tactic") or "",
            grid=() if launch is None or not is_kernel else launch.extent("grid"),
            block=() if launch is None or not is_kernel else launch.extent("block"),
            reasons=() if is_kernel else why.get(name, ()),
        )


def _reasons(operation: Fields) -> tuple[str, tuple[str, ...]]:
    """Return why no tactic of ours runs an operation, without tactics for other operations."""
    found = []
    for candidate in operation.objects("candidates", []):
        reasons = candidate.texts("reasons", [])
        if reasons and OTHER_OPERATION not in reasons:
            tactic = candidate.optional_text("tactic")
            found.append(f"{f'{tactic}: ' if tactic else ''}{', '.join(reasons)}")
    return operation.text("name"), tuple(found)


def _planned(manifest: Fields, plan: Fields | None, seal: Fields | None) -> Iterable[PlannedObject]:
    """Yield the code objects that were planned: those made from templates, then supplied ones."""
    if plan is not None:
        _refuse_more(plan, "candidates", MOST_OBJECTS)
    rows = {} if seal is None else {k.text("symbol"): k for k in seal.objects("kernels", [])}
    seen = set()
    for candidate in () if plan is None else plan.objects("candidates", []):
        stem = candidate.text("symbol")
        seen.add(f"hsaco/{stem}.hsaco")
        leaf = _given(candidate, "template")
        included = candidate.child("template_files", {}).value
        yield PlannedObject(
            stem=stem,
            tactics=(candidate.text("tactic"),),
            maturity=candidate.text("maturity"),
            is_selected=candidate.boolean("selected"),
            sources=_given(candidate, "source"),
            templates=(*leaf, *(name for name in included if name not in leaf)),
            **_identities(rows.get(stem)),
        )
    for operation in manifest.objects("operations"):
        name = operation.optional_text("hsaco")
        if name is not None and name not in seen:
            seen.add(name)
            yield PlannedObject(
                stem=name.removeprefix("hsaco/").removesuffix(".hsaco"),
                tactics=_given(operation, "tactic"),
                maturity=operation.optional_text("maturity") or "",
                is_selected=True,
                is_brought=True,
            )


def _given(fields: Fields, key: str) -> tuple[str, ...]:
    text = fields.optional_text(key)
    return () if text is None else (text,)


def _identities(row: Fields | None) -> dict[str, Any]:
    if row is None:
        return {}
    return {
        "closure_sha256": row.text("source_closure_sha256"),
        "computational_identity": row.text("computational_identity"),
    }


def _objects(files: Files) -> ReportFacts:
    result = Fields(parse_object(files[RESULT], RESULT), RESULT)
    deployment = result.text("deployment")
    _refuse_more(result, "artifacts", MOST_OBJECTS)
    planned = [_artifact(artifact) for artifact in result.objects("artifacts")]
    return ReportFacts(
        name=deployment,
        kind=OBJECTS,
        identity=deployment,
        target=TARGET,
        identities=(("deployment", deployment), ("format", result.text("format"))),
        toolchain=_toolchain(result),
        statuses=HARDWARE_ALONE,
        not_pinned=(),
        operations=(),
        objects=tuple(object_facts(files, item) for item in planned),
        files=_files(files),
        seal=_seal(files, result, RESULT),
    )


def _artifact(artifact: Fields) -> PlannedObject:
    members = list(artifact.objects("members"))
    first = members[0] if members else artifact
    return PlannedObject(
        stem=artifact.text("name"),
        tactics=tuple(dict.fromkeys(member.text("tactic") for member in members)),
        maturity=first.text("maturity"),
        is_selected=True,
        sources=tuple(member.text("source") for member in members),
        **_identities(first),
    )


def _toolchain(seal: Fields | None) -> tuple[tuple[str, str], ...]:
    if seal is None:
        return ()
    said = seal.child("toolchain")
    rows = []
    for role in ("assembler", "linker", "disassembler"):
        if (name := said.optional_text(role)) is not None:
            version = said.text(f"{role}_version", "")
            rows.append((f"{name} {version}", said.text(f"{role}_digest", "")))
    return tuple(rows)


def _files(files: Files) -> tuple[FileFacts, ...]:
    names = sorted(name for name in files if name != PAGE)
    return tuple(FileFacts(name, len(files[name]), sha256_hex(files[name])) for name in names)


def _seal(files: Files, seal: Fields | None, name: str) -> SealFacts:
    """Compare the seal with the files; the page itself is no part of the product.

    A recipe's result has the digests without an enclosing object.
    """
    if seal is None:
        return SealFacts("", (), (), ())
    listed = seal.child("files")
    stated = {
        file: listed.digest(file) if isinstance(row, str) else listed.child(file).digest("sha256")
        for file, row in listed.value.items()
    }
    there = set(files) - {name, PAGE}
    altered = [n for n in stated.keys() & there if sha256_hex(files[n]) != stated[n]]
    if "seal_sha256" in seal.value and seal.digest("seal_sha256") != seal_digest(seal.value):
        altered.append(name)
    missing, unknown = stated.keys() - there, there - stated.keys()
    return SealFacts(name, *(tuple(sorted(names)) for names in (altered, missing, unknown)))
