"""The tool chain: assembler, linker and disassembler of one LLVM, and how they are found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path

from netra_build.asm.objects.elf import MAGIC, is_whole
from netra_build.asm.tools.bounds import USUAL, Bounds
from netra_build.asm.tools.programs import (
    INSTALL_HINT,
    LinkFailed,
    Outcome,
    Program,
    assembly_failure,
    first_tool_error,
    run_tool,
)
from netra_build.asm.tools.round_trip import confirmed
from netra_build.asm.tools.tool_identity import (
    Memory,
    ToolMemory,
    WatchedPrograms,
    identity_of,
    program_parts,
    version_of,
)
from netra_build.core.disk import Disk, RealDisk, relative_name, sealed_folder
from netra_build.core.errors import NetraError, ToolchainFailed
from netra_build.core.streams import file_stamp

TARGET_TRIPLE = "amdgcn-amd-amdhsa"
PROCESSOR = "gfx950"
LLVM_VERSIONS = range(40, 19, -1)  # newest first; older ones do not know gfx950

OBJECT_NAME = "object.hsaco"
LINK_FLAGS = ("-shared", "--build-id=none")
_LINK = (*LINK_FLAGS, "-o", "linked.hsaco")
_DISASSEMBLE = ("--disassemble", f"--mcpu={PROCESSOR}", OBJECT_NAME)
_ASSEMBLES = f"assembles {PROCESSOR}"
_PROBE = b'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n\tv_permlane16_swap_b32 v0, v1\n'


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
    bounds: Bounds = USUAL
    disk: Disk = field(default_factory=RealDisk, compare=False, repr=False)
    memory: ToolMemory = field(default_factory=ToolMemory, compare=False, repr=False)

    @property
    def version(self) -> str:
        """The assembler's version, for example ``22.1.8``."""
        return version_of(self.assembler, file_stamp(self.assembler.path), self.library_path)

    def identity(self, disk: Disk | None = None) -> dict[str, str]:
        """Return name, version and content digest of each program; paths are no part of it.

        The digest covers the program's bytes and the shared libraries found through ``disk``.
        """
        if disk is None:
            return self._watched.identity(lambda: self.identity(self.disk))
        return identity_of(self.programs(), self.library_path, disk, self.memory)

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
        return self._object({name: unit}, name, None)

    def assemble_tree(
        self, files: Mapping[str, bytes], main: str, include_root: str = "."
    ) -> bytes:
        """Assemble ``main`` in a folder that holds exactly ``files``, with one include root.

        Diagnostics then name the author's files and lines. Raises as ``assemble`` does.
        """
        return self._object(files, main, include_root)

    def link(self, objects: Sequence[bytes]) -> bytes:
        """Link relocatable objects to one code object; ``LinkFailed`` when they are refused.

        An input that is no ELF file is refused here: the linker would run it as a script.
        """
        if not all(data.startswith(MAGIC) for data in objects):
            raise LinkFailed("input is no object", location=self.linker.name, raw="")
        outcome = self._link({f"{index}.o": data for index, data in enumerate(objects)})
        if outcome.status:
            report = outcome.report
            raise LinkFailed(first_tool_error(report), location=self.linker.name, raw=report)
        return outcome.output

    def disassemble(self, hsaco: bytes, *, label: str = OBJECT_NAME) -> str:
        """Return the disassembler's text with ``label`` where it prints the file's name.

        What does not assemble back to its words has a remark. Raises ``ToolchainFailed`` without
        a disassembler, ``BadInput`` when the object is refused or crashes a program.
        """
        if self.disassembler is None:
            raise ToolchainFailed(
                f"this tool chain ({self.origin}) has no disassembler",
                hint="install LLVM's llvm-objdump (Debian: llvm-22)",
            )
        disassemble = partial(self._disassemble, self.disassembler, hsaco)
        text = confirmed(disassemble, self.assemble, self.memory.confirmed, label)
        return text.replace(f"\n{OBJECT_NAME}:\t", f"\n{label}:\t", 1)

    def command(self, verb: str) -> str:
        """Return how ``assemble``, ``link`` or ``disassemble`` calls its program; else ``""``."""
        calls: dict[str, tuple[Program | None, Sequence[str]]] = {
            "assemble": (self.assembler, [*_assemble_flags(self.assembler), "--", "unit.s"]),
            "link": (self.linker, [*_LINK, "0.o"]),
            "disassemble": (self.disassembler, _DISASSEMBLE),
        }
        program, arguments = calls.get(verb, (None, ()))
        return " ".join([str(program.path), *program.leading, *arguments]) if program else ""

    def _object(self, files: Mapping[str, bytes], main: str, include_root: str | None) -> bytes:
        named = {relative_name(name, main): data for name, data in files.items()}
        outcome = self._assemble(named, main, include_root)
        if outcome.status:
            raise assembly_failure(outcome.report, main)
        return outcome.output

    def _assemble(self, files: Mapping[str, bytes], main: str, include_root: str | None) -> Outcome:
        arguments = _assemble_flags(self.assembler)
        if include_root is not None:
            arguments += ["-I", include_root]
        return self._run(self.assembler, [*arguments, "--", main], files, "unit.o")

    def _link(self, objects: Mapping[str, bytes]) -> Outcome:
        return self._run(self.linker, [*_LINK, *objects], objects, "linked.hsaco")

    def _disassemble(self, program: Program, hsaco: bytes) -> Outcome:
        return self._run(program, _DISASSEMBLE, {OBJECT_NAME: hsaco}, "")

    def _run(
        self, program: Program, arguments: Sequence[str], files: Mapping[str, bytes], made: str
    ) -> Outcome:
        """Run a program in a folder that holds exactly ``files``; ``made`` is the ELF it makes."""
        with sealed_folder() as folder:
            for name, data in files.items():
                self.disk.write_bytes(folder / name, data)
            outcome = run_tool(program, arguments, folder, self.library_path, self.bounds)
            if outcome.status or not made:
                return outcome
            data = self.disk.read_bytes(folder / made) if self.disk.is_file(folder / made) else b""
        if is_whole(data):
            return replace(outcome, output=data)
        # Otherwise the next program's complaint would be taken for the author's fault.
        fact = "wrote only a part of" if data.startswith(MAGIC) else "succeeded without"
        raise ToolchainFailed(f"{fact} an ELF file", location=str(program.path))


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
    bounds: Bounds = USUAL,
) -> Toolchain:
    """Return the first usable tool chain in the documented order.

    ``explicit`` names a folder and is then the only choice. Otherwise: the LLVM of ``rocm_path``
    and of ``/opt/rocm``; installed LLVM 20 or newer, newest first, then the folders of ``path``
    (both only with ``system``); the unpacked packages below ``local``; the ziglang wheel (with
    ``wheel``). Raises ``ToolchainFailed`` with what to install when none assembles gfx950. What
    was found out about these very files is taken from ``memory``.
    """
    disk, given = disk or RealDisk(), (ToolMemory(memory), bounds)
    candidates = _candidates(rocm_path, local, path if system else None)
    if explicit is not None:
        home = explicit.absolute()  # programs run in folders of their own
        candidates = iter([("explicit", (home, home / "bin", home / "llvm" / "bin"), ())])
    refused: NetraError | None = None
    for origin, folders, library_path in candidates:
        found = _toolchain_in(folders, origin, library_path, disk)
        if found is not None:
            try:
                return _proven(found, disk, given)
            except ToolchainFailed as error:
                refused = refused or error
    found = _wheel_toolchain(disk) if wheel and explicit is None else None
    if found is not None:
        return _proven(found, disk, given)
    raise refused or _nothing_found(explicit)


