"""Describe: what a build result says of some artifacts, and the digests of some files.

A result of thousands of files is put together from such parts, so that an edit of one kernel reads
and hashes the files of few.
"""

from __future__ import annotations

import json
from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import Json, canonical_bytes, parse_object
from netra_build.core.digests import sha256_hex


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the part under the role ``part``: ``artifacts`` in order and ``files`` by name.

    Inputs: files of the product by their names there, and ``closure:``, ``conform:`` and
    ``golden:`` records. Parameter: ``artifacts`` as planned. Raises ``BadInput`` for what is no
    record.
    """
    part = {
        "artifacts": [_artifact(artifact, inputs) for artifact in parameters["artifacts"]],
        "files": {name: sha256_hex(data) for name, data in inputs.items() if ":" not in name},
    }
    return {"part": canonical_bytes(part)}


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


STAGE = Stage("describe", "DESCRIBE", __name__, run)
