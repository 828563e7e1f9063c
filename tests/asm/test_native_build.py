"""Building, proving, keeping and finding the native library, and the frames of its workers."""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from netra_build.asm.native import build, protocol
from netra_build.asm.native.build import (
    build_library,
    fetch_packages,
    find_compiler,
    package_names,
    store_library,
)
from netra_build.asm.native.proof import prove
from netra_build.asm.native.session import find_library, source_files
from netra_build.asm.tools.programs import Program, run_program
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.disk import RealDisk
from netra_build.core.errors import ToolchainFailed


class EmptyDisk(RealDisk):
    """A disk on which no file stands but those below one folder."""

    def __init__(self, folder: Path = Path("/nonexistent")) -> None:
        self.folder = folder

    def is_file(self, path: Path) -> bool:
        return path.is_relative_to(self.folder) and super().is_file(path)


class OtherLinker(Toolchain):
    """Programs whose linker gives other bytes."""

    def link(self, objects):
        return super().link(objects) + b"\0"


class OtherListing(Toolchain):
    """Programs whose listing is another one."""

    def disassemble(self, hsaco, *, label="object.hsaco"):
        return super().disassemble(hsaco, label=label) + "\n"


class OtherReport(Toolchain):
    """Programs that never refuse a tree."""

    def assemble_tree(self, files, main, include_root="."):
        return b""


def copy_of(programs: Toolchain, kind: type[Toolchain]) -> Toolchain:
    """Return the same programs with one thing changed."""
    return kind(
        programs.origin,
        programs.assembler,
        programs.linker,
        programs.disassembler,
        programs.library_path,
    )


def failure(call, *arguments: object) -> str:
    """Return the message of what failed."""
    with pytest.raises(ToolchainFailed) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.fixture
def kept(toolchain, native_library, tmp_path) -> Path:
    """Return a folder that holds the library."""
    store_library(toolchain, tmp_path, native_library.path.read_bytes(), "compiler 1")
    return tmp_path


def test_a_kept_library_is_found(toolchain, native_library, kept):
    found = find_library(toolchain, kept)
    assert found is not None
    assert found.path.parent == kept
    assert found.digest == native_library.digest
    assert build_library(toolchain, kept) == (found, False)
    assert sorted(path.suffix for path in kept.iterdir()) == [".json", ".so"]


def test_the_proof_passes_for_the_library(toolchain, native_library):
    assert prove(toolchain, native_library.path) is None


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (OtherLinker, "linked code objects"),
        (OtherListing, "listings"),
        (OtherReport, "diagnostics"),
    ],
)
def test_a_library_that_gives_something_else_is_refused(toolchain, native_library, kind, what):
    programs = copy_of(toolchain, kind)
    assert failure(prove, programs, native_library.path) == (
        f"native part: the native part and the programs give different {what}"
    )


def test_a_library_that_cannot_be_loaded_is_refused(toolchain, tmp_path):
    path = tmp_path / "x.so"
    path.write_bytes(b"\x7fELF")
    assert failure(prove, toolchain, path) == (
        f"native part: does not load: OSError: {path}: file too short"
    )


def test_keeping_a_library_removes_those_of_other_sources(toolchain, native_library, kept):
    for name, text in (("old.json", '{"sources": "0"}\n'), ("old.so", ""), ("new.json", "{}\n")):
        (kept / name).write_text(text)
    store_library(toolchain, kept, native_library.path.read_bytes(), "compiler 2")
    assert not {"old.json", "old.so", "new.json"} & {path.name for path in kept.iterdir()}
    assert sorted(path.suffix for path in kept.iterdir()) == [".json", ".json", ".so", ".so"]


def damage_library(folder: Path) -> None:
    """Change one byte of the library."""
    (path,) = folder.glob("*.so")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def replace_note(folder: Path, text: str) -> None:
    """Give the note another text."""
    (path,) = folder.glob("*.json")
    path.write_text(text)


