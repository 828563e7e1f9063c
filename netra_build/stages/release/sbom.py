"""Release, bill of materials: what a package is made of, as CycloneDX 1.6."""

from __future__ import annotations

from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.release.origin import content_of, origin_of
from netra_build.release.sbom import sbom_bytes


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the bill of materials under the role ``sbom``; inputs as ``origin_of`` takes them."""
    return {"sbom": sbom_bytes(content_of(inputs), origin_of(inputs, parameters))}


STAGE = Stage("release_sbom", "SBOM", __name__, run)
