"""The built native library: where it is kept, and whether it belongs to a tool chain.

A library stands beside a JSON note of what it was made from. It is used only with the very tool
chain that it was proven against: the note holds that tool chain's identity, which covers the
programs and LLVM's shared library.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from netra_build.asm.tools.programs import Program
from netra_build.asm.tools.shared_libraries import loaded_libraries
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.canonical_json import Json, parse_strict, stable_hash
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk
from netra_build.core.errors import NetraError

SOURCE_FOLDER = Path(__file__).parent
SOURCE_SUFFIXES = (".cpp", ".h")
NOTE_SUFFIX = ".json"
MAX_NOTE_BYTES = 65536


@dataclass(frozen=True)
class NativeLibrary:
    """A library that belongs to a tool chain, the LLVM library it needs and its BLAKE3."""

    path: Path
    llvm_path: Path
    digest: str


def find_library(programs: Toolchain, folder: Path) -> NativeLibrary | None:
    """Return the library in ``folder`` that was built and proven for ``programs``, or None.

    A library whose bytes are not those that were proven does not count.
    """
    disk = programs.disk
    notes = disk.files_under(folder, NOTE_SUFFIX) if disk.is_folder(folder) else ()
    llvm_path = llvm_library(programs) if notes else None
    if llvm_path is None:
        return None
    wanted = belonging(programs)
    for note_path in notes:
        note = read_note(note_path, disk)
        path = note_path.with_suffix(".so")
        if all(note.get(name) == value for name, value in wanted.items()) and disk.is_file(path):
            digest = blake3_hex(disk.read_bytes(path))
            if note.get("library_digest") == digest:
                return NativeLibrary(path, llvm_path, digest)
    return None


def llvm_library(programs: Toolchain) -> Path | None:
    """Return the shared library that holds LLVM for all programs; None when there is none."""
    return shared_library(programs, programs.assembler, "libLLVM")


def shared_library(programs: Toolchain, program: Program, start: str) -> Path | None:
    """Return the shared library of ``program`` whose name begins with ``start``, if it has one."""
    for name, path in loaded_libraries(program.path, programs.library_path, programs.disk):
        if name.startswith(start):
            return path
    return None


def source_files(disk: Disk) -> dict[str, bytes]:
    """Return the C++ files of the library by name."""
    paths = [path for suffix in SOURCE_SUFFIXES for path in disk.files_under(SOURCE_FOLDER, suffix)]
    return {path.name: disk.read_bytes(path) for path in sorted(paths)}


def belonging(programs: Toolchain) -> dict[str, Json]:
    """Return what must be equal for a library to be used, as it stands in the note."""
    sources = {name: blake3_hex(data) for name, data in source_files(programs.disk).items()}
    identity: dict[str, Json] = {**programs.identity()}
    return {"sources": stable_hash({**sources}), "toolchain": identity}


def read_note(path: Path, disk: Disk) -> dict[str, Json]:
    """Return a note, empty when it cannot be used: a library is an extra, never a need."""
    try:
        note = parse_strict(disk.read_bytes(path, max_bytes=MAX_NOTE_BYTES), str(path))
    except NetraError:
        return {}
    return note if isinstance(note, dict) else {}
