"""The tool chain: the only module that starts programs, each bounded and with nothing ambient."""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path

from netra_build.asm.objects.elf import is_whole
from netra_build.asm.tools.diagnostics import LinkFailed, assembly_failure, death, first_tool_error
from netra_build.asm.tools.tool_identity import (
    ELF_MAGIC,
    WatchedPrograms,
    program_parts,
)
from netra_build.asm.tools.tool_memory import ToolMemory
from netra_build.asm.tools.toolchain_places import (
    local_candidates,
    rocm_candidates,
    system_candidates,
)
from netra_build.core.disk import Disk, RealDisk, relative_name, sealed_folder
from netra_build.core.errors import BadInput, NetraError, ToolchainFailed
from netra_build.core.memory import Memory
from netra_build.core.processes import waited_for
from netra_build.core.streams import FileStamp, file_stamp, scratch_stream

TARGET_TRIPLE = "amdgcn-amd-amdhsa"
PROCESSOR = "gfx950"
TIMEOUT_SECONDS = 60.0
MAX_MEMORY_BYTES = 4 * 1024**3
MAX_OUTPUT_BYTES = 256 * 1024**2
MAX_REPORT_BYTES = 1024**2

INSTALL_HINT = (
    "install LLVM 20 or newer (Debian: llvm-22 and lld-22) or the ziglang package, "
    "or name a folder that holds llvm-mc and ld.lld with toolchain=DIR"
)
_LINK = ("-shared", "--build-id=none", "-o", "linked.hsaco")
_DISASSEMBLE = ("--disassemble", f"--mcpu={PROCESSOR}", "object.hsaco")
_ASSEMBLES = f"assembles {PROCESSOR}"
_PROBE = b'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n\tv_permlane16_swap_b32 v0, v1\n'


@dataclass(frozen=True)
class Program:
    """One program to run: its plain name, its file and the arguments that always come first."""

    name: str
    path: Path
    leading: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How a program ended: its exit status, what it printed and what it reported."""

    status: int
    output: bytes
    report: str


@dataclass(frozen=True)
class Toolchain:
    """An assembler, a linker and, when there is one, a disassembler that know gfx950."""

    origin: str
    """How it was found: ``explicit``, ``rocm``, ``system``, ``local`` or ``ziglang``."""
    assembler: Program
    linker: Program
    disassembler: Program | None = None
    library_path: tuple[Path, ...] = ()
    """Folders that only these programs search for shared libraries."""
    timeout_seconds: float = TIMEOUT_SECONDS
    disk: Disk = field(default_factory=RealDisk, compare=False, repr=False)
    memory: ToolMemory = field(default_factory=ToolMemory, compare=False, repr=False)

    @property
    def version(self) -> str:
        """The assembler's version, for example ``22.1.8``."""
        return _version_of(self.assembler, file_stamp(self.assembler.path), self.library_path)

    def identity(self, disk: Disk | None = None) -> dict[str, str]:
        """Return name, version and content digest of each program; paths are no part of it.

        The digest covers the program's bytes and the shared libraries found through ``disk``.
        """
        if disk is None:
            return self._watched.identity(lambda: _identity(self, self.disk))
        return _identity(self, disk)

    @cached_property
    def _watched(self) -> WatchedPrograms:
        paths = [program.path for program in self.programs().values()]
        return WatchedPrograms(paths, self.library_path, self.disk)

    def programs(self) -> dict[str, Program]:
        """Return the programs by role."""
        more = {"disassembler": self.disassembler} if self.disassembler else {}
        return {"assembler": self.assembler, "linker": self.linker, **more}

    def assemble(self, unit: bytes, *, name: str = "unit.s") -> bytes:
        """Assemble one self-contained unit in a folder that holds nothing else.

        Raises ``AssemblyFailed`` with the assembler's report when the source is refused, and
        ``ToolchainFailed`` when the assembler crashes, hangs or exhausts its bounds.
        """
        return self._assemble({name: unit}, name, None)

    def assemble_tree(
        self, files: Mapping[str, bytes], main: str, include_root: str = "."
    ) -> bytes:
        """Assemble ``main`` in a folder that holds exactly ``files``, with one include root.

        Diagnostics then name the author's files and lines. Raises as ``assemble`` does.
        """
        return self._assemble(files, main, include_root)

    def link(self, objects: Sequence[bytes]) -> bytes:
        """Link relocatable objects to one code object; ``LinkFailed`` when they are refused.

        An input that is no ELF file is refused here: the linker would run it as a script.
        """
        if not all(data.startswith(ELF_MAGIC) for data in objects):
            raise LinkFailed("input is no object", location=self.linker.name, raw="")
        names = [f"{index}.o" for index in range(len(objects))]
        arguments = [*_LINK, *names]
        with sealed_folder() as folder:
            for name, data in zip(names, objects, strict=True):
                self.disk.write_bytes(folder / name, data)
            outcome = self._run(self.linker, arguments, folder)
            if outcome.status:
                fact = first_tool_error(outcome.report)
                raise LinkFailed(fact, location=self.linker.name, raw=outcome.report)
            return self._made(folder / "linked.hsaco", self.linker)

    def disassemble(self, hsaco: bytes, *, label: str = "object.hsaco") -> str:
        """Return the disassembler's text with ``label`` where it prints the file's name.

        Raises ``ToolchainFailed`` when this tool chain has no disassembler, ``BadInput`` when the
        disassembler refuses the object.
        """
        if self.disassembler is None:
            raise ToolchainFailed(
                f"this tool chain ({self.origin}) has no disassembler",
                hint="install LLVM's llvm-objdump (Debian: llvm-22)",
            )
        with sealed_folder() as folder:
            self.disk.write_bytes(folder / "object.hsaco", hsaco)
            outcome = self._run(self.disassembler, _DISASSEMBLE, folder)
        if outcome.status:
            fact = f"cannot be disassembled: {first_tool_error(outcome.report)}"
            raise BadInput(fact, location=label)
        text = outcome.output.decode("utf-8", "backslashreplace")
        return text.replace("\nobject.hsaco:\t", f"\n{label}:\t", 1)

    def command(self, verb: str) -> str:
        """Return how ``assemble``, ``link`` or ``disassemble`` calls its program; else ``""``."""
        assembler = self.assembler
        calls: dict[str, tuple[Program | None, Sequence[str]]] = {
            "assemble": (assembler, [*_assemble_flags(assembler), "--", "unit.s"]),
            "link": (self.linker, [*_LINK, "0.o"]),
            "disassemble": (self.disassembler, _DISASSEMBLE),
        }
        program, arguments = calls.get(verb, (None, ()))
        return " ".join([str(program.path), *program.leading, *arguments]) if program else ""

    def _assemble(self, files: Mapping[str, bytes], main: str, include_root: str | None) -> bytes:
        with sealed_folder() as folder:
            for name, data in files.items():
                self.disk.write_bytes(folder / relative_name(name, main), data)
            arguments = _assemble_flags(self.assembler)
            if include_root is not None:
                arguments += ["-I", include_root]
            outcome = self._run(self.assembler, [*arguments, "--", main], folder)
            if outcome.status:
                raise assembly_failure(outcome.report, main)
            return self._made(folder / "unit.o", self.assembler)

    def _made(self, path: Path, program: Program) -> bytes:
        """Return the ELF file that a program said it wrote."""
        data = self.disk.read_bytes(path) if self.disk.is_file(path) else b""
        if not data.startswith(ELF_MAGIC):
            raise ToolchainFailed("succeeded without an ELF file", location=str(program.path))
        if not is_whole(data):  # the next program's complaint would be taken for the author's fault
            raise ToolchainFailed("wrote only a part of an ELF file", location=str(program.path))
        return data

    def _run(self, program: Program, arguments: Sequence[str], folder: Path) -> Outcome:
        return _run(program, arguments, folder, self.library_path, self.timeout_seconds)


