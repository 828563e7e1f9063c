"""Golden: hold the code object of a golden source against its recorded digests."""

from __future__ import annotations

from typing import Any

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.metadata import normalised
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import Json, canonical_bytes, parse_object, stable_hash
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import Refused

FORMAT = "netra-golden-1"
DIGESTS = ("text_sha256", "descriptor_sha256", "metadata_sha256")


def golden_digests(data: bytes, symbol: str, location: str) -> dict[str, str]:
    """Return the three digests of one kernel: ``.text``, descriptor and normalised metadata."""
    code = read_code_object(data, location)
    kernel = code.kernel(symbol, location)
    return {
        "text_sha256": sha256_hex(code.text),
        "descriptor_sha256": sha256_hex(kernel.descriptor.normalised()),
        "metadata_sha256": stable_hash(normalised(dict(code.metadata))),
    }


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the digests as a record; raise ``Refused`` when the record on file differs.

    Inputs: ``hsaco`` (sealed golden code object) and ``expect`` (its ``expect.json``).
    Parameters: ``symbol``, ``tactic``, ``expect`` (name of the record).
    """
    location = parameters["expect"]
    expect: dict[str, Json] = parse_object(inputs["expect"], location)
    digests = golden_digests(inputs["hsaco"], parameters["symbol"], location)
    for name in DIGESTS:
        if expect.get(name) != digests[name]:
            raise Refused(
                f"golden source of {parameters['tactic']} does not give the recorded {name}",
                location=location,
                expected=expect.get(name),
                got=digests[name],
                hint=f"after an edit by hand: netra golden accept {parameters['tactic']} "
                "--reason TEXT",
            )
    return {"digests": canonical_bytes({"format": FORMAT, **digests})}


STAGE = Stage("golden", "GOLD", __name__, run)
