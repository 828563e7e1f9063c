"""Who a program is: its version, and the digest of its bytes and of every library that it loads.

Libraries are found by reading ELF files, never by running. To find out takes longer than assembling
a hundred kernels, and every action that uses the program asks. So what was found holds, also for
later processes, as long as no file changes: a question names every file with its state. What is too
young to be told apart from a later edit is not kept, and nothing of a script, whose files say
nothing of what it starts.
"""

from __future__ import annotations

import os
import re
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from netra_build.asm.objects.elf import HEADER_BYTES, MAGIC, SEGMENT_BYTES, ElfHeader, segments_in
from netra_build.asm.tools.bounds import OF_VERSIONS
from netra_build.asm.tools.programs import Program, run_tool
from netra_build.core.canonical_json import Json, stable_hash
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk, sealed_folder
from netra_build.core.errors import BadInput, ToolchainFailed
from netra_build.core.stamps import FileState, is_recent
from netra_build.core.streams import (
    FileStamp,
    file_digest,
    file_stamp,
    file_state,
    opened,
    remember_digest,
)

NOT_FOUND = "not found"
"""Stands for the digest of a library that was not found."""

LOADER_FOLDERS = (
    *("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"),
    *("/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"),
    *("/lib64", "/usr/lib64", "/lib", "/usr/lib"),
)
MAX_LIBRARIES, MAX_DYNAMIC_BYTES = 256, 1024 * 1024
MAX_TEXT_BYTES = 4096
"""Of one name; the whole table of LLVM's has megabytes."""

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NULL, DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 0, 1, 5, 15, 29

ProgramParts = tuple[tuple[str, Path | None, FileState], ...]
"""Name, file and state of the program or of one library; a library not found has no file."""


class Memory(Protocol):
    """Answers by their questions; it can outlive the process."""

    def recall(self, question: Json) -> Json | None:
        """Return the answer kept for a question, None without one."""

    def keep(self, question: Json, answer: Json) -> None:
        """Keep the answer to a question."""


class _Links(NamedTuple):
    """What one ELF file asks of the loader."""

    machine: int
    needed: tuple[str, ...]
    run_path: tuple[str, ...]


def program_parts(program: Path, library_path: tuple[Path, ...], disk: Disk) -> ProgramParts:
    """Return the program and each of its libraries with their states as they are now.

    Raises ``BadInput`` when the program is missing.
    """
    libraries = _libraries(file_stamp(program), program, library_path, disk)
    files = (("program", program), *libraries)
    return tuple((name, path, file_state(path) if path else ()) for name, path in files)


def is_binary(program: Path) -> bool:
    """Tell whether a program is machine code: of a script nobody knows what it starts."""
    with opened(program) as stream:
        return stream.read(len(MAGIC)) == MAGIC


class WatchedPrograms:
    """Programs and the libraries that they were seen to load, looked at each time they are used."""

    def __init__(self, programs: Iterable[Path], folders: tuple[Path, ...], disk: Disk) -> None:
        """Find the libraries; a program that changes later is read again as a whole."""
        parts = [program_parts(program, folders, disk) for program in programs]
        paths = [path for found in parts for _, path, _ in found if path is not None]
        self._files = tuple(map(str, dict.fromkeys(paths)))
        self._known: tuple[tuple[FileState, ...], dict[str, str]] | None = None

    def identity(self, find: Callable[[], dict[str, str]]) -> dict[str, str]:
        """Return what ``find`` made of the files as they are now."""
        state, known = tuple(map(file_state, self._files)), self._known
        if known is None or known[0] != state:
            self._known = known = state, find()
        return dict(known[1])


class ToolMemory:
    """Answers about programs in a memory that outlives the process; without one, no answers."""

    def __init__(self, memory: Memory | None = None) -> None:
        self._memory = memory
        self.confirmed: set[tuple[str, str]] = set()  # what ``round_trip`` found to agree

    def recall(self, about: str, parts: ProgramParts) -> Json | None:
        """Return what is known about a program as it is now, None if nothing is."""
        if self._memory is None or not _is_known_by_files(parts):
            return None
        return self._memory.recall(_question(about, parts))

    def keep(self, about: str, parts: ProgramParts, answer: Json) -> None:
        """Keep an answer for as long as no part of the program changes."""
        moment_ns = time.time_ns()
        states = [state for _, path, state in parts if path]
        is_settled = all(s and not is_recent(s[1], s[2], moment_ns) for s in states)
        if self._memory is not None and is_settled and _is_known_by_files(parts):
            self._memory.keep(_question(about, parts), answer)

    def version_and_digest(
        self, program: str, parts: ProgramParts, version: Callable[[], str]
    ) -> tuple[str, str]:
        """Return what a program calls its version and the digest of its parts, kept or found out.

        ``version`` asks it. No part whose digest was kept is hashed again in this process.
        """
        about = f"version and digests of {program}"
        match self.recall(about, parts):
            case [str(known), [*kept]] if len(kept) == len(parts):
                digests = list(map(str, kept))
                for (_, _, state), digest in zip(parts, digests, strict=True):
                    remember_digest(state, digest)
                return known, parts_digest(parts, digests)
        stated, digests = version(), file_digests(parts)
        self.keep(about, parts, [stated, list[Json](digests)])
        return stated, parts_digest(parts, digests)


def identity_of(
    programs: Mapping[str, Program], library_path: tuple[Path, ...], disk: Disk, memory: ToolMemory
) -> dict[str, str]:
    """Return name, version and content digest of each program by role, known or found out."""
    found: dict[str, str] = {}
    for role, program in programs.items():
        version, digest = memory.version_and_digest(
            " ".join([program.name, *program.leading]),
            program_parts(program.path, library_path, disk),
            partial(version_of, program, file_stamp(program.path), library_path),
        )
        found |= {role: program.name, f"{role}_version": version, f"{role}_digest": digest}
    return found


