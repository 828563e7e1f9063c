"""Frames of zstd that say what they hold, or something else."""

from __future__ import annotations

import struct

import zstandard


def frame(data: bytes, **settings: object) -> bytes:
    """Return the data as one frame."""
    return zstandard.ZstdCompressor(**settings).compress(data)


def relabelled(size: int, declared: int) -> bytes:
    """Return a frame of ``size`` zeros that declares another size in the same four bytes."""
    data = bytearray(frame(bytes(size), level=1))
    at = data.index(struct.pack("<I", size))
    data[at : at + 4] = struct.pack("<I", declared)
    return bytes(data)
