"""The library and the tool chain that the options of a command lead to."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from netra_build.asm.native.session import with_native_part
from netra_build.asm.tools.toolchain import Toolchain, find_toolchain
from netra_build.build.digests.code_digest import PACKAGE_FOLDER
from netra_build.build.freshness.input_trace import (
    InputTrace,
    RecordingDisk,
    RecordingEnvironment,
    absolute,
    note_folder,
)
from netra_build.core.disk import RealDisk
from netra_build.formats.library import Library, open_library


def library_of(options: argparse.Namespace, input_trace: InputTrace | None = None) -> Library:
    """Return the library that the options name, or the one around the working folder.

    What it reads from now on is noted in ``input_trace``.
    """
    explicit = Path(options.library_root) if options.library_root else None
    disk = RealDisk() if input_trace is None else RecordingDisk(input_trace)
    return open_library(disk, explicit, (Path.cwd(), PACKAGE_FOLDER))


def toolchain_of(
    options: argparse.Namespace, library: Library, input_trace: InputTrace | None = None
) -> Toolchain:
    """Return the tool chain that the options name, or the one of this machine.

    All its files, and what was searched for it, are noted in ``input_trace``.
    """
    return toolchain_at(options.toolchain, library.root, input_trace)


def toolchain_at(
    explicit: str | None, root: Path, input_trace: InputTrace | None = None
) -> Toolchain:
    """Return the tool chain of a folder, or of this machine and the project below ``root``."""
    seen = input_trace or InputTrace()
    environment = RecordingEnvironment(os.environ, seen)
    rocm, local = environment.get("ROCM_PATH", ""), root / ".toolchain"
    programs = find_toolchain(
        Path(explicit) if explicit else None,
        rocm_path=Path(rocm) if rocm else None,
        local=local,
        path=environment.get("PATH", ""),
        disk=RecordingDisk(seen),
    )
    if input_trace is not None:
        programs.identity(RecordingDisk(input_trace))
        note_folder(input_trace, absolute(local / "native"))
    return with_native_part(programs, local / "native")
