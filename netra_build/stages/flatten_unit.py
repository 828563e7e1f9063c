"""Flatten: turn an instance and its include closure into one unit of only what it uses."""

from __future__ import annotations

from typing import Any

from netra_build.asm.closure import Closure, include_closure
from netra_build.asm.flatten import flatten
from netra_build.asm.prune import prune_macros
from netra_build.core.graph import Inputs, Outputs, Parameters, Stage


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the flat unit under the role ``flat``.

    The input ``unit`` is the instance; every other input is a library file by its name.
    Parameters: ``location`` of the unit and its ``template``, null for a unit that includes none.
    """
    template, location = parameters["template"], parameters["location"]
    closure = Closure({}, ())
    if template is not None:
        closure = include_closure(template, inputs.__getitem__, location)
    return {"flat": prune_macros(flatten(inputs["unit"], closure, location), location)}


STAGE = Stage("flatten", "FLAT", __name__, run)
