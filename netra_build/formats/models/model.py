"""Model descriptions (``netra-model-1``): graph, configuration and digest of one; their reader."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from netra_build.core.canonical_json import Json, parse_object, stable_hash
from netra_build.core.disk import Disk
from netra_build.formats.fields import Fields
from netra_build.formats.library import MARKER_FILES, Library
from netra_build.formats.models.graph import Graph, check_graph, read_graph
from netra_build.formats.schema_subset import check_document
from netra_build.formats.vocabulary import FORMAT_MODEL, MODEL_LISTS

MODEL_KEYS = ("$schema", "format", "name", "family", "synthetic", "configuration", "graph")


class Model(NamedTuple):
    """The graph of a model description with the values that engine.json repeats.

    ``graph_pointer`` is the JSON pointer of the graph in the file at ``location``, or None when
    a frontend made the graph.
    """

    name: str
    configuration: Mapping[str, Json]
    graph: Graph
    configuration_hash: str
    tensor_parallel: int
    location: str
    graph_pointer: str | None = None


def read_model_bytes(data: bytes, location: str, library: Library) -> Model:
    """Return the model of one description's bytes; raise ``BadInput`` with its pointer."""
    document = parse_object(data, location)
    fields = Fields(document, location)
    fields.hold_text("format", FORMAT_MODEL, "model description has an unknown format")
    schema_name = MARKER_FILES[0]
    check_document(
        library.read_object(schema_name), document, location, library.location(schema_name)
    )
    fields.close((*MODEL_KEYS, *MODEL_LISTS))
    configuration = fields.child("configuration")
    graph = _graph(fields)
    return Model(
        name=fields.text("name"),
        configuration=configuration.value,
        graph=graph,
        configuration_hash=stable_hash(document),
        tensor_parallel=configuration.integer("tensor_parallel", 1, low=1, high=2**31 - 1),
        location=location,
        graph_pointer="/graph" if fields.has("graph") else None,
    )


def load_model(path: Path, disk: Disk, library: Library) -> Model:
    """Return the model of one description file."""
    return read_model_bytes(disk.read_bytes(path), str(path), library)


def _graph(fields: Fields) -> Graph:
    if fields.has("graph"):
        beside = [key for key in MODEL_LISTS if fields.value.get(key)]
        if beside:
            fields.refuse(f'"{beside[0]}" stands beside a graph, which would hide it', beside[0])
        return read_graph(fields.child("graph"))
    graph = _made_graph(fields, fields.text("family"))
    check_graph(graph, fields.location)
    return graph


def _made_graph(fields: Fields, family: str) -> Graph:
    """Return the graph that the frontend of a family makes, which is loaded when it is needed."""
    if family == "qwen3.6":
        from netra_build.formats.models.qwen import qwen_graph

        return qwen_graph(fields)
    if family != "gemma":
        hint = 'use "qwen3.6" or "gemma", or give an explicit graph'
        fields.refuse(f'model family "{family}" has no frontend', "family", hint=hint)
    from netra_build.formats.models.dense import gemma_graph

    return gemma_graph(fields)
