"""The compressed layer of an archive: fixed settings out, declared and bounded sizes in."""

from __future__ import annotations

from typing import Any

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.release.needed import needed_libraries

LEVEL = 19
WINDOW_LOG = 23
MAX_TOTAL_BYTES = 256 * 1024 * 1024
MAX_RATIO = 200
FREE_BYTES = 1024 * 1024
"""An archive that holds no more than this is too small to be a bomb, whatever its ratio."""

MAGIC = b"\x28\xb5\x2f\xfd"
_PIECE = 1024
"""Bytes given to the decompressor at once: one block of three bytes can stand for 128 KiB."""


def settings() -> dict[str, Json]:
    """Return what the bytes of an archive depend on beside its files."""
    with needed_libraries():
        import zstandard
    return {
        "compressor": "zstd",
        "compressor_version": ".".join(map(str, zstandard.ZSTD_VERSION)),
        "level": LEVEL,
        "library": "zstandard",
        "library_version": str(zstandard.__version__),
        "window_log": WINDOW_LOG,
    }


def compress(data: bytes) -> bytes:
    """Return ``data`` as one frame with its size and checksum, made by one thread."""
    with needed_libraries():
        import zstandard
    parameters = zstandard.ZstdCompressionParameters.from_level(
        LEVEL,
        source_size=len(data),
        window_log=WINDOW_LOG,
        write_content_size=True,
        write_checksum=True,
        write_dict_id=False,
        threads=0,
    )
    made: bytes = zstandard.ZstdCompressor(compression_params=parameters).compress(data)
    return made


def decompress(data: bytes, location: str) -> bytes:
    """Return what one frame holds.

    Refused with ``BadInput``: no frame, a damaged or cut one, bytes after it, and before anything
    is decompressed a frame that declares no size, more than ``MAX_TOTAL_BYTES``, more than
    ``MAX_RATIO`` times its own, or a window larger than we use. A frame that holds more than it
    declares is left at that point.
    """
    with needed_libraries():
        import zstandard
    if not data.startswith(MAGIC):
        raise BadInput("file is no archive of a release (no zstd frame)", location=location)
    try:
        frame = zstandard.get_frame_parameters(data)
        declared = int(frame.content_size)
        _refuse_size(declared, len(data), location)
        if frame.window_size > 1 << WINDOW_LOG:
            raise BadInput(
                "archive needs too large a window",
                location=location,
                expected=f"at most {1 << WINDOW_LOG} bytes",
                got=frame.window_size,
            )
        unpacker = zstandard.ZstdDecompressor().decompressobj()
        return _unpacked(unpacker, data, declared, location)
    except zstandard.ZstdError:
        raise BadInput("archive is damaged", location=location) from None


def _unpacked(unpacker: Any, data: bytes, declared: int, location: str) -> bytes:
    pieces, total, at = [], 0, 0
    while at < len(data) and not unpacker.eof:
        pieces.append(unpacker.decompress(data[at : at + _PIECE]))
        total += len(pieces[-1])
        at += _PIECE
        if total > declared:
            raise BadInput(
                "archive holds more than it declares",
                location=location,
                expected=f"{declared} bytes",
                got="more",
            )
    if not unpacker.eof:
        raise BadInput("archive is cut short", location=location)
    if unpacker.unused_data or at < len(data):
        raise BadInput("archive has bytes after its end", location=location)
    return b"".join(pieces)


def _refuse_size(declared: int, packed: int, location: str) -> None:
    if declared < 0 or declared >= 1 << 63:
        raise BadInput("archive does not declare its size", location=location)
    if declared > MAX_TOTAL_BYTES:
        raise BadInput(
            "archive declares too many bytes",
            location=location,
            expected=f"at most {MAX_TOTAL_BYTES}",
            got=declared,
        )
    if declared > FREE_BYTES and declared > MAX_RATIO * packed:
        raise BadInput(
            "archive declares too many bytes for its size",
            location=location,
            expected=f"at most {MAX_RATIO * packed}",
            got=declared,
        )
