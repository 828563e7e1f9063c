"""A tool chain that assembles, links and disassembles in worker processes.

A library stands beside a JSON note of what it was made from. It is used only with the very tool
chain that it was proven against: the note holds that tool chain's identity, which covers the
programs and LLVM's shared library.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from netra_build.asm.native.protocol import DECLINED, REFUSED
from netra_build.asm.native.workers import (
    MAX_WORKERS,
    Launch,
    WorkerEnded,
    WorkerHung,
    WorkerPool,
    WorkerUnusable,
)
from netra_build.asm.tools.bounds import Bounds
from netra_build.asm.tools.programs import Outcome, Program, dead
from netra_build.asm.tools.tool_identity import loaded_libraries
from netra_build.asm.tools.toolchain import (
    LINK_FLAGS,
    OBJECT_NAME,
    PROCESSOR,
    TARGET_TRIPLE,
    Toolchain,
)
from netra_build.core.canonical_json import Json, parse_strict, stable_hash
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk
from netra_build.core.errors import NetraError, ToolchainFailed

SOURCE_FOLDER = Path(__file__).parent
SOURCE_SUFFIXES = (".cpp", ".h")
NOTE_SUFFIX = ".json"
MAX_NOTE_BYTES = 65536
FATAL = "LLVM ERROR: "
MACHINE = (TARGET_TRIPLE.encode(), PROCESSOR.encode())


@dataclass(frozen=True)
class NativeLibrary:
    """A library that belongs to a tool chain, the LLVM library it needs and its BLAKE3."""

    path: Path
    llvm_path: Path
    digest: str


def find_library(programs: Toolchain, folder: Path) -> NativeLibrary | None:
    """Return the library in ``folder`` whose very bytes were proven for ``programs``, or None."""
    disk = programs.disk
    notes = disk.files_under(folder, NOTE_SUFFIX) if disk.is_folder(folder) else ()
    wanted = belonging(programs) if notes else {}
    for note_path in notes:
        note = read_note(note_path, disk)
        path = note_path.with_suffix(".so")
        if all(note.get(name) == value for name, value in wanted.items()) and disk.is_file(path):
            library = library_at(programs, path)
            if note.get("library_digest") == library.digest:
                return library
    return None


def library_at(programs: Toolchain, path: Path) -> NativeLibrary:
    """Return the library at ``path``; ``ToolchainFailed`` when the programs load no LLVM."""
    return NativeLibrary(path, llvm_library(programs), blake3_hex(programs.disk.read_bytes(path)))


def llvm_library(programs: Toolchain) -> Path:
    """Return the shared library that holds LLVM for all programs, or raise ``ToolchainFailed``."""
    found = shared_library(programs, programs.assembler, "libLLVM")
    if found is None:
        raise no_native_part("this tool chain has no shared library of LLVM")
    return found


def no_native_part(fact: str, hint: str = "") -> ToolchainFailed:
    """Return the error that says why there is no native part."""
    return ToolchainFailed(fact, location="native part", hint=hint)


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


class NativePart:
    """The workers of one tool chain, looked for when first needed; safe for many threads."""

    def __init__(self, folder: Path | None, workers: int = MAX_WORKERS) -> None:
        """Look for the library in ``folder``; there is none without a folder."""
        self._folder = folder
        self._workers = workers
        self._lock = threading.RLock()
        self._serves: Mapping[str, str] | None = None
        self._library: NativeLibrary | None = None
        self._pool: WorkerPool | None = None
        self._is_known = False
        self.absence = ""
        """Why the programs are used; empty as long as the workers are."""

    def library(self, programs: Toolchain) -> NativeLibrary | None:
        """Return the library in use, None when the programs are used."""
        self._find(programs)
        return self._library

    def ask(self, programs: Toolchain, parts: Sequence[bytes]) -> Outcome | None:
        """Return a worker's answer, None without a worker; ``WorkerEnded`` or ``WorkerHung``."""
        pool = self._find(programs)
        if pool is None:
            return None
        try:
            return pool.ask(parts)
        except WorkerUnusable as error:
            with self._lock:
                self._library, self._pool, self.absence = None, None, str(error)
            return None

    def serve(self, identity: Mapping[str, str]) -> None:
        """Work for the programs of this identity: a worker holds what it loaded when it started.

        What was found and started for others goes; the next request looks for a library again.
        """
        if identity == self._serves:
            return
        with self._lock:
            is_first, self._serves = self._serves is None, identity
            pool = self._pool
            if is_first or pool is None:
                return
            self._library, self._pool, self._is_known = None, None, False
        pool.close()

    def begin_anew(self) -> None:
        """Start workers of our own, in a copy of the process that has started the present ones."""
        self._lock = threading.RLock()
        if self._pool is not None:
            self._pool = self._pool.of_a_copy()

    def close(self) -> None:
        """End the workers; a later request starts new ones."""
        pool = self._pool
        if pool is not None:
            pool.close()

    def use(self, programs: Toolchain, library: NativeLibrary | None) -> None:
        """Use this library, or the programs when it is None, instead of looking for one."""
        with self._lock:
            self._is_known, self._library, self._pool = True, library, None
            if library is None:
                self.absence = "no native library was built for this tool chain"
                return
            places = library.path, library.llvm_path, programs.library_path
            self._pool = WorkerPool(Launch(*places, programs.bounds), self._workers)

    def _find(self, programs: Toolchain) -> WorkerPool | None:
        with self._lock:
            if not self._is_known:
                self.use(programs, find_library(programs, self._folder) if self._folder else None)
            return self._pool


