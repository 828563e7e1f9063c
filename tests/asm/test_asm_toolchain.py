"""Finding, running and identifying the tool chain."""

from __future__ import annotations

import os
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from netra_build.asm.tools.bounds import Bounds
from netra_build.asm.tools.programs import (
    INSTALL_HINT,
    AssemblyFailed,
    Diagnostic,
    LinkFailed,
    Program,
    run_tool,
)
from netra_build.asm.tools.tool_identity import (
    file_digests,
    loaded_libraries,
    parts_digest,
    program_parts,
)
from netra_build.asm.tools.toolchain import Toolchain, find_toolchain
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, NetraError, ToolchainFailed

GOOD = b'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n\ts_endpgm\n'


def fault(kind, action, *arguments, **named):
    with pytest.raises(kind) as caught:
        action(*arguments, **named)
    return caught.value


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def linked_folder(toolchain: Toolchain, folder: Path, *names: str) -> Path:
    """Return a folder of links to the real programs of these names."""
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).symlink_to(toolchain.assembler.path.parent / name)
    return folder


def test_an_explicit_folder_is_the_only_choice(toolchain, tmp_path):
    folder = toolchain.assembler.path.parent
    found = find_toolchain(folder, rocm_path=tmp_path)
    assert found.origin == "explicit"
    assert found.assembler == Program("llvm-mc", folder / "llvm-mc")
    assert found.disassembler == Program("llvm-objdump", folder / "llvm-objdump")
    error = fault(ToolchainFailed, find_toolchain, tmp_path)
    assert str(error) == (
        f"{tmp_path}: folder holds no assembler and linker; "
        f"expected llvm-mc or clang, and ld.lld, got none or one of them\nhint: {INSTALL_HINT}"
    )
    assert error.status == 4


def test_rocm_comes_before_the_system_and_the_clang_driver_will_do(toolchain, tmp_path):
    linked_folder(toolchain, tmp_path / "llvm" / "bin", "clang", "ld.lld")
    found = find_toolchain(rocm_path=tmp_path)
    assert (found.origin, found.assembler.name) == ("rocm", "clang")
    assert found.assemble(GOOD) == toolchain.assemble(GOOD)
    error = fault(ToolchainFailed, found.disassemble, b"x")
    assert str(error) == (
        "this tool chain (rocm) has no disassembler\n"
        "hint: install LLVM's llvm-objdump (Debian: llvm-22)"
    )


def test_the_path_is_searched_only_as_an_argument(toolchain, tmp_path):
    here = linked_folder(toolchain, tmp_path / "some" / "bin", "llvm-mc", "ld.lld")
    installed = find_toolchain(path=str(here), wheel=False)
    assert installed.origin == "system"
    error = fault(ToolchainFailed, find_toolchain, path=str(here), system=False, wheel=False)
    assert str(error) == f"no assembler and linker for gfx950 were found\nhint: {INSTALL_HINT}"


def test_unpacked_packages_get_a_library_path_of_their_own(toolchain, tmp_path):
    home = tmp_path / "usr" / "lib" / "llvm-22"
    linked_folder(toolchain, home / "bin", "llvm-mc", "ld.lld")
    found = find_toolchain(local=tmp_path, system=False, wheel=False)
    assert found.origin == "local"
    shared = tmp_path / "usr" / "lib"
    assert found.library_path == (
        shared / "x86_64-linux-gnu",
        shared / "aarch64-linux-gnu",
        home / "lib",
    )
    assert found.assemble(GOOD) == toolchain.assemble(GOOD)


