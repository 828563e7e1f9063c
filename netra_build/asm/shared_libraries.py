"""Which shared libraries a host program loads, found by reading ELF files, never by running."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment, DynamicTag
from elftools.elf.elffile import ELFFile

from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput
from netra_build.core.streams import FileStamp, file_stamp, opened

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


@dataclass(frozen=True)
class _Links:
    """What one ELF file asks of the loader."""

    machine: str
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
    first = _links(program)
    if first is None:
        return ()
    configured = _configured_folders(disk)
    found: dict[str, Path | None] = {}
    waiting: list[tuple[Path, _Links]] = [(program, first)]
    while waiting:
        origin, links = waiting.pop()
        folders = (*library_path, *_run_folders(origin, links), *configured)
        for name in links.needed:
            if name in found or len(found) >= MAX_LIBRARIES:
                continue
            found[name], below = _locate(name, folders, first.machine, disk)
            if below is not None:
                waiting.append(below)
    return tuple(sorted(found.items()))


def _locate(
    name: str, folders: Sequence[Path], machine: str, disk: Disk
) -> tuple[Path | None, tuple[Path, _Links] | None]:
    """Return the first file of that name for that machine, and what it needs in turn."""
    for folder in (Path("/"),) if "/" in name else folders:
        path = folder / name
        if not disk.is_file(path):
            continue
        links = _links(path)
        if links is not None and links.machine == machine:
            return path, (Path(os.path.realpath(path)), links)
    return None, None


def _links(path: Path) -> _Links | None:
    """Return what a file asks of the loader; None when it is no ELF file that asks anything."""
    try:
        return _links_of(file_stamp(path))
    except BadInput:
        return None


@lru_cache(maxsize=512)
def _links_of(stamp: FileStamp) -> _Links | None:
    """Read one file once as long as its stamp stays: the programs of one tool chain share most."""
    try:
        with opened(Path(stamp[0])) as stream:
            elf = ELFFile(stream)
            tags = [
                tag
                for segment in elf.iter_segments()
                if isinstance(segment, DynamicSegment)
                for tag in segment.iter_tags()
            ]
            return _Links(
                str(elf["e_machine"]),
                tuple(_texts(tags, "DT_NEEDED", "needed")),
                tuple(
                    folder
                    for run in (
                        *_texts(tags, "DT_RUNPATH", "runpath"),
                        *_texts(tags, "DT_RPATH", "rpath"),
                    )
                    for folder in run.split(":")
                    if folder
                ),
            )
    except (ELFError, BadInput, ValueError, KeyError):
        return None


def _texts(tags: Iterable[DynamicTag], kind: str, attribute: str) -> list[str]:
    return [str(getattr(tag, attribute)) for tag in tags if tag.entry.d_tag == kind]


def _run_folders(origin: Path, links: _Links) -> tuple[Path, ...]:
    here = os.path.dirname(os.path.realpath(origin))
    return tuple(
        Path(os.path.normpath(entry.replace("${ORIGIN}", here).replace("$ORIGIN", here)))
        for entry in links.run_path
    )


def _configured_folders(disk: Disk) -> tuple[Path, ...]:
    folders: list[Path] = []
    listings = [
        path for path in disk.files_under(Path("/etc/ld.so.conf.d"), ".conf") if disk.is_file(path)
    ]
    for listing in listings:
        for line in disk.read_bytes(listing).decode("utf-8", "replace").splitlines():
            entry = line.partition("#")[0].strip()
            if entry.startswith("/"):
                folders.append(Path(entry))
    return (*folders, *(Path(folder) for folder in LOADER_FOLDERS))
