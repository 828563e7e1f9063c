"""Where a user's store lies and how large it may be, from what a front passes in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from netra_build.build.cache.store import DEFAULT_MAX_BYTES
from netra_build.core.errors import BadInput

FOLDER = "netra"
NO_STORE = "0"
LEAST_BYTES = 1024 * 1024
MOST_BYTES = 2**50


@dataclass(frozen=True)
class StorePlace:
    """Root and bound of a store."""

    root: Path
    max_bytes: int = DEFAULT_MAX_BYTES


def store_place(asked: str, environment: Mapping[str, str]) -> StorePlace | None:
    """Return the store to use, None for none.

    ``asked`` is a folder, ``0`` for no store, or empty for the user's own:
    ``XDG_CACHE_HOME/netra``, else ``HOME/.cache/netra``. ``NETRA_STORE_BYTES`` of the environment
    bounds it; ``BadInput`` when that is no number of bytes that can be used.
    """
    if asked == NO_STORE:
        return None
    root = Path(asked).absolute() if asked else _home(environment)
    if root is None:
        return None
    return StorePlace(root, bound(environment.get("NETRA_STORE_BYTES", ""), "NETRA_STORE_BYTES"))


def bound(text: str, name: str) -> int:
    """Return a bound from its text, the default for an empty one; raise ``BadInput``."""
    if not text:
        return DEFAULT_MAX_BYTES
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_BYTES))
    if not is_number or not LEAST_BYTES <= int(text) <= MOST_BYTES:
        raise BadInput(
            f"{name} is not usable",
            location="store",
            expected=f"{LEAST_BYTES} to {MOST_BYTES} bytes",
            got=text[:40],
        )
    return int(text)


def _home(environment: Mapping[str, str]) -> Path | None:
    cache, home = environment.get("XDG_CACHE_HOME", ""), environment.get("HOME", "")
    if cache.startswith("/"):  # a relative one is to be ignored
        return Path(cache) / FOLDER
    return Path(home) / ".cache" / FOLDER if home.startswith("/") else None
