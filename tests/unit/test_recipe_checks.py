"""What a recipe of code objects holds its objects against, by its ``checks``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from netra_build import requests
from netra_build.core.disk import RealDisk
from netra_build.formats.build_recipe import ObjectsRecipe
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.library import open_library
from netra_build.pipeline import objects_graph
from netra_build.plan.library_units import recipe_units

ROOT = Path(__file__).resolve().parents[2]
MAKING = {"close", "assemble", "link", "strip", "instantiate", "read"}
RESULT = {"copy", "describe", "result"}
PROVING = {"check", "conform", "disassemble", "equivalence", "flatten", "golden"}


@pytest.mark.parametrize(
    ("checks", "stages"),
    [
        ("all", MAKING | RESULT | PROVING | {"numerics"}),
        ("static", MAKING | RESULT | PROVING),
        ("none", MAKING | RESULT),
    ],
)
def test_stages_of_a_recipe(checks: str, stages: set[str]) -> None:
    library = open_library(RealDisk(), ROOT, ())
    recipe = requests.find_recipe(library, "qwen36_moe_decode_objects")
    assert isinstance(recipe, ObjectsRecipe)
    units = recipe_units(library, recipe, load_catalog(library, derive_pins=True))
    graph = objects_graph(replace(recipe, checks=checks), units)
    assert {action.stage.name for action in graph.actions} == stages
