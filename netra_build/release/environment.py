"""The Python side of a release: the libraries that it needs, and the code of this package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from netra_build import __version__
from netra_build.build.digests.code_digest import code_reach, python_version
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import ToolchainFailed

LIBRARIES = ("cryptography", "cyclonedx", "packageurl", "securesystemslib", "zstandard")
"""Packages of the extra ``release``, by the names that are imported."""


def environment_of(module: str) -> dict[str, Json]:
    """Return Python and the libraries of a build: those that ``module`` reaches by import.

    Raises ``ToolchainFailed`` when one of them is not installed.
    """
    reach = code_reach(module)
    return {
        "python": python_version(),
        "packages": dict(reach.distributions),
        "netra_build": {
            "version": __version__,
            "sha256": sha256_hex(canonical_bytes(dict(reach.modules))),
        },
    }


def require_libraries() -> None:
    """Raise ``ToolchainFailed`` with what to install if anything is missing; import nothing."""
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise _missing(name)


@contextmanager
def needed_libraries() -> Iterator[None]:
    """Context for imports of the extra ``release``: say what to install when one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise _missing(str(error.name)) from None


def _missing(name: str) -> ToolchainFailed:
    return ToolchainFailed(
        f'releases need the Python package "{name}"', hint="install netra-build[release]"
    )
