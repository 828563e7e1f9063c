"""Validate an engine directory: derive its statements again and name the first false one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from netra_build import __version__
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.canonical_json import Json, stable_hash
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput, NetraError
from netra_build.formats.contracts import FixedContract
from netra_build.formats.fields import Fields
from netra_build.formats.library import CONTRACT_SCHEMA, MARKER_FILES, Library
from netra_build.formats.schema_subset import check_document
from netra_build.formats.vocabulary import (
    EXECUTE_KERNEL,
    EXECUTIONS,
    FORMAT_ENGINE,
    KIND_FALLBACK,
    TARGET,
    WAVE_SIZE,
)
from netra_build.inspect.validate.built import altered_file, check_objects, check_seal
from netra_build.inspect.validate.engine_folder import (
    MANIFEST,
    EngineFolder,
    check_inventory,
    refuse_former_sources,
)
from netra_build.inspect.validate.plan import check_against_library
from netra_build.plan.documents import (
    ARTIFACT_FILES,
    COMPILER_NAME,
    SOURCE_DOCUMENTS,
    source_hash,
    with_engine_id,
)
from netra_build.plan.instances import INCLUDES

ENGINE_KEYS = (
    "format_version engine_id target wave_size required_rocm model_configuration_hash "
    "checkpoint_hash deployment_guards tensor_parallel profiles operations selected_tactics "
    "kernel_symbols workspace_bytes fallbacks layout_plan graph_recipe memory_plan "
    "validation_status compiler golden_artifacts artifact_files"
)
COMPILED = re.compile(rf"{INCLUDES}/.*[^/]|generated/[^/]*\.s", re.DOTALL)
"""Names of the units and of the files that they include."""

RECORD_ONLY = ("id", "artifact_kind", *FixedContract.outside)
"""Keys of a contract record that are no part of its identity (a golden symbol is)."""


@dataclass(frozen=True)
class Validation:
    """A valid engine: the published summary, and the files that were not verified.

    ``former`` are sources of other engines, which are no part of this one.
    """

    summary: dict[str, Json]
    unverified: tuple[str, ...]
    former: tuple[str, ...]


def verify_engine(
    root: Path,
    disk: Disk,
    library: Library,
    tools: Toolchain | None = None,
    *,
    self_contained: bool = False,
    strict: bool = False,
) -> Validation:
    """Validate an engine directory; raise ``BadInput`` with the first false statement.

    With ``tools`` sources are assembled again, listings made again and golden objects compared.
    ``self_contained`` ignores the library's tactics; ``strict`` refuses more.
    """
    engine = EngineFolder(root, disk)
    try:
        former = _check_statements(engine, library, is_strict=strict)
        if not self_contained:
            check_against_library(engine, library, strict=strict)
        verifier = check_objects(engine, tools)
        _check_identity(engine, engine.fields(MANIFEST), former)
        check_seal(engine, verifier.goldens)
        return Validation(summary(engine), tuple(verifier.unverified), former)
    except NetraError as error:
        name = altered_file(engine)
        if name and name not in error.location:
            error.hint = f'file "{name}" is not the one that was sealed'
        raise


def _check_statements(
    engine: EngineFolder, library: Library, *, is_strict: bool
) -> tuple[str, ...]:
    """Check what can be checked without the library's tactics; return other engines' sources."""
    _check_manifest(engine, engine.fields(MANIFEST), library)
    _check_contracts(engine, library)
    former = check_inventory(engine)
    if is_strict:
        refuse_former_sources(engine)
    _check_candidates(engine)
    return former


def summary(engine: EngineFolder) -> dict[str, Json]:
    """Return the published result of a valid engine."""
    operations = engine.document(MANIFEST)["operations"]
    kernels = sum(operation["execution"] == EXECUTE_KERNEL for operation in operations)
    return {
        "valid": True,
        "target": TARGET,
        "wave_size": WAVE_SIZE,
        "operations": len(operations),
        "kernel_operations": kernels,
        "fallback_operations": len(operations) - kernels,
    }


def _check_manifest(engine: EngineFolder, manifest: Fields, library: Library) -> None:
    schema = MARKER_FILES[1]
    check_document(
        library.read_object(schema),
        manifest.value,
        engine.location(MANIFEST),
        library.location(schema),
    )
    for key, value in (
        ("format_version", FORMAT_ENGINE),
        ("target", TARGET),
        ("wave_size", WAVE_SIZE),
        ("artifact_files", list(ARTIFACT_FILES)),
    ):
        manifest.hold(key, value, f'"{key}" has another value')
    manifest.close(ENGINE_KEYS)
    for key in ENGINE_KEYS.split():
        manifest.get(key)
    for name in ARTIFACT_FILES:
        if not engine.has(name):
            raise BadInput("document is missing", location=engine.location(name))
        engine.document(name)
    if len(manifest.array("profiles")) != 1:
        manifest.refuse("engine has not exactly one profile", "profiles")
    for index, operation in enumerate(manifest.objects("operations")):
        operation.word("execution", EXECUTIONS)
        operation.hold("index", index, "operation is out of order")


def _check_contracts(engine: EngineFolder, library: Library) -> None:
    """Check each contract's schema and that its id is the digest of its identity."""
    fields = engine.fields("contracts.json")
    schema = library.read_object(CONTRACT_SCHEMA)
    ids = []
    for record in fields.objects("contracts"):
        check_document(schema, record.value, record.place(), library.location(CONTRACT_SCHEMA))
        derived = contract_id(record.value)
        record.hold("id", derived, "contract id differs from the contract")
        ids.append(derived)
    if ids != sorted(set(ids)):
        fields.refuse("contracts are not sorted by id without repetition", "contracts")


