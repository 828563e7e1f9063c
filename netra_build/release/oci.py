"""A release as an OCI image layout: an artifact for container registries, one blob for each file.

The archive is the first layer; record, bill of materials, statement, envelope and page follow it
as files of their own, for tools that read only those. The manifest is derived from the archive,
so that equal releases have equal digests in every registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from netra_build.core.canonical_json import Json, canonical_bytes, parse_object
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput, Refused
from netra_build.core.folders import FolderFiles
from netra_build.release.archive import MAGIC, MAX_ARCHIVE_BYTES, Package, read_archive
from netra_build.release.kernels import read_as_ours
from netra_build.release.layout import (
    ENVELOPE,
    PAGE,
    PROVENANCE,
    RECORD,
    SBOM,
    SUFFIX,
    check_version,
    refuse_above,
    top_folder,
)
from netra_build.release.record import read_record
from netra_build.release.ustar import is_tar, read_ustar

LAYOUT, INDEX = "oci-layout", "index.json"
LAYOUT_VERSION = "1.0.0"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
ARTIFACT_TYPE = "application/vnd.netra.release.v1"
RECORD_TYPE = "application/vnd.netra.release.record.v1+json"
ARCHIVE_TYPE = "application/vnd.netra.release.archive.v1.tar+zstd"
TYPE_BY_FILE = {
    SBOM: "application/vnd.cyclonedx+json",
    PROVENANCE: "application/vnd.in-toto+json",
    ENVELOPE: "application/vnd.dsse.envelope.v1+json",
    PAGE: "text/html",
}
"""Files of a package that are layers of their own, in the order of the manifest."""

TITLE = "org.opencontainers.image.title"
VERSION = "org.opencontainers.image.version"
TAG = "org.opencontainers.image.ref.name"
MAX_LAYOUT_FILES = 100
MAX_LAYOUT_BYTES = 2 * MAX_ARCHIVE_BYTES


def oci_files(archive: bytes, location: str) -> dict[str, bytes]:
    """Return the files of the layout of a release; ``BadInput`` for an invalid archive."""
    manifest, blobs = _manifest(archive, read_archive(archive, location), location)
    version = parse_object(manifest, location)["annotations"][VERSION]
    descriptor = {
        **_descriptor(manifest, MANIFEST_TYPE, {TAG: version}),
        "artifactType": ARTIFACT_TYPE,
    }
    index = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [descriptor]}
    return {
        LAYOUT: canonical_bytes({"imageLayoutVersion": LAYOUT_VERSION}),
        INDEX: canonical_bytes(index),
        **{blob_name(data): data for data in (manifest, *blobs)},
    }


def read_oci(files: Mapping[str, bytes], location: str) -> Package:
    """Return the package in a layout.

    The index may be written by another tool, but names one manifest, which must be the one derived
    from its archive. Raises ``BadInput`` for anything but the layout of a release, ``Refused`` for
    a blob that is missing, has another digest, or is not named.
    """
    place = f"{location}/{LAYOUT}"
    version = _document(files, LAYOUT, location).get("imageLayoutVersion")
    if version != LAYOUT_VERSION:
        shown = f'"{ascii(version)[1:-1][:40]}"' if isinstance(version, str) else "none"
        raise BadInput(
            "layout has another version", location=place, expected=LAYOUT_VERSION, got=shown
        )
    index = _document(files, INDEX, location)
    if not isinstance(index.get("manifests"), list) or len(index["manifests"]) != 1:
        raise BadInput("index names not exactly one manifest", location=f"{location}/{INDEX}")
    with read_as_ours(f"{location}/{INDEX}"):
        manifest = _typed(files, index["manifests"][0], MANIFEST_TYPE, location)
    place = f"{location}/{blob_name(manifest)}"
    document = parse_object(manifest, place)
    with read_as_ours(place):
        archive = _typed(files, document["layers"][0], ARCHIVE_TYPE, location)
    package = read_archive(archive, location)
    wanted, blobs = _manifest(archive, package, location)
    if manifest != wanted:
        raise Refused("manifest is not that of its archive", location=location)
    names = {LAYOUT, INDEX, *map(blob_name, (manifest, *blobs))}
    for data in blobs:
        _blob(files, _descriptor(data, ""), location)
    for name in files:
        if name not in names:
            raise Refused(f'layout holds "{name}", which nothing names', location=location)
    return package


def blob_name(data: bytes) -> str:
    """Return the name of a content in a layout."""
    return f"blobs/sha256/{sha256_hex(data)}"


def _manifest(archive: bytes, package: Package, location: str) -> tuple[bytes, list[bytes]]:
    """Return the manifest of an archive and the blobs that it names, the archive first."""
    record = read_record(package.files, location)
    with read_as_ours(f"{location}/{RECORD}"):
        name, version = str(record["name"]), str(record["version"])
    check_version(version, f"{location}/{RECORD}")
    if top_folder(name, version) != package.top:
        raise BadInput(
            "archive has another top folder than its record says",
            location=location,
            expected=f'"{top_folder(name, version)}"',
            got=f'"{package.top}"',
        )
    apart = [file for file in TYPE_BY_FILE if file in package.files]
    layers = [
        _descriptor(archive, ARCHIVE_TYPE, {TITLE: package.top + SUFFIX}),
        *(_descriptor(package.files[file], TYPE_BY_FILE[file], {TITLE: file}) for file in apart),
    ]
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": ARTIFACT_TYPE,
        "config": _descriptor(package.files[RECORD], RECORD_TYPE),
        "layers": layers,
        "annotations": {TITLE: name, VERSION: version},
    }
    blobs = [archive, package.files[RECORD], *(package.files[file] for file in apart)]
    return canonical_bytes(manifest), blobs


def _descriptor(
    data: bytes, media_type: str, annotations: Mapping[str, str] | None = None
) -> dict[str, Json]:
    digest = f"sha256:{sha256_hex(data)}"
    stated = {"mediaType": media_type, "digest": digest, "size": len(data)}
    return stated if annotations is None else {**stated, "annotations": annotations}


def _typed(
    files: Mapping[str, bytes], descriptor: dict[str, Json], media_type: str, location: str
) -> bytes:
    """Return the blob of a descriptor, which must have this media type."""
    if descriptor["mediaType"] != media_type:
        raise BadInput(
            "layout is of something else than a release",
            location=location,
            expected=media_type,
            got=ascii(descriptor["mediaType"])[1:-1][:100],
        )
    return _blob(files, descriptor, location)


def _blob(files: Mapping[str, bytes], descriptor: dict[str, Json], location: str) -> bytes:
    """Return the blob of a descriptor, after checking its digest and size."""
    digest = str(descriptor["digest"])
    name = f"blobs/{digest.replace(':', '/', 1)}"
    shown = ascii(name)[1:-1][:100]
    if name not in files:
        raise Refused(f'blob "{shown}" is missing', location=location)
    data = files[name]
    if blob_name(data) != name or len(data) != descriptor["size"]:
        raise Refused(f'blob "{shown}" is not what its digest and size say', location=location)
    return data


def _document(files: Mapping[str, bytes], name: str, location: str) -> dict[str, Json]:
    if name not in files:
        raise BadInput(f'layout holds no "{name}"', location=location)
    return parse_object(files[name], f"{location}/{name}")


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
        if LAYOUT not in files:
            raise BadInput(
                "folder is no OCI layout of a release",
                location=location,
                hint='it would hold "oci-layout", "index.json" and "blobs"',
            )
        refuse_above(len(files), MAX_LAYOUT_FILES, "layout holds too many files", location)
        return read_oci(files, location)
    data = disk.read_bytes(path, max_bytes=MAX_LAYOUT_BYTES)
    if is_tar(data):
        return read_oci(read_ustar(data, location), location)
    return read_archive(disk.read_bytes(path, max_bytes=MAX_ARCHIVE_BYTES), location)
