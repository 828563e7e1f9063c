"""Options that commands share, and what they say and wait for alike; nothing heavy is loaded."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from netra_build.build.run.build_lock import take_lock
from netra_build.core.errors import printable

if TYPE_CHECKING:
    from netra_build.asm.tools.toolchain import Toolchain


def add_library_root(parser: argparse.ArgumentParser) -> None:
    """Add ``--library-root``."""
    parser.add_argument(
        "--library-root", metavar="DIR", help="kernel library; found from here if left out"
    )


def add_searched_library(parser: argparse.ArgumentParser) -> None:
    """Add ``--library-root`` for a library that is searched around the input."""
    parser.add_argument(
        "--library-root", type=Path, help="kernel library; else searched around the input"
    )


def library_anchors() -> tuple[Path, ...]:
    """Return where a library is searched after the input: here and beside this package."""
    return (Path.cwd(), Path(__file__))


def add_toolchain(parser: argparse.ArgumentParser, what: str = "llvm-mc and ld.lld") -> None:
    """Add ``--toolchain``."""
    parser.add_argument("--toolchain", metavar="DIR", help=f"folder of {what}")


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Add a recipe and what overrides it."""
    parser.add_argument("engine", help="recipe of an engine or of code objects, by name or file")
    parser.add_argument("--out", metavar="DIR", help="default: build/engines/NAME")
    parser.add_argument("--profile", help="serving profile, instead of the recipe's")
    parser.add_argument("--golden-root", metavar="DIR", help="golden code objects to copy")
    parser.add_argument("--locked", action="store_true", help="refuse missing or stale pins")
    add_library_root(parser)
    add_toolchain(parser)


def programs_of(options: argparse.Namespace) -> Toolchain:
    """Return what a command that looks at one code object disassembles with."""
    from netra_build.asm.tools.toolchain import find_toolchain

    rocm = os.environ.get("ROCM_PATH", "")
    return find_toolchain(
        Path(options.toolchain) if options.toolchain else None,
        rocm_path=Path(rocm) if rocm else None,
        local=Path.cwd() / ".toolchain",
    )


def say_kept(folder: Path, names: tuple[str, ...]) -> None:
    """Say which sources of other engines lie in ``folder``, as one note."""
    if len(names) == 1:
        fact = f'keeps "{names[0]}" of another engine; compile --replace removes it'
    else:
        fact = (
            f'keeps {len(names)} sources of other engines, the first is "{names[0]}";'
            " compile --replace removes them"
        )
    print(f"netra: note: {printable(f'{folder}: {fact}')}", file=sys.stderr)


def wait_for_build(build: str) -> None:
    """Take the lock of a build folder; say on standard error whom it is waited for."""
    command = " ".join(["netra", *sys.argv[1:]])
    take_lock(build, command, lambda line: print(f"netra: {line}", file=sys.stderr))
