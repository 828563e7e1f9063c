"""The files of a folder as a mapping from relative name to bytes; each is read when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from netra_build.core.disk import Disk, confined_path


class FolderFiles(Mapping[str, bytes]):
    """All regular files below ``root`` by POSIX name; a link that leads out is refused on reading.

    The names are those of the moment it was made.
    """

    def __init__(self, root: Path, disk: Disk) -> None:
        self.root = root
        self._disk = disk
        found = disk.files_under(root)
        self._names = frozenset(path.relative_to(root).as_posix() for path in found)

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        return self._disk.read_bytes(confined_path(self.root, name, str(self.root)))

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def __len__(self) -> int:
        return len(self._names)
