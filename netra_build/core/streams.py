"""Files as streams: scratch space for program output, and digests of files too large to hold."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from blake3 import blake3

from netra_build.core.disk import PIECE_BYTES, AnyPath
from netra_build.core.errors import BadInput
from netra_build.core.stamps import FileState, status_state

FileStamp = tuple[str, int, int, int, int]
"""Path, size in bytes, modification and change time in nanoseconds, and inode of one file."""


def file_stamp(path: Path) -> FileStamp:
    """Return the stamp of the file that ``path`` leads to; ``BadInput`` when there is none."""
    try:
        real = os.path.realpath(path, strict=True)
        status = os.stat(real)
    except (OSError, ValueError):
        raise BadInput("file is missing", location=str(path)) from None
    return real, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def file_state(path: AnyPath) -> FileState:
    """Return what changes when the bytes that ``path`` leads to do; nothing for no file."""
    try:
        return status_state(os.stat(path))
    except (OSError, ValueError):
        return ()


def file_digest(path: AnyPath) -> str:
    """Return the BLAKE3 (hexadecimal) of a file of any size, remembered by its state.

    Raises ``BadInput`` when it is missing or cannot be read.
    """
    state = file_state(path)
    if not state:
        raise BadInput("file is missing", location=str(path))
    if state not in _DIGESTS:
        _DIGESTS[state] = _digest_of(path, state[0])
    return _DIGESTS[state]


def remember_digest(state: FileState, digest: str) -> None:
    """Record the BLAKE3 of a file in this state without reading the file."""
    _DIGESTS[state] = digest


_DIGESTS: dict[FileState, str] = {}
"""Digests of files by state. Two files never have one state, which holds inode and device."""


def _digest_of(path: AnyPath, size: int) -> str:
    hasher = blake3(max_threads=blake3.AUTO)
    buffer = memoryview(bytearray(min(size, PIECE_BYTES)))
    try:
        # Mapped whole, LLVM's libraries would be most of the memory of a build.
        with open(path, "rb", buffering=0) as stream:
            while buffer and (size := stream.readinto(buffer)):
                hasher.update(buffer[:size])
    except (OSError, ValueError):
        raise BadInput("file cannot be read", location=str(path)) from None
    return str(hasher.hexdigest())


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open one file for reading in pieces; ``BadInput`` when that is not possible."""
    try:
        stream = open(path, "rb")  # noqa: SIM115
    except (OSError, ValueError):
        raise BadInput("file cannot be read", location=str(path)) from None
    with stream:
        yield stream


@contextmanager
def scratch_stream() -> Iterator[IO[bytes]]:
    """Yield a nameless temporary file that is gone afterwards."""
    with tempfile.TemporaryFile(prefix="netra-") as stream:
        yield stream
