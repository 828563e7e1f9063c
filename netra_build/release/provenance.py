"""The provenance of a release: an in-toto statement (v1) with the SLSA build predicate, signed.

The signature is a DSSE envelope, made with an Ed25519 key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from netra_build.core.canonical_json import Json, canonical_bytes, parse_object, pretty_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput, Refused
from netra_build.release.kernels import read_as_ours
from netra_build.release.layout import ENVELOPE, FOLDER_BY_KIND, PROVENANCE
from netra_build.release.origin import TOOL_ROLES, Asked, Origin, needed_libraries

if TYPE_CHECKING:
    from securesystemslib.dsse import Envelope

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
ASKED_FOR = ("name", "version", "kind", "recipe", "profile")
BUILD_TYPE = "urn:netra-build:release:1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
MAX_KEY_BYTES = 16 * 1024
KEY_HINT = "openssl genpkey -algorithm ed25519 -out KEY makes one"
PUBLIC_HINT = "openssl pkey -in KEY -pubout -out KEY.pub makes it from the private one"


def provenance_bytes(files: Mapping[str, bytes], origin: Origin) -> bytes:
    """Return the statement about every file of a package.

    Subjects are all files but the statement and its envelope; materials (``resolvedDependencies``)
    every source, supplied object, tool and library.
    """
    subjects = [
        {"name": name, "digest": {"sha256": sha256_hex(data)}}
        for name, data in sorted(files.items())
        if name not in (PROVENANCE, ENVELOPE)
    ]
    return pretty_bytes(_statement(subjects, origin))


def read_provenance(files: Mapping[str, bytes], location: str) -> Origin:
    """Return the origin that a package's statement describes.

    ``BadInput`` when there is no statement, or one that ``provenance_bytes`` would not write.
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
    """Return the SHA-256 of every subject of the statement."""
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
                "externalParameters": {key: getattr(asked, key) for key in ASKED_FOR},
                "internalParameters": {"python": origin.environment["python"]},
                "resolvedDependencies": _materials(origin),
            },
            "runDetails": {"builder": {"id": asked.builder}},
        },
    }


def _materials(origin: Origin) -> list[Json]:
    """Return sources, supplied objects, tools and libraries, each with digest or package URL."""
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


def sign(statement: bytes, key: bytes, location: str) -> bytes:
    """Return the envelope of a statement, signed; the same bytes for the same key.

    ``key`` is an unencrypted private Ed25519 key in PEM; ``BadInput`` for anything else.
    """
    with needed_libraries():
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from securesystemslib.dsse import Envelope
        from securesystemslib.signer import CryptoSigner
    try:
        private = load_pem_private_key(key, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise BadInput(
            "file is no private key without a password", location=location, hint=KEY_HINT
        ) from None
    if not isinstance(private, Ed25519PrivateKey):
        raise BadInput("key is no Ed25519 key", location=location, hint=KEY_HINT)
    envelope = Envelope(statement, PAYLOAD_TYPE, {})
    envelope.sign(CryptoSigner(private))
    return canonical_bytes(envelope.to_dict())


def read_envelope(data: bytes, location: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the statement in an envelope and the ids of its signing keys, not verified."""
    envelope = _envelope(data, location)
    return bytes(envelope.payload), tuple(sorted(envelope.signatures))


def check_signature(data: bytes, key: bytes, location: str, key_location: str) -> str:
    """Return the id of the public key (PEM) that signed an envelope.

    ``BadInput`` for an invalid envelope or public Ed25519 key, ``Refused`` for another key or
    a signature that does not verify.
    """
    with needed_libraries():
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
        from securesystemslib.exceptions import VerificationError
        from securesystemslib.signer import SSlibKey
    envelope = _envelope(data, location)
    try:
        public = load_pem_public_key(key)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise BadInput("file is no public key", location=key_location, hint=PUBLIC_HINT) from None
    if not isinstance(public, Ed25519PublicKey):
        raise BadInput("key is no Ed25519 key", location=key_location, hint=PUBLIC_HINT)
    known = SSlibKey.from_crypto(public)
    if known.keyid not in envelope.signatures:
        raise Refused(
            "package is not signed with this key",
            location=location,
            expected=known.keyid,
            got=", ".join(sorted(envelope.signatures)) or "no signature",
        )
    try:
        envelope.verify([known], 1)
    except VerificationError:
        raise Refused("signature does not verify", location=location) from None
    return str(known.keyid)


def _envelope(data: bytes, location: str) -> Envelope:
    """Return an envelope, read strictly; ``BadInput`` for anything else."""
    with needed_libraries():
        from securesystemslib.dsse import Envelope
        from securesystemslib.exceptions import Error
    document = parse_object(data, location)
    try:
        envelope = Envelope.from_dict(document)
    except (Error, KeyError, TypeError, ValueError, AttributeError):
        raise BadInput("file is no envelope of a signature", location=location) from None
    if not all(isinstance(keyid, str) for keyid in envelope.signatures):
        raise BadInput("file is no envelope of a signature", location=location)
    if envelope.payload_type != PAYLOAD_TYPE:
        raise BadInput("envelope holds something else", location=location)
    return envelope
