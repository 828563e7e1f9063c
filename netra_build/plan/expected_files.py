"""Which files an engine directory may hold: nothing unnamed, nothing through links."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from netra_build.core.canonical_json import Json
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields
from netra_build.formats.models.golden_operation import read_hsaco_name
from netra_build.plan.engine_folder import MANIFEST, SEAL, EngineFolder, is_document
from netra_build.plan.former_sources import former_sources, is_unit

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


def former_files(folder: Path, disk: Disk) -> frozenset[str]:
    """Return the names of what a compiler or a build of ours has put into ``folder``.

    That is what the documents of its engine name, and sources of engines before it. Of a document
    that cannot be read nothing is taken: whatever it named counts as somebody else's.
    """
    if not disk.is_folder(folder):
        return frozenset()
    engine = EngineFolder(folder, disk)
    found = {name for name in engine.names if is_document(name) or name == SEAL}
    found |= {name for name in engine.names if is_unit(engine, name)}
    for names_in in (_candidate_names, _golden_names):
        with suppress(BadInput):
            found |= set(names_in(engine))
    return frozenset(found)


def _known_names(engine: EngineFolder) -> Iterator[str]:
    yield from _candidate_names(engine)
    yield from _golden_names(engine)


def _candidate_names(engine: EngineFolder) -> Iterator[str]:
    for candidate in engine.fields("validation_plan.json").objects("candidates"):
        symbol = candidate.text("symbol")
        yield candidate.text("source")
        yield from candidate.child("template_files").value
        yield f"generated/golden/{symbol}.s"
        yield f"hsaco/{symbol}.hsaco"
        for suffix in (*KERNEL_SUFFIXES, *CANDIDATE_SUFFIXES):
            yield f"metadata/{symbol}{suffix}"


def _golden_names(engine: EngineFolder) -> Iterator[str]:
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
