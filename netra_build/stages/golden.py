"""Golden code objects: those made from a golden source, and those that a user supplies.

The first are compared with their recorded digests, the second with the statements of the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netra_build.asm.objects.code_object import kernel_and_metadata, read_code_object
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


def prove(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the digests as a record; raise ``Refused`` when the recorded ones differ.

    Inputs: ``hsaco`` (stripped golden code object) and ``expect`` (its ``expect.json``).
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


def check_golden_object(data: bytes, wanted: Mapping[str, Json], location: str) -> None:
    """Raise unless ``data`` has the wanted bytes and its metadata agrees with the contract.

    ``wanted`` holds ``sha256``, ``symbol``, ``kernarg_size``, ``lds_bytes`` and ``block``
    (work-items of a work-group). A difference is ``Refused``; an object that cannot be read is
    ``BadInput``.
    """
    digest = sha256_hex(data)
    _same("digest of the golden code object", wanted["sha256"], digest, location)
    code = read_code_object(data, location)
    kernel, metadata = kernel_and_metadata(code, str(wanted["symbol"]), location)
    sizes = {
        "kernarg size": ("kernarg_size", metadata.kernarg_segment_size),
        "kernarg size in the descriptor": ("kernarg_size", kernel.descriptor.kernarg_size),
        "fixed LDS": ("lds_bytes", metadata.group_segment_fixed_size),
        "fixed LDS in the descriptor": ("lds_bytes", kernel.descriptor.group_segment_fixed_size),
    }
    for what, (key, found) in sizes.items():
        _same(f"{what} of {kernel.symbol}", wanted[key], found, location)
    _same(f"wavefront size of {kernel.symbol}", 64, metadata.wavefront_size, location)
    block, most = int(wanted["block"]), metadata.max_flat_workgroup_size
    if block > most:
        _same(f"launch block of {kernel.symbol}", f"at most {most}", block, location)


def take(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the object unchanged under the role ``hsaco``."""
    check_golden_object(inputs["object"], parameters["wanted"], parameters["location"])
    return {"hsaco": inputs["object"]}


def _same(what: str, expected: object, got: object, location: str) -> None:
    if expected != got:
        raise Refused(f"{what} differs", location=location, expected=expected, got=got)


PROVE = Stage("golden", "GOLD", __name__, prove)
TAKE = Stage("take_golden", "TAKE", __name__, take)
