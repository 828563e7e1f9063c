"""What can be asked for - an engine, code objects, a tactic, all proofs - and its graph.

Reads manifests and decides; the graphs are put together in ``pipeline``. The SCons tool and
``netra rebuild`` both use it, so that the same request gives the same graph.
Modules that plan only one kind of request are imported when one is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netra_build import pipeline
from netra_build.build.graph.actions import Graph, Root
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, nearest_hint
from netra_build.formats.build_recipe import (
    GOLDEN_OPTIONAL,
    EngineRecipe,
    ObjectsRecipe,
    Recipe,
    read_recipe,
)
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.library import Library
from netra_build.formats.plan import EnginePlan
from netra_build.plan.instances import (
    find_tactic,
    refuse_unpinned,
    tactic_id,
    unpinned,
)
from netra_build.plan.library_units import (
    all_units,
    candidate_units,
    engine_units,
    recipe_units,
    stated_units,
    tactic_units,
    with_candidates,
)
from netra_build.plan.units import share_code

RECIPES = "recipes"
RELEASE, REPORT_OF = "release", "report "
"""Kind of the request for a package; what that for a page of a product begins with."""


@dataclass(frozen=True)
class EngineRequest:
    """One engine as asked for: a recipe by name or file, and what overrides it."""

    recipe: str
    profile: str | None = None
    golden_root: str | None = None
    locked: bool = False
    allow_experimental: bool = False
    """For a published model description; recipes say it themselves."""
    debug: bool = False
    """Also make a debug object of every code object."""
    strict: bool = False
    """For a published model description: refuse what else is a warning."""


def recipe_names(library: Library) -> tuple[str, ...]:
    """Return the names of the library's engine recipes, sorted."""
    paths = library.disk.files_under(library.root / RECIPES, ".yaml")
    recipes = [find_recipe(library, path.stem) for path in paths]
    return tuple(recipe.name for recipe in recipes if isinstance(recipe, EngineRecipe))


def find_recipe(library: Library, asked: str) -> Recipe:
    """Return a recipe by its name in the library or by its file; ``BadInput`` if there is none."""
    if "/" in asked or asked.endswith(".yaml"):
        path = Path(asked)
        return read_recipe(library.disk.read_bytes(path), asked)
    name = f"{RECIPES}/{asked}.yaml"
    if not library.disk.is_file(library.root / name):
        paths = library.disk.files_under(library.root / RECIPES, ".yaml")
        hint = nearest_hint(asked, [path.stem for path in paths])
        raise BadInput(f'unknown recipe "{asked}"', location=RECIPES, hint=hint)
    return read_recipe(library.read(name), name)


def engine_graph(library: Library, request: EngineRequest) -> Graph:
    """Return the graph of one engine directory.

    Raises ``BadInput`` for a recipe, model, profile or golden object that cannot be used,
    ``Refused`` for pins that differ under ``locked`` and for golden objects of other bytes,
    ``EvidenceIncomplete`` without a golden source where the recipe requires one.
    """
    from netra_build.plan.documents import engine_documents
    from netra_build.plan.fixed import fallback_notes, refuse_fallbacks

    recipe = _asked_engine(library, request)
    if not isinstance(recipe, EngineRecipe):
        raise BadInput(
            "recipe is not of an engine", location=recipe.location, hint="ask with recipe="
        )
    if request.profile is not None:
        recipe = replace(recipe, profile=request.profile)
    if request.golden_root is not None and not library.disk.is_folder(Path(request.golden_root)):
        raise BadInput("golden root is not a folder", location=request.golden_root)
    plan = _plan(library, recipe, request.golden_root)
    if recipe.share_code:
        plan = share_code(plan)
    tactics = [instance.tactic for instance in plan.kernels]
    if request.locked:
        refuse_unpinned(tactics)
    stale = unpinned(tactics)
    if recipe.is_strict and not recipe.allow_fallback:
        refuse_fallbacks(plan, recipe.location)
    units = engine_units(library, plan, recipe, strict=request.strict)
    if recipe.candidates:
        catalog = load_catalog(library, derive_pins=True)
        beside = candidate_units(library, catalog, recipe)
        plan, units = with_candidates(library, plan, beside), [*units, *beside]
    given = {}
    if request.golden_root is not None:
        from netra_build.plan.golden import golden_objects

        given = golden_objects(plan)
    notes = (*(f"not pinned: {name} (netra pin)" for name in stale), *fallback_notes(plan))
    sealed: dict[str, Json] = {"recipe": recipe.document(), "not_pinned": list(stale)}
    documents = engine_documents(plan)
    graph = pipeline.engine_graph(recipe.name, documents, units, sealed, given, notes)
    return pipeline.with_debug(graph, units) if request.debug else graph


def _asked_engine(library: Library, request: EngineRequest) -> Recipe:
    """Return the recipe of the request; for a model description a new one."""
    asked = request.recipe
    if not asked.endswith(".json"):
        if request.allow_experimental:
            raise BadInput("only a recipe itself can allow experiments", location=asked)
        return find_recipe(library, asked)
    if request.profile is None:
        raise BadInput("model description has no profile", location=asked, hint="add profile=")
    return EngineRecipe(
        name=f"{Path(asked).stem}__{request.profile}",
        location=asked,
        model=Path(asked).name,
        profile=request.profile,
        allow_experimental=request.allow_experimental,
        golden=GOLDEN_OPTIONAL,
        is_strict=False,
    )


