"""Engine manifest: the planned engine.json with the digest of every kernel's code object."""

from __future__ import annotations

import copy
from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import canonical_bytes, stable_hash
from netra_build.core.digests import sha256_hex


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``engine.json`` under the role ``document``.

    Inputs are the sealed code objects by their name inside the engine directory. Every kernel
    operation gains ``hsaco_sha256``, and the id is taken anew (published format, section 9.2).
    """
    engine = copy.deepcopy(parameters["document"])
    for operation in engine["operations"]:
        if operation.get("hsaco") in inputs:
            operation["hsaco_sha256"] = sha256_hex(inputs[operation["hsaco"]])
    engine.pop("engine_id", None)
    engine["engine_id"] = "ne_" + stable_hash(engine)[:24]
    return {"document": canonical_bytes(engine)}


STAGE = Stage("engine", "ENGINE", __name__, run)