def _nothing_found(explicit: Path | None) -> ToolchainFailed:
    if explicit is None:
        return ToolchainFailed("no assembler and linker for gfx950 were found", hint=INSTALL_HINT)
    return ToolchainFailed(
        "folder holds no assembler and linker",
        location=str(explicit),
        expected="llvm-mc or clang, and ld.lld",
        got="none or one of them",
        hint=INSTALL_HINT,
    )


def _candidates(
    rocm_path: Path | None, local: Path | None, path: str | None
) -> Iterator[tuple[str, tuple[Path, ...], tuple[Path, ...]]]:
    """Yield where to look, in order: origin, folders, and folders of shared libraries.

    ``path`` are the folders of ``PATH``; without it nothing installed counts.
    """
    roots = (rocm_path, Path("/opt/rocm") if path is not None else None)
    for root in filter(None, roots):
        yield "rocm", (root / "llvm" / "bin", root / "lib" / "llvm" / "bin"), ()
    if path is not None:
        for number in LLVM_VERSIONS:
            yield "system", (Path(f"/usr/lib/llvm-{number}/bin"),), ()
        yield "system", tuple(Path(part) for part in path.split(":") if part.startswith("/")), ()
    if local is not None:
        libraries = local.absolute() / "usr" / "lib"  # a relative one would depend on the cwd
        shared = (libraries / "x86_64-linux-gnu", libraries / "aarch64-linux-gnu")
        for number in LLVM_VERSIONS:
            home = libraries / f"llvm-{number}"
            yield "local", (home / "bin",), (*shared, home / "lib")


