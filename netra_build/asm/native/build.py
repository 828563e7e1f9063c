"""Builds the native library: ``python -m netra_build.asm.native.build --folder FOLDER``.

It needs a C++ compiler and LLVM's development files. These are taken from the system when they
stand there, otherwise from the distribution's packages, which are downloaded and unpacked for the
time of the build, never installed. The library is kept only when it gives the same bytes as the
programs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from netra_build.asm.native.proof import prove
from netra_build.asm.native.session import (
    NOTE_SUFFIX,
    NativeLibrary,
    belonging,
    find_library,
    library_at,
    llvm_library,
    no_native_part,
    read_note,
    shared_library,
    source_files,
)
from netra_build.asm.tools.programs import Outcome, run_program
from netra_build.asm.tools.toolchain import Toolchain, find_toolchain
from netra_build.core.canonical_json import Json, pretty_bytes, stable_hash
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk, sealed_folder
from netra_build.core.errors import NetraError, ToolchainFailed

COMPILE_SECONDS = 600.0
COMPILERS = ("g++", "clang++", "c++")
COMPILER_FOLDERS = (Path("/usr/bin"), Path("/usr/local/bin"))
FLAGS = (
    *("-std=c++17", "-O2", "-fPIC", "-shared"),
    *("-fno-rtti", "-fno-exceptions", "-fvisibility=hidden"),
    *("-Wall", "-Wextra", "-Werror"),
)
LINK_FLAGS = ("-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", "-Wl,-z,defs", "-s")
LIBRARY_NAME = "netra_asm.so"
APT_GET = Path("/usr/bin/apt-get")
DPKG_DEB = Path("/usr/bin/dpkg-deb")
DPKG_QUERY = Path("/usr/bin/dpkg-query")
DOWNLOAD_SECONDS = 600.0
HINT = "install llvm-{major}-dev, liblld-{major}-dev and liblld-{major}"
NEEDED_FILES = (
    "include/llvm/MC/MCContext.h",
    "include/llvm/Config/llvm-config.h",
    "include/lld/Common/Driver.h",
    "lib/liblldELF.a",
    "lib/liblldCommon.a",
)


def build_library(
    programs: Toolchain, folder: Path, apt_options: Sequence[str] = ()
) -> tuple[NativeLibrary, bool]:
    """Return the native library of ``programs`` in ``folder``, and whether it was built now.

    Raises ``ToolchainFailed`` with what is missing, or when the library and the programs differ.
    """
    found = find_library(programs, folder)
    if found is not None:
        return found, False
    libraries, compiler = _libraries(programs), find_compiler(programs)
    with sealed_folder() as scratch:
        version = _compiler_version(compiler, scratch)
        home = _llvm_home(programs, scratch, apt_options)
        _check_version(programs, home)
        path = _compile(programs, compiler, libraries, home, scratch)
        prove(programs, path)
        return store_library(programs, folder, programs.disk.read_bytes(path), version), True


def store_library(programs: Toolchain, folder: Path, data: bytes, compiler: str) -> NativeLibrary:
    """Keep a proven library under the digest of what it was made from, the note last.

    Libraries of other sources go: no checkout that shares the folder can use them. ``compiler`` is
    the version line of the compiler. Raises ``BadInput`` when the folder cannot be written.
    """
    made_from = {**belonging(programs), "compiler": compiler}
    note = {**made_from, "library_digest": blake3_hex(data)}
    path = folder / f"{blake3_hex(stable_hash(made_from).encode())[:32]}.so"
    programs.disk.write_bytes(path, data)
    programs.disk.write_bytes(path.with_suffix(NOTE_SUFFIX), pretty_bytes(note))
    _remove_others(folder, note, programs.disk)
    return library_at(programs, path)


def find_compiler(programs: Toolchain) -> Path:
    """Return the first C++ compiler: the system's, then the one beside the assembler."""
    folders = (*COMPILER_FOLDERS, programs.assembler.path.parent)
    places = (folder / name for name in COMPILERS for folder in folders)
    found = next(filter(programs.disk.is_file, places), None)
    if found is None:
        raise no_native_part("no C++ compiler was found", "install g++ (Debian: g++)")
    return found


def package_names(major: str) -> tuple[str, ...]:
    """Return the packages that hold headers and archives of LLVM ``major``."""
    return (f"llvm-{major}-dev", f"liblld-{major}-dev", f"liblld-{major}")


def fetch_packages(
    major: str, programs: Toolchain, folder: Path, apt_options: Sequence[str]
) -> None:
    """Download the packages of the installed version into ``folder`` and unpack them there.

    Raises ``ToolchainFailed`` with what to install when that cannot be done.
    """
    hint = HINT.format(major=major)
    if not (programs.disk.is_file(APT_GET) and programs.disk.is_file(DPKG_DEB)):
        raise no_native_part("LLVM's development files are missing", hint)
    version = _installed_version(f"llvm-{major}", programs, folder)
    wanted = [f"{name}={version}" if version else name for name in package_names(major)]
    download = [str(APT_GET), "-qq", *apt_options, "download", *wanted]
    ended = _fetched(download, folder)
    if ended.status:
        # An old list names files that are gone; only root may renew the system's own lists.
        _fetched([str(APT_GET), "-qq", *apt_options, "update"], folder)
        ended = _fetched(download, folder)
    archives = programs.disk.files_under(folder, ".deb")
    if ended.status or not archives:
        raise no_native_part("LLVM's development files cannot be downloaded", hint)
    for archive in archives:
        if _fetched([str(DPKG_DEB), "-x", str(archive), str(folder)], folder).status:
            raise ToolchainFailed("cannot be unpacked", location=archive.name, hint=hint)


