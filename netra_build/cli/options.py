"""Options, notes and the build lock that commands share; imports little."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from netra_build.build.run.build_lock import take_lock
from netra_build.core.errors import printable


class Command(NamedTuple):
    """One command: its help, the options that it declares, and what it does."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def add_library_root(
    parser: argparse.ArgumentParser, otherwise: str = "found from here if left out"
) -> None:
    """Add ``--library-root``."""
    parser.add_argument("--library-root", metavar="DIR", help=f"kernel library; {otherwise}")


def add_toolchain(parser: argparse.ArgumentParser, what: str = "llvm-mc and ld.lld") -> None:
    """Add ``--toolchain``."""
    parser.add_argument("--toolchain", metavar="DIR", help=f"folder of {what}")


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Add a recipe and the options that override it."""
    parser.add_argument("engine", help="recipe of an engine or of code objects, by name or file")
    parser.add_argument("--out", metavar="DIR", help="default: build/engines/NAME")
    parser.add_argument("--profile", help="serving profile, instead of the recipe's")
    parser.add_argument("--golden-root", metavar="DIR", help="golden code objects to copy")
    parser.add_argument("--locked", action="store_true", help="refuse missing or stale pins")
    add_library_root(parser)
    add_toolchain(parser)


def say_kept(folder: Path, names: tuple[str, ...]) -> None:
    """Print one note that lists the sources of other engines in ``folder``."""
    if len(names) == 1:
        fact = f'keeps "{names[0]}" of another engine; compile --replace removes it'
    else:
        fact = (
            f'keeps {len(names)} sources of other engines, the first is "{names[0]}";'
            " compile --replace removes them"
        )
    print(f"netra: note: {printable(f'{folder}: {fact}')}", file=sys.stderr)


def wait_for_build(build: str) -> None:
    """Take the lock of a build folder; print on standard error which process it waits for."""
    command = " ".join(["netra", *sys.argv[1:]])
    take_lock(build, command, lambda line: print(f"netra: {line}", file=sys.stderr))
