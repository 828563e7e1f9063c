"""Conform: compare a code object with the contract that it was built for."""

from __future__ import annotations

from typing import Any

from netra_build.asm.objects.code_object import read_code_object
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.checkasm.hazards.conformity import Fact, all_facts
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.errors import Refused


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the report of all comparisons; raise ``Refused`` with the first that differs.

    Parameters: ``hsaco``, and by symbol the ``contracts``: ``kernarg_size``, ``launch`` (block
    and lds_bytes) and, where they are known, ``arguments`` (name, kind, offset); ``abi`` is a
    second list of the same, with what else an ABI record states (``abi_facts``): ``modes`` are
    descriptor fields by name.
    """
    hsaco, contracts = parameters["hsaco"], parameters["contracts"]
    code = read_code_object(inputs["hsaco"], hsaco)
    rows = [_judged(row, hsaco) for row in all_facts(code, contracts, hsaco)]
    return {"report": pretty_bytes({"format": "netra-conformity-1", "hsaco": hsaco, "facts": rows})}


def _judged(fact: Fact, hsaco: str) -> dict[str, object]:
    what, expected, got = fact
    if expected != got:
        raise Refused(
            f"{what} differs from the contract", location=hsaco, expected=expected, got=got
        )
    return {"fact": what, "value": got}


STAGE = Stage("conform", "CONF", __name__, run)
