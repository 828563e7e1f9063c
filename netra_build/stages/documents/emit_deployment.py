"""Build result of a published recipe: which code objects came of it, held against their locks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import Json, pretty_bytes
from netra_build.core.digests import sha256_hex
from netra_build.formats.vocabulary import FORMAT_BUILD_RESULT


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``build-result.json`` under the role ``result``.

    Inputs: ``NAME.hsaco``, ``NAME.text`` and ``generated/STEM.s`` of every artifact, and the
    conformity reports, which are asked for so that they are made. Parameters as those of
    ``deployment_result``.
    """
    return {"result": deployment_result(parameters["deployment"], inputs)}


def deployment_result(deployment: dict[str, Any], files: Mapping[str, bytes]) -> bytes:
    """Return the file of the published format.

    ``deployment`` holds target, wave size and manifest digest under their published keys and
    ``artifacts`` as planned; ``files`` the code objects, texts and sources by file name.
    """
    records = [_record(artifact, files) for artifact in deployment["artifacts"]]
    result = {
        "format": FORMAT_BUILD_RESULT,
        **{key: value for key, value in deployment.items() if key != "artifacts"},
        "artifact_count": len(records),
        "all_text_identical": all(record["text_identical"] for record in records),
        "artifacts": records,
    }
    return pretty_bytes(result)


def _record(artifact: dict[str, Any], files: Mapping[str, bytes]) -> dict[str, Json]:
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


STAGE = Stage("deployment", "RESULT", __name__, run)
