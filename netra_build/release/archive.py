"""The archive of a release: the files of a package below one top folder, as ``tar.zst``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.errors import BadInput
from netra_build.release.compression import compress, decompress
from netra_build.release.ustar import read_ustar, ustar_pieces

MAX_ARCHIVE_BYTES = 64 * 1024 * 1024


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
    """Return the package in an archive; ``BadInput`` for one that ``write_archive`` never made."""
    named = read_ustar(decompress(data, location), location)
    tops = {name.partition("/")[0] for name in named}
    if len(tops) != 1 or any("/" not in name for name in named):
        raise BadInput("archive has not exactly one folder at its top", location=location)
    top = tops.pop()
    return Package(top, {name.removeprefix(f"{top}/"): data for name, data in named.items()})
