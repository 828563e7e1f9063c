"""What can be asked to be released - an engine, code objects - and its graph, archive included.

What only a package needs is imported when one is planned, since every build imports this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from netra_build.build.graph.actions import Graph
from netra_build.checkasm.mutate import SCORES
from netra_build.core.errors import BadInput
from netra_build.formats.build_recipe import Recipe
from netra_build.formats.library import Library
from netra_build.release.layout import CODE_OBJECTS, ENGINE, LICENSE, check_version
from netra_build.requests import (
    RECIPES,
    EngineRequest,
    engine_graph,
    find_recipe,
    objects_graph,
)

TEMPLATES = "kernels/"


@dataclass(frozen=True)
class ReleaseRequest:
    """One release as asked for.

    ``recipe`` is a name in the library, of an engine or of code objects as ``kind`` says; ``key``
    is the file of the key to sign with. ``locked`` is False only where a release is reproduced to
    see how it differs. ``is_oci`` asks for the OCI layout too.
    """

    recipe: str
    kind: str
    version: str
    profile: str | None = None
    golden_root: str | None = None
    key: str | None = None
    locked: bool = True
    is_oci: bool = False


def plan_release(library: Library, request: ReleaseRequest) -> Graph:
    """Return the graph of a product and its package.

    Raises ``BadInput`` for a version, recipe or key that cannot be used and a library without a
    licence, and what planning the product raises; ``Refused`` for tactics that are not pinned.
    """
    from netra_build.packaging import ReleaseParts, release_graph
    from netra_build.release.environment import environment_of, require_libraries
    from netra_build.release.origin import DEFAULT_BUILDER, Asked

    require_libraries()
    check_version(request.version, "version")
    # A separate library object, so that the provenance names only the files read for this release.
    own = Library(library.root, library.disk)
    recipe = _recipe(own, request)
    if request.key is not None and not own.disk.is_file(Path(request.key)):
        raise BadInput("key is not a file", location=request.key)
    if not own.disk.is_file(own.root / LICENSE):
        raise BadInput("library has no licence to release under", location=own.location(LICENSE))
    product = _product(own, request)
    scores = scores_name(own)
    if scores is not None:
        own.read(scores)
    used = {place.name for place in product.sources()}
    asked = Asked(
        name=recipe.name,
        version=request.version,
        kind=request.kind,
        recipe=recipe.location,
        profile=request.profile,
        builder=recipe.builder or DEFAULT_BUILDER,
    )
    # Templates of other tactics are read to tell whether their pins hold; none of them is used.
    read = {n for n in own.names_read if n in used or not n.startswith(TEMPLATES)}
    key = None if request.key is None else Path(request.key).name
    return release_graph(
        product, ReleaseParts(asked, read, environment_of(__name__), key, scores, request.is_oci)
    )


def plan_report(library: Library, product: Graph) -> Graph:
    """Return the graph of a product and the page that shows it."""
    from netra_build.packaging import report_graph

    return report_graph(product, scores_name(library))


def scores_name(library: Library) -> str | None:
    """Return the library name of the record of mutation scores, or None without one."""
    return SCORES if library.disk.is_file(library.root / SCORES) else None


def _recipe(library: Library, request: ReleaseRequest) -> Recipe:
    if "/" in request.recipe or request.recipe.endswith((".yaml", ".json")):
        raise BadInput(
            "a release is of a recipe of the library, asked for by its name",
            location=request.recipe,
            hint=f"put the recipe into {RECIPES}/ of the library",
        )
    return find_recipe(library, request.recipe)


def _product(library: Library, request: ReleaseRequest) -> Graph:
    if request.kind == ENGINE:
        wanted = EngineRequest(
            recipe=request.recipe,
            profile=request.profile,
            golden_root=request.golden_root,
            locked=request.locked,
        )
        return engine_graph(library, wanted)
    if request.kind != CODE_OBJECTS:
        raise ValueError(request.kind)
    return objects_graph(library, request.recipe, locked=request.locked)
