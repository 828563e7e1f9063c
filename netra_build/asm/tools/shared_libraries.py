"""Which shared libraries a host program loads, found by reading ELF files, never by running."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput
from netra_build.core.stamps import FileState
from netra_build.core.streams import file_state, opened

LOADER_FOLDERS = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
)
MAX_LIBRARIES = 256
MAX_DYNAMIC_BYTES = 1024 * 1024
MAX_TEXT_BYTES = 4096
"""Of one name; the whole table of LLVM's has megabytes."""

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29


@dataclass(frozen=True)
class _Links:
    """What one ELF file asks of the loader."""

    machine: tuple[int, ...]
    needed: tuple[str, ...]
    run_path: tuple[str, ...]


def loaded_libraries(
    program: Path, library_path: Sequence[Path], disk: Disk
) -> tuple[tuple[str, Path | None], ...]:
    """Return (name, file) of every library that ``program`` loads, sorted by name.

    Searched like the system's loader does: ``library_path``, the run path of the file that asks,
    the folders of ``/etc/ld.so.conf``, the default folders. A library that is found nowhere has
    no file. A program that is no dynamic ELF file loads none.
    """
    first = _links(str(program))
    if first is None:
        return ()
    before, behind = tuple(map(str, library_path)), _configured_folders(disk)
    found: dict[str, Path | None] = {}
    waiting: list[tuple[str, _Links]] = [(str(program), first)]
    while waiting:
        origin, links = waiting.pop()
        folders = (*before, *_run_folders(origin, links), *behind)
        for name in links.needed:
            if name in found or len(found) >= MAX_LIBRARIES:
                continue
            below = _located(name, folders, first.machine, disk)
            found[name] = Path(below[0]) if below is not None else None
            if below is not None:
                waiting.append(below)
    return tuple(sorted(found.items()))


def _located(
    name: str, folders: tuple[str, ...], machine: tuple[int, ...], disk: Disk
) -> tuple[str, _Links] | None:
    """Return the first file of that name for that machine, and what it needs in turn."""
    for folder in ("/",) if "/" in name else folders:
        path = os.path.join(folder, name)
        links = _links(path) if disk.is_file(path) else None
        if links is not None and links.machine == machine:
            return path, links
    return None


def _links(path: str) -> _Links | None:
    """Return what a file asks of the loader; None when it is no ELF file that asks anything."""
    state = file_state(path)
    return _links_of(path, state) if state else None


@lru_cache(maxsize=512)
def _links_of(path: str, state: FileState) -> _Links | None:
    """Read one file once as long as its state stays: the programs of one tool chain share most."""
    try:
        with opened(Path(path)) as stream:
            machine, tags = _dynamic(stream)
            runs = [*tags.get(DT_RUNPATH, ()), *tags.get(DT_RPATH, ())]
            return _Links(
                machine,
                tuple(tags.get(DT_NEEDED, ())),
                tuple(folder for run in runs for folder in run.split(":") if folder),
            )
    except (BadInput, OSError, OverflowError, ValueError, struct.error):
        return None


def _dynamic(stream: BinaryIO) -> tuple[tuple[int, ...], dict[int, list[str]]]:
    """Return for which machine a file is, and its dynamic entries that are texts, by tag.

    Raises ``ValueError`` or ``struct.error`` for what is no ELF file, or a damaged one.
    """
    head = stream.read(64)
    if head[:4] != b"\x7fELF" or head[4] not in (1, 2) or head[5] not in (1, 2):
        raise ValueError("no ELF file")
    order, is_wide = "<" if head[5] == 1 else ">", head[4] == 2
    machine = (head[4], head[5], *struct.unpack_from(f"{order}H", head, 18))
    table_at, size, count = _table_of_segments(head, order, is_wide)
    segments = list(_segments(_read_at(stream, table_at, size * count), size, order, is_wide))
    entries: list[tuple[int, int]] = []
    for kind, offset, _, length in segments:
        if kind == PT_DYNAMIC:
            pairs = struct.Struct(f"{order}qQ" if is_wide else f"{order}iI")
            data = _read_at(stream, offset, min(length, MAX_DYNAMIC_BYTES))
            entries += pairs.iter_unpack(data[: len(data) // pairs.size * pairs.size])
    ends = [index for index, (tag, _) in enumerate(entries) if tag == 0]
    entries = entries[: ends[0]] if ends else entries
    values = dict(entries)
    if DT_STRTAB not in values:
        return machine, {}
    address = values[DT_STRTAB]
    places = [o + address - a for k, o, a, n in segments if k == PT_LOAD and a <= address < a + n]
    if not places:
        raise ValueError("no string table")
    found: dict[int, list[str]] = {}
    for tag, value in entries:
        if tag in (DT_NEEDED, DT_RPATH, DT_RUNPATH):
            text = _read_at(stream, places[0] + value, MAX_TEXT_BYTES)
            text = text[: text.index(b"\0")]
            found.setdefault(tag, []).append(text.decode("utf-8", "replace"))
    return machine, found


def _table_of_segments(head: bytes, order: str, is_wide: bool) -> tuple[int, int, int]:
    """Return where the program headers begin, the size of one and their number."""
    (at,) = struct.unpack_from(f"{order}Q" if is_wide else f"{order}I", head, 32 if is_wide else 28)
    size, count = struct.unpack_from(f"{order}2H", head, 54 if is_wide else 42)
    if count and size != (56 if is_wide else 32):
        raise ValueError("program headers have an unknown size")
    return at, size, count


def _segments(
    table: bytes, size: int, order: str, is_wide: bool
) -> Iterator[tuple[int, int, int, int]]:
    """Yield kind, offset, address and stored size of each program header."""
    for at in range(0, len(table) - size + 1, size or 1):
        if is_wide:
            kind, _, offset, address, _, stored = struct.unpack_from(f"{order}2I4Q", table, at)
        else:
            kind, offset, address, _, stored = struct.unpack_from(f"{order}5I", table, at)
        yield kind, offset, address, stored


def _read_at(stream: BinaryIO, at: int, size: int) -> bytes:
    stream.seek(at)
    return stream.read(size)


def _run_folders(origin: str, links: _Links) -> tuple[str, ...]:
    if not links.run_path:
        return ()
    here = os.path.dirname(os.path.realpath(origin))
    return tuple(
        os.path.normpath(entry.replace("${ORIGIN}", here).replace("$ORIGIN", here))
        for entry in links.run_path
    )


def _configured_folders(disk: Disk) -> tuple[str, ...]:
    folders: list[str] = []
    listings = [
        path for path in disk.files_under(Path("/etc/ld.so.conf.d"), ".conf") if disk.is_file(path)
    ]
    for listing in listings:
        for line in disk.read_bytes(listing).decode("utf-8", "replace").splitlines():
            entry = line.partition("#")[0].strip()
            if entry.startswith("/"):
                folders.append(entry)
    return (*folders, *LOADER_FOLDERS)
