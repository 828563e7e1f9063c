"""The tar layer of an archive: one way to write it, and a reader that accepts no other.

Python's library is not used: it takes damaged headers for the end, follows extensions that could
hide content, and older releases loop forever on some inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from netra_build.core.disk import relative_name
from netra_build.core.errors import BadInput

BLOCK = 512
ZERO = bytes(BLOCK)
MAX_ENTRIES = 50_000
MAX_NAME_BYTES = 4096
MODE = 0o644
KINDS = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a character device",
    b"4": "a block device",
    b"5": "a folder",
    b"6": "a pipe",
}
_OCTAL = re.compile(rb"[0-7]+\0")


class _Entry(NamedTuple):
    """One header: name, kind and size in bytes."""

    name: str
    kind: bytes
    size: int


def ustar_pieces(files: Mapping[str, bytes]) -> Iterator[bytes]:
    """Yield a tar archive: names sorted, owner 0, mode 0644, time 0, no folders.

    A name that does not fit into a header has an extended header (pax) before it. Raises
    ``BadInput`` for a name that is not relative.
    """
    for name in sorted(files, key=str.encode):
        if relative_name(name, "archive") != name:
            raise BadInput(f'name "{name}" is not normalised', location="archive")
        data, raw = files[name], name.encode()
        parts = _parts(raw)
        if parts is None:
            record = _pax_record(raw)
            yield _header(b"././@PaxHeader", b"", len(record), b"x")
            yield record + bytes(-len(record) % BLOCK)
            parts = raw[:100], b""
        yield _header(*parts, len(data), b"0")
        yield data
        yield bytes(-len(data) % BLOCK)
    yield ZERO * 2


def is_tar(data: bytes) -> bool:
    """Tell whether data has the magic number of a tar archive."""
    return data[257:262] == b"ustar"


def read_ustar(data: bytes, location: str) -> dict[str, bytes]:
    """Return the files of a tar archive by name.

    Refused with ``BadInput``: anything that ``ustar_pieces`` does not write - links, devices,
    folders, absolute names, names that leave the folder, duplicates, other owners, modes, times
    or orders, a truncated end and bytes after it.
    """
    files: dict[str, bytes] = {}
    at, long_name = 0, ""
    while True:
        block = data[at : at + BLOCK]
        if len(block) < BLOCK:
            raise BadInput("archive is cut short", location=location)
        if block == ZERO:
            break
        entry = _read_header(block, at, location)
        body = data[at + BLOCK : at + BLOCK + entry.size]
        if len(body) < entry.size:
            raise BadInput("archive is cut short", location=location)
        at += BLOCK + entry.size + -entry.size % BLOCK
        if entry.kind == b"x":
            long_name = _pax_name(body, location)
            continue
        _add(files, entry._replace(name=long_name or entry.name), body, location)
        long_name = ""
    _refuse_other_form(files, data, location)
    return files


def _add(files: dict[str, bytes], entry: _Entry, body: bytes, location: str) -> None:
    if entry.kind != b"0":
        shown = ascii(entry.name)[1:-1][:200]
        kind = KINDS.get(entry.kind, "of an unknown kind")
        raise BadInput(f'entry "{shown}" is {kind}', location=location)
    if relative_name(entry.name, location) != entry.name:
        raise BadInput(f'name "{entry.name}" is not normalised', location=location)
    if entry.name in files:
        raise BadInput(f'file "{entry.name}" is there twice', location=location)
    if len(files) >= MAX_ENTRIES:
        raise BadInput(f"archive holds more than {MAX_ENTRIES} files", location=location)
    files[entry.name] = body


def _refuse_other_form(files: Mapping[str, bytes], data: bytes, location: str) -> None:
    """Write the archive again, piece by piece, and compare."""
    at, view = 0, memoryview(data)
    for piece in ustar_pieces(files):
        if view[at : at + len(piece)] != piece:
            raise BadInput(
                f"archive is not in the form of a release (near byte {at})",
                location=location,
                hint="owners, modes, times, order and padding are fixed",
            )
        at += len(piece)
    if at != len(data):
        raise BadInput(
            "archive has bytes after its end", location=location, expected=at, got=len(data)
        )


def _parts(raw: bytes) -> tuple[bytes, bytes] | None:
    """Return name and prefix of a header, or None when the name fits into no header."""
    if len(raw) <= 100:
        return raw, b""
    cut = raw.find(b"/", len(raw) - 101)
    if cut < 1 or cut > 155 or not raw.isascii():
        return None
    return raw[cut + 1 :], raw[:cut]


def _header(name: bytes, prefix: bytes, size: int, kind: bytes) -> bytes:
    fields = [
        name.ljust(100, b"\0"),
        *(b"%07o\0" % number for number in (MODE, 0, 0)),
        *(b"%011o\0" % number for number in (size, 0)),
        b" " * 8,
        kind,
        bytes(100),
        b"ustar\x0000",
        bytes(64),
        *(b"%07o\0" % 0 for _ in range(2)),
        prefix.ljust(155, b"\0"),
        bytes(12),
    ]
    block = b"".join(fields)
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _read_header(block: bytes, at: int, location: str) -> _Entry:
    stated = block[148:156]
    if stated != b"%06o\0 " % (sum(block) - sum(stated) + 8 * 32):
        raise BadInput(f"archive is damaged at byte {at}", location=location)
    if not _OCTAL.fullmatch(block[124:136]):
        raise BadInput(f"entry at byte {at} has no usable size", location=location)
    size = int(block[124:135], 8)
    name, prefix = (block[a:b].rstrip(b"\0") for a, b in ((0, 100), (345, 500)))
    whole = prefix + b"/" + name if prefix else name
    return _Entry(whole.decode("utf-8", "backslashreplace"), block[156:157], size)


def _pax_record(raw: bytes) -> bytes:
    """Return the record ``LENGTH path=NAME``, whose length counts its own digits."""
    length = len(raw) + 7
    while len(b"%d path=%b\n" % (length, raw)) != length:
        length = len(b"%d path=%b\n" % (length, raw))
    return b"%d path=%b\n" % (length, raw)


def _pax_name(body: bytes, location: str) -> str:
    found = re.fullmatch(rb"[0-9]{1,5} path=(.+)\n", body, re.DOTALL)
    if found is None or len(found[1]) > MAX_NAME_BYTES:
        raise BadInput("archive holds an extended header that is no name", location=location)
    return found[1].decode("utf-8", "backslashreplace")
