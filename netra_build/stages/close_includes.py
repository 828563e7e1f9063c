"""Close: follow the includes of a unit and record every file. Flatten: make one unit of them all.

A flat unit holds only what it uses: an edit of comments, or of statements that the unit does not
reach, leaves it unchanged, and later stages do not run.
"""

from __future__ import annotations

from typing import Any

from netra_build.asm.source.closure import (
    Closure,
    computational_identity,
    flat_unit,
    include_closure,
)
from netra_build.asm.source.includes import published_computational_sha256
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import Json, pretty_bytes
from netra_build.core.digests import sha256_hex


def close(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the closure record under the role ``closure`` and the flat unit under ``flat``.

    The input ``unit`` is the instance, the others are the library's files by their root-relative
    name. Names reached from ``template`` must be exactly these, so that a file which nothing
    includes is not an input. ``location`` is the unit's name in messages.
    """
    template, location = parameters["template"], parameters["location"]
    closure = include_closure(template, inputs.__getitem__, location)
    reached, declared = set(closure.names), set(inputs) - {"unit"}
    if reached != declared:
        raise ValueError(f"{template}: declared {sorted(declared)}, reached {sorted(reached)}")
    flat = flat_unit(inputs["unit"], closure, location)
    return {"closure": pretty_bytes(_record(template, closure)), "flat": flat}


def _record(template: str, closure: Closure) -> dict[str, Json]:
    return {
        "format": "netra-closure-1",
        "template": template,
        "files": [
            {"name": name, "sha256": sha256_hex(data)}
            for name, data in closure.data_by_name.items()
        ],
        "source_closure_sha256": closure.source_closure_sha256,
        "published_computational_sha256": published_computational_sha256(closure.data_by_name),
        "computational_identity": computational_identity(closure),
    }


def flatten_alone(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the flat unit of ``unit``, which includes nothing, under the role ``flat``.

    ``location`` names the source in messages.
    """
    return {"flat": flat_unit(inputs["unit"], Closure({}, ()), parameters["location"])}


CLOSE = Stage("close", "CLOSE", __name__, close)
FLATTEN = Stage("flatten", "FLAT", __name__, flatten_alone)