def _wheel_toolchain(disk: Disk) -> Toolchain | None:
    spec = find_spec("ziglang")
    zig = Path(spec.origin).parent / "zig" if spec and spec.origin else None
    if zig is None or not disk.is_file(zig):
        return None
    assembler, linker = (Program(name, zig, (name,)) for name in ("clang", "ld.lld"))
    return Toolchain("ziglang", assembler, linker)


def _toolchain_in(
    folders: Sequence[Path], origin: str, library_path: tuple[Path, ...], disk: Disk
) -> Toolchain | None:
    assembler = _program(("llvm-mc", "clang"), folders, disk)
    linker = _program(("ld.lld",), folders, disk)
    if assembler is None or linker is None:
        return None
    disassembler = _program(("llvm-objdump",), folders, disk)
    return Toolchain(origin, assembler, linker, disassembler, library_path)


def _program(names: Sequence[str], folders: Sequence[Path], disk: Disk) -> Program | None:
    places = ((name, folder / name) for name in names for folder in folders)
    return next((Program(name, path) for name, path in places if disk.is_file(path)), None)


def _proven(toolchain: Toolchain, disk: Disk, given: tuple[ToolMemory, Bounds]) -> Toolchain:
    """Return the tool chain after it assembled one gfx950 instruction; refuse it otherwise."""
    toolchain = replace(toolchain, memory=given[0], bounds=given[1])
    parts = program_parts(toolchain.assembler.path, toolchain.library_path, disk)
    if toolchain.memory.recall(_ASSEMBLES, parts):
        return toolchain
    try:
        toolchain.assemble(_PROBE)
    except NetraError as error:
        raise ToolchainFailed(
            f"cannot assemble {PROCESSOR}: {error.fact}",
            location=str(toolchain.assembler.path),
            hint=error.hint or INSTALL_HINT,
        ) from None
    toolchain.memory.keep(_ASSEMBLES, parts, True)
    return toolchain


def _assemble_flags(assembler: Program) -> list[str]:
    if assembler.name == "clang":
        target = ["-target", TARGET_TRIPLE, f"-mcpu={PROCESSOR}"]
        return ["-x", "assembler", *target, "-c", "-o", "unit.o"]
    return [f"-triple={TARGET_TRIPLE}", f"-mcpu={PROCESSOR}", "-filetype=obj", "-o", "unit.o"]
