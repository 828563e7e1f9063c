"""Digests against published test vectors."""

from __future__ import annotations

import pytest

from netra_build.core.digests import blake3_hex, sha256_hex

SHA256 = {
    b"": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    b"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
}
BLAKE3 = {
    b"": "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
    b"abc": "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
}


@pytest.mark.parametrize("data", SHA256)
def test_sha256_is_the_published_one(data):
    assert sha256_hex(data) == SHA256[data]


@pytest.mark.parametrize("data", BLAKE3)
def test_blake3_is_the_published_one(data):
    assert blake3_hex(data) == BLAKE3[data]


def test_blake3_of_many_chunks_is_the_published_one():
    # The vectors' input: bytes 0 to 250, repeated.
    data = bytes(index % 251 for index in range(31_744))
    assert blake3_hex(data) == "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"