def test_the_wheel_assembles_and_links_but_does_not_disassemble(toolchain, tmp_path, monkeypatch):
    real = toolchain.assembler.path.parent
    script(tmp_path / "ziglang" / "zig", f'tool=$1; shift; exec {real}/"$tool" "$@"')
    (tmp_path / "ziglang" / "__init__.py").write_text("raise ImportError\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = find_toolchain(system=False)
    assert (found.origin, found.disassembler) == ("ziglang", None)
    assert found.assembler == Program("clang", tmp_path / "ziglang" / "zig", ("clang",))
    assert found.link([found.assemble(GOOD)]) == toolchain.link([toolchain.assemble(GOOD)])
    assert "disassembler" not in found.identity()


def test_a_tool_chain_without_gfx950_is_refused_with_the_remedy(tmp_path):
    script(tmp_path / "llvm-mc", 'echo "unit.s:2:2: error: invalid instruction" >&2; exit 1')
    script(tmp_path / "ld.lld", "exit 0")
    error = fault(ToolchainFailed, find_toolchain, tmp_path)
    assert str(error) == (
        f"{tmp_path}/llvm-mc: cannot assemble gfx950: invalid instruction\nhint: {INSTALL_HINT}"
    )


def test_an_unusable_tool_chain_is_passed_over(toolchain, tmp_path):
    script(tmp_path / "llvm" / "bin" / "llvm-mc", "exit 1")
    script(tmp_path / "llvm" / "bin" / "ld.lld", "exit 1")
    real = str(toolchain.assembler.path.parent)
    assert find_toolchain(rocm_path=tmp_path, path=real).origin == "system"
    error = fault(ToolchainFailed, find_toolchain, rocm_path=tmp_path, system=False, wheel=False)
    assert str(error) == (
        f"{tmp_path}/llvm/bin/llvm-mc: cannot assemble gfx950: failed without a message\n"
        f"hint: {INSTALL_HINT}"
    )


def test_a_refused_source_carries_the_report(toolchain):
    error = fault(AssemblyFailed, toolchain.assemble, b" s_nop 0\n s_bad 1\n", name="a.s")
    assert str(error) == "a.s:2:2: invalid instruction"
    assert error.diagnostics == (Diagnostic("a.s", 2, 2, "error", "invalid instruction"),)
    assert error.raw.startswith("a.s:2:2: error: invalid instruction\n s_bad 1\n")
    assert error.status == 2


def test_a_flat_unit_finds_no_file(toolchain):
    error = fault(AssemblyFailed, toolchain.assemble, b'.include "a.inc"\n')
    assert str(error) == "unit.s:1:10: Could not find include file 'a.inc'"


def test_a_tree_gives_the_author_s_place(toolchain):
    files = {"d/u.s": b'.include "a.inc"\n', "inc/a.inc": b" s_nop 0\n s_bad\n"}
    error = fault(AssemblyFailed, toolchain.assemble_tree, files, "d/u.s", "inc")
    assert str(error) == "inc/a.inc:2:2: invalid instruction"
    guard = b'.macro G n\n.error "wrong"\n.endm\n.macro E\n G 1\n.endm\n s_nop 0\n E\n'
    error = fault(AssemblyFailed, toolchain.assemble_tree, {"u.s": guard}, "u.s")
    assert str(error) == "u.s:8:2: wrong"


def test_an_object_does_not_depend_on_its_name(toolchain):
    first = toolchain.assemble(GOOD, name="a.s")
    assert first == toolchain.assemble(GOOD, name="some/other-name.s")
    assert first == toolchain.assemble_tree({"x/y.s": GOOD, "z.inc": b""}, "x/y.s")


def test_a_name_that_leaves_the_folder_is_refused(toolchain):
    error = fault(BadInput, toolchain.assemble_tree, {"../u.s": GOOD}, "u.s")
    assert str(error) == 'u.s: path "../u.s" leaves its root\nhint: remove the ".." segment'


def test_the_linker_gets_objects_only(toolchain):
    error = fault(LinkFailed, toolchain.link, [b"INCLUDE /etc/passwd"])
    assert str(error) == "ld.lld: input is no object"
    undefined = toolchain.assemble(b" .text\n .globl a\n .hidden b\na: .long b\n")
    error = fault(LinkFailed, toolchain.link, [undefined])
    assert str(error) == "ld.lld: undefined hidden symbol: b"
    assert error.status == 2


def test_the_disassembler_refuses_rubbish_and_hides_its_file(toolchain):
    error = fault(BadInput, toolchain.disassemble, b"rubbish", label="k.hsaco")
    assert error.line().startswith("k.hsaco: cannot be disassembled: ")
    linked = toolchain.link([toolchain.assemble(GOOD)])
    assert toolchain.disassemble(linked, label="a/b.hsaco").startswith(
        "\na/b.hsaco:\tfile format elf64-amdgpu\n"
    )


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        (f"kill -{signal.SIGSEGV.value} $$", "was ended by signal SIGSEGV"),
        (
            "exec tail -f /dev/null",
            "did not finish within 0.5 seconds\nhint: NETRA_TOOL_SECONDS allows more",
        ),
        (
            "exec head -c 400000000 /dev/zero",
            "wrote more than 268435456 bytes",
        ),
    ],
)
def test_a_program_that_misbehaves_is_the_tool_chain_s_fault(toolchain, tmp_path, body, fact):
    broken = script(tmp_path / "llvm-mc", body)
    hurried = replace(toolchain, assembler=Program("llvm-mc", broken), bounds=Bounds(0.5))
    if "head" in body:
        hurried = replace(hurried, bounds=Bounds(60.0))
    error = fault(ToolchainFailed, hurried.assemble, GOOD)
    assert str(error) == f"{broken}: {fact}"
    assert error.status == 4


