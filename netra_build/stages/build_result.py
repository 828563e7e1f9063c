"""The build result of a recipe: its code objects, their tactics and how each was proven.

A result of thousands of files is joined from parts, each of which describes some code objects, so
that after an edit of one kernel only few files are read and hashed. The result of a published
recipe has another form, which compares the code objects with their locks.
"""

from __future__ import annotations

import json
from typing import Any

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import Json, canonical_bytes, parse_object, pretty_bytes
from netra_build.core.digests import sha256_hex
from netra_build.formats.vocabulary import FORMAT_BUILD_RESULT

FORMAT = "netra-build-result-1"


def describe(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the part under the role ``part``: ``artifacts`` in order and ``files`` by name.

    Inputs: files of the product by their names there, and ``closure:``, ``conform:`` and
    ``golden:`` records. Parameter: ``artifacts`` as planned. Raises ``BadInput`` for
    anything that is no record.
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
    """Return a document that another stage has written; ``BadInput`` for anything but an object.

    Strict parsing only follows an error: these documents are most of what the stage reads.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else parse_object(data, name)


def join_parts(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
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


def emit_published(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``build-result.json`` of the published format under the role ``result``.

    Inputs: ``NAME.hsaco``, ``NAME.text`` and ``generated/STEM.s`` of every artifact, and the
    conformity reports, which are inputs so that they are made. The parameter ``deployment``
    holds target, wave size and manifest digest under their published keys and ``artifacts`` as
    planned.
    """
    deployment = parameters["deployment"]
    records = [_record(artifact, inputs) for artifact in deployment["artifacts"]]
    result = {
        "format": FORMAT_BUILD_RESULT,
        **{key: value for key, value in deployment.items() if key != "artifacts"},
        "artifact_count": len(records),
        "all_text_identical": all(record["text_identical"] for record in records),
        "artifacts": records,
    }
    return {"result": pretty_bytes(result)}


def _record(artifact: dict[str, Any], files: Inputs) -> dict[str, Json]:
    name = artifact["name"]
    digest, text = sha256_hex(files[f"{name}.hsaco"]), sha256_hex(files[f"{name}.text"])
    return {
        "name": name,
        "members": [
            {**member, "source_sha256": sha256_hex(files[member["source"]])}
            for member in artifact["members"]
        ],
        "hsaco_sha256": digest,
        "prior_locked_hsaco_sha256": artifact["locked_hsaco_sha256"],
        "full_hsaco_identical": digest == artifact["locked_hsaco_sha256"],
        "text_sha256": text,
        "text_identical": text == artifact["locked_text_sha256"],
        "unlocked_experiment": artifact["unlocked_experiment"],
    }


DESCRIBE = Stage("describe", "DESCRIBE", __name__, describe)
RESULT = Stage("result", "RESULT", __name__, join_parts, uses_tools=True)
PUBLISHED = Stage("deployment", "RESULT", __name__, emit_published)
