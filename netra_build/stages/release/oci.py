"""Release, OCI layout: the archive as an artifact that registries keep, in one tar file."""

from __future__ import annotations

from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.release.oci import oci_files
from netra_build.release.ustar import ustar_pieces


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the layout as a tar file under the role ``layout``; the input is ``archive``."""
    return {"layout": b"".join(ustar_pieces(oci_files(inputs["archive"], "archive")))}


STAGE = Stage("release_oci", "OCI", __name__, run)
