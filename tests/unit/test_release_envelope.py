"""Signatures: what is signed, who verifies it, and what does not verify."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from netra_build.core.errors import BadInput, NetraError
from netra_build.release.provenance import check_signature, read_envelope, sign


def private_pem(key: object) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_pem(key: object) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))
RSA = generate_private_key(65537, 2048)
SIGNED = sign(b'{"a":1}\n', private_pem(KEY), "key")


def test_the_signature_covers_type_and_statement():
    """Verified here without our code: the text that DSSE signs, by the published definition."""
    found = json.loads(SIGNED)
    assert base64.b64decode(found["payload"]) == b'{"a":1}\n'
    assert found["payloadType"] == "application/vnd.in-toto+json"
    (row,) = found["signatures"]
    text = b'DSSEv1 28 application/vnd.in-toto+json 8 {"a":1}\n'
    KEY.public_key().verify(base64.b64decode(row["sig"]), text)
    assert sign(b'{"a":1}\n', private_pem(KEY), "key") == SIGNED


def test_the_right_key_verifies():
    keyid = json.loads(SIGNED)["signatures"][0]["keyid"]
    assert check_signature(SIGNED, public_pem(KEY), "e", "k") == keyid
    assert read_envelope(SIGNED, "e") == (b'{"a":1}\n', (keyid,))


def edited(**changes: object) -> bytes:
    return json.dumps({**json.loads(SIGNED), **changes}).encode()


def resigned(**changes: object) -> bytes:
    (row,) = json.loads(SIGNED)["signatures"]
    return edited(signatures=[{**row, **changes}])


FOREIGN = "e: file is no envelope of a signature"
PUBLIC_HINT = "\nhint: openssl pkey -in KEY -pubout -out KEY.pub makes it from the private one"
IDS = {
    name: json.loads(sign(b"", private_pem(key), ""))["signatures"][0]["keyid"]
    for name, key in (("key", KEY), ("other", OTHER))
}
UNVERIFIED = [
    (
        SIGNED,
        public_pem(OTHER),
        f"e: package is not signed with this key; expected {IDS['other']}, got {IDS['key']}",
    ),
    (
        edited(signatures=[]),
        public_pem(KEY),
        f"e: package is not signed with this key; expected {IDS['key']}, got no signature",
    ),
    (edited(payload="eyJiIjoxfQ=="), public_pem(KEY), "e: signature does not verify"),
    (resigned(sig="AAAA"), public_pem(KEY), "e: signature does not verify"),
    (resigned(keyid=IDS["other"]), public_pem(OTHER), "e: signature does not verify"),
    (resigned(keyid=7), public_pem(KEY), FOREIGN),
    (resigned(sig="not base64!"), public_pem(KEY), FOREIGN),
    (resigned(sig=7), public_pem(KEY), FOREIGN),
    (edited(payload=7), public_pem(KEY), FOREIGN),
    (edited(payloadType=7), public_pem(KEY), "e: envelope holds something else"),
    (edited(payloadType="text/plain"), public_pem(KEY), "e: envelope holds something else"),
    (edited(signatures=7), public_pem(KEY), FOREIGN),
    (b"{}", public_pem(KEY), FOREIGN),
    (b"[]", public_pem(KEY), "e: document is not an object"),
    (SIGNED, b"", f"k: file is no public key{PUBLIC_HINT}"),
    (SIGNED, private_pem(KEY), f"k: file is no public key{PUBLIC_HINT}"),
    (SIGNED, public_pem(RSA), f"k: key is no Ed25519 key{PUBLIC_HINT}"),
]


@pytest.mark.parametrize(("envelope", "key", "message"), UNVERIFIED)
def test_anything_else_does_not_verify(envelope, key, message):
    with pytest.raises(NetraError) as caught:
        check_signature(envelope, key, "e", "k")
    assert str(caught.value) == message


KEY_HINT = "\nhint: openssl genpkey -algorithm ed25519 -out KEY makes one"


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (b"", f"k: file is no private key without a password{KEY_HINT}"),
        (public_pem(KEY), f"k: file is no private key without a password{KEY_HINT}"),
        (
            KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")),
            f"k: file is no private key without a password{KEY_HINT}",
        ),
        (private_pem(RSA), f"k: key is no Ed25519 key{KEY_HINT}"),
    ],
)
def test_only_a_plain_ed25519_key_signs(key, message):
    with pytest.raises(BadInput) as caught:
        sign(b"", key, "k")
    assert str(caught.value) == message
