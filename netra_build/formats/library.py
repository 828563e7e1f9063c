"""Find a kernel library root and read its files, never leaving it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from netra_build.core.canonical_json import Json, parse_object
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput
from netra_build.core.folders import ConfinedRoot
from netra_build.formats.fields import quoted
from netra_build.formats.vocabulary import TARGET

MARKER_FILES = ("schemas/netra-model.schema.json", "schemas/netra-engine.schema.json")
MARKER_FOLDERS = (
    f"manifests/{TARGET}/profiles",
    f"manifests/{TARGET}/tactics",
    f"kernels/{TARGET}/templates",
)
CONTRACT_SCHEMA = "schemas/netra-kernel-contract.schema.json"


class Library:
    """The files of one kernel library root; each is read once and by root-relative name."""

    def __init__(self, root: Path, disk: Disk) -> None:
        self.root = root
        self.disk = disk
        self._prefix = str(root / "x")[:-1]
        self._confined = ConfinedRoot(root)
        self._bytes: dict[str, bytes] = {}
        self._names: set[str] = set()

    @property
    def names_read(self) -> frozenset[str]:
        """Root-relative names of the files that were read so far."""
        return frozenset(self._names)

    def let_go(self) -> None:
        """Forget what was in the files, but not which they were: asked for again, they are read."""
        self._bytes.clear()

    def location(self, name: str) -> str:
        """Return the path of a file as messages show it."""
        return self._prefix + name

    def has(self, name: str) -> bool:
        """Tell whether there is a file of this root-relative name."""
        return self.disk.is_file(self._prefix + name)

    def read(self, name: str, location: str = "") -> bytes:
        """Return the bytes of a root-relative file; refuse names and links that lead out."""
        if name not in self._bytes:
            place = location or self.location(name)
            path = self._confined.path(name, place)
            if location and not self.disk.is_file(path):
                raise BadInput(f'file "{name}" is missing or not a file', location=location)
            self._bytes[name] = self.disk.read_bytes(path)
            self._names.add(name)
        return self._bytes[name]

    def read_object(self, name: str) -> dict[str, Json]:
        """Return one JSON object of the library."""
        return parse_object(self.read(name), self.location(name))

    def json_names(self, folder: str) -> tuple[str, ...]:
        """Return the root-relative names of the JSON files in ``folder``, in path order."""
        paths = self.disk.files_under(self.root / folder, ".json")
        own = (path for path in paths if path.parent == self.root / folder)
        return tuple(path.relative_to(self.root).as_posix() for path in own)


def missing_markers(root: Path, disk: Disk) -> list[str]:
    """Return the markers of a library root that ``root`` lacks."""
    files = [name for name in MARKER_FILES if not disk.is_file(root / name)]
    return files + [name for name in MARKER_FOLDERS if not disk.is_folder(root / name)]


def open_library(disk: Disk, explicit: Path | None, anchors: Iterable[Path]) -> Library:
    """Return the library at ``explicit``, or the first root around ``anchors``.

    An anchor that is a file starts at its folder; each anchor is followed by its parents.
    Raises ``BadInput`` when nothing is found or the explicit root is incomplete.
    """
    if explicit is not None:
        root = explicit.expanduser()
        missing = missing_markers(root, disk)
        if missing:
            fact = f"not a kernel library root: it lacks {quoted(missing)}"
            raise BadInput(fact, location=str(root))
        return Library(root, disk)
    for anchor in anchors:
        start = anchor.absolute()
        for folder in [*([] if disk.is_file(start) else [start]), *start.parents]:
            if not missing_markers(folder, disk):
                return Library(folder, disk)
    hint = "give one with --library-root"
    raise BadInput("no kernel library root found", location=".", hint=hint)
