"""The typed graph of a model (``netra-ir-1``): tensors, operations, their boundary; its reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from netra_build.core.canonical_json import Json, lower
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields, first_repeated, quoted
from netra_build.formats.vocabulary import DTYPE_BYTES, FORMAT_GRAPH, TENSOR_ROLES

Dimension = int | str

GRAPH_KEYS = "format name tensors operations inputs outputs state"
TENSOR_KEYS = "name shape dtype layout role alias_of persistent"
OPERATION_KEYS = "name kind inputs outputs attributes numerical"


class Tensor(NamedTuple):
    """One tensor: a shape of positive integers or dimension names, a data type and a role."""

    name: str
    shape: tuple[Dimension, ...]
    dtype: str
    layout: str
    role: str = "temporary"
    alias_of: str | None = None
    persistent: bool = False

    @property
    def storage_name(self) -> str:
        """Name of the tensor that owns the bytes: the alias target or the tensor itself."""
        return self.alias_of or self.name


class Operation(NamedTuple):
    """One operation of the graph; attributes and numerical rules are never changed."""

    name: str
    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Json]
    numerical: dict[str, Json]


@dataclass(frozen=True)
class Graph:
    """A checked graph; arrays keep the order in which they were written."""

    name: str
    tensors: tuple[Tensor, ...]
    operations: tuple[Operation, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state: tuple[str, ...] = ()

    @cached_property
    def tensor_by_name(self) -> Mapping[str, Tensor]:
        """Tensors by name; built once."""
        return {tensor.name: tensor for tensor in self.tensors}

    def document(self) -> Json:
        """Return graph.json."""
        return {
            "format": FORMAT_GRAPH,
            "name": self.name,
            "tensors": [lower(tensor._asdict()) for tensor in self.tensors],
            "operations": [lower(operation._asdict()) for operation in self.operations],
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "state": list(self.state),
        }


def read_graph(fields: Fields) -> Graph:
    """Return the checked graph of one JSON object; raise ``BadInput`` with its pointer."""
    fields.close(GRAPH_KEYS)
    fields.hold_text("format", FORMAT_GRAPH, "graph has an unknown format")
    graph = Graph(
        name=fields.text("name"),
        tensors=tuple([_read_tensor(item) for item in fields.objects("tensors")]),
        operations=tuple([_read_operation(item) for item in fields.objects("operations")]),
        inputs=fields.texts("inputs"),
        outputs=fields.texts("outputs"),
        state=fields.texts("state", []),
    )
    check_graph(graph, fields.place())
    return graph


def _read_tensor(fields: Fields) -> Tensor:
    fields.close(TENSOR_KEYS)
    return Tensor(
        name=fields.text("name"),
        shape=read_shape(fields),
        dtype=fields.word("dtype", DTYPE_BYTES),
        layout=fields.text("layout"),
        role=fields.word("role", TENSOR_ROLES, "temporary"),
        alias_of=fields.optional_text("alias_of"),
        persistent=fields.boolean("persistent", False),
    )


def read_shape(fields: Fields) -> tuple[Dimension, ...]:
    """Return the shape of a tensor object."""
    shape = fields.array("shape")
    if not shape:
        fields.refuse("shape has no dimension", "shape")
    for index, size in enumerate(shape):
        whole = isinstance(size, int) and not isinstance(size, bool) and size > 0
        if not whole and not (isinstance(size, str) and size):
            fields.refuse("dimension is neither a positive integer nor a name", "shape", index)
    return tuple(shape)


def _read_operation(fields: Fields) -> Operation:
    fields.close(OPERATION_KEYS)
    return Operation(
        name=fields.text("name"),
        kind=fields.text("kind"),
        inputs=fields.texts("inputs"),
        outputs=fields.texts("outputs"),
        attributes=fields.child("attributes", {}).value,
        numerical=fields.child("numerical", {}).value,
    )


def check_graph(graph: Graph, location: str) -> None:
    """Check names, aliases, the boundary and the order of production; raise ``BadInput``."""
    rules = (_name_faults, _alias_faults, _reference_faults, _boundary_faults, _production_faults)
    for rule in rules:
        for fact in rule(graph):
            raise BadInput(fact, location=location)


def _name_faults(graph: Graph) -> Iterator[str]:
    for word, items in (("tensors", graph.tensors), ("operations", graph.operations)):
        twice = first_repeated(item.name for item in items)
        if twice is not None:
            yield f'two {word} are named "{twice}"'


def _alias_faults(graph: Graph) -> Iterator[str]:
    for tensor in graph.tensors:
        if tensor.alias_of is None:
            continue
        view = f'tensor "{tensor.name}"'
        target = graph.tensor_by_name.get(tensor.alias_of)
        if tensor.alias_of == tensor.name:
            yield f"{view} is an alias of itself"
        elif target is None:
            yield f'{view} is an alias of the unknown tensor "{tensor.alias_of}"'
        elif tensor.role != "temporary" or target.role != "temporary":
            yield f"{view} is an alias, which only temporary tensors may be"
        elif tensor.persistent or target.persistent or target.alias_of is not None:
            yield f'{view} has the illegal alias target "{target.name}"'
        elif (tensor.dtype, tensor.layout) != (target.dtype, target.layout):
            yield f"{view} changes the data type or layout of its alias target"


def _reference_faults(graph: Graph) -> Iterator[str]:
    for operation in graph.operations:
        for name in operation.inputs + operation.outputs:
            if name not in graph.tensor_by_name:
                yield f'operation "{operation.name}" uses the unknown tensor "{name}"'


def _boundary_faults(graph: Graph) -> Iterator[str]:
    tensors = graph.tensor_by_name
    for word, names in (("input", graph.inputs), ("output", graph.outputs), ("state", graph.state)):
        for name in names:
            if name not in tensors:
                yield f'graph {word} "{name}" is not a tensor'
        twice = first_repeated(names)
        if twice is not None:
            yield f'graph {word} "{twice}" is listed twice'
        for name in names:
            if tensors[name].role != word:
                yield f'graph {word} "{name}" has the role "{tensors[name].role}"'
            if word == "state" and not tensors[name].persistent:
                yield f'graph state "{name}" is not persistent'


def _production_faults(graph: Graph) -> Iterator[str]:
    views: dict[str, list[str]] = {}
    for tensor in graph.tensors:
        if tensor.alias_of is not None:
            views.setdefault(tensor.alias_of, []).append(tensor.name)
    kept = [tensor.name for tensor in graph.tensors if tensor.persistent]
    ready: set[str] = set()
    producer: dict[str, str] = {}
    _make_ready(ready, [*graph.inputs, *graph.state, *kept], views)
    for operation in graph.operations:
        early = sorted({name for name in operation.inputs if name not in ready})
        if early:
            fact = f'operation "{operation.name}" consumes tensors before production'
            yield f"{fact}: {quoted(early)}"
        for name in operation.outputs:
            yield from _output_faults(operation, graph.tensor_by_name[name], producer.get(name))
            producer[name] = operation.name
        _make_ready(ready, operation.outputs, views)
    never = sorted(name for name in graph.outputs if name not in producer)
    if never:
        yield f"graph outputs are never produced: {quoted(never)}"


def _make_ready(ready: set[str], names: Iterable[str], views: Mapping[str, list[str]]) -> None:
    for name in names:
        ready.add(name)
        ready.update(views.get(name, ()))


def _output_faults(operation: Operation, tensor: Tensor, first: str | None) -> Iterator[str]:
    head = f'operation "{operation.name}"'
    if tensor.alias_of is not None:
        yield f'{head} cannot produce the alias "{tensor.name}" on its own'
    if tensor.role in ("input", "weight"):
        yield f'{head} cannot produce the {tensor.role} tensor "{tensor.name}"'
    if first is not None and tensor.role != "state":
        yield f'tensor "{tensor.name}" has two producers: "{first}" and "{operation.name}"'
