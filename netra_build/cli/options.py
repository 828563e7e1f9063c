"""What a command is; options, notes and the build lock that commands share; imports little."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from netra_build.build.run.build_lock import take_lock
from netra_build.core.errors import printable

Run = Callable[[argparse.Namespace], int]


class Command(NamedTuple):
    """One command: its help, the options that it declares, and what it does."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Run


Option = Callable[[Any], object]
"""Declares one option or positional, or several, in a parser or a group of one."""


def option(*names: str, **settings: Any) -> Option:
    """Return the declaration of one argument, as ``add_argument`` takes it."""
    return lambda parser: parser.add_argument(*names, **settings)


def flag(name: str, what: str) -> Option:
    """Return the declaration of an option without a value."""
    return option(name, action="store_true", help=what)


def at_path(name: str, what: str, **settings: Any) -> Option:
    """Return the declaration of an argument that is a path."""
    return option(name, type=Path, help=what, **settings)


def either(*options: Option, required: bool = False) -> Option:
    """Return the declaration of options of which one may be given, or has to be."""

    def declare(parser: argparse.ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group(required=required)
        for declared in options:
            declared(group)

    return declare


def command(what: str, *options: Option) -> Callable[[Run], Command]:
    """Turn the function behind it into the command with this help and these options."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        for declare in options:
            declare(parser)

    return lambda run: Command(what, add_arguments, run)


def _library(otherwise: str) -> Option:
    return option("--library-root", metavar="DIR", help=f"kernel library; {otherwise}")


def _toolchain(what: str) -> Option:
    return option("--toolchain", metavar="DIR", help=f"folder of {what}")


JSON = flag("--json", "print as JSON")
LIBRARY = _library("found from here if left out")
LIBRARY_AROUND = _library("else searched around the input")
TOOLCHAIN = _toolchain("llvm-mc and ld.lld")
DISASSEMBLER = _toolchain("llvm-objdump")
RECIPE = (
    option("engine", help="recipe of an engine or of code objects, by name or file"),
    option("--out", metavar="DIR", help="default: build/engines/NAME"),
    option("--profile", help="serving profile, instead of the recipe's"),
    option("--golden-root", metavar="DIR", help="golden code objects to copy"),
    flag("--locked", "refuse missing or stale pins"),
    LIBRARY,
    TOOLCHAIN,
)
"""A recipe and the options that override it."""


def say_kept(folder: Path, names: tuple[str, ...]) -> None:
    """Print one note that lists the sources of other engines in ``folder``."""
    if len(names) == 1:
        fact = f'keeps "{names[0]}" of another engine; compile --replace removes it'
    else:
        fact = (
            f'keeps {len(names)} sources of other engines, the first is "{names[0]}";'
            " compile --replace removes them"
        )
    say(f"note: {printable(f'{folder}: {fact}')}")


def say(note: str) -> None:
    """Print one note on standard error."""
    print(f"netra: {note}", file=sys.stderr)


def wait_for_build(build: str) -> None:
    """Take the lock of a build folder; print on standard error which process it waits for."""
    command = " ".join(["netra", *sys.argv[1:]])
    take_lock(build, command, say)
