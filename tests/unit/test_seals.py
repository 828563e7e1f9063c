"""The seal of a product is made of all its other files, so none of them is made after it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from netra_build import requests
from netra_build.build.graph.actions import Graph, Place, Root
from netra_build.core.disk import RealDisk
from netra_build.formats.library import Library, open_library

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def library() -> Library:
    return open_library(RealDisk(), ROOT, ())


def unsealed(graph: Graph) -> set[str]:
    """Return the names of a product's files that its seal is not made of, however indirectly."""
    assert graph.seal is not None
    needed, left = set[Place](), [graph.seal]
    while left:
        place = left.pop()
        if place not in needed and place in graph.producers:
            needed.add(place)
            left += [given for _, given in graph.producers[place].inputs]
    return {p.name for p in graph.producers if p.root is Root.OUT and p not in needed}


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
