"""``netra report``: one HTML page that shows what an engine is and what is proven of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from netra_build.commands.recorded import recorded_view
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.folder_files import FolderFiles
from netra_build.report.make_report import page_bytes

HELP = "write one HTML page that shows an engine: kernels, proofs, artifacts, sizes"
FOLDER = Path("build/reports")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the folder, the page and the table of mutation scores."""
    parser.add_argument(
        "engine", type=Path, metavar="DIR", help="engine directory, or a recipe's code objects"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"the page (default: {FOLDER}/NAME.html)"
    )
    parser.add_argument(
        "--build", type=Path, metavar="DIR", help="build folder whose last run the page shows too"
    )
    parser.add_argument(
        "--mutation", type=Path, metavar="FILE", help="Markdown table of mutation scores to show"
    )


def run(options: argparse.Namespace) -> int:
    """Write the page and print its name."""
    disk = RealDisk()
    if not disk.is_folder(options.engine):
        raise BadInput("not a folder", location=str(options.engine))
    table = None if options.mutation is None else disk.read_bytes(options.mutation)
    files = FolderFiles(options.engine.absolute(), disk)
    out = options.out or FOLDER / f"{options.engine.name or 'engine'}.html"
    place = out.absolute()
    # Planning again what is on record works in the folder of that build.
    states = None if options.build is None else states_in(options.build, options.engine)
    disk.write_bytes(place, page_bytes(files, table, str(options.engine), states))
    print(f"{out} written")
    return 0


def states_in(build: Path, engine: Path) -> dict[str, str]:
    """Return, by file of the product, how it stands in a build folder and how long it took."""
    return {
        name: ", ".join(filter(None, (action.state.value, action.duration())))
        for action in recorded_view(build, str(engine)).actions
        for name, _ in action.files
    }