@dataclass(frozen=True)
class NativeToolchain(Toolchain):
    """A ``Toolchain`` whose work is done in process, with the same results.

    ``identity`` is that of the programs: outputs may be shared between machines that have the
    native part and machines that have not.
    """

    native: NativePart = field(default_factory=lambda: NativePart(None), compare=False, repr=False)

    def identity(self, disk: Disk | None = None) -> dict[str, str]:
        """Return the identity as ``Toolchain.identity`` does.

        Workers that began when it was another one are ended: whoever asks before and after a
        request, as every action does, never takes what one of them made for the new programs'.
        """
        found = super().identity(disk)
        if disk is None:
            self.native.serve(found)
        return found

    def native_identity(self) -> dict[str, str]:
        """Return ``library_digest`` of the library in use, or ``absence`` with the reason."""
        library = self.native.library(self)
        if library is None:
            return {"absence": self.native.absence}
        return {"library_digest": library.digest}

    def close(self) -> None:
        """End the workers; they also end with the interpreter."""
        self.native.close()

    def _assemble(self, files: Mapping[str, bytes], main: str, include_root: str | None) -> Outcome:
        place = (main.encode("utf-8", "surrogateescape"), (include_root or "").encode())
        contents = [part for name, data in files.items() for part in (name.encode(), data)]
        answer = None
        if b"\0" not in place[0]:
            answer = self._ask("assembler", [b"assemble", *MACHINE, *place, *contents])
        return super()._assemble(files, main, include_root) if answer is None else answer

    def _link(self, objects: Mapping[str, bytes]) -> Outcome:
        parts = [b"link", " ".join(LINK_FLAGS).encode(), *objects.values()]
        answer = self._ask("linker", parts)
        return super()._link(objects) if answer is None else answer

    def _disassemble(self, program: Program, hsaco: bytes) -> Outcome:
        parts = [b"disassemble", *MACHINE, OBJECT_NAME.encode(), hsaco]
        answer = self._ask("disassembler", parts)
        if answer is None or answer.status:
            return super()._disassemble(program, hsaco)
        return answer

    def _ask(self, tool: str, parts: Sequence[bytes]) -> Outcome | None:
        """Return a done or refused answer; None when the program has to be asked instead."""
        try:
            answer = self.native.ask(self, parts)
        except WorkerHung:
            raise self.bounds.too_slow(f"in-process {tool}") from None
        except WorkerEnded as ended:
            return _refused_at_the_end(tool, ended, self.bounds)
        return None if answer is None or answer.status == DECLINED else answer


def with_native_part(
    programs: Toolchain, folder: Path | None, *, workers: int = MAX_WORKERS
) -> NativeToolchain:
    """Return ``programs`` with the native part that stands in ``folder``, if it fits them.

    Nothing is read or started before the first request.
    """
    values = {item.name: getattr(programs, item.name) for item in fields(Toolchain)}
    return NativeToolchain(**values, native=NativePart(folder, workers))


def _refused_at_the_end(tool: str, ended: WorkerEnded, bounds: Bounds) -> Outcome:
    """Return the refusal of a tool that ended its process after it; raise for every other end."""
    location = f"in-process {tool}"
    if "error:" in ended.report:
        return Outcome(REFUSED, b"", ended.report)
    if ended.code >= 0:
        raise ToolchainFailed(f"ended with exit code {ended.code}", location=location)
    lines = ended.report.split("\n")
    reasons = [f": {line.removeprefix(FATAL)}" for line in lines if line.startswith(FATAL)]
    exceeded = bounds.exceeded(ended.report, location)
    raise exceeded or dead(-ended.code, location, "".join(reasons[:1]))
