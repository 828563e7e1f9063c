"""Read an engine directory: its files, each once, and its documents in canonical form."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from netra_build.core.canonical_json import Json, parse_object, plain_canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import Disk, confined_path
from netra_build.core.errors import BadInput
from netra_build.core.stamps import entries_below
from netra_build.formats.fields import Fields
from netra_build.plan.documents import ARTIFACT_FILES

MANIFEST = "engine.json"
SEAL = "netra.json"


class EngineFolder:
    """The files of one engine directory by their names inside it."""

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

    def fields(self, name: str) -> Fields:
        """Return one JSON document for typed reading."""
        return Fields(self.document(name), self.location(name))

    def replace(self, name: str, data: bytes) -> None:
        """Write one file of the directory, whole or not at all."""
        self.disk.write_bytes(confined_path(self.root, name, self.location(name)), data)
        self._bytes[name] = data
        self._documents.pop(name, None)
        self.__dict__.pop("names", None)


def is_document(name: str) -> bool:
    """Tell whether ``name`` is one of the documents of an engine directory."""
    return name == MANIFEST or name in ARTIFACT_FILES
