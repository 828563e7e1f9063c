"""A small product and its release, by hand: for tests of what speaks about products."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from netra_build.release.origin import Asked, Origin

SOURCES = {
    "golden/gfx950/fill/kernel.s": b"golden\n",
    "kernels/gfx950/templates/common/regs.inc": b"// registers\n",
    "kernels/gfx950/templates/fill.inc": b'.include "kernels/gfx950/templates/common/regs.inc"\n',
    "manifests/gfx950/tactics/fill.json": b"{}\n",
    "recipes/small.yaml": b"format: netra-recipe-1\n",
}
TOOLCHAIN = {
    "assembler": "llvm-mc",
    "assembler_digest": "a" * 64,
    "assembler_version": "22.1.8",
    "linker": "ld.lld",
    "linker_digest": "b" * 64,
    "linker_version": "22.1.8",
}
ENVIRONMENT = {
    "python": "cpython 3.11.7",
    "packages": {"blake3": "1.0.5", "ruamel.yaml": "0.19.1"},
    "netra_build": {"version": "0.1.0", "sha256": "c" * 64},
}


def sha256(data: bytes) -> str:
    """Return a SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def as_bytes(document: Any) -> bytes:
    """Return a document as our pretty JSON."""
    return (json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def product(**changes: Any) -> dict[str, bytes]:
    """Return the files of a recipe with one kernel; ``changes`` go into its row or its reports."""
    includes = {
        f"generated/includes/{name}": data
        for name, data in SOURCES.items()
        if name.startswith("kernels/")
    }
    files = {
        **includes,
        "generated/fill.s": b'.include "kernels/gfx950/templates/fill.inc"\n',
        "generated/golden/fill.s": SOURCES["golden/gfx950/fill/kernel.s"],
        "hsaco/fill.hsaco": b"\x7fELF code",
        "metadata/fill.checks.json": as_bytes({"counts": {"error": changes.pop("errors", 0)}}),
        "metadata/fill.json": as_bytes({"hsaco": "hsaco/fill.hsaco", "text_sha256": "d" * 64}),
        "metadata/fill.numerics.json": as_bytes(
            {
                "verdict": changes.pop("numerics", "passed"),
                "scope": changes.pop("scope", "simulated"),
            }
        ),
    }
    artifact = {
        "name": "fill",
        "hsaco": "hsaco/fill.hsaco",
        "conformity": "passed",
        "equivalence": "identical",
        "members": [
            {
                "name": "fill",
                "symbol": "fill_gfx950",
                "tactic": "gfx950.fill",
                "maturity": "verified",
                "source": "generated/fill.s",
                "source_closure_sha256": "e" * 64,
                "computational_identity": "f" * 64,
            }
        ],
        **changes,
    }
    result = {
        "format": "netra-build-result-1",
        "deployment": "small",
        "toolchain": TOOLCHAIN,
        "artifacts": [artifact],
        "files": {name: sha256(data) for name, data in files.items()},
    }
    return {**files, "build-result.json": as_bytes(result)}


def content(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return a package's content around a product."""
    return {f"objects/{name}": data for name, data in files.items()} | {"LICENSE": b"MIT\n"}


def origin() -> Origin:
    """Return what the product was made from."""
    asked = Asked("small", "1.2.0", "code_objects", "recipes/small.yaml")
    sources = {name: sha256(data) for name, data in SOURCES.items()}
    return Origin(asked, sources, TOOLCHAIN, ENVIRONMENT)
