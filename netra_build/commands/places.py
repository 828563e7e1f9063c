"""Options that several commands share, and the library and tool chain they lead to."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from netra_build.asm.native.session import with_native_part
from netra_build.asm.toolchain import Toolchain, find_toolchain
from netra_build.core.code_digest import PACKAGE_FOLDER
from netra_build.core.disk import RealDisk
from netra_build.load.library import Library, open_library


def add_library_root(parser: argparse.ArgumentParser) -> None:
    """Add ``--library-root``."""
    parser.add_argument(
        "--library-root", metavar="DIR", help="kernel library; found from here if left out"
    )


def add_toolchain(parser: argparse.ArgumentParser) -> None:
    """Add ``--toolchain``."""
    parser.add_argument("--toolchain", metavar="DIR", help="folder of llvm-mc and ld.lld")


def library_of(options: argparse.Namespace) -> Library:
    """Return the library that the options name, or the one around the working folder."""
    explicit = Path(options.library_root) if options.library_root else None
    return open_library(RealDisk(), explicit, (Path.cwd(), PACKAGE_FOLDER))


def toolchain_of(options: argparse.Namespace, library: Library) -> Toolchain:
    """Return the tool chain that the options name, or the one of this machine."""
    rocm, local = os.environ.get("ROCM_PATH", ""), library.root / ".toolchain"
    programs = find_toolchain(
        Path(options.toolchain) if options.toolchain else None,
        rocm_path=Path(rocm) if rocm else None,
        local=local,
        path=os.environ.get("PATH", ""),
    )
    return with_native_part(programs, local / "native")
