"""The tar layer of an archive: what it writes, as others read it, and what it refuses to read."""

from __future__ import annotations

import io
import tarfile

import pytest

from netra_build.core.errors import BadInput
from netra_build.release.ustar import read_ustar, ustar_pieces

FILES = {
    "top/b": b"x" * 513,
    "top/a": b"",
    "top/" + "d/" * 60 + "e" * 40: b"split into prefix and name",
    "top/" + "f" * 130: b"needs an extended header",
    "top/über": b"not in ASCII",
}


def written(files: dict[str, bytes]) -> bytes:
    return b"".join(ustar_pieces(files))


def made(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """Return an archive of Python's own library, in the plain form."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for info, data in entries:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def entry(name: str, **changes: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for key, value in changes.items():
        setattr(info, key, value)
    return info


def test_what_is_written_is_read_by_another_library():
    with tarfile.open(fileobj=io.BytesIO(written(FILES))) as archive:
        members = archive.getmembers()
        contents = {member.name: archive.extractfile(member).read() for member in members}
    assert contents == FILES
    facts = {(m.uid, m.gid, m.uname, m.gname, m.mode, m.mtime, m.type) for m in members}
    assert facts == {(0, 0, "", "", 0o644, 0, tarfile.REGTYPE)}
    assert [m.name.encode() for m in members] == sorted(name.encode() for name in FILES)


def test_what_is_written_is_read_back():
    assert read_ustar(written(FILES), "x.tar") == FILES


def test_the_order_of_the_files_does_not_matter():
    assert written(dict(reversed(FILES.items()))) == written(FILES)


@pytest.mark.parametrize("name", ["../a", "/a", "a/../b", "", "a//b", "./a", "a\\b", "a\nb"])
def test_no_other_name_is_written(name):
    with pytest.raises(BadInput):
        written({name: b""})


LINK = {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}
SMALL = written({"top/a": b"one", "top/b": b"two"})
HEADER = written({"a": b""})[:512]


def patched(data: bytes, at: int, new: bytes) -> bytes:
    """Return an archive whose first header has other bytes and the right checksum."""
    header = data[:at] + new + data[at + len(new) : 512]
    header = header[:148] + b" " * 8 + header[156:]
    return header[:148] + b"%06o\0 " % sum(header) + header[156:] + data[512:]


OTHER_FORM = (
    "archive is not in the form of a release (near byte 0)"
    "\nhint: owners, modes, times, order and padding are fixed"
)
REFUSED: list[tuple[str, bytes, str]] = [
    ("symbolic link", made((entry("top/a", **LINK), b"")), 'entry "top/a" is a symbolic link'),
    (
        "hard link",
        made((entry("top/a", type=tarfile.LNKTYPE, linkname="x"), b"")),
        'entry "top/a" is a hard link',
    ),
    (
        "character device",
        made((entry("top/a", type=tarfile.CHRTYPE), b"")),
        'entry "top/a" is a character device',
    ),
    (
        "block device",
        made((entry("top/a", type=tarfile.BLKTYPE), b"")),
        'entry "top/a" is a block device',
    ),
    ("pipe", made((entry("top/a", type=tarfile.FIFOTYPE), b"")), 'entry "top/a" is a pipe'),
    ("folder", made((entry("top", type=tarfile.DIRTYPE), b"")), 'entry "top/" is a folder'),
    (
        "sparse file",
        made((entry("top/a", type=tarfile.GNUTYPE_SPARSE), b"")),
        'entry "top/a" is of an unknown kind',
    ),
    (
        "name that leads out",
        made((entry("top/../../a"), b"")),
        'path "top/../../a" leaves its root\nhint: remove the ".." segment',
    ),
    (
        "absolute name",
        made((entry("/etc/passwd"), b"")),
        'path "/etc/passwd" is absolute\nhint: write it relative to the library root',
    ),
    ("name with dots", made((entry("top/./a"), b"")), 'name "top/./a" is not normalised'),
    ("double", made((entry("top/a"), b"1"), (entry("top/a"), b"2")), 'file "top/a" is there twice'),
    ("owner", patched(SMALL, 108, b"0001750\0"), OTHER_FORM),
    ("mode", patched(SMALL, 100, b"0000755\0"), OTHER_FORM),
    ("time", patched(SMALL, 136, b"00000000001\0"), OTHER_FORM),
    ("user name", patched(SMALL, 265, b"root"), OTHER_FORM),
    ("order", written({"top/b": b"two"})[:1024] + SMALL[:1024] + bytes(1024), OTHER_FORM),
    ("no end", SMALL[:-1024], "archive is cut short"),
    ("cut content", SMALL[:700], "archive is cut short"),
    ("cut header", SMALL[:100], "archive is cut short"),
    (
        "half an end",
        SMALL[:-512],
        OTHER_FORM.replace("byte 0", "byte 2048"),
    ),
    (
        "bytes after the end",
        SMALL + bytes(512),
        "archive has bytes after its end; expected 3072, got 3584",
    ),
    ("flipped bit", bytes([SMALL[0] ^ 1]) + SMALL[1:], "archive is damaged at byte 0"),
    (
        "size in another base",
        patched(SMALL, 124, b"\x80" + bytes(11)),
        "entry at byte 0 has no usable size",
    ),
    (
        "extended header of another kind",
        patched(written({"x": b"9 size=9\n"}), 156, b"x"),
        "archive holds an extended header that is no name",
    ),
]


@pytest.mark.parametrize(("data", "message"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_anything_else_is_refused(data, message):
    with pytest.raises(BadInput) as caught:
        read_ustar(data, "x.tar")
    assert str(caught.value) == f"x.tar: {message}"


def test_a_flipped_bit_is_noticed_unless_it_stands_in_a_content_or_long_name(rng):
    data = written(FILES)
    for _ in range(400):
        at = rng.randrange(len(data))
        altered = bytearray(data)
        altered[at] ^= 1 << rng.randrange(8)
        try:
            found = read_ustar(bytes(altered), "x.tar")
        except BadInput:
            continue
        assert found != FILES
        assert len(found) == len(FILES)
