"""Releases that can be asked for - of an engine, of code objects - and the graph of each.

product -> page
product + page + licence -> bill of materials -> record (the release's lock) -> provenance
provenance + key -> envelope
all of it -> archive -> OCI layout

Builds without a release do not import this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netra_build.build.graph.actions import Action, Graph, Place, Root, check_graph
from netra_build.checkasm.mutate import SCORES
from netra_build.checkasm.numerics.statement_source import FOLDER as STATEMENTS
from netra_build.core.canonical_json import Json, lower
from netra_build.core.errors import BadInput
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import CODE_OBJECTS
from netra_build.inspect.report.page import MUTATION
from netra_build.inspect.report.page import STAGE as REPORT
from netra_build.release.layout import (
    ENVELOPE,
    LICENSE,
    OCI_SUFFIX,
    PAGE,
    PROVENANCE,
    RECORD,
    SBOM,
    SUFFIX,
    check_version,
    top_folder,
)
from netra_build.release.origin import (
    DEFAULT_BUILDER,
    OBJECT_PREFIX,
    SOURCE_PREFIX,
    Asked,
    environment_of,
    require_libraries,
)
from netra_build.requests import (
    RECIPES,
    RELEASE,
    REPORT_OF,
    EngineRequest,
    asked_graph,
    engine_graph,
    find_recipe,
    objects_graph,
)
from netra_build.stages import release_package

TEMPLATES = "kernels/"


@dataclass(frozen=True)
class ReleaseRequest:
    """One release as asked for.

    ``recipe`` is a name in the library, of an engine or of code objects as ``kind`` says; ``key``
    is the file of the key to sign with. ``locked`` is False only where a release is reproduced to
    see how it differs. ``oci`` asks for the OCI layout too.
    """

    recipe: str
    kind: str
    version: str
    profile: str | None = None
    golden_root: str | None = None
    key: str | None = None
    locked: bool = True
    oci: bool = False


def plan_release(library: Library, request: ReleaseRequest) -> Graph:
    """Return the graph of a product and its package.

    Raises ``BadInput`` for a version, recipe or key that cannot be used and a library without a
    licence, and what planning the product raises; ``Refused`` for tactics that are not pinned.
    """
    require_libraries()
    check_version(request.version, "version")
    # A separate library object, so that the provenance names only the files read for this release.
    own = Library(library.root, library.disk)
    asked = _asked(own, request)
    if request.key is not None and not own.disk.is_file(Path(request.key)):
        raise BadInput("key is not a file", location=request.key)
    if not own.disk.is_file(own.root / LICENSE):
        raise BadInput("library has no licence to release under", location=own.location(LICENSE))
    product = _product(own, request)
    page = _page_action(own, product, _place(asked, PAGE))
    packed = _package_actions(product, asked, request, _origin_inputs(own, product))
    graph = replace(product, actions=(*product.actions, page, *packed))
    check_graph(graph)
    return graph


def planned(library: Library, what: str, asked: str | None, options: Any) -> Graph:
    """Return the graph of any request: as ``asked_graph``, also of a package or of a page."""
    if what == RELEASE and asked is not None:
        return plan_release(library, ReleaseRequest(asked, **options))
    graph = asked_graph(library, what.removeprefix(REPORT_OF), asked, options)
    return plan_report(library, graph) if what.startswith(REPORT_OF) else graph


def plan_report(library: Library, product: Graph) -> Graph:
    """Return the graph of a product and the page that shows it."""
    page = _page_action(library, product, Place(Root.DIST, f"{product.name}.html"))
    graph = replace(product, actions=(*product.actions, page))
    check_graph(graph)
    return graph


def _asked(library: Library, request: ReleaseRequest) -> Asked:
    """Return what the documents of a package say of its request."""
    if "/" in request.recipe or request.recipe.endswith((".yaml", ".json")):
        raise BadInput(
            "a release is of a recipe of the library, asked for by its name",
            location=request.recipe,
            hint=f"put the recipe into {RECIPES}/ of the library",
        )
    recipe = find_recipe(library, request.recipe)
    return Asked(
        name=recipe.name,
        version=request.version,
        kind=request.kind,
        recipe=recipe.location,
        profile=request.profile,
        builder=recipe.builder or DEFAULT_BUILDER,
    )


def _product(library: Library, request: ReleaseRequest) -> Graph:
    if request.kind == CODE_OBJECTS:
        return objects_graph(library, request.recipe, locked=request.locked)
    wanted = EngineRequest(
        recipe=request.recipe,
        profile=request.profile,
        golden_root=request.golden_root,
        locked=request.locked,
    )
    return engine_graph(library, wanted)


def _page_action(library: Library, product: Graph, page: Place) -> Action:
    """Return the action that makes the page of a product, with the library's mutation scores."""
    inputs = {name: Place(Root.OUT, name) for name in product.products(Root.OUT)}
    if library.disk.is_file(library.root / SCORES):
        inputs[MUTATION] = Place(Root.SOURCE, SCORES)
    return REPORT.apply(product.name, inputs, {"page": page}, {"location": product.name})


def _package_actions(
    product: Graph, asked: Asked, request: ReleaseRequest, origin: Mapping[str, Place]
) -> Iterable[Action]:
    """Yield the actions that describe, sign and pack a product; what each makes is packed too."""
    content = {asked.folder + n: Place(Root.OUT, n) for n in product.products(Root.OUT)}
    content[LICENSE] = Place(Root.SOURCE, LICENSE)
    content[PAGE] = _place(asked, PAGE)
    given: dict[str, Json] = {"asked": lower(asked), "environment": environment_of(__name__)}
    for stage, role, name in (
        (release_package.SBOM, "sbom", SBOM),
        (release_package.RECORD, "record", RECORD),
        (release_package.PROVENANCE, "statement", PROVENANCE),
    ):
        made = _place(asked, name)
        yield stage.apply(asked.name, {**content, **origin}, {role: made}, given)
        content[name] = made
    if request.key is not None:
        key = Path(request.key).name
        signed = {"statement": content[PROVENANCE], "key": Place(Root.KEY, key)}
        content[ENVELOPE] = _place(asked, ENVELOPE)
        envelope = {"envelope": content[ENVELOPE]}
        yield release_package.SIGN.apply(asked.name, signed, envelope, {"key": key})
    top = top_folder(asked.name, asked.version)
    archive = {"archive": Place(Root.DIST, top + SUFFIX)}
    yield release_package.ARCHIVE.apply(asked.name, content, archive, {"top": top})
    if request.oci:
        layout = {"layout": Place(Root.DIST, top + OCI_SUFFIX)}
        yield release_package.OCI.apply(asked.name, archive, layout)


def _origin_inputs(library: Library, product: Graph) -> dict[str, Place]:
    """Return what decided the product, by the roles that the stages know."""
    if library.disk.is_file(library.root / SCORES):
        library.read(SCORES)
    sources = product.sources()
    used = {place.name for place in sources}
    # Templates and statements of other tactics are read for pins and names; none of them is used.
    read = {n for n in library.names_read if n in used or not n.startswith((TEMPLATES, STATEMENTS))}
    inputs = {SOURCE_PREFIX + name: Place(Root.SOURCE, name) for name in read}
    for place in sources:
        prefix = SOURCE_PREFIX if place.root is Root.SOURCE else OBJECT_PREFIX
        inputs[prefix + place.name] = place
    return inputs


def _place(asked: Asked, name: str) -> Place:
    return Place(Root.WORK, f"releases/{top_folder(asked.name, asked.version)}/{name}")
