"""From the graph of a product to the graph of its release: what is packed, described and signed.

product + licence -> bill of materials -> record (the release's lock) -> provenance
provenance + key -> envelope
all of it -> archive
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from netra_build.core.canonical_json import Json, lower
from netra_build.core.graph import Action, Graph, Place, Root, check_graph
from netra_build.release.layout import (
    ENVELOPE,
    LICENSE,
    PROVENANCE,
    RECORD,
    SBOM,
    archive_name,
    top_folder,
)
from netra_build.release.origin import OBJECT_PREFIX, SOURCE_PREFIX, Asked
from netra_build.stages import (
    release_archive,
    release_provenance,
    release_record,
    release_sbom,
    release_sign,
)


@dataclass(frozen=True)
class ReleaseParts:
    """What a release takes beside its product.

    ``sources`` are the library names of every file that was read; ``environment`` as
    ``environment_of`` gives it; ``key`` is the file name of a signing key, if there is one.
    """

    asked: Asked
    sources: Iterable[str]
    environment: Json
    key: str | None = None


def release_graph(product: Graph, parts: ReleaseParts) -> Graph:
    """Return the graph of a product with the actions of its package after it."""
    asked = parts.asked
    content = {asked.folder + n: Place(Root.OUT, n) for n in product.products(Root.OUT)}
    content[LICENSE] = Place(Root.SOURCE, LICENSE)
    actions = [*_described(content, _origin_inputs(product, parts), parts)]
    if parts.key is not None:
        key = Place(Root.KEY, parts.key)
        statement = content[PROVENANCE]
        content[ENVELOPE] = _place(asked, ENVELOPE)
        actions.append(
            release_sign.STAGE.apply(
                asked.name,
                {"statement": statement, "key": key},
                {"envelope": content[ENVELOPE]},
                {"key": parts.key},
            )
        )
    archive = {"archive": Place(Root.DIST, archive_name(asked.name, asked.version))}
    top: dict[str, Json] = {"top": top_folder(asked.name, asked.version)}
    actions.append(release_archive.STAGE.apply(asked.name, content, archive, top))
    graph = replace(product, actions=(*product.actions, *actions))
    check_graph(graph)
    return graph


def _described(
    content: dict[str, Place], origin: Mapping[str, Place], parts: ReleaseParts
) -> Iterable[Action]:
    """Yield the actions that describe a package; what each makes joins the package."""
    asked = parts.asked
    given: dict[str, Json] = {"asked": lower(asked), "environment": parts.environment}
    for stage, role, name in (
        (release_sbom.STAGE, "sbom", SBOM),
        (release_record.STAGE, "record", RECORD),
        (release_provenance.STAGE, "statement", PROVENANCE),
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