def find_toolchain(
    explicit: Path | None = None,
    *,
    rocm_path: Path | None = None,
    local: Path | None = None,
    path: str = "",
    system: bool = True,
    wheel: bool = True,
    disk: Disk | None = None,
    memory: Memory | None = None,
) -> Toolchain:
    """Return the first usable tool chain in the documented order.

    ``explicit`` names a folder and is then the only choice. Otherwise: the LLVM of ``rocm_path``
    and of ``/opt/rocm``; installed LLVM 20 or newer, newest first, then the folders of ``path``
    (both only with ``system``); the unpacked packages below ``local``; the ziglang wheel (with
    ``wheel``). Raises ``ToolchainFailed`` with what to install when none assembles gfx950. What
    was found out about these very files is taken from ``memory``.
    """
    disk, known = disk or RealDisk(), ToolMemory(memory)
    if explicit is not None:
        return _proven(_explicit_toolchain(explicit, disk), disk, known)
    refused: NetraError | None = None
    candidates = [
        *rocm_candidates(rocm_path, system),
        *(system_candidates(path) if system else ()),
        *(local_candidates(local) if local is not None else ()),
    ]
    for origin, folders, library_path in candidates:
        found = _toolchain_in(folders, origin, library_path, disk)
        if found is not None:
            try:
                return _proven(found, disk, known)
            except ToolchainFailed as error:
                refused = refused or error
    found = _wheel_toolchain(disk) if wheel else None
    if found is not None:
        return _proven(found, disk, known)
    if refused is not None:
        raise refused
    raise ToolchainFailed("no assembler and linker for gfx950 were found", hint=INSTALL_HINT)


def _explicit_toolchain(folder: Path, disk: Disk) -> Toolchain:
    home = folder.absolute()  # programs run in folders of their own
    found = _toolchain_in((home, home / "bin", home / "llvm" / "bin"), "explicit", (), disk)
    if found is None:
        raise ToolchainFailed(
            "folder holds no assembler and linker",
            location=str(folder),
            expected="llvm-mc or clang, and ld.lld",
            got="none or one of them",
            hint=INSTALL_HINT,
        )
    return found