FAULTS = {
    "library damaged": damage_library,
    "library gone": lambda folder: next(iter(folder.glob("*.so"))).unlink(),
    "note gone": lambda folder: next(iter(folder.glob("*.json"))).unlink(),
    "note is no JSON": lambda folder: replace_note(folder, "{"),
    "note is no object": lambda folder: replace_note(folder, "[]\n"),
    "note says nothing": lambda folder: replace_note(folder, "{}\n"),
    "note is huge": lambda folder: replace_note(folder, " " * 70000 + "{}\n"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_library_with_a_fault_is_not_found(toolchain, kept, fault):
    FAULTS[fault](kept)
    assert find_library(toolchain, kept) is None


def test_a_library_of_other_programs_is_not_found(toolchain, kept, tmp_path):
    other = tmp_path / "bin" / "ld.lld"
    other.parent.mkdir()
    other.write_bytes(toolchain.linker.path.read_bytes() + b"\0")
    other.chmod(0o755)
    programs = replace(toolchain, linker=Program("ld.lld", other))
    assert find_library(toolchain, kept) is not None
    assert find_library(programs, kept) is None


def test_a_library_of_other_sources_is_not_found(toolchain, kept, monkeypatch, tmp_path):
    sources = tmp_path / "sources"
    sources.mkdir()
    for name, data in source_files(toolchain.disk).items():
        (sources / name).write_bytes(data + b"\n")
    monkeypatch.setattr("netra_build.asm.native.session.SOURCE_FOLDER", sources)
    assert find_library(toolchain, kept) is None


def test_a_tool_chain_in_one_program_has_no_native_part(toolchain, tmp_path):
    one = tmp_path / "zig"
    one.write_text("")
    programs = replace(toolchain, assembler=Program("clang", one, ("clang",)))
    assert failure(build._libraries, programs) == (
        "native part: this tool chain has no shared library of LLVM"
    )


def test_without_a_compiler_it_is_said_what_to_install(toolchain):
    programs = replace(toolchain, disk=EmptyDisk())
    assert failure(find_compiler, programs) == (
        "native part: no C++ compiler was found\nhint: install g++ (Debian: g++)"
    )


def test_without_a_package_tool_it_is_said_what_to_install(toolchain, tmp_path):
    programs = replace(toolchain, disk=EmptyDisk())
    assert failure(fetch_packages, "22", programs, tmp_path, ()) == (
        "native part: LLVM's development files are missing\n"
        "hint: install llvm-22-dev, liblld-22-dev and liblld-22"
    )


def test_packages_that_cannot_be_downloaded_are_named(toolchain, tmp_path):
    nowhere = ("-o", f"Dir::State::lists={tmp_path}/none", "-o", "Dir::Etc::SourceList=/dev/null")
    nowhere += ("-o", "Dir::Etc::SourceParts=/dev/null", "-o", f"Dir::Cache={tmp_path}/cache")
    assert failure(fetch_packages, "22", toolchain, tmp_path, nowhere) == (
        "native part: LLVM's development files cannot be downloaded\n"
        "hint: install llvm-22-dev, liblld-22-dev and liblld-22"
    )
    assert package_names("22") == ("llvm-22-dev", "liblld-22-dev", "liblld-22")


def test_sources_that_do_not_compile_are_refused_with_the_first_error(
    toolchain, tmp_path, monkeypatch
):
    compiler = find_compiler(toolchain)
    monkeypatch.setattr(build, "source_files", lambda disk: {"x.cpp": b"int f() { return 1 }\n"})
    message = failure(build._compile, toolchain, compiler, (), tmp_path, tmp_path)
    assert message.startswith(f"{compiler.name}: cannot compile the native part: ")
    assert "x.cpp:1:" in message
    assert "expected ‘;’ before ‘}’ token" in message or "expected ';'" in message


def test_headers_of_another_version_are_refused(toolchain, tmp_path):
    header = tmp_path / "include" / "llvm" / "Config" / "llvm-config.h"
    header.parent.mkdir(parents=True)
    header.write_text('#define LLVM_VERSION_STRING "1.0.0"\n')
    assert failure(build._check_version, toolchain, tmp_path) == (
        "native part: LLVM's development files are of another version; "
        f"expected {toolchain.version}, got another one"
    )


def test_the_command_says_what_it_did(toolchain, root, native_folder, native_library, capsys):
    words = ["--folder", str(native_folder), "--local", str(root / ".toolchain")]
    assert build.main(words) == 0
    assert capsys.readouterr().err == f"{native_library.path}: up to date\n"


def test_the_command_says_what_is_missing(tmp_path, capsys):
    assert build.main(["--folder", str(tmp_path), "--toolchain", str(tmp_path)]) == 4
    assert capsys.readouterr().err.startswith(f"{tmp_path}: folder holds no assembler and linker")


def test_a_program_of_the_set_up_is_bounded(tmp_path):
    with pytest.raises(ToolchainFailed) as caught:
        run_program(["/bin/cat", "/dev/zero"], folder=tmp_path, timeout_seconds=0.2)
    assert str(caught.value) == "/bin/cat: did not finish within 0.2 seconds"
    assert (
        failure(lambda: run_program(["/nonexistent"], folder=tmp_path, timeout_seconds=1))
        == "/nonexistent: cannot be started"
    )


@pytest.fixture
def channels():
    """Return both ends of a channel."""
    left, right = socket.socketpair()
    with left, right:
        yield left, right


@pytest.mark.parametrize("parts", [[], [b""], [b"a", b"", b"xyz" * 20000]])
def test_a_frame_arrives_as_it_was_sent(channels, parts):
    protocol.send(channels[0], parts)
    assert protocol.receive(channels[1]) == parts


def test_frames_keep_their_order(channels):
    for number in range(3):
        protocol.send(channels[0], [b"%d" % number])
    assert [protocol.receive(channels[1]) for _ in range(3)] == [[b"0"], [b"1"], [b"2"]]


def test_a_frame_is_bounded(channels):
    channels[0].sendall(b"\xff\xff\xff\xff")
    with pytest.raises(ValueError, match="frame has too many parts"):
        protocol.receive(channels[1])
    channels[0].sendall(b"\1\0\0\0" + b"\xff" * 8)
    with pytest.raises(ValueError, match="frame is too large"):
        protocol.receive(channels[1])


def test_a_frame_that_ends_early_is_an_end(channels):
    channels[0].sendall(b"\1\0\0\0")
    channels[0].close()
    with pytest.raises(EOFError):
        protocol.receive(channels[1])


def test_a_frame_that_does_not_come_is_not_waited_for_forever(channels):
    with pytest.raises(TimeoutError):
        protocol.receive(channels[1], time.monotonic() + 0.05)
    with pytest.raises(TimeoutError):
        protocol.send(channels[0], [bytes(64 * 1024**2)], time.monotonic() + 0.05)
