"""``netra repack``: lay out checkpoint tensors as the kernels of an engine read them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from netra_build.cli.options import at_path, command, either, flag, option
from netra_build.core.canonical_json import Json, canonical_text, parse_strict
from netra_build.core.disk import RealDisk, write_pieces
from netra_build.core.errors import BadInput
from netra_build.core.texts import table_text
from netra_build.formats.layout_plan import read_graph_shapes, read_layout_plan
from netra_build.tensors.byte_source import file_source
from netra_build.tensors.relayout import TRANSFORMS, Matrix
from netra_build.tensors.relayout_plan import LaidOut, Shapes, lay_out
from netra_build.tensors.tensor_file import (
    StoredTensor,
    is_same_file,
    opened_tensors,
    tensor_file_pieces,
)


def _natural(text: str) -> int:
    value = int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f'"{text[:80]}" is no number from 1 on')
    return value


@command(
    "lay out checkpoint tensors as the kernels of an engine read them",
    either(
        at_path("--plan", "layout plan (JSON)", metavar="FILE"),
        at_path("--engine", "engine directory: its plan, held to its graph", metavar="DIR"),
        option(
            "--transform",
            choices=sorted(TRANSFORMS),
            help="one transform of a file of bare bytes",
        ),
        required=True,
    ),
    at_path(
        "--input",
        "safetensors file (repeatable), or bare bytes with --transform",
        metavar="FILE",
        action="append",
        required=True,
    ),
    at_path("--output", "file to write", metavar="FILE", required=True),
    option("--rows", type=_natural, metavar="N", help="rows of the bare bytes"),
    option("--columns", type=_natural, metavar="N", help="columns of the bare bytes"),
    option(
        "--experts", type=_natural, metavar="N", help="matrices one behind the other; default: 1"
    ),
    flag("--json", "print what was written as JSON"),
)
def repack_command(options: argparse.Namespace) -> int:
    """Write the laid-out file, whole or not at all, and print what is in it."""
    for path in options.input:
        if is_same_file(path, options.output):
            raise BadInput("output is also an input", location=str(options.output))
    if options.transform is not None:
        return _run_bare(options)
    for name in ("rows", "columns", "experts"):
        if getattr(options, name) is not None:
            raise BadInput(f"--{name} needs --transform", location="netra repack")
    bindings, shapes = _plan(options)
    with ExitStack() as stack:
        stored: dict[str, StoredTensor] = {}
        for path in options.input:
            found = stack.enter_context(opened_tensors(path))
            for name in sorted(stored.keys() & found.keys()):
                raise BadInput(f'tensor "{name}" is in an earlier input too', location=str(path))
            stored |= found
        laid_out = lay_out(bindings, stored, shapes)
        size = write_pieces(options.output, tensor_file_pieces([made.tensor for made in laid_out]))
    _report(options, laid_out, size)
    return 0


def _plan(options: argparse.Namespace) -> tuple[Sequence[Json], Shapes | None]:
    folder: Path | None = options.engine
    path = options.plan if folder is None else folder / "layout_plan.json"
    bindings = read_layout_plan(_document(path), str(path))
    if not bindings:
        raise BadInput("layout plan binds no tensor", location=str(path))
    if folder is None:
        return bindings, None
    return bindings, read_graph_shapes(_document(folder / "graph.json"), str(folder / "graph.json"))


def _document(path: Path) -> Json:
    return parse_strict(RealDisk().read_bytes(path), str(path))


def _run_bare(options: argparse.Namespace) -> int:
    """Transform one file that has no header; rows and columns are those before the transform."""
    if len(options.input) != 1:
        raise BadInput("--transform takes one --input", location="netra repack")
    for name in ("rows", "columns"):
        if getattr(options, name) is None:
            raise BadInput(f"--transform needs --{name}", location="netra repack")
    transform = TRANSFORMS[options.transform]
    matrix = Matrix(options.rows, options.columns, transform.item_bytes, options.experts or 1)
    with file_source(options.input[0]) as source:
        pieces = transform.apply(source, matrix, source.location)
        size = write_pieces(options.output, pieces)
    after = transform.after(matrix)
    written = {
        "output": str(options.output),
        "transform": options.transform,
        "experts": after.experts,
        "rows": after.rows,
        "columns": after.columns,
        "size_bytes": size,
    }
    line = f"{options.output}: {size} bytes, {after.rows} x {after.columns}"
    print(canonical_text(written) if options.json else f"{line}\n", end="")
    return 0


def _report(options: argparse.Namespace, laid_out: Sequence[LaidOut], size: int) -> None:
    if options.json:
        tensors = [
            {
                "tensor": made.tensor.name,
                "dtype": made.tensor.dtype,
                "shape": list(made.tensor.shape),
                "checkpoint_tensors": list(made.sources),
                "steps": list(made.steps),
            }
            for made in laid_out
        ]
        written = {"output": str(options.output), "size_bytes": size, "tensors": tensors}
        print(canonical_text(written), end="")
        return
    rows = [
        (
            made.tensor.name,
            made.tensor.dtype,
            " x ".join(map(str, made.tensor.shape)),
            ", ".join(made.steps) or "identity",
            ", ".join(made.sources),
        )
        for made in laid_out
    ]
    print(table_text(("tensor", "dtype", "shape", "steps", "from"), rows))
    print(f"{options.output}: {len(laid_out)} tensors, {size} bytes")
