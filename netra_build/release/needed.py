"""Libraries that only releases need: imported when used, asked for when missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from netra_build.core.errors import ToolchainFailed

LIBRARIES = ("cryptography", "cyclonedx", "packageurl", "securesystemslib", "zstandard")
"""What the extra ``release`` brings, by the names that are imported."""


def require_libraries() -> None:
    """Raise ``ToolchainFailed`` with what to install unless everything is there; import nothing."""
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise _missing(name)


@contextmanager
def needed_libraries() -> Iterator[None]:
    """Around imports of the extra ``release``: say what to install when one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise _missing(str(error.name)) from None


def _missing(name: str) -> ToolchainFailed:
    return ToolchainFailed(
        f'releases need the Python package "{name}"', hint="install netra-build[release]"
    )