def _wheel_toolchain(disk: Disk) -> Toolchain | None:
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    zig = Path(spec.origin).parent / "zig"
    if not disk.is_file(zig):
        return None
    return Toolchain(
        "ziglang", Program("clang", zig, ("clang",)), Program("ld.lld", zig, ("ld.lld",))
    )


def _toolchain_in(
    folders: Sequence[Path], origin: str, library_path: tuple[Path, ...], disk: Disk
) -> Toolchain | None:
    def program(*names: str) -> Program | None:
        for name in names:
            for folder in folders:
                if disk.is_file(folder / name):
                    return Program(name, folder / name)
        return None

    assembler, linker = program("llvm-mc", "clang"), program("ld.lld")
    if assembler is None or linker is None:
        return None
    return Toolchain(origin, assembler, linker, program("llvm-objdump"), library_path)


def _proven(toolchain: Toolchain, disk: Disk, known: ToolMemory) -> Toolchain:
    """Return the tool chain after it assembled one gfx950 instruction; refuse it otherwise."""
    toolchain = replace(toolchain, memory=known)
    parts = program_parts(toolchain.assembler.path, toolchain.library_path, disk)
    if known.recall(_ASSEMBLES, parts):
        return toolchain
    try:
        toolchain.assemble(_PROBE)
    except NetraError as error:
        raise ToolchainFailed(
            f"cannot assemble {PROCESSOR}: {error.fact}",
            location=str(toolchain.assembler.path),
            hint=INSTALL_HINT,
        ) from None
    known.keep(_ASSEMBLES, parts, True)
    return toolchain


def _assemble_flags(assembler: Program) -> list[str]:
    if assembler.name == "clang":
        target = ["-target", TARGET_TRIPLE, f"-mcpu={PROCESSOR}"]
        return ["-x", "assembler", *target, "-c", "-o", "unit.o"]
    return [f"-triple={TARGET_TRIPLE}", f"-mcpu={PROCESSOR}", "-filetype=obj", "-o", "unit.o"]


def _run(
    program: Program,
    arguments: Sequence[str],
    folder: Path,
    library_path: Sequence[Path],
    timeout_seconds: float,
) -> Outcome:
    """Run one program in ``folder`` with a fixed environment and bounded time, memory, output."""
    environment = {"LC_ALL": "C"}
    if library_path:
        environment["LD_LIBRARY_PATH"] = ":".join(str(entry) for entry in library_path)
    with scratch_stream() as output, scratch_stream() as report:
        try:
            process = subprocess.Popen(
                [str(program.path), *program.leading, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=report,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "unusable path"
            raise ToolchainFailed(
                f"cannot be started: {reason.lower()}",
                location=str(program.path),
                hint=INSTALL_HINT,
            ) from None
        _bound(process)
        status = _wait(process, program, timeout_seconds)
        report.seek(0)
        text = report.read(MAX_REPORT_BYTES).decode("utf-8", "backslashreplace")
        if status < 0 and "error:" not in text:
            raise ToolchainFailed(death(-status, MAX_OUTPUT_BYTES), location=str(program.path))
        output.seek(0)
        return Outcome(status, output.read(MAX_OUTPUT_BYTES), text)


def _bound(process: subprocess.Popen[bytes]) -> None:
    """Limit a started process from outside; one that has already ended needs no limit."""
    for kind, most in (
        (resource.RLIMIT_AS, MAX_MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, MAX_OUTPUT_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.prlimit(process.pid, kind, (most, most))
        except (OSError, ValueError):
            return


def _wait(process: subprocess.Popen[bytes], program: Program, timeout_seconds: float) -> int:
    try:
        return process.wait(0 if waited_for(process.pid, timeout_seconds) else timeout_seconds)
    except subprocess.TimeoutExpired:
        raise ToolchainFailed(
            f"did not finish within {timeout_seconds:g} seconds", location=str(program.path)
        ) from None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@lru_cache(maxsize=64)
def _version_of(program: Program, stamp: FileStamp, library_path: tuple[Path, ...]) -> str:
    """Return the version a program states; the stamp makes a replaced program be asked again."""
    with sealed_folder() as folder:
        outcome = _run(program, ["--version"], folder, library_path, TIMEOUT_SECONDS)
    match = re.search(rb"(?:version|LLD) (\d+(?:\.\d+)*)", outcome.output)
    if outcome.status or match is None:
        raise ToolchainFailed("does not state its version", location=stamp[0])
    return match[1].decode("ascii")


def _identity(toolchain: Toolchain, disk: Disk) -> dict[str, str]:
    """Return the identity, found through ``disk``."""
    found: dict[str, str] = {}
    for role, program in toolchain.programs().items():
        version, digest = _facts(toolchain, program, disk)
        found |= {role: program.name, f"{role}_version": version, f"{role}_digest": digest}
    return found


def _facts(toolchain: Toolchain, program: Program, disk: Disk) -> tuple[str, str]:
    """Return version and content digest of a program."""
    library_path = toolchain.library_path
    parts = program_parts(program.path, library_path, disk)
    return toolchain.memory.version_and_digest(
        " ".join([program.name, *program.leading]),
        parts,
        lambda: _version_of(program, file_stamp(program.path), library_path),
    )
