"""Link: join objects into one shared object that the loader accepts."""

from __future__ import annotations

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage


def run(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
    """Return the linked code object under the role ``linked``; objects in order of their role."""
    return {"linked": tools.link([inputs[role] for role in sorted(inputs)])}


STAGE = Stage("link", "LINK", __name__, run, uses_tools=True)
