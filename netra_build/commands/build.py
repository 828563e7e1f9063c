"""``netra build``: the code objects of an engine directory, or the whole product of a recipe.

A recipe whose product is as it was left is answered before the rest of the package is loaded.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import Any

from netra_build.commands.place_options import add_recipe
from netra_build.commands.waiting import wait_for_build
from netra_build.core import front_door

HELP = "build the code objects of an engine directory, or the product of a recipe"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the recipe's options; an engine directory takes those of places only."""
    add_recipe(parser)


def run(options: argparse.Namespace) -> int:
    """Say that there is nothing to do, or build in full."""
    request = request_of(options)
    roots = [options.library_root] if options.library_root else [*_around(Path.cwd())]
    for build in front_door.builds_in(roots):
        wait_for_build(build)
        verdict = front_door.judge(build, request, os.environ)
        if not verdict.reason:
            print("\n".join([*verdict.said, verdict.line()]))
            return 0
    module: Any = importlib.import_module("netra_build.commands.build_fully")
    status: int = module.run(options, request)
    return status


def request_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return all that the command line asks for, and what runs it, as plain JSON."""
    return {
        "front": "netra build",
        "options": dict(vars(options)),
        "folder": str(Path.cwd()),
        "python": sys.version,
        "executable": sys.executable,
        "path": list(sys.path),
    }


def _around(folder: Path) -> list[str]:
    """Return where the kernel library may be: here, above, and around this package."""
    package = Path(front_door.__file__).parent.parent
    return [str(place) for place in (folder, *folder.parents, *package.parents)]
