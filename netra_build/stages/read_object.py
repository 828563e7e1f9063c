"""The file of a linked code object, and what is read from it: text, notes, record of resources.

The file is stripped, or has the layout of the published build.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from netra_build.asm.objects.code_object import CodeObject, kernel_and_metadata, read_code_object
from netra_build.asm.objects.listings import notes_text
from netra_build.asm.objects.metadata import resources
from netra_build.asm.objects.rewrite import rewrite, strip
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import Refused


def strip_object(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``hsaco`` without symbol table and comment: the file depends on the code alone."""
    return {"hsaco": strip(inputs["linked"])}


def lay_out(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``hsaco`` with its symbol table and comment, laid out as the published build does."""
    return {"hsaco": rewrite(inputs["linked"])}


def read(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the roles ``text``, ``notes`` and ``record`` (published format, section 10).

    Parameters: ``hsaco`` (name inside the product), ``kernels`` (symbol and work-items of a
    work-group each), ``sources`` and ``locked_text_sha256``: a ``.text`` with another digest
    raises ``Refused`` at ``lock_place``. A record of several kernels lists them. In the published
    record of a golden object the fields of ``stated`` replace the digest of the text. ``otherwise``
    are, by symbol, those that a kernel may have instead.
    """
    data, hsaco = inputs["hsaco"], parameters["hsaco"]
    code = read_code_object(data, hsaco)
    text_digest, locked = sha256_hex(code.text), parameters["locked_text_sha256"]
    if locked is not None and locked != text_digest:
        raise Refused(
            f'text of "{PurePosixPath(hsaco).stem}" differs from its lock',
            location=lock_place(hsaco),
            expected=locked,
            got=text_digest,
        )
    identity = parameters.get("stated", {"text_sha256": text_digest})
    record = {"hsaco": hsaco, "sha256": sha256_hex(data), **identity}
    return {
        "text": code.text,
        "notes": notes_text(code, hsaco).encode(),
        "record": canonical_bytes(record | _kernels(code, parameters)),
    }


def lock_place(hsaco: str) -> str:
    """Return how a message names the locked part of a code object, if no recipe states the lock."""
    return f"{hsaco} .text"


def _kernels(code: CodeObject, parameters: Parameters) -> dict[str, Json]:
    rows, otherwise = [], parameters.get("otherwise", {})
    for kernel in parameters["kernels"]:
        symbol = code.emitted(kernel["symbol"], *otherwise.get(kernel["symbol"], ()))
        _, metadata = kernel_and_metadata(code, symbol, parameters["hsaco"])
        rows.append(resources(metadata, kernel["threads"]))
    sources = parameters["sources"]
    if len(rows) == 1:
        return {"resources": rows[0], **({"source": sources[0]} if sources else {})}
    symbols = [kernel["symbol"] for kernel in parameters["kernels"]]
    members = [{"symbol": s, "resources": r} for s, r in zip(symbols, rows, strict=True)]
    return {"kernels": members, "sources": sources}


STRIP = Stage("strip", "STRIP", __name__, strip_object)
LAY_OUT = Stage("rewrite", "REWRITE", __name__, lay_out)
READ = Stage("read", "READ", __name__, read)