def main(arguments: Sequence[str]) -> int:
    """Build the library and return the exit code; one line says what was done or is missing."""
    parser = argparse.ArgumentParser(prog="netra_build.asm.native.build", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the library is kept")
    parser.add_argument("--toolchain", type=Path, help="folder of the tool chain")
    parser.add_argument("--rocm-path", type=Path, help="home of ROCm")
    parser.add_argument("--local", type=Path, help="folder of unpacked packages")
    parser.add_argument("--path", default="", help="folders to search for programs")
    parser.add_argument("--apt-option", action="append", default=[], help="option of apt-get")
    asked = parser.parse_args(arguments)
    try:
        programs = find_toolchain(
            asked.toolchain, rocm_path=asked.rocm_path, local=asked.local, path=asked.path
        )
        library, is_new = build_library(programs, asked.folder, asked.apt_option)
    except NetraError as error:
        sys.stderr.write(f"{error}\n")
        return error.status
    sys.stderr.write(f"{library.path}: {'built' if is_new else 'up to date'}\n")
    return 0


def _remove_others(folder: Path, note: dict[str, Json], disk: Disk) -> None:
    for path in disk.files_under(folder, NOTE_SUFFIX):
        if read_note(path, disk).get("sources") != note["sources"]:
            disk.remove(path)
            disk.remove(path.with_suffix(".so"))


def _compiler_version(compiler: Path, scratch: Path) -> str:
    ended = run_program([str(compiler), "--version"], folder=scratch, timeout_seconds=60)
    if ended.status:
        raise ToolchainFailed("does not state its version", location=str(compiler))
    return ended.report.split("\n", 1)[0]


def _installed_version(package: str, programs: Toolchain, folder: Path) -> str:
    """Return the installed version of a package, empty when it is not installed."""
    if not programs.disk.is_file(DPKG_QUERY):
        return ""
    ended = _fetched([str(DPKG_QUERY), "-W", "-f=${Version}", package], folder)
    return "" if ended.status else ended.report.strip()


def _fetched(command: Sequence[str], folder: Path) -> Outcome:
    return run_program(command, folder=folder, timeout_seconds=DOWNLOAD_SECONDS)


def _llvm_home(programs: Toolchain, scratch: Path, apt_options: Sequence[str]) -> Path:
    """Return a folder with the development files of this LLVM, unpacked below ``scratch``."""
    major = programs.version.split(".")[0]
    installed = programs.assembler.path.parent.parent
    for home in (installed, Path(f"/usr/lib/llvm-{major}")):
        if _has_needed_files(programs, home):
            return home
    fetch_packages(major, programs, scratch, apt_options)
    home = scratch / "usr" / "lib" / f"llvm-{major}"
    if not _has_needed_files(programs, home):
        raise no_native_part("the packages lack LLVM's development files")
    return home


def _has_needed_files(programs: Toolchain, home: Path) -> bool:
    return all(programs.disk.is_file(home / name) for name in NEEDED_FILES)


def _check_version(programs: Toolchain, home: Path) -> None:
    header = programs.disk.read_bytes(home / "include/llvm/Config/llvm-config.h")
    expected = f'#define LLVM_VERSION_STRING "{programs.version}"'
    if expected.encode() not in header:
        raise ToolchainFailed(
            "LLVM's development files are of another version",
            location="native part",
            expected=programs.version,
            got="another one",
        )


def _compile(
    programs: Toolchain, compiler: Path, libraries: Sequence[Path], home: Path, scratch: Path
) -> Path:
    sources = [str(scratch / name) for name in source_files(programs.disk) if name.endswith("pp")]
    for name, data in source_files(programs.disk).items():
        programs.disk.write_bytes(scratch / name, data)
    archives = [str(home / "lib" / name) for name in ("liblldELF.a", "liblldCommon.a")]
    output = scratch / LIBRARY_NAME
    command = [str(compiler), *FLAGS, "-isystem", str(home / "include"), *sources]
    command += ["-o", str(output), *archives, *map(str, libraries), *LINK_FLAGS]
    command += [f"-Wl,-rpath-link,{folder}" for folder in programs.library_path]
    ended = run_program(command, folder=scratch, timeout_seconds=COMPILE_SECONDS)
    if ended.status:
        first = next((line for line in ended.report.split("\n") if "error" in line), "no message")
        raise ToolchainFailed(f"cannot compile the native part: {first}", location=compiler.name)
    return output


def _libraries(programs: Toolchain) -> tuple[Path, ...]:
    """Return the shared libraries that the programs load and the native library needs too."""
    found = [shared_library(programs, programs.linker, start) for start in ("libz.", "libzstd.")]
    return (llvm_library(programs), *filter(None, found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