def _plan(library: Library, recipe: EngineRecipe, golden_root: str | None) -> EnginePlan:
    """Return the plan of a recipe, golden objects read and compared when a root is given.

    The recipe of a model description is planned as ``netra compile`` does.
    """
    from netra_build.formats.models.model import read_model_bytes
    from netra_build.plan.plan import PlanOptions, plan_engine

    if recipe.is_strict:
        data, place = library.read(recipe.model, recipe.location), library.location(recipe.model)
    else:
        data, place = library.disk.read_bytes(Path(recipe.location)), recipe.location
    model = read_model_bytes(data, place, library)
    options = PlanOptions(
        allow_experimental=recipe.allow_experimental,
        checkpoint_hash=recipe.checkpoint_hash,
        strict=recipe.is_strict,
        placement=recipe.placement,
        derive_pins=recipe.is_strict,
    )
    plan = plan_engine(library, model, recipe.profile, options, recipe.location)
    if golden_root is None:
        return plan
    from netra_build.plan.golden import read_golden, with_golden

    root, disk = Path(golden_root), library.disk
    return with_golden(plan, read_golden(plan, root, disk, strict=recipe.is_strict))


def objects_graph(
    library: Library,
    asked: str,
    *,
    locked: bool = False,
    allow_unlocked: bool = False,
    debug: bool = False,
    strict: bool = False,
) -> Graph:
    """Return the graph of the code objects of one recipe, with ``build-result.json``.

    A JSON file is a published deployment recipe: its product is what ``netra recipe`` writes,
    ``allow_unlocked`` lets it build experiments whose lock is 64 zeros, and ``strict`` refuses
    what else is a warning.
    """
    if asked.endswith(".json"):
        from netra_build.plan.deployment import read_units

        name, document, units = read_units(library, asked, allow_unlocked, strict)
        graph = pipeline.deployment_graph(name, document, units)
        return pipeline.with_debug(graph, units) if debug else graph
    recipe = find_recipe(library, asked)
    if not isinstance(recipe, ObjectsRecipe):
        raise BadInput(
            "recipe is not of code objects", location=recipe.location, hint="ask with engine="
        )
    units = recipe_units(library, recipe, load_catalog(library, derive_pins=True))
    if locked:
        refuse_unpinned([m.instance.tactic for unit in units for m in unit.members])
    library.let_go()  # a recipe may have thousands of kernels
    graph = pipeline.objects_graph(recipe, units)
    return pipeline.with_debug(graph, units) if debug else graph


def tactic_graph(
    library: Library, asked: str, *, locked: bool = False, debug: bool = False
) -> Graph:
    """Return the graph that builds, proves and checks one tactic id."""
    catalog = load_catalog(library, derive_pins=True)
    tactic = find_tactic(catalog, asked, "tactic")
    if locked:
        refuse_unpinned([tactic])
    units = tactic_units(library, tactic, Root.OUT, gate=True)
    graph = pipeline.tactic_graph(tactic_id(tactic), units)
    return pipeline.with_debug(graph, units) if debug else graph


def equivalence_graph(
    library: Library, *, locked: bool = False, tactic: str | None = None
) -> Graph:
    """Return the graph that compares every tactic, or one, with its golden sources."""
    return pipeline.equivalence_graph(all_units(library, locked, tactic))


def checks_graph(
    library: Library,
    *,
    locked: bool = False,
    tactic: str | None = None,
    deployment: str | None = None,
    allow_unlocked: bool = False,
    strict: bool = False,
) -> Graph:
    """Return the graph that checks every tactic, or one, statically.

    With ``deployment`` it checks the code objects of that published recipe; their errors are
    warnings unless ``strict``.
    """
    if deployment is None:
        return pipeline.checks_graph(all_units(library, locked, tactic))
    from netra_build.plan.deployment import read_units

    name, _, units = read_units(library, deployment, allow_unlocked, strict=False, is_apart=True)
    return pipeline.checks_graph(units, name, strict=strict)


def numerics_graph(
    library: Library, *, seeds: Sequence[int], locked: bool = False, tactic: str | None = None
) -> Graph:
    """Return the graph that simulates every tactic, or one, with seeds.

    Raises ``EvidenceIncomplete`` for tactics without a numeric contract.
    """
    return pipeline.numerics_graph(stated_units(library, locked, tactic), seeds)


PLANS: dict[str, Callable[..., Graph]] = {
    "recipe": objects_graph,
    "tactic": tactic_graph,
    "equivalence": equivalence_graph,
    "checks": checks_graph,
    "numerics": numerics_graph,
}
"""What plans each kind of request but an engine's."""


def asked_graph(library: Library, what: str, asked: str | None, options: Any) -> Graph:
    """Return the graph of a request: the kind of product, its name if it has one, its options.

    Raises ``BadInput`` for an unknown kind, and what the graph's own function raises.
    """
    if what == "engine" and asked is not None:
        return engine_graph(library, EngineRequest(asked, **options))
    if what not in PLANS:
        raise BadInput(f'unknown kind of request "{what}"', location="requests")
    return PLANS[what](library, *([] if asked is None else [asked]), **options)
