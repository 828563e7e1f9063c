"""Where an operation of a model stands, for messages."""

from __future__ import annotations

from netra_build.core.canonical_json import Json, lower
from netra_build.formats.fields import Fields
from netra_build.formats.models.graph import Operation
from netra_build.formats.models.model import Model


def operation_place(model: Model, index: int, operation: Operation) -> str:
    """Return the location of an operation: its pointer in a graph, else its name."""
    if model.graph_pointer is not None:
        return f"{model.location}#{model.graph_pointer}/operations/{index}"
    return f'{model.location} operation "{operation.name}"'


def attribute_fields(model: Model, index: int, operation: Operation) -> Fields:
    """Return the attributes of an operation for typed reading."""
    value: Json = lower(operation.attributes)
    if model.graph_pointer is not None:
        pointer = f"{model.graph_pointer}/operations/{index}/attributes"
        return Fields(value, model.location, pointer)
    return Fields(value, f'{model.location} operation "{operation.name}"')
