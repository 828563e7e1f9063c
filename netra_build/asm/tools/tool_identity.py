"""Content digest of a program together with every shared library that it loads.

It is asked for by every action that uses the program, so what it took to find it is remembered as
long as none of the files has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from netra_build.asm.tools.shared_libraries import LibrarySearch, loaded_libraries
from netra_build.core.canonical_json import stable_hash
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk
from netra_build.core.streams import (
    FileStamp,
    file_digest,
    file_stamp,
    file_state,
    opened,
    remember_digest,
)

ELF_MAGIC = b"\x7fELF"
NOT_FOUND = "not found"
"""Stands for the digest of a library that was not found."""

FilesState = tuple[tuple[int, ...], ...]
"""What changes when any of some files does."""

_Library = tuple[str, Path | None]
ProgramParts = tuple[tuple[str, Path | None, tuple[int, ...]], ...]
"""Name, file and state of the program or of one library; a library not found has no file."""


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
        return stream.read(len(ELF_MAGIC)) == ELF_MAGIC


def program_digest(program: Path, library_path: tuple[Path, ...], disk: Disk) -> str:
    """Return the BLAKE3 over the bytes of a program and of its libraries.

    Raises ``BadInput`` when the program is missing.
    """
    parts = program_parts(program, library_path, disk)
    return parts_digest(parts, file_digests(parts))


class WatchedPrograms:
    """Programs and the libraries that they were seen to load, looked at before and after each use.

    Every file is looked at each time; what was found out is the same as long as none has changed.
    """

    def __init__(
        self, programs: Iterable[Path], library_path: tuple[Path, ...], disk: Disk
    ) -> None:
        """Find the libraries; a program that changes later is read again as a whole."""
        self._files = _files(tuple(programs), library_path, disk)  # type: ignore[arg-type]
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


@lru_cache(maxsize=64)
def _files(
    programs: tuple[Path, ...], library_path: tuple[Path, ...], disk: Disk
) -> tuple[str, ...]:
    """Return the path of every program and every library that was found, once."""
    search = LibrarySearch(library_path, disk)
    loaded = [search.libraries_of(program) for program in programs]
    libraries = [path for found in loaded for _, path in found if path is not None]
    return tuple(map(str, dict.fromkeys([*programs, *libraries])))


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


def trust_digests(files: ProgramParts, digests: Sequence[str]) -> None:
    """Hash no part again in this process whose digest was kept with its state."""
    for (_, path, state), digest in zip(files, digests, strict=True):
        if path is not None:
            remember_digest(state, digest)
