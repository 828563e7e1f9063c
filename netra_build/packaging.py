"""From the graph of a product to the graph of its release: what is packed, described and signed.

product -> page
product + page + licence -> bill of materials -> record (the release's lock) -> provenance
provenance + key -> envelope
all of it -> archive -> OCI layout
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from netra_build.build.graph.actions import Action, Graph, Place, Root, check_graph
from netra_build.core.canonical_json import Json, lower
from netra_build.inspect.report.page import MUTATION
from netra_build.inspect.report.page import STAGE as REPORT
from netra_build.release.layout import (
    ENVELOPE,
    LICENSE,
    PAGE,
    PROVENANCE,
    RECORD,
    SBOM,
    archive_name,
    oci_name,
    top_folder,
)
from netra_build.release.origin import OBJECT_PREFIX, SOURCE_PREFIX, Asked
from netra_build.stages import release_package


@dataclass(frozen=True)
class ReleaseParts:
    """What a release takes beside its product.

    ``sources`` are the library names of every file that was read; ``environment`` as
    ``environment_of`` gives it; ``key`` is the file name of a signing key, and ``scores`` the
    library name of the record of mutation scores, if there is one. ``is_oci`` asks for the OCI
    layout beside the archive.
    """

    asked: Asked
    sources: Iterable[str]
    environment: Json
    key: str | None = None
    scores: str | None = None
    is_oci: bool = False


def release_graph(product: Graph, parts: ReleaseParts) -> Graph:
    """Return the graph of a product with the actions of its package after it."""
    asked = parts.asked
    content = {asked.folder + n: Place(Root.OUT, n) for n in product.products(Root.OUT)}
    content[LICENSE] = Place(Root.SOURCE, LICENSE)
    content[PAGE] = _place(asked, PAGE)
    actions = [page_action(product, content[PAGE], parts.scores)]
    actions += [*_described(content, _origin_inputs(product, parts), parts)]
    if parts.key is not None:
        key = Place(Root.KEY, parts.key)
        statement = content[PROVENANCE]
        content[ENVELOPE] = _place(asked, ENVELOPE)
        actions.append(
            release_package.SIGN.apply(
                asked.name,
                {"statement": statement, "key": key},
                {"envelope": content[ENVELOPE]},
                {"key": parts.key},
            )
        )
    archive = {"archive": Place(Root.DIST, archive_name(asked.name, asked.version))}
    top: dict[str, Json] = {"top": top_folder(asked.name, asked.version)}
    actions.append(release_package.ARCHIVE.apply(asked.name, content, archive, top))
    if parts.is_oci:
        layout = {"layout": Place(Root.DIST, oci_name(asked.name, asked.version))}
        actions.append(release_package.OCI.apply(asked.name, archive, layout))
    graph = replace(product, actions=(*product.actions, *actions))
    check_graph(graph)
    return graph


def report_graph(product: Graph, scores: str | None) -> Graph:
    """Return the graph of a product with its page; ``scores`` as in ``page_action``."""
    page = Place(Root.DIST, f"{product.name}.html")
    graph = replace(product, actions=(*product.actions, page_action(product, page, scores)))
    check_graph(graph)
    return graph


def page_action(product: Graph, page: Place, scores: str | None) -> Action:
    """Return the action that makes the page of a product.

    ``scores`` is the library name of the record of mutation scores, if the library has one.
    """
    inputs = {name: Place(Root.OUT, name) for name in product.products(Root.OUT)}
    if scores is not None:
        inputs[MUTATION] = Place(Root.SOURCE, scores)
    return REPORT.apply(product.name, inputs, {"page": page}, {"location": product.name})


def _described(
    content: dict[str, Place], origin: Mapping[str, Place], parts: ReleaseParts
) -> Iterable[Action]:
    """Yield the actions that describe a package; what each makes joins the package."""
    asked = parts.asked
    given: dict[str, Json] = {"asked": lower(asked), "environment": parts.environment}
    for stage, role, name in (
        (release_package.SBOM, "sbom", SBOM),
        (release_package.RECORD, "record", RECORD),
        (release_package.PROVENANCE, "statement", PROVENANCE),
    ):
        made = _place(asked, name)
        yield stage.apply(asked.name, {**content, **origin}, {role: made}, given)
        content[name] = made


def _origin_inputs(product: Graph, parts: ReleaseParts) -> dict[str, Place]:
    """Return what decided the product, by the roles that the stages know."""
    inputs = {SOURCE_PREFIX + name: Place(Root.SOURCE, name) for name in parts.sources}
    for place in product.sources():
        prefix = SOURCE_PREFIX if place.root is Root.SOURCE else OBJECT_PREFIX
        inputs[prefix + place.name] = place
    return inputs


def _place(asked: Asked, name: str) -> Place:
    return Place(Root.WORK, f"releases/{top_folder(asked.name, asked.version)}/{name}")
