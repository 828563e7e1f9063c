"""Which files an engine directory may hold: nothing unnamed, nothing through links."""

from __future__ import annotations

from collections.abc import Iterator

from netra_build.choose.engine_folder import MANIFEST, SEAL, EngineFolder, is_document
from netra_build.core.canonical_json import Json, parse_object
from netra_build.core.digests import content_digest
from netra_build.core.errors import BadInput
from netra_build.load.fields import Fields
from netra_build.load.golden_operation import read_hsaco_name

KERNEL_SUFFIXES = (".dis", ".metadata.txt", ".text", ".json")
GOLDEN_SUFFIXES = (
    ".equivalence.json",
    ".golden.dis",
    ".golden.metadata.txt",
    ".golden.text",
)
SEAL_KEYS = ("sha256", "blake3", "size_bytes")


def check_inventory(engine: EngineFolder) -> None:
    """Refuse links, files that nothing names and, with a seal, files that differ from it."""
    known = set(_known_names(engine))
    for name in sorted(engine.names):
        if name.endswith("/"):
            continue
        if (engine.root / name).is_symlink():
            raise BadInput("file is a link", location=engine.location(name))
        if name not in known and not is_document(name) and name != SEAL:
            raise BadInput(
                "file is named by no document of the engine", location=engine.location(name)
            )
    if engine.has(SEAL):
        _check_seal(engine)


def _known_names(engine: EngineFolder) -> Iterator[str]:
    for candidate in engine.fields("validation_plan.json").objects("candidates"):
        symbol = candidate.text("symbol")
        yield candidate.text("source")
        yield from candidate.child("template_files").value
        yield f"generated/golden/{symbol}.s"
        yield f"hsaco/{symbol}.hsaco"
        for suffix in (*KERNEL_SUFFIXES, *GOLDEN_SUFFIXES):
            yield f"metadata/{symbol}{suffix}"
    for artifact in engine.fields(MANIFEST).objects("golden_artifacts"):
        path = golden_path(artifact)
        yield path
        for suffix in KERNEL_SUFFIXES:
            yield f"metadata/{stem_of(path)}{suffix}"


def golden_path(artifact: Fields) -> str:
    """Return the path of a golden artifact: a plain file name below ``hsaco/``."""
    path = artifact.text("path")
    name: dict[str, Json] = {"path": path.removeprefix("hsaco/")}
    if not path.startswith("hsaco/"):
        artifact.refuse(f'golden artifact "{path}" does not lie in hsaco/', "path")
    return "hsaco/" + read_hsaco_name(Fields(name, artifact.location, artifact.pointer), "path")


def stem_of(path: str) -> str:
    """Return a code object's name without folder and suffix."""
    return path.removeprefix("hsaco/").removesuffix(".hsaco")


def _check_seal(engine: EngineFolder) -> None:
    """Hold every file against the digests of ``netra.json``."""
    place = engine.location(SEAL)
    fields = Fields(parse_object(engine.read(SEAL), place), place)
    files = fields.child("files")
    for name in files.value:
        if not engine.has(name):
            raise BadInput(f'file "{name}" is missing', location=files.place(name))
        row = files.child(name)
        digest = content_digest(engine.read(name))
        actual = (digest.sha256, digest.blake3, digest.size_bytes)
        for key, value in zip(SEAL_KEYS, actual, strict=True):
            if row.get(key) != value:
                row.refuse(
                    f'file "{name}" differs from the seal', key, expected=row.get(key), got=value
                )
    if fields.text("engine_id") != engine.document(MANIFEST)["engine_id"]:
        fields.refuse("seal is of another engine", "engine_id")
