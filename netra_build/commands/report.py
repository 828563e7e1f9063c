"""``netra report``: one HTML page that shows what an engine is and what is proven of it."""

from __future__ import annotations

import argparse
from pathlib import Path

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
        "--mutation", type=Path, metavar="FILE", help="Markdown table of mutation scores to show"
    )


def run(options: argparse.Namespace) -> int:
    """Write the page and print its name."""
    disk = RealDisk()
    if not disk.is_folder(options.engine):
        raise BadInput("not a folder", location=str(options.engine))
    table = None if options.mutation is None else disk.read_bytes(options.mutation)
    page = page_bytes(FolderFiles(options.engine, disk), table, str(options.engine))
    out = options.out or FOLDER / f"{options.engine.name or 'engine'}.html"
    disk.write_bytes(out, page)
    print(f"{out} written")
    return 0
