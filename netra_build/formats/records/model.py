"""A loaded model description: its graph, its configuration and its digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json
from netra_build.formats.records.ir import Graph


@dataclass(frozen=True)
class Model:
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
