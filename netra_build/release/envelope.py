"""Signatures: the provenance in a DSSE envelope, signed with an Ed25519 key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netra_build.core.canonical_json import canonical_bytes, parse_object
from netra_build.core.errors import BadInput, Refused
from netra_build.release.environment import needed_libraries

if TYPE_CHECKING:
    from securesystemslib.dsse import Envelope

PAYLOAD_TYPE = "application/vnd.in-toto+json"
MAX_KEY_BYTES = 16 * 1024
KEY_HINT = "openssl genpkey -algorithm ed25519 -out KEY makes one"
PUBLIC_HINT = "openssl pkey -in KEY -pubout -out KEY.pub makes it from the private one"


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
    """Return the statement in an envelope and the ids of the keys that are said to have signed."""
    envelope = _envelope(data, location)
    return bytes(envelope.payload), tuple(sorted(envelope.signatures))


def check_signature(data: bytes, key: bytes, location: str, key_location: str) -> str:
    """Return the id of the public key (PEM) that signed an envelope.

    ``BadInput`` for what is no envelope or no public Ed25519 key, ``Refused`` for another key or
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
    """Return an envelope, read strictly; ``BadInput`` for what is none."""
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
