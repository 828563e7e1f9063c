"""The seal of a product is made of all its other files, so none of them is made after it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from netra_build import requests
from netra_build.core.disk import RealDisk
from netra_build.core.graph import Graph, Place, Root
from netra_build.load.library import Library, open_library

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def library() -> Library:
    return open_library(RealDisk(), ROOT, ())


def unsealed(graph: Graph) -> set[str]:
    """Return the names of a product's files that its seal is not made of."""
    assert graph.seal is not None
    seal = graph.producers[graph.seal]
    needed = {place.name for _, place in seal.inputs if place.root is Root.OUT}
    return set(graph.products(Root.OUT)) - needed - {graph.seal.name}


def product(library: Library, kind: str) -> Graph:
    if kind == "engine":
        return requests.engine_graph(library, requests.EngineRequest("qwen36_moe_m1"))
    if kind == "objects":
        return requests.objects_graph(library, "qwen36_35b_current_best")
    return requests.tactic_graph(library, "moe_silu_quant_decode_m1")


@pytest.mark.parametrize("kind", ["engine", "objects", "tactic"])
def test_a_seal_needs_every_file_of_its_product(library: Library, kind: str) -> None:
    graph = product(library, kind)
    assert len(graph.products(Root.OUT)) > 5
    assert unsealed(graph) == set()
    stray = replace(graph.actions[0], outputs=(("more", Place(Root.OUT, "more")),))
    assert unsealed(replace(graph, actions=(stray, *graph.actions))) == {"more"}
