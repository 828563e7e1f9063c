"""Content digests: SHA-256 where a format asks for it, BLAKE3 in our graph and store."""

from __future__ import annotations

import hashlib
import re

from blake3 import blake3

DIGEST = re.compile(r"[0-9a-f]{64}\Z")
"""A digest in lower-case hexadecimal."""


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def blake3_hex(data: bytes) -> str:
    """Return the BLAKE3 of ``data`` in lower-case hexadecimal."""
    return blake3(data).hexdigest()
