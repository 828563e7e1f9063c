"""Close: record the include closure of one unit's template, with every digest of it."""

from __future__ import annotations

from typing import Any

from netra_build.asm.closure import include_closure
from netra_build.asm.computational import computational_identity
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.graph import Inputs, Outputs, Parameters, Stage


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the closure record of ``parameters["template"]`` under the role ``closure``.

    Inputs are the library's files by their root-relative name. Names reached from the template
    must be exactly these inputs, so that a file which nothing includes is not an input.
    """
    template = parameters["template"]
    closure = include_closure(template, inputs.__getitem__, template)
    if set(closure.names) != set(inputs):
        raise ValueError(f"{template}: declared {sorted(inputs)}, reached {sorted(closure.names)}")
    record = {
        "format": "netra-closure-1",
        "template": template,
        "files": [
            {"name": name, "sha256": sha256_hex(data)}
            for name, data in closure.data_by_name.items()
        ],
        "source_closure_sha256": closure.source_closure_sha256,
        "published_computational_sha256": closure.published_computational_sha256,
        "computational_identity": computational_identity(closure),
    }
    return {"closure": pretty_bytes(record)}


STAGE = Stage("close", "CLOSE", __name__, run)
