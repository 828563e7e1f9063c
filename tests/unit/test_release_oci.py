"""A release as an OCI layout: what is written, and what of another's layout is taken or refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from release_product import as_bytes

from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, NetraError, Refused
from netra_build.release.archive import Package, write_archive
from netra_build.release.oci import oci_files, open_package, read_oci
from netra_build.stages import release_package

RECORD = {"format": "netra-release-1", "name": "small", "version": "1.2.0"}
FILES = {
    "RELEASE.json": as_bytes(RECORD),
    "sbom.cdx.json": b"{}",
    "provenance.json": b"{ }",
    "report.html": b"<p>",
    "objects/x": b"x",
}
PACKAGE = Package("small-1.2.0-gfx950", FILES)
ARCHIVE = write_archive(PACKAGE)
OTHER_ARCHIVE = write_archive(Package("other", {"x": b""}))


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def name(data: bytes) -> str:
    return f"blobs/sha256/{hashlib.sha256(data).hexdigest()}"


def layout() -> dict[str, bytes]:
    return oci_files(ARCHIVE, "small")


def manifest_of(files: dict[str, bytes]) -> dict[str, Any]:
    wanted = json.loads(files["index.json"])["manifests"][0]["digest"]
    data = files[f"blobs/{wanted.replace(':', '/')}"]
    assert digest(data) == wanted
    return json.loads(data)


def test_a_layout_names_every_blob_by_digest_size_and_type():
    files = layout()
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads(files["index.json"])
    assert (index["schemaVersion"], index["mediaType"]) == (
        2,
        "application/vnd.oci.image.index.v1+json",
    )
    assert [m["annotations"] for m in index["manifests"]] == [
        {"org.opencontainers.image.ref.name": "1.2.0"}
    ]
    manifest = manifest_of(files)
    assert manifest["artifactType"] == "application/vnd.netra.release.v1"
    assert manifest["config"]["digest"] == digest(FILES["RELEASE.json"])
    rows = [
        (layer["mediaType"], layer["digest"], layer["size"], *layer["annotations"].values())
        for layer in manifest["layers"]
    ]
    wanted = [
        ("application/vnd.netra.release.archive.v1.tar+zstd", ARCHIVE),
        ("application/vnd.cyclonedx+json", FILES["sbom.cdx.json"]),
        ("application/vnd.in-toto+json", FILES["provenance.json"]),
        ("text/html", FILES["report.html"]),
    ]
    titles = ("small-1.2.0-gfx950.tar.zst", "sbom.cdx.json", "provenance.json", "report.html")
    assert rows == [
        (kind, digest(data), len(data), title)
        for (kind, data), title in zip(wanted, titles, strict=True)
    ]
    blobs = {n for n in files if n.startswith("blobs/")}
    assert len(blobs) == 6
    assert all(name(files[n]) == n for n in blobs)
    assert "created" not in json.dumps(manifest)


def test_a_package_comes_back_from_folder_tar_and_archive(tmp_path):
    tar = release_package.OCI.run({"archive": ARCHIVE}, {}, None)["layout"]
    (tmp_path / "x.oci.tar").write_bytes(tar)
    (tmp_path / "x.tar.zst").write_bytes(ARCHIVE)
    write(tmp_path / "x", layout())
    for found in ("x.oci.tar", "x.tar.zst", "x"):
        assert open_package(tmp_path / found, RealDisk()) == PACKAGE


def write(folder: Path, files: dict[str, bytes]) -> None:
    for file, data in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)


def test_the_index_of_another_tool_is_taken():
    files = layout()
    (entry,) = json.loads(files["index.json"])["manifests"]
    del entry["artifactType"]
    files["index.json"] = json.dumps({"manifests": [entry], "schemaVersion": 2}, indent=1).encode()
    files["oci-layout"] = b'{"imageLayoutVersion": "1.0.0", "more": 1}'
    assert read_oci(files, "small") == PACKAGE


def index_of(manifest: bytes, **changes: Any) -> bytes:
    entry = {
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "digest": digest(manifest),
        "size": len(manifest),
        **changes,
    }
    return as_bytes({"schemaVersion": 2, "manifests": [entry]})


def with_manifest(change: Any) -> dict[str, bytes]:
    """Return the layout with another manifest that its index leads to."""
    files = layout()
    manifest = manifest_of(files)
    change(manifest)
    data = as_bytes(manifest)
    return {**files, name(data): data, "index.json": index_of(data)}


def of_type(media_type: str) -> Any:
    def change(manifest: dict[str, Any]) -> None:
        manifest["layers"][0]["mediaType"] = media_type

    return change


def pointing_at(data: bytes) -> Any:
    def change(manifest: dict[str, Any]) -> None:
        manifest["layers"][0] |= {"digest": digest(data), "size": len(data)}

    return change


ARCHIVE_BLOB, SBOM_BLOB = name(ARCHIVE), name(FILES["sbom.cdx.json"])
ENTRY = json.loads(layout()["index.json"])["manifests"][0]
MANIFEST_BLOB = f"blobs/{ENTRY['digest'].replace(':', '/')}"
MANIFEST = layout()[MANIFEST_BLOB]


def without(*names: str) -> dict[str, bytes]:
    return {n: data for n, data in layout().items() if n not in names}


REFUSED = [
    ("no layout file", without("oci-layout"), BadInput, 'small: layout holds no "oci-layout"'),
    ("no index", without("index.json"), BadInput, 'small: layout holds no "index.json"'),
    (
        "another version",
        layout() | {"oci-layout": b'{"imageLayoutVersion":"2"}'},
        BadInput,
        'small/oci-layout: layout has another version; expected 1.0.0, got "2"',
    ),
    (
        "two manifests",
        layout() | {"index.json": as_bytes({"manifests": [ENTRY, ENTRY]})},
        BadInput,
        "small/index.json: index names not exactly one manifest",
    ),
    (
        "a manifest that is no object",
        layout() | {"index.json": as_bytes({"manifests": ["x"]})},
        BadInput,
        "small/index.json: product has another form than a build of ours gives",
    ),
    (
        "an index of an index",
        layout() | {"index.json": index_of(MANIFEST, mediaType="application/x\n")},
        BadInput,
        "small: layout is of something else than a release; "
        "expected application/vnd.oci.image.manifest.v1+json, got application/x\\n",
    ),
    (
        "a digest that leads out",
        layout() | {"index.json": index_of(MANIFEST, digest="sha256:../../x")},
        Refused,
        'small: blob "blobs/sha256/../../x" is missing',
    ),
    (
        "another size",
        layout() | {"index.json": index_of(MANIFEST, size=1)},
        Refused,
        f'small: blob "{MANIFEST_BLOB}" is not what its digest and size say',
    ),
    (
        "no archive",
        without(ARCHIVE_BLOB),
        Refused,
        f'small: blob "{ARCHIVE_BLOB}" is missing',
    ),
    (
        "another archive under its digest",
        layout() | {ARCHIVE_BLOB: OTHER_ARCHIVE},
        Refused,
        f'small: blob "{ARCHIVE_BLOB}" is not what its digest and size say',
    ),
    (
        "no bill of materials",
        without(SBOM_BLOB),
        Refused,
        f'small: blob "{SBOM_BLOB}" is missing',
    ),
    (
        "another bill of materials",
        layout() | {SBOM_BLOB: b"[]"},
        Refused,
        f'small: blob "{SBOM_BLOB}" is not what its digest and size say',
    ),
    (
        "a blob that nothing names",
        layout() | {name(b"more"): b"more"},
        Refused,
        f'small: layout holds "{name(b"more")}", which nothing names',
    ),
    (
        "a file beside the blobs",
        layout() | {"more": b""},
        Refused,
        'small: layout holds "more", which nothing names',
    ),
    (
        "another claim in the manifest",
        with_manifest(lambda manifest: manifest.update(annotations={})),
        Refused,
        "small: manifest is not that of its archive",
    ),
    (
        "a container image",
        with_manifest(of_type("application/vnd.oci.image.layer.v1.tar+gzip")),
        BadInput,
        "small: layout is of something else than a release; "
        "expected application/vnd.netra.release.archive.v1.tar+zstd, "
        "got application/vnd.oci.image.layer.v1.tar+gzip",
    ),
    (
        "no layers",
        with_manifest(lambda manifest: manifest.update(layers=[])),
        BadInput,
        None,
    ),
    (
        "an archive without a record",
        with_manifest(pointing_at(OTHER_ARCHIVE)) | {name(OTHER_ARCHIVE): OTHER_ARCHIVE},
        BadInput,
        'small: package holds no "RELEASE.json"',
    ),
]


@pytest.mark.parametrize(
    ("files", "kind", "message"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_anything_else_is_refused(files, kind, message):
    with pytest.raises(NetraError) as caught:
        read_oci(files, "small")
    assert type(caught.value) is kind
    if message is None:
        blob = json.loads(files["index.json"])["manifests"][0]["digest"].replace(":", "/")
        message = f"small/blobs/{blob}: product has another form than a build of ours gives"
    assert str(caught.value) == message


def test_every_changed_byte_of_a_layout_is_noticed():
    whole = layout()
    for file, data in whole.items():
        if file.startswith("blobs/"):
            for at in range(0, len(data), max(1, len(data) // 7)):
                changed = bytearray(data)
                changed[at] ^= 1
                with pytest.raises(Refused):
                    read_oci({**whole, file: bytes(changed)}, "small")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            RECORD | {"name": "other"},
            'x: archive has another top folder than its record says; expected "other-1.2.0-gfx950",'
            ' got "small-1.2.0-gfx950"',
        ),
        (
            {"format": "netra-release-1", "name": "small"},
            "x/RELEASE.json: product has another form than a build of ours gives",
        ),
    ],
)
def test_an_archive_whose_record_says_another_name_is_no_release(record, message):
    archive = write_archive(Package(PACKAGE.top, {"RELEASE.json": as_bytes(record)}))
    with pytest.raises(BadInput) as caught:
        oci_files(archive, "x")
    assert str(caught.value) == message


def test_a_folder_that_is_no_layout_is_said(tmp_path):
    with pytest.raises(BadInput) as caught:
        open_package(tmp_path, RealDisk())
    assert str(caught.value) == (
        f"{tmp_path}: folder is no OCI layout of a release\n"
        'hint: it would hold "oci-layout", "index.json" and "blobs"'
    )


def test_a_layout_of_very_many_files_is_left_unread(tmp_path):
    write(tmp_path, {f"blobs/{number}": b"" for number in range(100)} | {"oci-layout": b""})
    with pytest.raises(BadInput) as caught:
        open_package(tmp_path, RealDisk())
    expected = f"{tmp_path}: layout holds too many files; expected at most 100, got 101"
    assert str(caught.value) == expected


def test_a_blob_that_is_a_link_out_of_the_layout_is_refused(tmp_path):
    folder = tmp_path / "x"
    write(folder, layout())
    (folder / SBOM_BLOB).unlink()
    (tmp_path / "secret").write_bytes(FILES["sbom.cdx.json"])
    (folder / SBOM_BLOB).symlink_to(tmp_path / "secret")
    with pytest.raises(BadInput) as caught:
        open_package(folder, RealDisk())
    assert str(caught.value) == f'{folder}: path "{SBOM_BLOB}" leaves its root through a symlink'
