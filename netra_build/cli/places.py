"""The library and the tool chain that the options of a command select."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from netra_build.build.digests.action_digest import PACKAGE_FOLDER, TOOLCHAINS
from netra_build.build.freshness.input_trace import (
    InputTrace,
    RecordingDisk,
    absolute,
    note_folder,
)
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, ToolchainFailed
from netra_build.formats.library import Library, open_library
from netra_build.formats.vocabulary import TARGET

if TYPE_CHECKING:
    from netra_build.asm.tools.toolchain import Toolchain


def library_of(
    options: argparse.Namespace,
    input_trace: InputTrace | None = None,
    *,
    beside: Path | None = None,
) -> Library:
    """Return the library that the options name, or the one around ``beside`` or here.

    Its further reads are recorded in ``input_trace``.
    """
    explicit = Path(options.library_root) if options.library_root else None
    disk = RealDisk() if input_trace is None else RecordingDisk(input_trace)
    first = () if beside is None else (beside,)
    return open_library(disk, explicit, (*first, Path.cwd(), PACKAGE_FOLDER))


def programs_of(options: argparse.Namespace) -> Toolchain:
    """Return the programs with which a command disassembles one code object.

    It has no native part: to prove that one fits takes longer than to run a program once.
    """
    return _programs(options.toolchain, InputTrace())


def toolchain_if_any(options: argparse.Namespace) -> Toolchain | None:
    """Return the tool chain; None when none was named and none is found."""
    try:
        return toolchain_at(options.toolchain)
    except ToolchainFailed:
        if options.toolchain:
            raise
        return None


def toolchain_at(explicit: str | None, input_trace: InputTrace | None = None) -> Toolchain:
    """Return the tool chain of a folder, or of this machine and this installation.

    All its files, and the paths that were searched, are recorded in ``input_trace``.
    """
    from netra_build.asm.native.session import with_native_part

    native = TOOLCHAINS / "native"
    programs = _programs(explicit, input_trace or InputTrace())
    if input_trace is not None:
        programs.identity(RecordingDisk(input_trace))
        note_folder(input_trace, absolute(native))
    return with_native_part(programs, native)


def _programs(explicit: str | None, seen: InputTrace) -> Toolchain:
    from netra_build.asm.tools.bounds import tool_bounds
    from netra_build.asm.tools.toolchain import find_toolchain

    rocm = seen.variable(os.environ, "ROCM_PATH")
    return find_toolchain(
        Path(explicit) if explicit else None,
        rocm_path=Path(rocm) if rocm else None,
        local=TOOLCHAINS,
        path=seen.variable(os.environ, "PATH"),
        disk=RecordingDisk(seen),
        bounds=tool_bounds(os.environ),
    )


def refuse_other_target(options: argparse.Namespace) -> None:
    """Raise ``BadInput`` unless ``--target`` is the one there is."""
    if options.target != TARGET:
        raise BadInput(
            "unknown target", location="--target", expected=f'"{TARGET}"', got=f'"{options.target}"'
        )
