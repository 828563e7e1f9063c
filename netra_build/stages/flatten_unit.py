"""Flatten: turn a source that includes nothing into a unit of only what it uses."""

from __future__ import annotations

from typing import Any

from netra_build.asm.source.closure import Closure
from netra_build.asm.source.flatten import flatten, prune_macros
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the flat unit of the input ``unit`` under the role ``flat``.

    ``location`` names the source in messages.
    """
    location = parameters["location"]
    return {"flat": prune_macros(flatten(inputs["unit"], Closure({}, ()), location), location)}


STAGE = Stage("flatten", "FLAT", __name__, run)
