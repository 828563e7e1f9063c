"""Who a program is: its version, and the digest of its bytes and of every library that it loads.

It is asked for by every action that uses the program, and to find out takes longer than assembling
a hundred kernels. So what was found holds, also for later processes, as long as no file changes: a
question names every file with its state, and one that was written, swapped or moved makes it
another question. What is too young to be told apart from a later edit is not kept, and nothing of
a script, whose files say nothing of what it starts.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Protocol

from netra_build.asm.objects.elf import MAGIC
from netra_build.asm.tools.programs import Program, run_tool
from netra_build.asm.tools.shared_libraries import loaded_libraries
from netra_build.core.canonical_json import Json, stable_hash
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk, sealed_folder
from netra_build.core.errors import ToolchainFailed
from netra_build.core.stamps import is_recent
from netra_build.core.streams import (
    FileStamp,
    file_digest,
    file_stamp,
    file_state,
    opened,
    remember_digest,
)

VERSION_SECONDS = 60.0
NOT_FOUND = "not found"
"""Stands for the digest of a library that was not found."""

FilesState = tuple[tuple[int, ...], ...]
"""What changes when any of some files does."""

_Library = tuple[str, Path | None]
ProgramParts = tuple[tuple[str, Path | None, tuple[int, ...]], ...]
"""Name, file and state of the program or of one library; a library not found has no file."""


class Memory(Protocol):
    """Answers by their questions; it can outlive the process."""

    def recall(self, question: Json) -> Json | None:
        """Return the answer kept for a question, None without one."""

    def keep(self, question: Json, answer: Json) -> None:
        """Keep the answer to a question."""


def program_parts(program: Path, library_path: tuple[Path, ...], disk: Disk) -> ProgramParts:
    """Return the program and each of its libraries with their states as they are now.

    Raises ``BadInput`` when the program is missing.
    """
    stamp = file_stamp(program)
    libraries = _libraries(stamp, program, library_path, disk)  # type: ignore[arg-type]
    files = (("program", program), *libraries)
    return tuple((name, path, file_state(path) if path else ()) for name, path in files)


def is_binary(program: Path) -> bool:
    """Tell whether a program is machine code: of a script nobody knows what it starts."""
    with opened(program) as stream:
        return stream.read(len(MAGIC)) == MAGIC


class WatchedPrograms:
    """Programs and the libraries that they were seen to load, looked at before and after each use.

    Every file is looked at each time; what was found out is the same as long as none has changed.
    """

    def __init__(
        self, programs: Iterable[Path], library_path: tuple[Path, ...], disk: Disk
    ) -> None:
        """Find the libraries; a program that changes later is read again as a whole."""
        parts = [program_parts(program, library_path, disk) for program in programs]
        paths = [path for found in parts for _, path, _ in found if path is not None]
        self._files = tuple(map(str, dict.fromkeys(paths)))
        self._known: tuple[FilesState, dict[str, str]] | None = None

    def state(self) -> FilesState:
        """Return the state of all files."""
        return tuple(map(file_state, self._files))

    def identity(self, find: Callable[[], dict[str, str]]) -> dict[str, str]:
        """Return what ``find`` made of the files as they are now."""
        state, known = self.state(), self._known
        if known is None or known[0] != state:
            self._known = known = state, find()
        return dict(known[1])


class ToolMemory:
    """Answers about programs in a memory that outlives the process; without one, no answers."""

    def __init__(self, memory: Memory | None = None) -> None:
        self._memory = memory

    def recall(self, about: str, parts: ProgramParts) -> Json | None:
        """Return what is known about a program as it is now, None if nothing is."""
        if self._memory is None or not _is_known_by_files(parts):
            return None
        return self._memory.recall(_question(about, parts))

    def keep(self, about: str, parts: ProgramParts, answer: Json) -> None:
        """Keep an answer for as long as no part of the program changes."""
        moment_ns = time.time_ns()
        states = [state for _, path, state in parts if path is not None]
        is_settled = all(s and not is_recent(s[1], s[2], moment_ns) for s in states)
        if self._memory is not None and is_settled and _is_known_by_files(parts):
            self._memory.keep(_question(about, parts), answer)

    def version_and_digest(
        self, program: str, parts: ProgramParts, version: Callable[[], str]
    ) -> tuple[str, str]:
        """Return what a program calls its version and the digest of its parts, kept or found out.

        ``version`` asks it. The digest of each part is kept, so that none is hashed for another
        question of the same process.
        """
        about = f"version and digests of {program}"
        match self.recall(about, parts):
            case [str(known), [*kept]] if len(kept) == len(parts):
                digests = list(map(str, kept))
                _trust_digests(parts, digests)
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
    with sealed_folder() as folder:
        outcome = run_tool(program, ["--version"], folder, library_path, VERSION_SECONDS)
    match = re.search(rb"(?:version|LLD) (\d+(?:\.\d+)*)", outcome.output)
    if outcome.status or match is None:
        raise ToolchainFailed("does not state its version", location=stamp[0])
    return match[1].decode("ascii")


@lru_cache(maxsize=64)
def _libraries(
    stamp: FileStamp, program: Path, library_path: tuple[Path, ...], disk: Disk
) -> tuple[_Library, ...]:
    return loaded_libraries(program, library_path, disk)


def file_digests(files: ProgramParts) -> list[str]:
    """Return the BLAKE3 of each part's bytes."""
    return [file_digest(path) if path else NOT_FOUND for _, path, _ in files]


def parts_digest(files: ProgramParts, digests: Sequence[str]) -> str:
    """Return the BLAKE3 over all parts, each under its name."""
    parts = [[name, digest] for (name, _, _), digest in zip(files, digests, strict=True)]
    return blake3_hex(stable_hash(parts).encode("ascii"))


def _trust_digests(files: ProgramParts, digests: Sequence[str]) -> None:
    """Hash no part again in this process whose digest was kept with its state."""
    for (_, path, state), digest in zip(files, digests, strict=True):
        if path is not None:
            remember_digest(state, digest)


def _is_known_by_files(parts: ProgramParts) -> bool:
    _, program, _ = parts[0]
    return program is not None and is_binary(program)


def _question(about: str, parts: ProgramParts) -> Json:
    files: list[Json] = [[name, str(path), list(state)] for name, path, state in parts]
    return {"about": about, "files": files}
