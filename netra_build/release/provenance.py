"""The provenance of a release: an in-toto statement (v1) with the SLSA build predicate (v1)."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.core.canonical_json import Json, parse_object, pretty_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput
from netra_build.release.kernels import read_as_ours
from netra_build.release.layout import ENVELOPE, FOLDER_BY_KIND, PROVENANCE
from netra_build.release.origin import TOOL_ROLES, Asked, Origin

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:netra-build:release:1"


def provenance_bytes(files: Mapping[str, bytes], origin: Origin) -> bytes:
    """Return the statement about every file of a package.

    Subjects are all files but the statement and its envelope; materials (``resolvedDependencies``)
    every source, brought object, tool and library.
    """
    subjects = [
        {"name": name, "digest": {"sha256": sha256_hex(data)}}
        for name, data in sorted(files.items())
        if name not in (PROVENANCE, ENVELOPE)
    ]
    return pretty_bytes(_statement(subjects, origin))


def read_provenance(files: Mapping[str, bytes], location: str) -> Origin:
    """Return what a package's statement says it was made from.

    ``BadInput`` when there is no statement, or one that ``provenance_bytes`` would write in
    another way.
    """
    if PROVENANCE not in files:
        raise BadInput(f'package holds no "{PROVENANCE}"', location=location)
    place = f"{location}/{PROVENANCE}"
    statement = parse_object(files[PROVENANCE], place)
    with read_as_ours(place):
        origin = _origin(statement["predicate"])
        written = pretty_bytes(_statement(statement["subject"], origin))
    if written != files[PROVENANCE]:
        raise BadInput("statement has another form than ours", location=place)
    return origin


def subjects(files: Mapping[str, bytes], location: str) -> dict[str, str]:
    """Return the SHA-256 of every file that the statement speaks of."""
    place = f"{location}/{PROVENANCE}"
    with read_as_ours(place):
        rows = parse_object(files[PROVENANCE], place)["subject"]
        found = {str(row["name"]): str(row["digest"]["sha256"]) for row in rows}
    if len(found) != len(rows):
        raise BadInput("statement names a file twice", location=place)
    return found


def _statement(subjects: Json, origin: Origin) -> dict[str, Json]:
    asked = origin.asked
    return {
        "_type": STATEMENT_TYPE,
        "subject": subjects,
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "name": asked.name,
                    "version": asked.version,
                    "kind": asked.kind,
                    "recipe": asked.recipe,
                    "profile": asked.profile,
                },
                "internalParameters": {"python": origin.environment["python"]},
                "resolvedDependencies": _materials(origin),
            },
            "runDetails": {"builder": {"id": asked.builder}},
        },
    }


def _materials(origin: Origin) -> list[Json]:
    """Return sources, brought objects, tools and libraries, each with digest or package URL."""
    rows = [
        _material(kind, name, digest={"sha256": sha256})
        for kind, digests in (("source", origin.sources), ("object", origin.objects))
        for name, sha256 in sorted(digests.items())
    ]
    for role, name, version, digest in origin.tools:
        uri = f"pkg:generic/{name}@{version}"
        rows.append(_material(role, name, version, uri=uri, digest={"blake3": digest}))
    ours = origin.environment["netra_build"]
    digest_of_ours = {"sha256": ours["sha256"]}
    rows.append(_material("builder", "netra-build", ours["version"], digest=digest_of_ours))
    packages: Mapping[str, str] = origin.environment["packages"]
    return rows + [
        _material("package", name, version, uri=f"pkg:pypi/{name}@{version}")
        for name, version in sorted(packages.items())
    ]


def _material(kind: str, name: str, version: str | None = None, **identity: Json) -> Json:
    annotations = {"kind": kind} | ({} if version is None else {"version": version})
    return {"name": name, "annotations": annotations, **identity}


def _origin(predicate: Mapping[str, Json]) -> Origin:
    """Return the origin that a predicate of ours was made from."""
    definition = predicate["buildDefinition"]
    given = definition["externalParameters"]
    if given["kind"] not in FOLDER_BY_KIND:
        raise ValueError(given["kind"])
    if given["profile"] is None:
        given = {key: value for key, value in given.items() if key != "profile"}
    texts = {key: _text(value) for key, value in given.items()}
    by_kind: dict[str, list[Mapping[str, Json]]] = {}
    for row in definition["resolvedDependencies"]:
        by_kind.setdefault(row["annotations"]["kind"], []).append(row)
    chain: dict[str, str] = {}
    for role in TOOL_ROLES:
        for row in by_kind.get(role, []):
            chain[role], chain[f"{role}_version"] = _named_version(row)
            chain[f"{role}_digest"] = _text(row["digest"]["blake3"])
    (ours,) = by_kind["builder"]
    version, sha256 = _named_version(ours)[1], _text(ours["digest"]["sha256"])
    return Origin(
        asked=Asked(**texts, builder=_text(predicate["runDetails"]["builder"]["id"])),
        sources=_digests(by_kind.get("source", [])),
        objects=_digests(by_kind.get("object", [])),
        toolchain=chain,
        environment={
            "python": _text(definition["internalParameters"]["python"]),
            "packages": dict(map(_named_version, by_kind.get("package", []))),
            "netra_build": {"version": version, "sha256": sha256},
        },
    )


def _named_version(row: Mapping[str, Json]) -> tuple[str, str]:
    return _text(row["name"]), _text(row["annotations"]["version"])


def _digests(rows: list[Mapping[str, Json]]) -> dict[str, str]:
    return {_text(row["name"]): _text(row["digest"]["sha256"]) for row in rows}


def _text(value: Json) -> str:
    """Return a text; ``TypeError`` for anything else."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value
