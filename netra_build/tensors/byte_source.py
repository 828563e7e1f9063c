"""Bytes of any size that are read in pieces at any offset: what large tensors are read through."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from netra_build.core.errors import BadInput
from netra_build.core.stamps import exists, is_file
from netra_build.core.streams import opened

PIECE_BYTES = 1 << 20


class ByteSource(Protocol):
    """A fixed number of bytes; ``read`` gives exactly what is asked for, within the size."""

    @property
    def size_bytes(self) -> int: ...

    def read(self, offset: int, size: int) -> bytes: ...


@dataclass(frozen=True)
class FileSource:
    """A span of an open file, in bytes; reads never move the file's position."""

    handle: int
    start: int
    size_bytes: int
    location: str

    def read(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes from ``offset`` on; ``BadInput`` when the file ends before."""
        pieces = []
        at, left = self.start + offset, size
        while left:
            try:
                piece = os.pread(self.handle, left, at)
            except OSError:
                raise BadInput("file cannot be read", location=self.location) from None
            if not piece:
                raise BadInput("file became shorter while it was read", location=self.location)
            pieces.append(piece)
            at, left = at + len(piece), left - len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


@dataclass(frozen=True)
class Joined:
    """Several sources as one, the bytes of one behind those of the other."""

    sources: Sequence[ByteSource]

    @property
    def size_bytes(self) -> int:
        """Return how many bytes all sources give together."""
        return sum(source.size_bytes for source in self.sources)

    def read(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes from ``offset`` on."""
        pieces = []
        for source in self.sources:
            taken = max(0, min(size, source.size_bytes - offset))
            if taken:
                pieces.append(source.read(offset, taken))
            offset, size = max(0, offset - source.size_bytes), size - taken
        return b"".join(pieces)


def pieces_of(source: ByteSource) -> Iterator[bytes]:
    """Yield all bytes of a source in order, ``PIECE_BYTES`` at a time."""
    for at in range(0, source.size_bytes, PIECE_BYTES):
        yield source.read(at, min(PIECE_BYTES, source.size_bytes - at))


@contextmanager
def file_source(path: Path) -> Iterator[FileSource]:
    """Open a regular file as a source; ``BadInput`` when it is none."""
    if not is_file(path):
        fact = "not a regular file" if exists(path) else "file is missing"
        raise BadInput(fact, location=str(path))
    with opened(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        yield FileSource(stream.fileno(), 0, size, str(path))
