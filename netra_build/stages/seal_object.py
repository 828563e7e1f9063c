"""Seal: drop what names sources and tools, so that the whole file depends on the code alone."""

from __future__ import annotations

from typing import Any

from netra_build.asm.objects.rewrite import strip
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the sealed code object under the role ``hsaco``."""
    return {"hsaco": strip(inputs["linked"])}


STAGE = Stage("seal", "SEAL", __name__, run)
