"""Folders as mappings of names to bytes, replaced atomically, and locked."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from netra_build.core.disk import Disk, cannot_write, confined_path, relative_name, write_all
from netra_build.core.errors import BadInput
from netra_build.core.stamps import entries_below


class ConfinedRoot:
    """A folder whose files are named as for ``confined_path``; links are looked for once a folder.

    It is for one reading of the files below ``root``: a folder that has been looked at is not
    looked at again.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._prefix = str(root / "x")[:-1]
        self._is_plain: dict[str, bool] = {"": True}

    def path(self, name: str, location: str) -> str:
        """Return the path of ``name`` below the root; refuse what ``confined_path`` refuses."""
        name = relative_name(name, location)
        path = self._prefix + name
        if not self._has_plain_folder(name) or os.path.islink(path):
            return str(confined_path(self._root, name, location))
        return path

    def _has_plain_folder(self, name: str) -> bool:
        """Tell whether no part of the name before the last one is a link."""
        folder = name.rpartition("/")[0]
        if folder not in self._is_plain:
            is_plain, end = True, 0
            while end >= 0:
                end = folder.find("/", end + 1)
                part = folder if end < 0 else folder[:end]
                if part not in self._is_plain:
                    self._is_plain[part] = is_plain and not os.path.islink(self._prefix + part)
                is_plain = self._is_plain[part]
        return self._is_plain[folder]


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


def publish_folder(
    target: Path,
    files: Mapping[str, bytes],
    folders: Iterable[str],
    is_owned: Callable[[str], bool],
) -> None:
    """Make ``target`` hold exactly ``files`` (by relative name) and the empty ``folders``.

    A target that exists has to be empty or to hold only names for which ``is_owned`` says yes;
    anything else is refused with ``BadInput`` and left alone. On any failure the target is as
    it was.
    """
    place = Path(os.path.realpath(target))
    _refuse_foreign(place, target, is_owned)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}-", suffix=".part"))
    except OSError as error:
        raise cannot_write(target, error) from None
    try:
        _fill(fresh, files, folders, str(target))
        _take_place(fresh, place)
    except OSError as error:
        raise cannot_write(target, error) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _refuse_foreign(place: Path, target: Path, is_owned: Callable[[str], bool]) -> None:
    if not os.path.lexists(place):
        return
    if not place.is_dir():
        raise BadInput("output is not a folder", location=str(target))
    for name in entries_below(str(place)):
        if not is_owned(name):
            raise BadInput(
                f'output folder holds the foreign file "{name}"',
                location=str(target),
                hint="choose another folder, or remove what is not a former output",
            )


def _fill(fresh: Path, files: Mapping[str, bytes], folders: Iterable[str], location: str) -> None:
    fresh.chmod(0o755)
    for name in folders:
        (fresh / relative_name(name, location)).mkdir(parents=True, exist_ok=True)
    made: set[str] = set()
    for name, data in files.items():
        path = os.path.join(fresh, relative_name(name, location))
        parent = os.path.dirname(path)
        if parent not in made:
            os.makedirs(parent, exist_ok=True)
            made.add(parent)
        # Unbuffered: an engine has thousands of small files, each written with one call.
        with open(path, "wb", buffering=0) as stream:
            write_all(stream.fileno(), data)


def _take_place(fresh: Path, place: Path) -> None:
    if not os.path.lexists(place):
        os.rename(fresh, place)
        return
    former = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}-", suffix=".old"))
    try:
        os.rename(place, former / "out")
        try:
            os.rename(fresh, place)
        except OSError:
            os.rename(former / "out", place)
            raise
    finally:
        shutil.rmtree(former, ignore_errors=True)


_HELD: dict[tuple[int, int], int] = {}
"""Folders that this process has locked, by device and inode."""


def lock_folder(folder: str) -> Callable[[], None]:
    """Make a folder, lock it against other processes, and return what ends that.

    Copies of this process share the lock. ``BadInput`` when another one has it.
    """
    try:
        os.makedirs(folder, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise cannot_write(folder, error) from None
    status = os.fstat(handle)
    identity = status.st_dev, status.st_ino
    try:
        if identity not in _HELD:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _HELD[identity] = os.dup(handle)
    except BlockingIOError:
        raise BadInput(
            "another build is writing into this folder",
            location=folder,
            hint="wait for it to end, or name another folder with out=",
        ) from None
    except OSError:  # a file system without locks
        pass
    finally:
        os.close(handle)
    return partial(_unlock, identity)


def _unlock(identity: tuple[int, int]) -> None:
    handle = _HELD.pop(identity, None)
    if handle is not None:
        fcntl.flock(handle, fcntl.LOCK_UN)  # for all copies of this process
        os.close(handle)
