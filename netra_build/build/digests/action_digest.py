"""The action digest: the name under which the store knows what an action makes.

It covers all that can change an output, and nothing that cannot: no path, no name of a place, no
product folder. A stage sees bytes by role, parameters and the tool chain, so these are what counts;
a name that a stage prints is one of its parameters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from netra_build.build.digests.code_digest import code_digest
from netra_build.build.graph.actions import Action
from netra_build.core.canonical_json import Json, lower
from netra_build.core.digests import blake3_hex

FORMAT = "netra-action-1"

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def action_digest(action: Action, input_digests: Mapping[str, str], tools: Any) -> str:
    """Return the BLAKE3 (hexadecimal) of an action whose inputs have these BLAKE3s, by role.

    Roles and parameters are in order (``Stage.apply``). Keys *inside* a parameter stay in the
    order in which the stage sees them: it may go through them, so another order is another action.
    """
    stage = action.stage
    document = {
        "format": FORMAT,
        "stage": stage.name,
        "code": code_digest(stage.module),
        "tools": tools.identity() if stage.uses_tools else None,
        "parameters": [[name, value] for name, value in action.parameters],
        "inputs": [[role, input_digests[role]] for role, _ in action.inputs],
        "outputs": [role for role, _ in action.outputs],
    }
    return blake3_hex(_text(document).encode("utf-8", "surrogatepass"))


def _text(document: Json) -> str:
    """Return the JSON of a document, lowered only if it has to be: that takes most of the time."""
    try:
        return _ENCODER.encode(document)
    except TypeError:
        return _ENCODER.encode(lower(document))