def test_hostile_sources_are_bounded(toolchain):
    error = fault(ToolchainFailed, toolchain.assemble, b" .space 100000000000\n")
    assert error.fact == "wrote more than 268435456 bytes"


def test_a_program_sees_nothing_of_our_environment(toolchain, tmp_path, monkeypatch):
    monkeypatch.setenv("NETRA_SECRET", "1")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    probe = script(tmp_path / "llvm-mc", "env >&2; pwd >&2; ls >&2; exit 1")
    found = replace(
        toolchain, assembler=Program("llvm-mc", probe), library_path=(Path("/own/lib"),)
    )
    error = fault(AssemblyFailed, found.assemble, GOOD, name="only.s")
    lines = set(error.raw.split("\n"))
    assert {"LC_ALL=C", "LD_LIBRARY_PATH=/own/lib", "only.s"} <= lines
    assert not any("SECRET" in line for line in lines)
    assert str(Path.cwd()) not in lines


def test_a_missing_program_is_named(toolchain, tmp_path):
    gone = replace(toolchain, assembler=Program("llvm-mc", tmp_path / "gone"))
    error = fault(ToolchainFailed, gone.assemble, GOOD)
    assert str(error) == (
        f"{tmp_path}/gone: cannot be started: no such file or directory\nhint: {INSTALL_HINT}"
    )


def test_the_identity_names_programs_versions_and_digests_but_no_path(toolchain):
    identity = toolchain.identity()
    assert sorted(identity) == [
        f"{role}{part}"
        for role in ("assembler", "disassembler", "linker")
        for part in ("", "_digest", "_version")
    ]
    assert identity["assembler"] == "llvm-mc"
    assert identity["linker_version"] == toolchain.version
    assert int(toolchain.version.split(".")[0]) >= 20
    assert all(len(identity[f"{role}_digest"]) == 64 for role in ("assembler", "linker"))
    assert not any("/" in value for value in identity.values())


def test_the_identity_follows_the_program_s_bytes_and_not_its_place(toolchain, tmp_path):
    def with_linker(folder: str, text: str) -> str:
        program = script(tmp_path / folder / "ld.lld", text)
        other = replace(toolchain, linker=Program("ld.lld", program))
        return other.identity()["linker_digest"]

    first = with_linker("a", "echo LLD 22.1.8")
    assert with_linker("b", "echo LLD 22.1.8") == first
    assert with_linker("a", "echo LLD 22.1.8 ") != first


def test_a_program_without_a_version_is_refused(toolchain, tmp_path):
    program = script(tmp_path / "llvm-mc", "echo nothing")
    error = fault(
        ToolchainFailed, lambda: replace(toolchain, assembler=Program("llvm-mc", program)).version
    )
    assert str(error) == f"{program}: does not state its version"


def test_the_libraries_of_a_program_are_found_without_running_it(toolchain):
    found = dict(loaded_libraries(toolchain.assembler.path, (), RealDisk()))
    assert "libc.so.6" in found
    assert all(path is not None and path.is_absolute() for path in found.values())
    assert loaded_libraries(Path("/etc/passwd"), (), RealDisk()) == ()


def test_a_library_folder_of_its_own_comes_first(toolchain, tmp_path):
    name, real = next(
        (name, path)
        for name, path in loaded_libraries(toolchain.assembler.path, (), RealDisk())
        if name.startswith("libz") and path is not None
    )
    (tmp_path / name).symlink_to(real)
    found = dict(loaded_libraries(toolchain.assembler.path, (tmp_path,), RealDisk()))
    assert found[name] == tmp_path / name


def test_every_failure_is_one_of_ours(toolchain):
    for source in (b"\xff\xfe", b'.include "/etc/passwd"\n', b".macro\n", b".if 1\n"):
        assert isinstance(fault(NetraError, toolchain.assemble, source), AssemblyFailed)


