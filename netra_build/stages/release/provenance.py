"""Release, provenance: the statement of what a package was made from."""

from __future__ import annotations

from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.release.origin import content_of, origin_of
from netra_build.release.provenance import provenance_bytes


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the statement under the role ``statement``; inputs as ``origin_of`` takes them."""
    return {"statement": provenance_bytes(content_of(inputs), origin_of(inputs, parameters))}


STAGE = Stage("release_provenance", "PROVEN", __name__, run)
