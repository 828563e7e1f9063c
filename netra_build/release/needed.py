"""Libraries that only releases need: imported when used, asked for when missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from netra_build.core.errors import ToolchainFailed


@contextmanager
def needed_libraries() -> Iterator[None]:
    """Around imports of the extra ``release``: say what to install when one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ToolchainFailed(
            f'releases need the Python package "{error.name}"',
            hint="install netra-build[release]",
        ) from None
