"""Release, archive: every file of a package in one, the same bytes wherever it is made."""

from __future__ import annotations

from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.release.archive import Package, write_archive


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the archive under the role ``archive``.

    Inputs are the files of the package by name; ``top`` is the folder at the archive's top.
    """
    return {"archive": write_archive(Package(parameters["top"], inputs))}


STAGE = Stage("release_archive", "ARCHIVE", __name__, run)
