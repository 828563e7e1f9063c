"""Disassemble: list the instructions of a code object, with the file named as in the product."""

from __future__ import annotations

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage


def run(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
    """Return the listing under the role ``dis``."""
    return {"dis": tools.disassemble(inputs["hsaco"], label=parameters["label"]).encode()}


STAGE = Stage("disassemble", "DIS", __name__, run, uses_tools=True)
