"""Generated sources of another engine that stay in an engine directory compiled over it.

Compiling another model into a folder takes nothing away that can be built from again: the other
engine's sources stay, every command says so, and nothing is built beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from netra_build.core.canonical_json import parse_object
from netra_build.core.disk import Disk, confined_path
from netra_build.core.errors import BadInput
from netra_build.plan.engine_folder import MANIFEST, SEAL, EngineFolder
from netra_build.stages.instantiate import instance_symbols

FOLDER = "generated/"
SUFFIX = ".s"
MODEL = "model_configuration_hash"
MAX_SOURCE_BYTES = 1 << 20
"""What is longer is no unit of ours: a unit has a line for each constant and few others."""


def former_sources(engine: EngineFolder) -> tuple[str, ...]:
    """Return the names of other engines' sources in an engine directory, sorted.

    Such a file is a unit as the compiler writes it, called like its kernel symbol, which no
    candidate of this engine names. A sealed engine has none: its seal names every file.
    """
    if engine.has(SEAL):
        return ()
    candidates = engine.fields("validation_plan.json").objects("candidates")
    named = {candidate.text("source") for candidate in candidates}
    return tuple(name for name in sorted(engine.names - named) if _unit(engine, name) is not None)


def kept_sources(folder: Path, disk: Disk, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what an engine of these files has to leave in ``folder``: another model's sources.

    Nothing when the folder holds no engine, or one of the same model.
    """
    engine = EngineFolder(folder, disk)
    model = parse_object(files[MANIFEST], MANIFEST)[MODEL]
    if _model(engine) in (None, model):
        return {}
    units = {name: _unit(engine, name) for name in sorted(engine.names - files.keys())}
    return {name: data for name, data in units.items() if data is not None}


def refuse_former_sources(engine: EngineFolder) -> None:
    """Raise ``BadInput`` naming the first source of another engine."""
    for name in former_sources(engine):
        raise BadInput(
            "generated source is of another engine: no candidate names it",
            location=engine.location(name),
            hint="remove the file, or compile again with --replace",
        )


def is_unit(engine: EngineFolder, name: str) -> bool:
    """Tell whether a file is a unit of the compiler's, whatever names it."""
    return _unit(engine, name) is not None


def _model(engine: EngineFolder) -> str | None:
    """Return the identity of the model that the folder's engine was compiled from, if it has one.

    A folder without a readable manifest holds no engine.
    """
    try:
        if engine.disk.is_file(engine.root / MANIFEST):
            identity = parse_object(engine.read(MANIFEST), MANIFEST).get(MODEL)
            return identity if isinstance(identity, str) else None
    except BadInput:
        pass
    return None


def _unit(engine: EngineFolder, name: str) -> bytes | None:
    """Return the bytes of a file that is a unit of the compiler's under its own name, else None."""
    stem = name.removeprefix(FOLDER).removesuffix(SUFFIX)
    place = engine.location(name)
    if name != f"{FOLDER}{stem}{SUFFIX}" or (engine.root / name).is_symlink():
        return None
    try:
        path = confined_path(engine.root, name, place)
        data = engine.disk.read_bytes(path, max_bytes=MAX_SOURCE_BYTES)
    except BadInput:
        return None
    return data if stem in instance_symbols(data) else None
