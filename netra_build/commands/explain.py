"""``netra explain``: print why each tactic of an engine was chosen or refused."""

from __future__ import annotations

import argparse
from pathlib import Path

from netra_build.commands.inspect_engine import write_file

NAME = "explain"
HELP = "print the selection reasons of an engine directory"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--engine", type=Path, required=True, help="engine directory")


def run(options: argparse.Namespace) -> int:
    """Write the bytes of explain.json to standard output."""
    return write_file(options.engine / "explain.json")
