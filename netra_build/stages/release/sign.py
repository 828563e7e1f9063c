"""Release, signature: the statement in an envelope, signed with the key of whoever releases."""

from __future__ import annotations

from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.release.envelope import sign


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the envelope under the role ``envelope``.

    Inputs: ``statement`` and ``key`` (PEM). The parameter ``key`` names the key's file.
    """
    return {"envelope": sign(inputs["statement"], inputs["key"], parameters["key"])}


STAGE = Stage("release_sign", "SIGN", __name__, run)
