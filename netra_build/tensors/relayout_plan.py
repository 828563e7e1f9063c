"""Apply a layout plan: checkpoint tensors in, the tensors that kernels read out.

Everything that can be refused is refused before the first byte is made; the bytes themselves are
made while they are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, nearest_hint
from netra_build.formats.layout_plan import SHUFFLE, WIDEN, LayoutBinding, ScaleLayout, WeightLayout
from netra_build.formats.vocabulary import STORED_DTYPE
from netra_build.tensors.byte_source import Joined
from netra_build.tensors.relayout import TRANSFORMS, Matrix
from netra_build.tensors.tensor_file import NewTensor, StoredTensor

Stored = Mapping[str, StoredTensor]
Shapes = Mapping[str, tuple[str, tuple[Json, ...]]]
"""Data type (our name) and shape of the tensors of a graph, by name."""


@dataclass(frozen=True)
class LaidOut:
    """One tensor to write, what it came from and what was done."""

    tensor: NewTensor
    sources: tuple[str, ...]
    steps: tuple[str, ...]


def lay_out(
    bindings: Iterable[LayoutBinding], stored: Stored, shapes: Shapes | None = None
) -> list[LaidOut]:
    """Return every tensor of a plan, in the plan's order.

    ``shapes`` is what the engine's graph says of them. ``BadInput``: a checkpoint tensor that is
    missing, has another data type, a shape that its partners or the graph do not have, or one
    that does not divide into tiles.
    """
    result = []
    for binding in bindings:
        weight = _lay_out_weight(binding.weight, stored, binding.location)
        result.append(weight)
        if binding.scale is not None:
            place = f"{binding.location}/scale"
            result.append(_lay_out_scale(binding.scale, weight.tensor, stored, place))
    if shapes is not None:
        for made in result:
            _check_graph(made, shapes)
    return result


def _lay_out_weight(weight: WeightLayout, stored: Stored, location: str) -> LaidOut:
    parts = [_found(name, stored, location) for name in weight.sources]
    if "fp8" in weight.kernel_layout or SHUFFLE in weight.steps:
        for part in parts:
            _require_dtype(part, "F8_E4M3")
    joined = _joined(parts, weight.tensor)
    step = SHUFFLE if SHUFFLE in weight.steps else "identity"
    return LaidOut(_transformed(joined, step), weight.sources, weight.steps)


def _lay_out_scale(scale: ScaleLayout, weight: NewTensor, stored: Stored, location: str) -> LaidOut:
    parts = [_found(name, stored, location) for name in scale.sources]
    for part in parts:
        _require_dtype(part, STORED_DTYPE[scale.checkpoint_dtype])
    joined = _joined(parts, scale.tensor)
    *experts, rows, columns = weight.shape
    grid = (*experts, rows // scale.block[0], columns // scale.block[1])
    if joined.shape != grid or rows % scale.block[0] or columns % scale.block[1]:
        block = " x ".join(map(str, scale.block))
        raise BadInput(
            f'scales do not fit the {block} blocks of "{weight.name}"',
            location=joined.location,
            expected=_shape_text(grid),
            got=_shape_text(joined.shape),
        )
    made = _transformed(joined, WIDEN if WIDEN in scale.steps else "identity")
    made = replace(made, dtype=STORED_DTYPE[scale.kernel_dtype])
    return LaidOut(made, scale.sources, scale.steps)


def _found(name: str, stored: Stored, location: str) -> StoredTensor:
    if name not in stored:
        fact, hint = f'checkpoint tensor "{name}" is missing', nearest_hint(name, stored)
        raise BadInput(fact, location=location, hint=hint)
    return stored[name]


def _require_dtype(tensor: StoredTensor, dtype: str) -> None:
    if tensor.dtype != dtype:
        fact = "checkpoint tensor has the wrong data type"
        raise BadInput(fact, location=tensor.location, expected=dtype, got=tensor.dtype)


def _joined(parts: Sequence[StoredTensor], name: str) -> StoredTensor:
    """Return one tensor of at least two dimensions: the parts joined at their first dimension."""
    first = parts[0]
    for part in parts:
        if len(part.shape) < 2:
            raise BadInput(
                "checkpoint tensor has too few dimensions",
                location=part.location,
                expected="at least 2",
                got=len(part.shape),
            )
        if (part.dtype, part.shape[1:]) != (first.dtype, first.shape[1:]):
            raise BadInput(
                f'checkpoint tensor cannot be joined with "{first.name}"',
                location=part.location,
                expected=f"{first.dtype} {_shape_text(('any', *first.shape[1:]))}",
                got=f"{part.dtype} {_shape_text(part.shape)}",
            )
    if len(parts) == 1:
        return replace(first, name=name)
    shape = (sum(part.shape[0] for part in parts), *first.shape[1:])
    source = Joined([part.source for part in parts])
    return StoredTensor(name, first.dtype, shape, source, first.location)


def _transformed(tensor: StoredTensor, step: str) -> NewTensor:
    """Return the tensor after one transform; leading dimensions are experts."""
    *experts, rows, columns = tensor.shape
    item_bytes = max(1, tensor.source.size_bytes // max(1, prod(tensor.shape)))
    matrix = Matrix(rows, columns, item_bytes, prod(experts))
    pieces = TRANSFORMS[step].apply(tensor.source, matrix, tensor.location)
    return NewTensor(tensor.name, tensor.dtype, tensor.shape, pieces)


def _check_graph(made: LaidOut, shapes: Shapes) -> None:
    tensor = made.tensor
    if tensor.name not in shapes:
        fact, hint = f'the graph has no tensor "{tensor.name}"', nearest_hint(tensor.name, shapes)
        raise BadInput(fact, location="graph.json", hint=hint)
    dtype, shape = shapes[tensor.name]
    wanted = f"{STORED_DTYPE[dtype]} {_shape_text(shape)}"
    actual = f"{tensor.dtype} {_shape_text(tensor.shape)}"
    if wanted != actual:
        raise BadInput(
            f'tensor "{tensor.name}" is not the one of the graph',
            location=", ".join(f'"{name}"' for name in made.sources),
            expected=wanted,
            got=actual,
        )


def _shape_text(shape: Sequence[object]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
