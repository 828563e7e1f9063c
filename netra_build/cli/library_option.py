"""The ``--library-root`` option that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_library_root(parser: argparse.ArgumentParser) -> None:
    """Declare ``--library-root``."""
    parser.add_argument(
        "--library-root", type=Path, help="kernel library; else searched around the input"
    )


def library_anchors() -> tuple[Path, ...]:
    """Return where a library is searched after the input: here and beside this package."""
    return (Path.cwd(), Path(__file__))
