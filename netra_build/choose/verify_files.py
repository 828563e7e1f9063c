"""Which files an engine directory may hold: nothing unnamed, nothing through links."""

from __future__ import annotations

from collections.abc import Iterator

from netra_build.choose.engine_folder import MANIFEST, SEAL, EngineFolder, is_document
from netra_build.choose.former_sources import former_sources
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.load.fields import Fields
from netra_build.load.golden_operation import read_hsaco_name

KERNEL_SUFFIXES = (".dis", ".metadata.txt", ".text", ".json")
CANDIDATE_SUFFIXES = (
    ".checks.json",
    ".numerics.json",
    ".equivalence.json",
    ".golden.dis",
    ".golden.metadata.txt",
    ".golden.text",
)


def check_inventory(engine: EngineFolder) -> tuple[str, ...]:
    """Refuse links and files that nothing names; return the sources of other engines."""
    former = former_sources(engine)
    known = {*_known_names(engine), *former}
    for name in sorted(engine.names):
        if name.endswith("/"):
            continue
        if (engine.root / name).is_symlink():
            raise BadInput("file is a link", location=engine.location(name))
        if name not in known and not is_document(name) and name != SEAL:
            raise BadInput(
                "file is named by no document of the engine", location=engine.location(name)
            )
    return former


def _known_names(engine: EngineFolder) -> Iterator[str]:
    for candidate in engine.fields("validation_plan.json").objects("candidates"):
        symbol = candidate.text("symbol")
        yield candidate.text("source")
        yield from candidate.child("template_files").value
        yield f"generated/golden/{symbol}.s"
        yield f"hsaco/{symbol}.hsaco"
        for suffix in (*KERNEL_SUFFIXES, *CANDIDATE_SUFFIXES):
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
