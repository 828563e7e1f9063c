"""Archives: the same bytes for the same files, and nothing else comes in."""

from __future__ import annotations

import struct

import pytest
from release_frames import frame, relabelled

from netra_build.core.errors import BadInput, ToolchainFailed
from netra_build.release import origin
from netra_build.release.archive import Package, compress, decompress, read_archive, write_archive
from netra_build.release.layout import SUFFIX, check_version, top_folder
from netra_build.release.origin import needed_libraries, require_libraries
from netra_build.release.ustar import ustar_pieces

PACKAGE = Package("small-1.2.0-gfx950", {"RELEASE.json": b"{}\n", "engine/x": b"x" * 100})


def test_a_package_comes_back():
    assert read_archive(write_archive(PACKAGE), "x") == PACKAGE


def test_an_archive_is_the_same_however_the_files_come():
    files = dict(reversed(PACKAGE.files.items()))
    assert write_archive(Package(PACKAGE.top, files)) == write_archive(PACKAGE)


GOOD = write_archive(PACKAGE)
# By the published layout: four bytes of size, a window of 2**27, one raw block of one byte.
WIDE = b"\x28\xb5\x2f\xfd\x80\x88" + struct.pack("<I", 1) + b"\x09\0\0x"
BIG = 256 * 1024 * 1024 + 1
REFUSED = [
    ("nothing", b"", "file is no archive of a release (no zstd frame)"),
    ("gzip", b"\x1f\x8b\x08", "file is no archive of a release (no zstd frame)"),
    (
        "skippable frame first",
        b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + GOOD,
        "file is no archive of a release (no zstd frame)",
    ),
    ("cut", GOOD[:-10], "archive is cut short"),
    ("cut header", GOOD[:5], "archive is damaged"),
    ("trailing byte", GOOD + b"\0", "archive has bytes after its end"),
    ("second frame", GOOD + GOOD, "archive has bytes after its end"),
    ("wrong checksum", GOOD[:-1] + bytes([GOOD[-1] ^ 1]), "archive is damaged"),
    (
        "no declared size",
        frame(b"x", write_content_size=False),
        "archive does not declare its size",
    ),
    (
        "declares too much",
        frame(bytes(BIG)),
        f"archive declares too many bytes; expected at most {BIG - 1}, got {BIG}",
    ),
    (
        "window of 128 MiB",
        WIDE,
        "archive needs too large a window; expected at most 8388608 bytes, got 134217728",
    ),
]


@pytest.mark.parametrize(("data", "message"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_anything_else_is_refused(data, message):
    with pytest.raises(BadInput) as caught:
        decompress(data, "x")
    assert str(caught.value) == f"x: {message}"


def test_a_ratio_that_no_sources_have_is_refused():
    data = frame(bytes(200_000_000))
    with pytest.raises(BadInput) as caught:
        decompress(data, "x")
    assert str(caught.value) == (
        "x: archive declares too many bytes for its size; "
        f"expected at most {200 * len(data)}, got 200000000"
    )


@pytest.mark.parametrize(
    ("declared", "fact"),
    [
        (1_000_000, "archive holds more than it declares; expected 1000000 bytes, got more"),
        (100_000, "archive is damaged"),  # a block of 128 KiB cannot be in it
    ],
)
def test_a_frame_that_holds_more_than_it_declares_is_left(declared, fact):
    with pytest.raises(BadInput) as caught:
        decompress(relabelled(200_000_000, declared), "x")
    assert str(caught.value) == f"x: {fact}"


@pytest.mark.parametrize(
    "files",
    [
        {"a": b""},
        {"a/x": b"", "b/x": b""},
        {"a/x": b"", "b": b""},
        {},
    ],
)
def test_an_archive_has_one_folder_at_its_top(files):
    with pytest.raises(BadInput) as caught:
        read_archive(compress(b"".join(ustar_pieces(files))), "x")
    assert str(caught.value) == "x: archive has not exactly one folder at its top"


def test_an_archive_is_named_by_what_it_holds():
    assert top_folder("moe", "1.2.0") + SUFFIX == "moe-1.2.0-gfx950.tar.zst"


@pytest.mark.parametrize("version", ["0.0.0", "1.2.3", "10.20.30", "1.2.3-rc1", "1.2.3-rc.1"])
def test_a_version_is_three_numbers_and_perhaps_a_word(version):
    check_version(version, "version")


@pytest.mark.parametrize(
    "version", ["", "1", "1.2", "01.2.3", "1.2.3.4", "1.2.3-", "1.2.3/x", "v1.2.3", "1.2.3\n"]
)
def test_no_other_version_is_taken(version):
    with pytest.raises(BadInput) as caught:
        check_version(version, "version")
    shown = version.replace("\n", "\\n")
    assert str(caught.value) == (
        f'version: version is not usable; expected X.Y.Z or X.Y.Z-WORD, got "{shown}"'
    )


def test_what_a_release_needs_is_asked_for_before_it_is_planned(monkeypatch):
    require_libraries()
    monkeypatch.setattr(origin, "LIBRARIES", (*origin.LIBRARIES, "netra_no_such_library"))
    with pytest.raises(ToolchainFailed) as caught:
        require_libraries()
    assert str(caught.value) == (
        'releases need the Python package "netra_no_such_library"\n'
        "hint: install netra-build[release]"
    )


def test_a_missing_library_is_asked_for():
    with pytest.raises(ToolchainFailed) as caught, needed_libraries():
        import netra_no_such_library  # noqa: F401
    assert str(caught.value) == (
        'releases need the Python package "netra_no_such_library"\n'
        "hint: install netra-build[release]"
    )
