"""The file of a linked code object: stripped, or in the layout of the published build."""

from __future__ import annotations

from typing import Any

from netra_build.asm.objects.rewrite import rewrite, strip
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage


def strip_object(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``hsaco`` without symbol table and comment: the file depends on the code alone."""
    return {"hsaco": strip(inputs["linked"])}


def lay_out(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``hsaco`` with its symbol table and comment, laid out as the published build does."""
    return {"hsaco": rewrite(inputs["linked"])}


STRIP = Stage("seal", "SEAL", __name__, strip_object)
LAY_OUT = Stage("rewrite", "REWRITE", __name__, lay_out)
