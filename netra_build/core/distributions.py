"""The distributions that our code imports, and where on Python's path each is found."""

from __future__ import annotations

import os
import sys

DISTRIBUTION_BY_IMPORT = {
    "blake3": "blake3",
    "cryptography": "cryptography",
    "cyclonedx": "cyclonedx-python-lib",
    "elftools": "pyelftools",
    "jsonschema": "jsonschema",
    "ml_dtypes": "ml_dtypes",
    "msgpack": "msgpack",
    "numpy": "numpy",
    "packageurl": "packageurl-python",
    "rich": "rich",
    "safetensors": "safetensors",
    "securesystemslib": "securesystemslib",
    "yaml": "PyYAML",
    "zstandard": "zstandard",
}


def found_imports() -> dict[str, str]:
    """Return the entry of Python's path that each import is found in, ``""`` for none."""
    return {name: _entry_of(name) for name in DISTRIBUTION_BY_IMPORT}


def _entry_of(name: str) -> str:
    for entry in sys.path:
        if os.path.exists(f"{entry}/{name}") or os.path.exists(f"{entry}/{name}.py"):
            return os.path.abspath(entry)
    return ""