def contract_id(record: Mapping[str, Json]) -> str:
    """Return the id that a contract record should have."""
    outside = set(RECORD_ONLY)
    if "hsaco_name" in record:
        outside.discard("symbol")
    identity = {key: value for key, value in record.items() if key not in outside}
    prefix = "nkf_" if record.get("artifact_kind") == KIND_FALLBACK else "nk_"
    return prefix + stable_hash(identity)[:24]


def _check_candidates(engine: EngineFolder) -> None:
    """Check the digests of every generated source and include copy that a candidate names."""
    for candidate in engine.fields("validation_plan.json").objects("candidates"):
        source, symbol = candidate.text("source"), candidate.text("symbol")
        _check_file(engine, source, candidate, "source_sha256")
        files, template = candidate.child("template_files"), candidate.text("template")
        for name in files.value:
            _check_file(engine, name, files, name)
        if template not in files.value or not template.startswith(f"{INCLUDES}/"):
            candidate.refuse(f'template "{template}" is not among its files', "template")
        if f" {symbol}".encode() not in engine.read(source):
            candidate.refuse(f'symbol "{symbol}" does not occur in its source', "symbol")


def _check_file(engine: EngineFolder, name: str, fields: Fields, key: str) -> None:
    digest = fields.digest(key)
    if not engine.has(name):
        fields.refuse(f'file "{name}" is missing', key)
    fields.equal(f'file "{name}" has another digest', key, expected=digest, got=engine.sha256(name))


def _check_identity(engine: EngineFolder, manifest: Fields, former: tuple[str, ...]) -> None:
    """Check that the id covers the manifest, and the source hash every compiled file."""
    derived = with_engine_id(manifest.value)["engine_id"]
    manifest.hold("engine_id", derived, "engine id differs from the manifest")
    compiler = manifest.child("compiler")
    compiler.close(("name", "version", "source_hash"))
    if (compiler.text("name"), compiler.text("version")) != (COMPILER_NAME, __version__):
        return
    digests = {
        name: engine.sha256(name)
        for name in engine.names.difference(former)
        if name in SOURCE_DOCUMENTS or COMPILED.fullmatch(name)
    }
    fact = "compiled files differ from those that the engine was made with"
    compiler.hold("source_hash", source_hash(digests), fact)
