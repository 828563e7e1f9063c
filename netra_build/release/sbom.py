"""The bill of materials of a release, CycloneDX 1.6: kernels, sources, tools and libraries."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from netra_build.core.canonical_json import Json, parse_object, pretty_bytes
from netra_build.release.kernels import KernelRow, kernel_rows
from netra_build.release.origin import Origin, kind_of_source, needed_libraries, product_files
from netra_build.release.record import content_sha256

if TYPE_CHECKING:
    from cyclonedx.model.component import Component

NAMESPACE = uuid.UUID("5b1d1d34-6e0c-5c2a-9a3f-0d4a2b7c9e11")
"""Namespace of the serial numbers: UUIDv5 of this and the digest of the package's content."""


def sbom_bytes(content: Mapping[str, bytes], origin: Origin) -> bytes:
    """Return the bill of materials of a package's content, without a time stamp."""
    with needed_libraries():
        from cyclonedx.model.bom import Bom
        from cyclonedx.output.json import JsonV1Dot6
    asked = origin.asked
    files = product_files(asked, content)
    rows = kernel_rows(asked.kind, files, asked.folder)
    whole = _component("application", f"release:{asked.name}", asked.name, asked.version)
    bill = Bom(serial_number=uuid.uuid5(NAMESPACE, content_sha256(content)), version=1)
    bill.metadata.component = whole
    kernels = _kernels(rows, origin)
    sources = {name: _source(name, sha) for name, sha in sorted(origin.sources.items())}
    tools, libraries = _tools(origin), _libraries(origin)
    brought = [
        _component("firmware", f"object:{name}", name, None, {"SHA-256": sha256})
        for name, sha256 in sorted(origin.objects.items())
    ]
    for component in (*kernels.values(), *brought, *sources.values(), *tools, *libraries):
        bill.components.add(component)
    bill.register_dependency(whole, [*kernels.values(), *brought])
    for row in rows:
        used = [sources[name] for name in _used(row, origin) if name in sources]
        bill.register_dependency(kernels[row.symbol], [*used, *tools])
    document = parse_object(JsonV1Dot6(bill).output_as_string().encode(), "sbom")
    # The library always adds the time; a package must be the same whenever it is built.
    del document["metadata"]["timestamp"]
    return pretty_bytes(document)


def _used(row: KernelRow, origin: Origin) -> Iterable[str]:
    """Return the library names of a kernel's templates and golden source."""
    goldens = (name for name in origin.sources if name.startswith("golden/"))
    return [*row.includes, *(n for n in goldens if origin.sources[n] == row.golden_sha256)]


def _kernels(rows: Sequence[KernelRow], origin: Origin) -> dict[str, Component]:
    return {
        row.symbol: _component(
            "firmware",
            f"kernel:{row.symbol}",
            row.symbol,
            origin.asked.version,
            {"SHA-256": row.hsaco_sha256},
            {
                "netra:code_object": row.hsaco,
                "netra:tactic": row.tactic,
                "netra:text_sha256": row.text_sha256,
                "netra:computational_identity": row.identities["computational_identity"],
            },
        )
        for row in rows
    }


def _source(name: str, sha256: str) -> Component:
    return _component(
        "file",
        f"source:{name}",
        name,
        None,
        {"SHA-256": sha256},
        {"netra:kind": kind_of_source(name, "file")},
    )


def _tools(origin: Origin) -> list[Component]:
    return [
        _component("application", f"tool:{role}", name, version, {"BLAKE3": digest})
        for role, name, version, digest in origin.tools
    ]


def _libraries(origin: Origin) -> list[Component]:
    environment = origin.environment
    python, version = str(environment["python"]).split(" ", 1)
    ours: Mapping[str, str] = environment["netra_build"]
    found = [
        _component("platform", "python", python, version),
        _component(
            "library", "netra-build", "netra-build", ours["version"], {"SHA-256": ours["sha256"]}
        ),
    ]
    packages: Mapping[str, str] = environment["packages"]
    return found + [
        _component("library", f"python:{name}", name, version, purl=("pypi", name))
        for name, version in sorted(packages.items())
    ]


def _component(
    kind: str,
    reference: str,
    name: str,
    version: str | None,
    hashes: Mapping[str, str] | None = None,
    properties: Mapping[str, Json] | None = None,
    purl: tuple[str, str] | None = None,
) -> Component:
    with needed_libraries():
        from cyclonedx.model import HashAlgorithm, HashType, Property
        from cyclonedx.model.component import Component, ComponentType
        from packageurl import PackageURL
    return Component(
        type=ComponentType(kind),
        bom_ref=reference,
        name=name,
        version=version,
        hashes=[HashType(alg=HashAlgorithm(a), content=c) for a, c in (hashes or {}).items()],
        properties=[Property(name=n, value=v) for n, v in (properties or {}).items()],
        purl=PackageURL(*purl[:1], name=purl[1], version=version) if purl else None,
    )
