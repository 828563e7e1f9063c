"""A release package from wherever it lies: an archive, an OCI layout, or a tar file of one."""

from __future__ import annotations

from pathlib import Path

from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput
from netra_build.core.folders import FolderFiles
from netra_build.release.archive import MAX_ARCHIVE_BYTES, Package, read_archive
from netra_build.release.compression import MAGIC
from netra_build.release.oci import is_layout, read_oci
from netra_build.release.ustar import is_tar, read_ustar

MAX_LAYOUT_FILES = 100
MAX_LAYOUT_BYTES = 2 * MAX_ARCHIVE_BYTES


def is_package(data: bytes) -> bool:
    """Tell whether a file begins as an archive or a tar file of a layout does."""
    return data.startswith(MAGIC) or is_tar(data)


def open_package(path: Path, disk: Disk) -> Package:
    """Return the package at ``path``: a folder is an OCI layout, a file an archive or its tar.

    Raises ``BadInput`` for anything else, and what the readers of these forms raise.
    """
    location = str(path)
    if disk.is_folder(path):
        files = FolderFiles(path, disk)
        if not is_layout(files):
            raise BadInput(
                "folder is no OCI layout of a release",
                location=location,
                hint='it would hold "oci-layout", "index.json" and "blobs"',
            )
        if len(files) > MAX_LAYOUT_FILES:
            raise BadInput(
                "layout holds too many files",
                location=location,
                expected=f"at most {MAX_LAYOUT_FILES}",
                got=len(files),
            )
        return read_oci(files, location)
    data = disk.read_bytes(path, max_bytes=MAX_LAYOUT_BYTES)
    if is_tar(data):
        return read_oci(read_ustar(data, location), location)
    if len(data) > MAX_ARCHIVE_BYTES:
        raise BadInput(
            "file is too large",
            location=location,
            expected=f"at most {MAX_ARCHIVE_BYTES} bytes",
            got="more",
        )
    return read_archive(data, location)
