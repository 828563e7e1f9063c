"""``netra explain``: print why each tactic of an engine was chosen or refused."""

from __future__ import annotations

import argparse
from pathlib import Path

from netra_build.cli.look.inspect_engine import one_of, write_file
from netra_build.cli.look.inspect_text import explanation_text
from netra_build.core.disk import RealDisk
from netra_build.plan.engine_folder import EngineFolder

NAME = "explain"
HELP = "say why each tactic of an engine was chosen or rejected"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", type=Path, nargs="?", help="engine directory")
    parser.add_argument("--engine", type=Path, help="engine directory: print its explain.json")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(options: argparse.Namespace) -> int:
    """Print one tree per operation, or the bytes of explain.json."""
    path = one_of(options, "explain")
    if options.json or path == options.engine:
        return write_file(path / "explain.json")
    print(explanation_text(EngineFolder(path, RealDisk())))
    return 0
