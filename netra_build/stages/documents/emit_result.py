"""Build result: which code objects a recipe gave, from which tactics, proven how."""

from __future__ import annotations

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import Json, parse_object, pretty_bytes

FORMAT = "netra-build-result-1"


def run(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
    """Return ``build-result.json`` under the role ``result``.

    Inputs: parts as ``describe`` makes them, in the order of their roles; parameter ``deployment``.
    """
    parts = [parse_object(data, role) for role, data in sorted(inputs.items())]
    files: dict[str, Json] = {}
    for part in parts:
        files |= part["files"]
    result = {
        "format": FORMAT,
        "deployment": parameters["deployment"],
        "toolchain": tools.identity(),
        "artifacts": [artifact for part in parts for artifact in part["artifacts"]],
        "files": files,
    }
    return {"result": pretty_bytes(result)}


STAGE = Stage("result", "RESULT", __name__, run, uses_tools=True)
