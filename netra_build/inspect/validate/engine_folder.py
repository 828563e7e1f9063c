"""An engine directory: its files, which of them are allowed, and sources of other engines.

Compiling another model into a folder does not remove sources of the earlier engine: they stay,
every command reports them, and nothing is built beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from netra_build.core.canonical_json import Json, parse_object, plain_canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import Disk, confined_path
from netra_build.core.errors import BadInput
from netra_build.core.json_difference import hold_same
from netra_build.core.stamps import entries_below
from netra_build.formats.fields import Fields
from netra_build.formats.models.golden_operation import read_hsaco_name
from netra_build.plan.documents import ARTIFACT_FILES, VALIDATION_PLAN
from netra_build.stages.instantiate import instance_symbols

MANIFEST = "engine.json"
SEAL = "netra.json"

KERNEL_SUFFIXES = (".dis", ".metadata.txt", ".text", ".json")
CANDIDATE_SUFFIXES = (
    ".checks.json",
    ".numerics.json",
    ".equivalence.json",
    ".golden.dis",
    ".golden.metadata.txt",
    ".golden.text",
)

FOLDER = "generated/"
SUFFIX = ".s"
MODEL = "model_configuration_hash"
MAX_SOURCE_BYTES = 1 << 20
"""A longer file is no unit of ours: a unit has a line for each constant and few others."""


class ProductFiles:
    """The files of a product by their names inside it; records which of them were used."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.used: set[str] = set()

    def location(self, name: str) -> str:
        """Return a file's path as messages show it."""
        return name

    def has(self, name: str) -> bool:
        """Tell whether the file exists."""
        self.used.add(name)
        return name in self.files

    def read(self, name: str) -> bytes:
        """Return a file's bytes; raise ``BadInput`` without one."""
        if not self.has(name):
            raise BadInput("file is missing", location=name)
        return self.files[name]

    def document(self, name: str) -> dict[str, Json]:
        """Return one JSON document."""
        return parse_object(self.read(name), self.location(name))

    def fields(self, name: str) -> Fields:
        """Return one JSON document for typed reading."""
        return Fields(self.document(name), self.location(name))

    def hold(self, name: str, derived: bytes, fact: str, hsaco: str = "") -> None:
        """Raise ``BadInput`` with ``fact`` when a file is missing or not as derived.

        ``hsaco`` is the code object that the file describes.
        """
        if self.read(name) != derived:
            raise BadInput(fact, location=name)


class EngineFolder(ProductFiles):
    """The files of one engine directory, which are read when needed."""

    def __init__(self, root: Path, disk: Disk) -> None:
        self.root = root
        self.disk = disk
        self._bytes: dict[str, bytes] = {}
        self._documents: dict[str, dict[str, Json]] = {}

    def location(self, name: str) -> str:
        """Return a file's path as messages show it."""
        return str(self.root / name)

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of all files; empty folders end in a slash."""
        return frozenset(entries_below(str(self.root)))

    def has(self, name: str) -> bool:
        """Tell whether the directory holds the file."""
        return name in self.names

    def read(self, name: str) -> bytes:
        """Return a file's bytes; refuse names and links that lead out of the directory."""
        if name not in self._bytes:
            place = self.location(name)
            self._bytes[name] = self.disk.read_bytes(confined_path(self.root, name, place))
        return self._bytes[name]

    def sha256(self, name: str) -> str:
        """Return the SHA-256 of a file."""
        return sha256_hex(self.read(name))

    def document(self, name: str) -> dict[str, Json]:
        """Return one JSON document; refuse one that is not written canonically."""
        if name not in self._documents:
            data = self.read(name)
            document = parse_object(data, self.location(name))
            if data != plain_canonical_bytes(document):
                raise BadInput("document is not canonical JSON", location=self.location(name))
            self._documents[name] = document
        return self._documents[name]

    def hold(self, name: str, derived: bytes, fact: str, hsaco: str = "") -> None:
        """Raise ``BadInput`` with ``fact`` and the first difference; a missing file is no fault."""
        if not self.has(name) or self.read(name) == derived:
            return
        place = self.location(name)
        if not name.endswith(".json"):
            raise BadInput(
                f'{fact} "{hsaco}"' if hsaco else fact,
                location=place,
                expected=f"sha256 {sha256_hex(derived)}",
                got=f"sha256 {self.sha256(name)}",
            )
        expected, stated = parse_object(derived, place), self.document(name)
        if "resources" in expected and "equivalence" in stated:
            expected["equivalence"] = stated["equivalence"]  # as published: the report once more
        hold_same(expected, stated, fact, place)

    def replace(self, name: str, data: bytes) -> None:
        """Write one file of the directory, whole or not at all."""
        self.disk.write_bytes(confined_path(self.root, name, self.location(name)), data)
        self._bytes[name] = data
        self._documents.pop(name, None)
        self.__dict__.pop("names", None)


def is_document(name: str) -> bool:
    """Tell whether ``name`` is one of the documents of an engine directory."""
    return name == MANIFEST or name in ARTIFACT_FILES


def check_inventory(engine: EngineFolder) -> tuple[str, ...]:
    """Refuse links and files that nothing names; return the sources of other engines."""
    former = former_sources(engine)
    known = {*_candidate_names(engine), *_golden_names(engine), *former}
    for name in sorted(engine.names):
        is_named = name.rstrip("/") in known or is_document(name.rstrip("/"))
        if name.endswith("/"):
            if is_named or name == f"{SEAL}/":
                raise BadInput("not a regular file", location=engine.location(name[:-1]))
            continue
        if (engine.root / name).is_symlink():
            raise BadInput("file is a link", location=engine.location(name))
        if not is_named and name != SEAL:
            raise BadInput(
                "file is named by no document of the engine", location=engine.location(name)
            )
    return former


def former_files(folder: Path, disk: Disk) -> frozenset[str]:
    """Return the names of the files that a compiler or a build of ours has written into ``folder``.

    These are the files that the documents of its engine name, and sources of engines before it.
    Files named by an unreadable document count as the user's.
    """
    if not disk.is_folder(folder):
        return frozenset()
    engine = EngineFolder(folder, disk)
    found = {name for name in engine.names if is_document(name) or name == SEAL}
    found |= {name for name in engine.names if _unit(engine, name) is not None}
    for names_in in (_candidate_names, _golden_names):
        with suppress(BadInput):
            found |= set(names_in(engine))
    return frozenset(found)


def _candidate_names(engine: EngineFolder) -> Iterator[str]:
    for candidate in engine.fields(VALIDATION_PLAN).objects("candidates"):
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


def former_sources(engine: EngineFolder) -> tuple[str, ...]:
    """Return the names of other engines' sources in an engine directory, sorted.

    Such a file is a unit as the compiler writes it, named after its kernel symbol, which no
    candidate of this engine names. A sealed engine has none: its seal names every file.
    """
    if engine.has(SEAL):
        return ()
    candidates = engine.fields(VALIDATION_PLAN).objects("candidates")
    named = {candidate.text("source") for candidate in candidates}
    return tuple(name for name in sorted(engine.names - named) if _unit(engine, name) is not None)


def kept_sources(folder: Path, disk: Disk, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the sources of another model that an engine of these files leaves in ``folder``.

    Empty when the folder holds no engine, or one of the same model.
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
