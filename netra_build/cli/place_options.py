"""Options of places and recipes; nothing heavy is loaded to declare them."""

from __future__ import annotations

import argparse


def add_library_root(parser: argparse.ArgumentParser) -> None:
    """Add ``--library-root``."""
    parser.add_argument(
        "--library-root", metavar="DIR", help="kernel library; found from here if left out"
    )


def add_toolchain(parser: argparse.ArgumentParser) -> None:
    """Add ``--toolchain``."""
    parser.add_argument("--toolchain", metavar="DIR", help="folder of llvm-mc and ld.lld")


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Add a recipe and what overrides it."""
    parser.add_argument("engine", help="recipe of an engine or of code objects, by name or file")
    parser.add_argument("--out", metavar="DIR", help="default: build/engines/NAME")
    parser.add_argument("--profile", help="serving profile, instead of the recipe's")
    parser.add_argument("--golden-root", metavar="DIR", help="golden code objects to copy")
    parser.add_argument("--locked", action="store_true", help="refuse missing or stale pins")
    add_library_root(parser)
    add_toolchain(parser)
