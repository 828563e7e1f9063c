"""The distributions that our code imports, and where on Python's path each is found."""

from __future__ import annotations

import os
import sys

DISTRIBUTION_BY_IMPORT = {
    "blake3": "blake3",
    "cryptography": "cryptography",
    "cyclonedx": "cyclonedx-python-lib",
    "jinja2": "Jinja2",
    "markupsafe": "MarkupSafe",
    "ml_dtypes": "ml_dtypes",
    "msgpack": "msgpack",
    "numpy": "numpy",
    "packageurl": "packageurl-python",
    "rich": "rich",
    "safetensors": "safetensors",
    "securesystemslib": "securesystemslib",
    "shtab": "shtab",
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


def installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution as its record states it, None without one.

    ``importlib.metadata`` would say the same, but takes longer to load than all records to read.
    It is asked about what is installed in another form.
    """
    wanted = plain_name(distribution)
    for entry in sys.path:
        version = _recorded_version(entry or ".", wanted)
        if version is not None:
            return version
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def plain_name(distribution: str) -> str:
    """Return the name of a distribution in the one form that all spellings share."""
    parts = distribution.lower().replace("_", "-").replace(".", "-").split("-")
    return "-".join(part for part in parts if part)


def _recorded_version(folder: str, wanted: str) -> str | None:
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    for name in names:
        stem = name.removesuffix(".dist-info")
        if stem != name and plain_name(stem.rpartition("-")[0]) == wanted:
            return _stated_version(f"{folder}/{name}/METADATA")
    return None


def _stated_version(path: str) -> str | None:
    """Return the version in the head of a record, None if there is none to be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                key, colon, value = line.partition(":")
                if not colon and not line.strip():
                    return None
                if colon and key.lower() == "version":
                    return value.strip()
    except OSError:
        return None
    return None
