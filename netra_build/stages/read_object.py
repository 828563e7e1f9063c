"""Read: take a code object apart into its text, its notes and a record of its resources."""

from __future__ import annotations

from typing import Any

from netra_build.asm.code_object import read_code_object
from netra_build.asm.notes_text import notes_text
from netra_build.asm.resources import kernel_and_metadata, resources
from netra_build.core.canonical_json import canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.graph import Inputs, Outputs, Parameters, Stage


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the roles ``text``, ``notes`` and ``record`` (published format, section 10).

    Parameters: ``symbol``, ``threads`` (work-items of a work-group), ``hsaco`` and ``source``
    (names inside the product).
    """
    data = inputs["hsaco"]
    code = read_code_object(data, parameters["hsaco"])
    _, metadata = kernel_and_metadata(code, parameters["symbol"], parameters["hsaco"])
    record = {
        "hsaco": parameters["hsaco"],
        "resources": resources(metadata, parameters["threads"]),
        "sha256": sha256_hex(data),
        "source": parameters["source"],
        "text_sha256": sha256_hex(code.text),
    }
    return {
        "text": code.text,
        "notes": notes_text(code, parameters["hsaco"]).encode(),
        "record": canonical_bytes(record),
    }


STAGE = Stage("read", "READ", __name__, run)
