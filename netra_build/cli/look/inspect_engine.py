"""``netra inspect``: what an engine directory or a code object holds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from netra_build.asm.objects.code_object import CodeObject, kernel_and_metadata, read_code_object
from netra_build.asm.objects.metadata import resources
from netra_build.cli.look.inspect_text import code_text, engine_text
from netra_build.core.canonical_json import Json, canonical_text
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.plan.engine_folder import MANIFEST, EngineFolder

NAME = "inspect"
HELP = "show what an engine directory or a code object holds"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", type=Path, nargs="?", help="engine directory or code object")
    parser.add_argument("--engine", type=Path, help="engine directory: print its engine.json")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(options: argparse.Namespace) -> int:
    """Print tables and a tree, or JSON."""
    if one_of(options, "inspect") == options.engine:
        return write_file(options.engine / MANIFEST)
    path: Path = options.path
    if RealDisk().is_folder(path):
        if options.json:
            return write_file(path / MANIFEST)
        print(engine_text(EngineFolder(path, RealDisk())))
        return 0
    code = read_code_object(RealDisk().read_bytes(path), str(path))
    if options.json:
        print(canonical_text(_code_record(code, str(path))), end="")
    else:
        print(code_text(code, str(path)))
    return 0


def one_of(options: argparse.Namespace, word: str) -> Path:
    """Return the one path that was given; raise ``BadInput`` for none or two."""
    given = [path for path in (options.path, options.engine) if path is not None]
    if len(given) != 1:
        raise BadInput(
            "give one path", location=f"netra {word}", hint=f"netra {word} -h shows the options"
        )
    return Path(given[0])


def write_file(path: Path) -> int:
    """Write a file's bytes to standard output."""
    data = RealDisk().read_bytes(path)
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return 0


def _code_record(code: CodeObject, location: str) -> dict[str, Json]:
    kernels: dict[str, Json] = {}
    for kernel in code.kernels:
        _, metadata = kernel_and_metadata(code, kernel.symbol, location)
        record: dict[str, Json] = dict(resources(metadata, metadata.max_flat_workgroup_size))
        record["arguments"] = [
            {"offset": a.offset, "size": a.size, "name": a.name, "value_kind": a.value_kind}
            for a in metadata.arguments
        ]
        kernels[kernel.symbol] = record
    return {"target": code.target, "text_sha256": sha256_hex(code.text), "kernels": kernels}
