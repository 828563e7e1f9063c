"""``netra build``: the code objects of an engine directory, or the whole product of a recipe.

The up-to-date check of a recipe runs before the rest of the package is loaded.
"""

from __future__ import annotations

import argparse
import importlib
import os
from pathlib import Path
from typing import Any

from netra_build.build.freshness import up_to_date
from netra_build.cli.options import RECIPE, command, wait_for_build


@command("build the code objects of an engine directory, or the product of a recipe", *RECIPE)
def build_command(options: argparse.Namespace) -> int:
    """Report that there is nothing to do, or build; a directory uses only options for paths."""
    request = request_of(options)
    roots = [options.library_root] if options.library_root else [*_around(Path.cwd())]
    for build in up_to_date.builds_in(roots):
        wait_for_build(build)
        verdicts = [up_to_date.judge(build, request, os.environ)]
        verdicts += [
            up_to_date.judge(build, same, os.environ, by_another=True)
            for same in same_by_scons(options, str(Path(build).absolute().parent))
        ]
        for verdict in verdicts:
            if not verdict.reason:
                print("\n".join([*verdict.said, verdict.line()]))
                return 0
    module: Any = importlib.import_module("netra_build.cli.build.rebuild")
    status: int = module.build_fully(options, request)
    return status


def request_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the whole request of the command line, and the program that runs it, as JSON."""
    asked = {"options": dict(vars(options)), "folder": str(Path.cwd())}
    return {"front": "netra build", **asked, **up_to_date.running_code()}


def same_by_scons(options: argparse.Namespace, root: str) -> list[up_to_date.Request]:
    """Return the equivalent requests to SCons, made in the library's folder.

    Only a recipe name without options means the same in both.
    """
    name = options.engine
    given = [value for key, value in vars(options).items() if key not in ("engine", "library_root")]
    if any(given) or "/" in name or name.endswith((".yaml", ".json")):
        return []
    return [up_to_date.scons_request(root, {kind: name}, []) for kind in ("engine", "recipe")]


def _around(folder: Path) -> list[str]:
    """Return where the kernel library may be: here, in a folder above, or around this package."""
    package = Path(up_to_date.__file__).parents[2]
    return [str(place) for place in (folder, *folder.parents, *package.parents)]
