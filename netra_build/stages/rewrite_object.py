"""Rewrite: give a linked code object the file layout of the published recipe build, not sealed."""

from __future__ import annotations

from typing import Any

from netra_build.asm.objects.rewrite import rewrite
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the code object under the role ``hsaco``."""
    return {"hsaco": rewrite(inputs["linked"])}


STAGE = Stage("rewrite", "REWRITE", __name__, run)
