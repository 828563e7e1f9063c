"""``netra report``: one HTML page with the content of a product and what is proven of it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from netra_build.cli.look.recorded import recorded_view
from netra_build.cli.options import at_path, command
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.folders import FolderFiles
from netra_build.inspect.report.page import is_page, read_scores, report_page
from netra_build.inspect.report.read_product import read_facts
from netra_build.inspect.validate.package import check_integrity
from netra_build.release.layout import OCI_SUFFIX, SUFFIX
from netra_build.release.oci import LAYOUT, open_package
from netra_build.release.origin import product_files

FOLDER = Path("build/reports")


@command(
    "write one HTML page that shows an engine: kernels, proofs, artifacts, sizes",
    at_path("product", "engine directory, code objects or release", metavar="PRODUCT"),
    at_path("--out", f"the page (default: {FOLDER}/NAME.html)", metavar="FILE"),
    at_path("--build", "build folder whose last run the page shows too", metavar="DIR"),
    at_path("--mutation", "record of mutation scores (JSON) to show", metavar="FILE"),
)
def report_command(options: argparse.Namespace) -> int:
    """Write the page and print its name."""
    disk = RealDisk()
    record: Path | None = options.mutation
    scores = None if record is None else read_scores(disk.read_bytes(record), str(record))
    files, sizes = product_at(options.product, disk)
    name = options.product.name.removesuffix(SUFFIX).removesuffix(OCI_SUFFIX) or "engine"
    out = options.out or FOLDER / f"{name}.html"
    place = out.absolute()
    # Planning a recorded request again needs the folder of that build.
    states = None if options.build is None else states_in(options.build, options.product)
    if disk.exists(place) and not is_page(place, disk):
        raise BadInput(
            "file is there, and is no page", location=str(out), hint="remove it, or name another"
        )
    facts = read_facts(files, str(options.product))
    disk.write_bytes(place, report_page(facts, scores, states, sizes))
    print(f"{out} written")
    return 0


def product_at(path: Path, disk: RealDisk) -> tuple[Mapping[str, bytes], dict[str, int] | None]:
    """Return the files of a product, and for a release the bytes of each part of its package.

    A release is compared with its own record first.
    """
    if disk.is_folder(path) and not disk.is_file(path / LAYOUT):
        return FolderFiles(path.absolute(), disk), None
    package = open_package(path, disk)
    _, origin = check_integrity(package, str(path))
    folder = origin.asked.folder
    sizes = {folder: sum(len(d) for name, d in package.files.items() if name.startswith(folder))}
    sizes |= {n: len(d) for n, d in sorted(package.files.items()) if not n.startswith(folder)}
    sizes["all files"] = sum(map(len, package.files.values()))
    if disk.is_file(path):
        sizes[f"packed, as {path.name}"] = len(disk.read_bytes(path))
    return product_files(origin.asked, package.files), sizes


def states_in(build: Path, engine: Path) -> dict[str, str]:
    """Return, by file of the product, its state in a build folder and how long it took."""
    return {
        name: ", ".join(filter(None, (action.state.value, action.duration())))
        for action in recorded_view(build, str(engine)).actions
        for name in action.outputs
    }
