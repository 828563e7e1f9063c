"""Equivalence: compare a generated code object with its golden one, and say where they part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from netra_build.asm.code_object import CodeObject, Kernel, read_code_object
from netra_build.asm.disassembly import Instruction, parse_disassembly
from netra_build.asm.listing import difference_lines
from netra_build.asm.metadata import KernelMetadata, normalised
from netra_build.asm.resources import kernel_and_metadata, resources
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import Refused
from netra_build.core.graph import Inputs, Outputs, Parameters, Stage

FORMAT = "netra-assembly-equivalence-1"
IDENTICAL = "identical"


@dataclass(frozen=True)
class Side:
    """One of the two code objects, read."""

    data: bytes
    code: CodeObject
    kernel: Kernel
    metadata: KernelMetadata
    listing: tuple[Instruction, ...]
    threads: int

    def resources(self) -> dict[str, int | str]:
        """Return the resource record of this side."""
        return resources(self.metadata, self.threads)


def read_side(data: bytes, listing: bytes, symbol: str, threads: int, location: str) -> Side:
    """Read one code object and its listing."""
    code = read_code_object(data, location)
    kernel, metadata = kernel_and_metadata(code, symbol, location)
    instructions = parse_disassembly(listing.decode()).instructions
    return Side(data, code, kernel, metadata, instructions, threads)


def text_difference(generated: Side, golden: Side) -> Json:
    """Return the first differing instruction, both sides decoded, or None.

    Offsets are bytes from the start of ``.text``; a side that has ended shows ``null``.
    """
    if generated.code.text == golden.code.text:
        return None
    for index in range(max(len(generated.listing), len(golden.listing))):
        ours = _instruction(generated, index)
        theirs = _instruction(golden, index)
        if ours != theirs:
            return {"index": index, "generated": ours, "golden": theirs}
    return {"index": None, "generated": "padding differs", "golden": "padding differs"}


def descriptor_difference(generated: Side, golden: Side) -> Json:
    """Return name and both values of the first descriptor field that differs, or None."""
    ours, theirs = generated.kernel.descriptor, golden.kernel.descriptor
    if ours.normalised() == theirs.normalised():
        return None
    other = theirs.fields()
    for name, value in ours.fields().items():
        if value != other[name] and name != "entry_byte_offset":
            return {"field": name, "generated": value, "golden": other[name]}
    return {"field": "reserved bytes", "generated": None, "golden": None}


def metadata_difference(generated: Side, golden: Side) -> Json:
    """Return the path and both values of the first metadata entry that differs, or None."""
    return _first_difference(
        normalised(dict(generated.code.metadata)), normalised(dict(golden.code.metadata))
    )


def compare(generated: Side, golden: Side, maturity: str) -> dict[str, Json]:
    """Return the report: the published keys, our verdict and the first difference of each part."""
    text = text_difference(generated, golden)
    descriptor = descriptor_difference(generated, golden)
    metadata = metadata_difference(generated, golden)
    ours, theirs = generated.resources(), golden.resources()
    same_launch = all(ours[key] == theirs[key] for key in ("threads", "max_threads", "lds_bytes"))
    names_differ = generated.kernel.symbol != golden.kernel.symbol
    is_equal = text is None and ours == theirs
    return {
        "format": FORMAT,
        "generated_symbol": generated.kernel.symbol,
        "golden_symbol": golden.kernel.symbol,
        "text_byte_identical": text is None,
        "generated_text_sha256": sha256_hex(generated.code.text),
        "golden_text_sha256": sha256_hex(golden.code.text),
        "normalized_instructions_identical": _instructions(generated) == _instructions(golden),
        "metadata_resources_identical": ours == theirs,
        "kernarg_identical": ours["kernarg_size"] == theirs["kernarg_size"],
        "launch_contract_identical": same_launch,
        "generated_resources": ours,
        "golden_resources": theirs,
        "full_hsaco_byte_identical": generated.data == golden.data,
        "symbol_difference_only": is_equal and names_differ,
        "maturity": maturity,
        "promotion_eligible": False,
        "verdict": _verdict(text, descriptor, metadata),
        "first_difference": {"text": text, "descriptor": descriptor, "metadata": metadata},
    }


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the report under the role ``report``.

    Inputs: ``hsaco``, ``dis``, ``golden_hsaco``, ``golden_dis``. Parameters: ``symbol``,
    ``golden_symbol``, ``hsaco`` (name), ``tactic``, ``maturity``, ``threads``, ``gate``: with it
    a verdict other than ``identical`` raises ``Refused``, without it the report only says so.
    """
    threads, hsaco = parameters["threads"], parameters["hsaco"]
    generated = read_side(inputs["hsaco"], inputs["dis"], parameters["symbol"], threads, hsaco)
    golden = read_side(
        inputs["golden_hsaco"], inputs["golden_dis"], parameters["golden_symbol"], threads, hsaco
    )
    report = compare(generated, golden, parameters["maturity"])
    if parameters["gate"] and report["verdict"] != IDENTICAL:
        raise Refused(
            f"{parameters['tactic']} is not equivalent to its golden source",
            location=hsaco,
            expected=IDENTICAL,
            got=report["verdict"],
            hint="\n".join(difference_lines(report)),
        )
    return {"report": canonical_bytes(report)}


def _verdict(text: Json, descriptor: Json, metadata: Json) -> str:
    if text is not None:
        return "text_differs"
    if descriptor is not None:
        return "descriptor_differs"
    return "metadata_differs" if metadata is not None else IDENTICAL


def _instruction(side: Side, index: int) -> str | None:
    if index >= len(side.listing):
        return None
    found = side.listing[index]
    return (
        f"{found.address - side.code.text_address:#06x} {found.mnemonic} {found.operands}".strip()
    )


def _instructions(side: Side) -> list[tuple[str, str]]:
    return [(found.mnemonic, found.operands) for found in side.listing]


def _first_difference(ours: Json, theirs: Json, path: str = "") -> Json:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            found = _first_difference(ours.get(key), theirs.get(key), f"{path}/{key}")
            if found is not None:
                return found
        return None
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, pair in enumerate(zip(ours, theirs, strict=True)):
            found = _first_difference(*pair, f"{path}/{index}")
            if found is not None:
                return found
        return None
    return None if ours == theirs else {"path": path or "/", "generated": ours, "golden": theirs}


STAGE = Stage("equivalence", "EQUIV", __name__, run)
