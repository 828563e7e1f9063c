"""``netra inspect``: print engine.json of an engine directory."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from netra_build.core.disk import RealDisk

NAME = "inspect"
HELP = "print the engine manifest of an engine directory"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--engine", type=Path, required=True, help="engine directory")


def run(options: argparse.Namespace) -> int:
    """Write the bytes of engine.json to standard output."""
    return write_file(options.engine / "engine.json")


def write_file(path: Path) -> int:
    """Write a file's bytes to standard output."""
    data = RealDisk().read_bytes(path)
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return 0
