"""Files below one store root: no link is followed, every write is whole, a foreign root is refused.

Names are relative, with folders of our own choice only; nothing read from the store ever becomes
part of a name.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from netra_build.core.errors import BadInput

PARTS = "parts"
"""Folder of what is being written; a killed writer leaves its part there."""
FOLDER_MODE = 0o700
FILE_MODE = 0o600
WRITABLE_BY_OTHERS = 0o022
BLOCK_BYTES = 4096


class UnsoundFile(Exception):
    """What stands under a name is no regular file of ours, or is larger than it may be."""


@dataclass(frozen=True)
class FoundFile:
    """One thing below the root; ``used_ns`` is its modification time, the time of its last use."""

    name: str
    size_bytes: int
    used_ns: int
    is_sound: bool


def occupied_bytes(size_bytes: int) -> int:
    """Return what a file of this size takes of the bound: whole blocks, at least one."""
    return max(1, -(-size_bytes // BLOCK_BYTES)) * BLOCK_BYTES


class StoreFiles:
    """The file operations of a store. Methods raise ``OSError`` unless they say otherwise."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._sound_folders: set[str] = set()

    def prepare(self, *, create: bool) -> bool:
        """Check the root, make it if asked to, and tell whether it is there.

        Raises ``BadInput`` for one that is no folder of this user's alone.
        """
        try:
            if create and not os.path.lexists(self.root):
                self.root.parent.mkdir(parents=True, exist_ok=True)
                os.makedirs(self.root, FOLDER_MODE, exist_ok=True)
            status = os.lstat(self.root)
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "path cannot be used"
            raise self._unusable(f"cannot be used: {reason.lower()}") from None
        if not stat.S_ISDIR(status.st_mode):
            is_link = stat.S_ISLNK(status.st_mode)
            raise self._unusable("is a symlink" if is_link else "is not a folder")
        if status.st_uid != os.geteuid():
            raise self._unusable("belongs to another user")
        if status.st_mode & WRITABLE_BY_OTHERS:
            raise self._unusable("can be written by other users", f"chmod go-w {self.root}")
        return True

    def path(self, name: str) -> str:
        """Return the path of a name."""
        return f"{self.root}/{name}"

    def has(self, name: str) -> bool:
        """Tell whether anything stands under a name."""
        return self.find(name) is not None

    def find(self, name: str) -> FoundFile | None:
        """Return what stands under a name, None if there is nothing."""
        try:
            status = os.lstat(self.path(name))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return FoundFile(name, status.st_size, status.st_mtime_ns, _is_sound(status))

    def scan(self, folder: str) -> Iterator[FoundFile]:
        """Yield what lies below a folder, ``""`` for all, whatever it is; no link is followed."""
        waiting = [folder] if self._has_folder(folder) else []
        while waiting:
            name = waiting.pop()
            try:
                entries = sorted(os.scandir(self.path(name)), key=lambda entry: entry.name)
            except (FileNotFoundError, NotADirectoryError):
                continue
            for entry in entries:
                inner = f"{name}/{entry.name}" if name else entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(inner)
                elif (found := self.find(inner)) is not None:
                    yield found

    def read(self, name: str, max_bytes: int) -> bytes | None:
        """Return the bytes of a file, None if there is none; raises ``UnsoundFile``."""
        if not self._has_folder(os.path.dirname(name)):
            return None
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            handle = os.open(self.path(name), flags)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise UnsoundFile(name) from None
            raise
        try:
            status = os.fstat(handle)
            if not _is_sound(status) or status.st_size > max_bytes:
                raise UnsoundFile(name)
            # One byte more than is there: a file that still grows is seen.
            data = os.read(handle, status.st_size + 1)
            if len(data) != status.st_size:
                raise UnsoundFile(name)
            return data
        finally:
            os.close(handle)

    def open_own(self, name: str, flags: int) -> int:
        """Return a handle of a regular file at the top; what else stands there is removed."""
        found = self.find(name)
        if found is not None and not found.is_sound:
            self.remove(name)
        return os.open(self.path(name), flags | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)

    def write(self, name: str, data: bytes) -> None:
        """Write a whole file or nothing, in place of whatever stands there."""
        try:
            self._write(name, data)
        except FileNotFoundError:  # somebody removed the store while it was in use
            self._sound_folders.clear()
            self._write(name, data)

    def remove(self, name: str) -> None:
        """Remove what stands under a name, a folder with all it holds; nothing is fine."""
        path = self.path(name)
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except (IsADirectoryError, PermissionError):
            if not os.path.isdir(path) or os.path.islink(path):
                raise
            shutil.rmtree(path)

    def touch(self, name: str) -> None:
        """Say that a file was used just now; a store that cannot be written to stays as it is."""
        now = time.time_ns()
        with suppress(OSError):
            os.utime(self.path(name), ns=(now, now), follow_symlinks=False)

    def make_folder(self, folder: str) -> None:
        """Make a folder of the store and those it lies in; a link in its place is removed."""
        if folder in self._sound_folders or not folder:
            return
        self.make_folder(os.path.dirname(folder))
        if not self._has_folder(folder):
            self.remove(folder)
            try:
                os.mkdir(self.path(folder), FOLDER_MODE)
            except FileExistsError:
                if not self._has_folder(folder):
                    raise
        self._sound_folders.add(folder)

    def _write(self, name: str, data: bytes) -> None:
        self.make_folder(PARTS)
        self.make_folder(os.path.dirname(name))
        part = self.path(f"{PARTS}/{os.urandom(12).hex()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(part, flags, FILE_MODE)
        try:
            with open(handle, "wb", buffering=0) as stream:
                left = memoryview(data)
                while left:
                    left = left[stream.write(left) :]
            try:
                os.replace(part, self.path(name))
            except IsADirectoryError:
                self.remove(name)
                os.replace(part, self.path(name))
        except BaseException:
            with suppress(OSError):
                os.unlink(part)
            raise

    def _has_folder(self, folder: str) -> bool:
        """Tell whether a folder is there and is no link, and so are those that it lies in."""
        if not folder or folder in self._sound_folders:
            return True
        if not self._has_folder(os.path.dirname(folder)):
            return False
        try:
            status = os.lstat(self.path(folder))
        except (FileNotFoundError, NotADirectoryError):
            return False
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return False
        self._sound_folders.add(folder)
        return True

    def _unusable(self, fact: str, hint: str = "") -> BadInput:
        remedy = hint or "name another folder with store=DIR, or none with store=0"
        return BadInput(f"store {fact}", location=str(self.root), hint=remedy)


def _is_sound(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
