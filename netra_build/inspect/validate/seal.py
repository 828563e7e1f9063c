"""Hold ``netra.json`` against the engine directory that it seals."""

from __future__ import annotations

from netra_build.asm.source.closure import computational_identity, include_closure
from netra_build.core.canonical_json import Json, parse_object, pretty_bytes
from netra_build.core.digests import content_digest
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.json_difference import first_difference
from netra_build.formats.fields import Fields
from netra_build.inspect.validate.engine_folder import MANIFEST, SEAL, EngineFolder
from netra_build.plan.instances import INCLUDES
from netra_build.stages.seal_engine import FORMAT, kernel_row, seal_digest

DIGEST_KEYS = ("sha256", "blake3", "size_bytes")
KEYS = (
    "format",
    "engine_id",
    "recipe",
    "toolchain",
    "kernels",
    "not_pinned",
    "files",
    "seal_sha256",
)


def check_seal(engine: EngineFolder) -> None:
    """Raise ``BadInput`` with the first entry of ``netra.json`` that is not what it must be.

    Checked last, so that a lie in a document is named by its own pointer first. What the seal
    says of the recipe, the tool chain and golden records is bound by its own digest alone.
    """
    if not engine.has(SEAL):
        return
    place, fields = engine.location(SEAL), _seal(engine)
    document = fields.value
    fields.close(KEYS)
    if engine.read(SEAL) != pretty_bytes(document):
        raise BadInput("document is not canonical JSON", location=place)
    fields.word("format", (FORMAT,))
    manifest = engine.document(MANIFEST)
    fields.hold("engine_id", manifest["engine_id"], "seal is of another engine")
    _check_files(engine, fields)
    _check_kernels(engine, fields)
    fields.hold("seal_sha256", seal_digest(document), "seal differs from its own digest")


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


def _check_files(engine: EngineFolder, fields: Fields) -> None:
    """Hold every file against its digests, and the list against the folder."""
    files = fields.child("files")
    for name in files.value:
        if not engine.has(name):
            raise BadInput(f'file "{name}" is missing', location=files.place(name))
        row = files.child(name)
        row.close(DIGEST_KEYS)
        digest = content_digest(engine.read(name))
        actual = (digest.sha256, digest.blake3, digest.size_bytes)
        for key, value in zip(DIGEST_KEYS, actual, strict=True):
            if row.get(key) != value or type(row.get(key)) is not type(value):
                row.refuse(
                    f'file "{name}" differs from the seal', key, expected=row.get(key), got=value
                )
    for name in sorted(engine.names):
        if name not in files.value and name != SEAL and not name.endswith("/"):
            raise BadInput("file is not in the seal", location=engine.location(name))


def _check_kernels(engine: EngineFolder, fields: Fields) -> None:
    """Derive code identities and verdicts of every kernel from its files."""
    candidates = list(engine.fields("validation_plan.json").objects("candidates"))
    derived = [_derived_row(engine, candidate) for candidate in candidates]
    stated: list[Json] = []
    for row in fields.objects("kernels"):
        known = {key: value for key, value in row.value.items() if key != "golden"}
        stated.append(known)
    difference = first_difference(derived, stated)
    if difference is not None:
        raise BadInput(
            "seal differs from the reports",
            location=f"{fields.place('kernels')}{difference.pointer}",
            expected=difference.expected,
            got=difference.actual,
        )


def _derived_row(engine: EngineFolder, candidate: Fields) -> dict[str, Json]:
    symbol = candidate.text("symbol")
    template = candidate.text("template").removeprefix(f"{INCLUDES}/")
    closure = include_closure(
        template, lambda name: engine.read(f"{INCLUDES}/{name}"), candidate.place("template")
    )
    digests = {
        "source_closure_sha256": closure.source_closure_sha256,
        "computational_identity": computational_identity(closure),
    }
    names = [f"metadata/{symbol}.{kind}.json" for kind in ("equivalence", "checks", "numerics")]
    reports = {name: engine.document(name) for name in names if engine.has(name)}
    return kernel_row(symbol, digests, reports)
