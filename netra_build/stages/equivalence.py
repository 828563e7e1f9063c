"""Equivalence: the first difference between a generated code object and its golden one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from netra_build.asm.objects.code_object import (
    CodeObject,
    Kernel,
    kernel_and_metadata,
    read_code_object,
)
from netra_build.asm.objects.listings import (
    Instruction,
    branch_target,
    difference_lines,
    parse_disassembly,
)
from netra_build.asm.objects.metadata import normalised, resources
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import Refused

FORMAT = "netra-assembly-equivalence-1"
IDENTICAL = "identical"


@dataclass(frozen=True)
class Side:
    """One of the two code objects, read; kernels in the order of their members."""

    data: bytes
    code: CodeObject
    kernels: tuple[Kernel, ...]
    resources: list[dict[str, int | str]]
    listing: tuple[Instruction, ...]


def read_side(
    data: bytes, listing: bytes, kernels: Sequence[tuple[str, int]], location: str
) -> Side:
    """Read one code object and its listing; ``kernels`` are symbols with work-group sizes."""
    code = read_code_object(data, location)
    found, records = [], []
    for symbol, threads in kernels:
        kernel, metadata = kernel_and_metadata(code, symbol, location)
        found.append(kernel)
        records.append(resources(metadata, threads))
    instructions = parse_disassembly(listing.decode()).instructions
    return Side(data, code, tuple(found), records, instructions)


def text_difference(generated: Side, golden: Side) -> Json:
    """Return the first differing instruction, both sides decoded, or None.

    Offsets are bytes from the start of ``.text``; a side that has ended shows ``null``.
    """
    if generated.code.text == golden.code.text:
        return None
    pairs = list(zip_longest(generated.listing, golden.listing))
    index = _first_edit(pairs)
    if index is None:
        return {"index": None, "generated": "padding differs", "golden": "padding differs"}
    ours, theirs = pairs[index]
    shown = _instruction(generated, ours), _instruction(golden, theirs)
    return {"index": index, "generated": shown[0], "golden": shown[1]}


Pair = tuple[Instruction | None, Instruction | None]


def _first_edit(pairs: Sequence[Pair]) -> int | None:
    """Return where two listings first differ.

    A branch over an edit has another distance; it differs if it leads to another instruction.
    """
    differing = [i for i, (one, other) in enumerate(pairs) if not _is_equal(one, other)]
    edits = (i for i in differing if not _is_alike(*pairs[i]))
    edit = next(edits, len(pairs))
    sides = [[side for side in sides if side is not None] for sides in zip(*pairs, strict=True)]
    by_address = [{one.address: i for i, one in enumerate(side)} for side in sides]
    for index in differing:
        if index >= edit:
            break
        targets = [
            places.get(branch_target(side[index]), -1)
            for side, places in zip(sides, by_address, strict=True)
        ]
        # Before the edit, places are the same only if their numbers are.
        if min(targets) < edit or not _is_alike(sides[0][targets[0]], sides[1][targets[1]]):
            return index
    return edit if edit < len(pairs) else None


def _is_equal(one: Instruction | None, other: Instruction | None) -> bool:
    return one is not None and other is not None and one.words == other.words


def _is_alike(one: Instruction | None, other: Instruction | None) -> bool:
    """Tell whether two instructions are equal but for the distance of a branch."""
    if one is None or other is None or not (one.branch_target and other.branch_target):
        return _is_equal(one, other)
    return one.mnemonic == other.mnemonic


def descriptor_difference(generated: Side, golden: Side) -> Json:
    """Return name and both values of the first descriptor field that differs, or None."""
    for ours, theirs in zip(generated.kernels, golden.kernels, strict=True):
        if ours.descriptor.normalised() == theirs.descriptor.normalised():
            continue
        other = theirs.descriptor.fields()
        for name, value in ours.descriptor.fields().items():
            if value != other[name] and name != "entry_byte_offset":
                return {"field": name, "generated": value, "golden": other[name]}
    return None


def compare(generated: Side, golden: Side, maturity: str) -> dict[str, Json]:
    """Return the report: the published keys, our verdict and the first difference of each part.

    The published keys that name one kernel describe the first; with several, ``kernels`` lists all.
    """
    text = text_difference(generated, golden)
    descriptor = descriptor_difference(generated, golden)
    made, wanted = (normalised(dict(side.code.metadata)) for side in (generated, golden))
    metadata = _first_difference(made, wanted)
    ours, theirs = generated.resources, golden.resources
    symbols = [kernel.symbol for kernel in generated.kernels]
    golden_symbols = [kernel.symbol for kernel in golden.kernels]
    is_equal = text is None and ours == theirs
    report: dict[str, Json] = {
        "format": FORMAT,
        "generated_symbol": symbols[0],
        "golden_symbol": golden_symbols[0],
        "text_byte_identical": text is None,
        "generated_text_sha256": sha256_hex(generated.code.text),
        "golden_text_sha256": sha256_hex(golden.code.text),
        "normalized_instructions_identical": _instructions(generated) == _instructions(golden),
        "metadata_resources_identical": ours == theirs,
        "kernarg_identical": _same(ours, theirs, "kernarg_size"),
        "launch_contract_identical": _same(ours, theirs, "threads", "max_threads", "lds_bytes"),
        "generated_resources": ours[0],
        "golden_resources": theirs[0],
        "full_hsaco_byte_identical": generated.data == golden.data,
        "symbol_difference_only": is_equal and symbols != golden_symbols,
        "maturity": maturity,
        "promotion_eligible": False,
        "verdict": _verdict(text, descriptor, metadata),
        "first_difference": {"text": text, "descriptor": descriptor, "metadata": metadata},
    }
    if len(symbols) > 1:
        report["kernels"] = [list(pair) for pair in zip(symbols, golden_symbols, strict=True)]
    return report


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the report under the role ``report``.

    Inputs: ``hsaco``, ``dis``, ``golden_hsaco``, ``golden_dis``. Parameters: ``hsaco`` (name),
    ``kernels`` (symbol, golden symbol and work-group size each), ``tactic``, ``maturity`` and
    ``gate``: with it a verdict other than ``identical`` raises ``Refused``, without it the
    report only says so.
    """
    hsaco, pairs = parameters["hsaco"], parameters["kernels"]
    ours = [(pair["symbol"], pair["threads"]) for pair in pairs]
    theirs = [(pair["golden"], pair["threads"]) for pair in pairs]
    generated = read_side(inputs["hsaco"], inputs["dis"], ours, hsaco)
    golden = read_side(inputs["golden_hsaco"], inputs["golden_dis"], theirs, f"golden of {hsaco}")
    report = compare(generated, golden, parameters["maturity"])
    if parameters["gate"] and report["verdict"] != IDENTICAL:
        raise Refused(
            f"{parameters['tactic']} is not equivalent to its golden source",
            location=hsaco,
            expected=IDENTICAL,
            got=report["verdict"],
            detail="\n".join(difference_lines(report)),
        )
    return {"report": canonical_bytes(report)}


