"""The native library, built once for all tests that need it."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from release_making import ENGINE, OBJECTS, Made, make_release, read_release

from netra_build.asm.native.build import build_library
from netra_build.asm.native.session import NativeLibrary, NativeToolchain, with_native_part
from netra_build.asm.tools.programs import Program
from netra_build.asm.tools.toolchain import Toolchain

MadeOnce = Callable[[str, Callable[[Path], object]], Path]
NOWHERE = Path("/nonexistent")


@pytest.fixture(scope="session")
def native_folder(toolchain: Toolchain, root: Path) -> Path:
    """Return the folder of native libraries, with the one of this tool chain in it."""
    folder = root / ".toolchain" / "native"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        # Test processes start together, and building takes a while.
        fcntl.flock(lock, fcntl.LOCK_EX)
        build_library(toolchain, folder)
    return folder


@pytest.fixture(scope="session")
def native_library(toolchain: Toolchain, native_folder: Path) -> NativeLibrary:
    """Return the library of this tool chain."""
    return build_library(toolchain, native_folder)[0]


@pytest.fixture
def make_native(
    toolchain: Toolchain, native_library: NativeLibrary
) -> Iterator[Callable[..., NativeToolchain]]:
    """Return ``make_native(**changes)``: an in-process tool chain whose programs cannot run.

    What it gives can only come from the native library.
    """
    made = []

    def make(**changes: object) -> NativeToolchain:
        programs = replace(
            toolchain,
            assembler=Program("llvm-mc", NOWHERE / "llvm-mc"),
            linker=Program("ld.lld", NOWHERE / "ld.lld"),
            disassembler=Program("llvm-objdump", NOWHERE / "llvm-objdump"),
            **changes,
        )
        native = with_native_part(programs, None)
        native.native.use(programs, native_library)
        made.append(native)
        return native

    yield make
    for native in made:
        native.close()


@pytest.fixture
def native(make_native: Callable[..., NativeToolchain]) -> NativeToolchain:
    """Return the in-process tool chain alone."""
    return make_native()


@pytest.fixture(scope="session")
def engine_release(made_once: MadeOnce, toolchain: Toolchain) -> Made:
    """Return the release of an engine, signed; to be read only."""
    return read_release(made_once("a", lambda to: make_release(to, ENGINE, "engine", toolchain)))


@pytest.fixture(scope="session")
def objects_release(made_once: MadeOnce, toolchain: Toolchain) -> Made:
    """Return the release of a recipe's code objects, signed; to be read only."""
    make = partial(make_release, recipe=OBJECTS, kind="code_objects", toolchain=toolchain)
    return read_release(made_once("b", make))
