"""Copy: copy files of the library, byte for byte, into the product."""

from __future__ import annotations

from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return every input unchanged, under the same role."""
    return dict(inputs)


STAGE = Stage("copy", "COPY", __name__, run, is_kept=False)
