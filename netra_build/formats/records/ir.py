"""The typed graph of a model: tensors, operations and their boundary (``netra-ir-1``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from netra_build.core.canonical_json import Json
from netra_build.formats.records.frozen import freeze, thaw
from netra_build.formats.records.vocabulary import FORMAT_GRAPH

Dimension = int | str


@dataclass(frozen=True)
class Tensor:
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

    def document(self) -> Json:
        """Return the object of graph.json."""
        return {
            "name": self.name,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "layout": self.layout,
            "role": self.role,
            "alias_of": self.alias_of,
            "persistent": self.persistent,
        }


@dataclass(frozen=True)
class Operation:
    """One operation of the graph; attributes and numerical rules are deeply frozen JSON."""

    name: str
    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Json] = field(default_factory=dict)
    numerical: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", freeze(self.attributes))
        object.__setattr__(self, "numerical", freeze(self.numerical))

    def document(self) -> Json:
        """Return the object of graph.json."""
        return {
            "name": self.name,
            "kind": self.kind,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "attributes": thaw(self.attributes),
            "numerical": thaw(self.numerical),
        }


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
            "tensors": [tensor.document() for tensor in self.tensors],
            "operations": [operation.document() for operation in self.operations],
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "state": list(self.state),
        }
