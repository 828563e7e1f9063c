"""The archive of a release: files below one top folder, as tar in one bounded frame of zstd."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields
from netra_build.release.layout import refuse_above
from netra_build.release.origin import Origin, needed_libraries
from netra_build.release.ustar import read_ustar, ustar_pieces

MAX_ARCHIVE_BYTES = 64 * 1024 * 1024
LEVEL = 19
WINDOW_LOG = 23
MAX_TOTAL_BYTES = 256 * 1024 * 1024
MAX_RATIO = 200
FREE_BYTES = 1024 * 1024
"""A smaller archive is no decompression bomb, whatever its ratio."""

_NUMBERED = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){2}")
MAGIC = b"\x28\xb5\x2f\xfd"
_PIECE = 1024
"""Bytes given to the decompressor at once: one block of three bytes can stand for 128 KiB."""


@dataclass(frozen=True)
class Package:
    """The files of a release by their names in it, and the top folder they came in."""

    top: str
    files: Mapping[str, bytes]


def write_archive(package: Package) -> bytes:
    """Return the archive of a package: the same bytes for the same files, anywhere."""
    named = {f"{package.top}/{name}": data for name, data in package.files.items()}
    return compress(b"".join(ustar_pieces(named)))


def read_archive(data: bytes, location: str) -> Package:
    """Return the package in an archive; ``BadInput`` for any form that is not ours."""
    named = read_ustar(decompress(data, location), location)
    tops = {name.partition("/")[0] for name in named}
    if len(tops) != 1 or any("/" not in name for name in named):
        raise BadInput("archive has not exactly one folder at its top", location=location)
    top = tops.pop()
    return Package(top, {name.removeprefix(f"{top}/"): data for name, data in named.items()})


def settings() -> dict[str, Json]:
    """Return the settings that determine the bytes of an archive beside its files."""
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


def check_settings(stated: Fields, origin: Origin) -> None:
    """Raise ``BadInput`` for settings that no archive of ours can have."""
    known, fact = settings(), "claim differs from the content"
    known["library_version"] = origin.environment["packages"].get("zstandard")
    stated.close(known)
    for key, value in known.items():
        if key != "compressor_version":
            stated.hold(key, value, fact)
    version = stated.text("compressor_version")
    if not _NUMBERED.fullmatch(version):
        fact, got = "version has the wrong form", f'"{version[:80]}"'
        stated.refuse(fact, "compressor_version", expected="X.Y.Z", got=got)


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
    """Return the content of one frame.

    ``BadInput`` before anything is decompressed: a frame without a size or with one beyond
    ``MAX_TOTAL_BYTES`` or ``MAX_RATIO``, or too large a window; afterwards: damage, a truncated
    frame, bytes after its end.
    """
    with needed_libraries():
        import zstandard
    if not data.startswith(MAGIC):
        raise BadInput("file is no archive of a release (no zstd frame)", location=location)
    try:
        frame = zstandard.get_frame_parameters(data)
        declared = int(frame.content_size)
        _refuse_size(declared, len(data), location)
        fact = "archive needs too large a window"
        refuse_above(frame.window_size, 1 << WINDOW_LOG, fact, location, " bytes")
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
    refuse_above(declared, MAX_TOTAL_BYTES, "archive declares too many bytes", location)
    if declared > FREE_BYTES:
        fact = "archive declares too many bytes for its size"
        refuse_above(declared, MAX_RATIO * packed, fact, location)
