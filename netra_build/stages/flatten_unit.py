"""Flatten: turn an instance and its include closure into one unit without includes or comments."""

from __future__ import annotations

from typing import Any

from netra_build.asm.flatten import flatten
from netra_build.core.graph import Inputs, Outputs, Parameters, Stage


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the flat unit under the role ``flat``.

    The input ``unit`` is the instance; every other input is a library file by its name.
    """
    files = {name: data for name, data in inputs.items() if name != "unit"}
    return {"flat": flatten(inputs["unit"], files, parameters["location"])}


STAGE = Stage("flatten", "FLAT", __name__, run)
