"""Build result: which code objects a recipe gave, from which tactics, proven how."""

from __future__ import annotations

import json

from netra_build.asm.toolchain import Toolchain
from netra_build.core.canonical_json import Json, parse_object, pretty_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.graph import Inputs, Outputs, Parameters, Stage

FORMAT = "netra-build-result-1"


def run(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
    """Return ``build-result.json`` under the role ``result``.

    Inputs: every file of the product by its name there, and ``closure:``, ``conform:`` and
    ``golden:`` records. Parameters: ``deployment`` and ``artifacts`` as planned.
    """
    files = {name: data for name, data in inputs.items() if ":" not in name}
    result = {
        "format": FORMAT,
        "deployment": parameters["deployment"],
        "toolchain": tools.identity(),
        "artifacts": [_artifact(artifact, inputs) for artifact in parameters["artifacts"]],
        "files": {name: sha256_hex(data) for name, data in files.items()},
    }
    return {"result": pretty_bytes(result)}


def _artifact(artifact: dict[str, Json], inputs: Inputs) -> dict[str, Json]:
    name = artifact["name"]
    record = _object(inputs[f"metadata/{name}.json"], name)
    report = inputs.get(f"metadata/{name}.equivalence.json")
    members = [_member(member, inputs) for member in artifact["members"]]
    return {
        **artifact,
        "members": members,
        "hsaco": record["hsaco"],
        "hsaco_sha256": record["sha256"],
        "text_sha256": record["text_sha256"],
        "conformity": "passed" if f"conform:{name}" in inputs else "not_run",
        "equivalence": _object(report, name)["verdict"] if report else "not_run",
    }


def _member(member: dict[str, Json], inputs: Inputs) -> dict[str, Json]:
    name = member["name"]
    closure = _object(inputs[f"closure:{name}"], name)
    numerics = inputs.get(f"metadata/{name}.numerics.json")
    return {
        **member,
        "numerics": _object(numerics, name)["verdict"] if numerics else "not_run",
        "source_sha256": sha256_hex(inputs[member["source"]]),
        "source_closure_sha256": closure["source_closure_sha256"],
        "computational_identity": closure["computational_identity"],
    }


def _object(data: bytes, name: str) -> dict[str, Json]:
    """Return a document that a stage of ours has written; there are thousands.

    Raises ``BadInput`` for what is none.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else parse_object(data, name)


STAGE = Stage("result", "RESULT", __name__, run, uses_tools=True)
