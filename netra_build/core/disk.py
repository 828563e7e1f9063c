"""The only place that touches files: bounded reads, confined paths, whole-file writes."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from netra_build.core.errors import BadInput
from netra_build.core.stamps import (
    exists,
    is_file,
    is_folder,
    names_below,
    refuse_hidden,
)

MAX_FILE_BYTES = 256 * 1024 * 1024
PIECE_BYTES = 4 * 1024 * 1024
"""Read at a time of a file that grows meanwhile, or that is only hashed."""
FILE_MODE = 0o644
"""Permissions of every file that is written, whatever the umask says."""

PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*")
"""What nearly all names are: relative, normalised, and of characters that are always allowed."""

AnyPath = Path | str


class RealDisk:
    """The machine's file system. Every method raises ``BadInput`` with the path on failure."""

    def read_bytes(self, path: AnyPath, *, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """Return a regular file's bytes; refuse folders, devices and files over ``max_bytes``."""
        return _read(path, max_bytes)

    def write_bytes(self, path: AnyPath, data: bytes) -> None:
        """Write a whole file or nothing: a neighbour called ``.NAME.part``, then a rename."""
        write_pieces(path, [data])

    def write_output(self, path: AnyPath, data: bytes) -> None:
        """Write a whole file that can be made again, or nothing; one with these bytes stays.

        A file of other bytes is removed before the new one takes its name: some file systems write
        a file to the device at once when it replaces another, which takes a hundred times as long.
        A build that is killed in between leaves none.
        """
        name = os.fspath(path)
        try:
            if not _has_bytes(name, data):
                _replace_whole(name, [data], is_removed_first=True)
        except (OSError, ValueError) as error:
            raise cannot_write(path, error) from None

    def is_file(self, path: AnyPath) -> bool:
        """Tell whether ``path`` is a regular file (symlinks followed)."""
        return is_file(path)

    def is_folder(self, path: Path) -> bool:
        """Tell whether ``path`` is a folder (symlinks followed)."""
        return is_folder(path)

    def exists(self, path: Path) -> bool:
        """Tell whether there is anything at ``path``."""
        return exists(path)

    def files_under(self, folder: Path, suffix: str = "") -> tuple[Path, ...]:
        """Return the regular files below ``folder``, in path order, as ``names_below``.

        With a suffix it also returns what has such a name and is no file: reading it says what is
        wrong, and leaving it out would hide it.
        """
        return tuple(folder / name for name in names_below(str(folder), suffix))

    def any_file_under(self, folder: Path) -> Path | None:
        """Return the first file that a walk in name order meets below ``folder``, or None."""
        for base, folders, names in os.walk(folder, onerror=refuse_hidden):
            folders.sort()
            if names:
                return Path(base) / min(names)
        return None

    def remove(self, path: Path) -> None:
        """Remove one file; a file that is already gone is fine."""
        try:
            path.unlink(missing_ok=True)
        except (OSError, ValueError) as error:
            raise BadInput(f"cannot remove: {_reason(error)}", location=str(path)) from None

    def remove_empty_folder(self, path: Path) -> bool:
        """Remove a folder if it is empty and tell whether it was removed."""
        try:
            path.rmdir()
        except OSError:
            return False
        return True


Disk = RealDisk
"""What functions ask for: this class or a subclass, which may record what is read."""


def _read(path: AnyPath, max_bytes: int) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        raise BadInput(_reason(error), location=str(path)) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise BadInput("not a regular file", location=str(path))
        data = _at_most(handle, max_bytes + 1, status.st_size)
    except OSError as error:
        raise BadInput(_reason(error), location=str(path)) from None
    finally:
        os.close(handle)
    if len(data) > max_bytes:
        raise BadInput(
            "file is too large",
            location=str(path),
            expected=f"at most {max_bytes} bytes",
            got="more",
        )
    return data


def _at_most(handle: int, size_bytes: int, expected_bytes: int) -> bytes:
    """Return the bytes to the end of a file, no more than ``size_bytes``.

    A file that has the expected size takes one call: a byte more is asked for than it has.
    """
    data = os.read(handle, min(size_bytes, expected_bytes + 1))
    if len(data) == expected_bytes:
        return data
    pieces, left = [data], size_bytes - len(data)
    while left > 0 and (piece := os.read(handle, min(left, PIECE_BYTES))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _has_bytes(path: str, data: bytes) -> bool:
    """Tell whether the file at ``path`` is already what writing ``data`` would make."""
    try:
        status = os.lstat(path)
        is_like = stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) == FILE_MODE
        if not is_like or status.st_size != len(data):
            return False
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return _at_most(handle, len(data) + 1, len(data)) == data
    finally:
        os.close(handle)


def write_pieces(path: AnyPath, pieces: Iterable[bytes]) -> int:
    """Write a whole file or nothing, as ``RealDisk.write_bytes`` does; return its size in bytes.

    Raises ``BadInput`` for what the file system refuses, and whatever making a piece raises.
    """
    try:
        return _replace_whole(os.fspath(path), pieces)
    except (OSError, ValueError) as error:
        raise cannot_write(path, error) from None


def write_all(handle: int, data: bytes) -> int:
    """Write all bytes to an open file, and return how many they are."""
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
    return len(data)


def _replace_whole(path: str, pieces: Iterable[bytes], *, is_removed_first: bool = False) -> int:
    """Write ``pieces`` aside, rename the file, and return its size in bytes.

    On any error ``path`` stays as it was. The name of the part is fixed, so that the next build
    removes what a killed one has left.
    """
    folder, name = os.path.split(path)
    part = os.path.join(folder, f".{name}.part")
    handle = _opened_part(folder, part)
    try:
        try:
            size = sum(write_all(handle, piece) for piece in pieces)
            os.fchmod(handle, FILE_MODE)
        finally:
            os.close(handle)
        if is_removed_first:
            with suppress(FileNotFoundError):
                os.unlink(path)
        os.replace(part, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part)
        raise
    return size


def _opened_part(folder: str, part: str) -> int:
    """Return a handle of a new file; make its folder, and remove a former file of that name."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        return os.open(part, flags, FILE_MODE)
    except FileExistsError:
        os.unlink(part)
    except (FileNotFoundError, NotADirectoryError):
        os.makedirs(folder, exist_ok=True)
    return os.open(part, flags, FILE_MODE)


@contextmanager
def sealed_folder() -> Iterator[Path]:
    """Yield a new empty folder of our own and remove it with all it holds afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="netra-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def work_in(folder: Path) -> None:
    """Make ``folder`` the one that relative paths start from; ``BadInput`` if it cannot be."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise BadInput(_reason(error), location=str(folder)) from None


def relative_name(name: str, location: str) -> str:
    """Return ``name`` without ``.`` segments and double slashes; refuse what leaves its root.

    Refused with ``BadInput``: an empty name, an absolute one, a ``..`` segment, a backslash,
    a character that does not print. The result is a POSIX path.
    """
    if PLAIN_NAME.fullmatch(name):
        return name
    if "\\" in name or not name.isprintable():
        shown = ascii(name)[1:-1]
        raise BadInput(f'path "{shown}" holds a character that is not allowed', location=location)
    if name.startswith("/"):
        raise BadInput(
            f'path "{name}" is absolute',
            location=location,
            hint="write it relative to the library root",
        )
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if not parts:
        raise BadInput(f'path "{name}" names no file', location=location)
    if ".." in parts:
        raise BadInput(
            f'path "{name}" leaves its root', location=location, hint='remove the ".." segment'
        )
    return str(PurePosixPath(*parts))


def confined_path(root: Path, name: str, location: str) -> Path:
    """Return the path of ``name`` below ``root``; refuse ``..`` and symlinks that lead out."""
    path = root / relative_name(name, location)
    real_root = os.path.realpath(root)
    real = os.path.realpath(path)
    if real != real_root and not real.startswith(real_root.rstrip(os.sep) + os.sep):
        raise BadInput(f'path "{name}" leaves its root through a symlink', location=location)
    return path


def cannot_write(path: AnyPath, error: OSError | ValueError) -> BadInput:
    """Return the error for a file or folder that the file system does not take."""
    return BadInput(f"cannot write: {_reason(error)}", location=str(path))


def _reason(error: OSError | ValueError) -> str:
    """Return a short cause; the path is in the location of the message."""
    if isinstance(error, OSError):
        if error.errno == errno.ENOENT:
            return "file is missing"
        return (error.strerror or "cannot be used").lower()
    return "path cannot be used"