def _same(ours: list[dict[str, Any]], theirs: list[dict[str, Any]], *keys: str) -> bool:
    pairs = zip(ours, theirs, strict=True)
    return all(one[key] == other[key] for one, other in pairs for key in keys)


def _verdict(text: Json, descriptor: Json, metadata: Json) -> str:
    if text is not None:
        return "text_differs"
    if descriptor is not None:
        return "descriptor_differs"
    return "metadata_differs" if metadata is not None else IDENTICAL


def _instruction(side: Side, found: Instruction | None) -> str | None:
    if found is None:
        return None
    offset = found.address - side.code.text_address
    return f"{offset:#06x} {found.mnemonic} {found.operands}".strip()


def _instructions(side: Side) -> list[tuple[str, str]]:
    return [(found.mnemonic, found.operands) for found in side.listing]


def _first_difference(ours: Json, theirs: Json, path: str = "") -> Json:
    """Return the path and both values of the first entry that differs, or None."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        below = [(key, ours.get(key), theirs.get(key)) for key in sorted({*ours, *theirs})]
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        below = [(index, *pair) for index, pair in enumerate(zip(ours, theirs, strict=True))]
    elif ours == theirs:
        return None
    else:
        return {"path": path or "/", "generated": ours, "golden": theirs}
    found = (_first_difference(one, other, f"{path}/{key}") for key, one, other in below)
    return next((difference for difference in found if difference is not None), None)


STAGE = Stage("equivalence", "EQUIV", __name__, run)
