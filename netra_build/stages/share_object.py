"""Share: the object of a unit, copied from that of a unit with equal code and other symbols."""

from __future__ import annotations

from typing import Any

from netra_build.asm.objects.rename import rename_symbols
from netra_build.asm.source.lexer import shared_text
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.errors import Refused


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the object under the role ``object``.

    Inputs: ``object`` and ``flat`` of the unit that was assembled, ``own`` flat unit. Parameters:
    ``symbols`` and ``own_symbols``, the kernel's first, ``constants``, the names that both units
    set, and ``values``, those of ``own`` that differ. Raises ``Refused`` when the units differ.
    """
    old, new = parameters["symbols"], parameters["own_symbols"]
    names = parameters["constants"]
    if shared_text(inputs["flat"], old, names) != shared_text(inputs["own"], new, names):
        raise Refused("units say different things", location=new[0], got=old[0])
    pairs = dict(zip(old, new, strict=True))
    return {"object": rename_symbols(inputs["object"], {}, old[0], pairs, parameters["values"])}


STAGE = Stage("share", "SHARE", __name__, run)
