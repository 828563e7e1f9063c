"""``netra recipe``: build the code objects of a published deployment recipe."""

from __future__ import annotations

import argparse
from pathlib import Path

from netra_build.cli.build.rebuild import built_files
from netra_build.cli.options import add_toolchain
from netra_build.cli.places import toolchain_of
from netra_build.core.canonical_json import canonical_text, parse_object
from netra_build.core.disk import RealDisk
from netra_build.core.folders import publish_folder
from netra_build.formats.library import open_library
from netra_build.pipeline import RESULT_NAME
from netra_build.requests import objects_graph

HELP = "build the code objects of a deployment recipe and compare them with their locks"
OWN_SUFFIXES = (".o", ".hsaco", ".dis", ".metadata", ".text")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--repo-root", type=Path, required=True, help="kernel library root")
    parser.add_argument(
        "--deployment", type=Path, required=True, help="recipe, relative to the root"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder to write")
    parser.add_argument(
        "--allow-unlocked-experiments",
        action="store_true",
        help="build experiments whose lock is 64 zeros",
    )
    add_toolchain(parser)


def run(options: argparse.Namespace) -> int:
    """Build all artifacts, or none, and print their count as one JSON line."""
    library = open_library(RealDisk(), options.repo_root, ())
    path = str(options.repo_root / options.deployment)
    graph = objects_graph(library, path, allow_unlocked=options.allow_unlocked_experiments)
    files = built_files(graph, library.root, toolchain_of(options, library))
    publish_folder(options.output, files, ("generated",), is_recipe_file)
    count = parse_object(files[RESULT_NAME], RESULT_NAME)["artifact_count"]
    result = {"output": str(options.output), "artifacts": count}
    print(canonical_text(result), end="")
    return 0


def is_recipe_file(name: str) -> bool:
    """Tell whether an output folder may hold ``name``, so that it may be replaced."""
    if name.startswith("generated/"):
        return name.endswith((".s", "/"))
    return name == RESULT_NAME or ("/" not in name and name.endswith(OWN_SUFFIXES))