@lru_cache(maxsize=64)
def version_of(program: Program, stamp: FileStamp, library_path: tuple[Path, ...]) -> str:
    """Return the version a program states; the stamp makes a replaced program be asked again."""
    with sealed_folder() as home:
        outcome = run_tool(program, ["--version"], home, library_path, OF_VERSIONS)
    match = re.search(rb"(?:version|LLD) (\d+(?:\.\d+)*)", outcome.output)
    if outcome.status or match is None:
        raise ToolchainFailed("does not state its version", location=stamp[0])
    return match[1].decode("ascii")


def file_digests(files: ProgramParts) -> list[str]:
    """Return the BLAKE3 of each part's bytes."""
    return [file_digest(path) if path else NOT_FOUND for _, path, _ in files]


def parts_digest(files: ProgramParts, digests: Sequence[str]) -> str:
    """Return the BLAKE3 over all parts, each under its name."""
    parts = [[name, digest] for (name, _, _), digest in zip(files, digests, strict=True)]
    return blake3_hex(stable_hash(parts).encode("ascii"))


def _is_known_by_files(parts: ProgramParts) -> bool:
    return bool(parts[0][1] and is_binary(parts[0][1]))


def _question(about: str, parts: ProgramParts) -> Json:
    files: list[Json] = [[name, str(path), list(state)] for name, path, state in parts]
    return {"about": about, "files": files}


@lru_cache(maxsize=64)
def _libraries(
    stamp: FileStamp, program: Path, library_path: tuple[Path, ...], disk: Disk
) -> tuple[tuple[str, Path | None], ...]:
    return loaded_libraries(program, library_path, disk)


def loaded_libraries(
    program: Path, library_path: Sequence[Path], disk: Disk
) -> tuple[tuple[str, Path | None], ...]:
    """Return (name, file) of every library that ``program`` loads, sorted by name.

    Searched like the system's loader does: ``library_path``, the run path of the file that asks,
    the folders of ``/etc/ld.so.conf``, the default folders. A library that is found nowhere has
    no file. A program that is no dynamic ELF file loads none.
    """
    first = _links_of(str(program), file_state(program))
    if first is None:
        return ()
    before, behind = tuple(map(str, library_path)), _configured_folders(disk)
    found: dict[str, Path | None] = {}
    waiting = [(str(program), first)]
    while waiting:
        origin, links = waiting.pop()
        folders = (*before, *_run_folders(origin, links), *behind)
        for name in links.needed:
            if name in found or len(found) >= MAX_LIBRARIES:
                continue
            below = _located(name, folders, first.machine, disk)
            found[name] = Path(below[0]) if below else None
            waiting += [below] if below else []
    return tuple(sorted(found.items()))


def _located(
    name: str, folders: tuple[str, ...], machine: int, disk: Disk
) -> tuple[str, _Links] | None:
    """Return the first file of that name for that machine, and what it needs in turn."""
    for folder in ("/",) if "/" in name else folders:
        path = os.path.join(folder, name)
        links = _links_of(path, file_state(path)) if disk.is_file(path) else None
        if links is not None and links.machine == machine:
            return path, links
    return None


@lru_cache(maxsize=512)
def _links_of(path: str, state: FileState) -> _Links | None:
    """Return what a file asks of the loader; None when it is no ELF file that asks anything.

    Each is read once as long as its state stays: the programs of one tool chain share most.
    """
    try:
        with opened(Path(path)) as stream:
            return _read_links(stream)
    except (BadInput, OSError, OverflowError, ValueError, struct.error):
        return None


def _read_links(stream: BinaryIO) -> _Links:
    """Read a file's dynamic section; of a damaged one what ``_links_of`` catches is raised."""
    header = ElfHeader.of(stream.read(HEADER_BYTES), "program")
    table = _read_at(stream, header.segments_at, header.segment_count * SEGMENT_BYTES)
    segments = segments_in(table)
    dynamic = [(one.offset, one.file_size) for one in segments if one.kind == PT_DYNAMIC]
    parts = [_read_at(stream, at, min(n, MAX_DYNAMIC_BYTES) // 16 * 16) for at, n in dynamic]
    rows = struct.iter_unpack("<qQ", b"".join(parts))
    entries = list(takewhile(lambda row: row[0] != DT_NULL, rows))
    strings = dict(entries).get(DT_STRTAB)
    if strings is None:
        return _Links(header.machine, (), ())
    loads = [one for one in segments if one.kind == PT_LOAD]
    # Without a segment that holds the strings this is a ``ValueError``.
    holder, *_ = (one for one in loads if one.address <= strings < one.address + one.file_size)
    start = holder.offset + strings - holder.address

    def texts(wanted: int) -> list[str]:
        places = [start + at for tag, at in entries if tag == wanted]
        found = (_read_at(stream, place, MAX_TEXT_BYTES) for place in places)
        return [text[: text.index(b"\0")].decode("utf-8", "replace") for text in found]

    folders = ":".join([*texts(DT_RUNPATH), *texts(DT_RPATH)]).split(":")
    return _Links(header.machine, tuple(texts(DT_NEEDED)), tuple(filter(None, folders)))


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
    listings = filter(disk.is_file, disk.files_under(Path("/etc/ld.so.conf.d"), ".conf"))
    text = "\n".join(disk.read_bytes(path).decode("utf-8", "replace") for path in listings)
    entries = [line.partition("#")[0].strip() for line in text.splitlines()]
    return (*(entry for entry in entries if entry.startswith("/")), *LOADER_FOLDERS)
