"""Emit: write one document of the engine directory as canonical JSON."""

from __future__ import annotations

from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import canonical_bytes


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the parameter ``document`` under the role ``document``."""
    return {"document": canonical_bytes(parameters["document"])}


STAGE = Stage("emit", "EMIT", __name__, run, is_kept=False)