@pytest.mark.parametrize("what", ["garbage", "nothing"])
def test_a_program_that_succeeds_without_an_object_is_a_tool_chain_fault(
    toolchain: Toolchain, tmp_path: Path, what: str
) -> None:
    fake = tmp_path / "llvm-mc"
    fake.write_text("#!/bin/sh\n" + ("echo no > unit.o\n" if what == "garbage" else ""))
    fake.chmod(0o755)
    broken = replace(toolchain, assembler=Program("llvm-mc", fake))
    with pytest.raises(ToolchainFailed) as caught:
        broken.assemble(b"\ts_endpgm\n")
    assert str(caught.value) == f"{fake}: succeeded without an ELF file"


@pytest.mark.parametrize("kept", [5, 63, 64, 200, -1])
def test_a_program_that_writes_a_part_of_a_file_is_a_tool_chain_fault(toolchain, tmp_path, kept):
    """The linker would refuse the object as if the source were at fault."""

    def cutting(program: Path, made: str) -> Program:
        real = toolchain.assembler.path.parent / program.name
        text = f'{real} "$@" || exit\nhead -c {kept} {made} > cut && mv cut {made}'
        return Program(program.name, script(program, text))

    assembler = cutting(tmp_path / "llvm-mc", "unit.o")
    error = fault(ToolchainFailed, replace(toolchain, assembler=assembler).assemble, GOOD)
    assert str(error) == f"{assembler.path}: wrote only a part of an ELF file"
    linker = cutting(tmp_path / "ld.lld", "linked.hsaco")
    unit = toolchain.assemble(GOOD)
    error = fault(ToolchainFailed, replace(toolchain, linker=linker).link, [unit])
    assert str(error) == f"{linker.path}: wrote only a part of an ELF file"


def test_the_identity_follows_the_bytes_of_a_library(toolchain, tmp_path):
    """Also in the running process, and when size and modification time stay as they were."""
    library = tmp_path / "libc.so.6"
    original = dict(loaded_libraries(toolchain.assembler.path, (), RealDisk()))["libc.so.6"]
    library.write_bytes(original.read_bytes())

    def digest(*library_path: Path) -> str:
        parts = program_parts(toolchain.assembler.path, library_path, RealDisk())
        return parts_digest(parts, file_digests(parts))

    first, before = digest(tmp_path), library.stat()
    data = bytearray(library.read_bytes())
    data[-1] ^= 1
    library.write_bytes(data)
    os.utime(library, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert digest(tmp_path) != first
    library.write_bytes(original.read_bytes())
    assert digest(tmp_path) == first
    assert first == digest()


class Notes:
    """A memory in a list."""

    def __init__(self) -> None:
        self.kept: list[tuple[object, object]] = []

    def recall(self, question):
        return next((answer for known, answer in self.kept if known == question), None)

    def keep(self, question, answer):
        self.kept.append((question, answer))


@pytest.mark.parametrize("is_script", [False, True])
def test_a_program_that_is_known_is_not_started(toolchain, tmp_path, monkeypatch, is_script):
    """Nor is one hashed. A program that was swapped under its path is, and so is every script."""
    folder, real = tmp_path / "bin", toolchain.assembler.path.parent
    for name in ("llvm-mc", "ld.lld"):
        if is_script:
            script(folder / name, f'exec "{real}/{name}" "$@"')
        else:
            folder.mkdir(exist_ok=True)
            shutil.copy(real / name, folder / name)
    started = []

    def counted(program, *more):
        started.append(program.name)
        return run_tool(program, *more)

    for module in ("toolchain", "tool_identity"):
        monkeypatch.setattr(f"netra_build.asm.tools.{module}.run_tool", counted)
    later = time.time_ns() + 10 * 10**9
    monkeypatch.setattr("netra_build.asm.tools.tool_identity.time.time_ns", lambda: later)
    notes = Notes()
    identity = find_toolchain(folder, memory=notes, disk=RealDisk()).identity()
    assert sorted(started) == ["ld.lld", "llvm-mc", "llvm-mc"]
    started.clear()
    assert find_toolchain(folder, memory=notes, disk=RealDisk()).identity() == identity
    assert ("llvm-mc" in started) == is_script
    started.clear()
    with (folder / "llvm-mc").open("ab") as stream:
        stream.write(b"\n")
    again = find_toolchain(folder, memory=notes, disk=RealDisk()).identity()
    assert again["assembler_digest"] != identity["assembler_digest"]
    assert "llvm-mc" in started


def test_a_relative_folder_counts_from_the_working_folder(toolchain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    linked_folder(toolchain, tmp_path / "tools", "llvm-mc", "ld.lld")
    found = find_toolchain(Path("tools"))
    assert found.assembler.path == tmp_path / "tools/llvm-mc"
    assert found.assemble(GOOD)
