"""What can be asked for - an engine, code objects, a tactic, all proofs - and its graph.

Reads manifests and decides; the graphs are put together in ``pipeline``. The SCons front and
``netra rebuild`` both come in here, so that they ask the same question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from netra_build import pipeline
from netra_build.choose.documents import engine_documents
from netra_build.choose.plan import plan_engine
from netra_build.choose.units import (
    EngineParts,
    Unit,
    engine_units,
    tactic_units,
)
from netra_build.core.errors import BadInput, Refused
from netra_build.core.graph import Graph, Root
from netra_build.core.nearest import nearest_hint
from netra_build.load.build_recipe import read_recipe
from netra_build.load.catalog import load_catalog
from netra_build.load.library import Library
from netra_build.records.build_recipe import EngineRecipe, ObjectsRecipe, Recipe

RECIPES = "recipes"


@dataclass(frozen=True)
class EngineRequest:
    """One engine as asked for: a recipe by name or file, and what overrides it."""

    recipe: str
    profile: str | None = None
    golden_root: str | None = None
    locked: bool = False


def recipe_names(library: Library) -> tuple[str, ...]:
    """Return the names of the library's recipes, sorted."""
    paths = library.disk.files_under(library.root / RECIPES, ".yaml")
    return tuple(path.stem for path in paths)


def engine_graph(library: Library, request: EngineRequest) -> Graph:
    """Return the graph of one engine directory.

    Raises ``BadInput`` for a recipe, model, profile or golden object that cannot be used,
    ``Refused`` for pins that differ under ``locked``, ``EvidenceIncomplete`` without a golden
    source where the recipe requires one.
    """
    recipe = _engine_recipe(library, request)
    plan = _plan(library, recipe, request)
    tactics = [instance.tactic for instance in plan.kernels]
    if request.locked:
        refuse_unpinned(tactics)
    stale = unpinned(tactics)
    units = engine_units(
        library, plan, recipe.name, golden_required=recipe.golden == GOLDEN_REQUIRED
    )
    parts = EngineParts(
        name=recipe.name,
        documents={f"{name}.json": text for name, text in engine_documents(plan).items()},
        golden_objects=_golden_objects(plan),
        recipe=recipe.document(),
        not_pinned=stale,
        notes=tuple(f"not pinned: {name}" for name in stale),
    )
    return pipeline.engine_graph(parts, units)
