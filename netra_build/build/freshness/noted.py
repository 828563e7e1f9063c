"""Digests that are on file with the stamps of their files: what has its stamp still is not read.

A stamp is trusted as the up-to-date check trusts it, whose manifest this is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netra_build.core.stamps import Row, Stamp, is_recent, rows_in


class NotedDigests:
    """The BLAKE3 of the inputs of a request that was finished some time ago."""

    def __init__(self, noted: Mapping[str, Any] | None = None) -> None:
        """Take what a verdict holds of a manifest; what cannot be read of it knows nothing."""
        self._base, self._written_ns = "", 0
        self._rows: dict[str, Row] = {}
        if not noted:
            return
        try:
            rows = rows_in(noted["inputs"])
            self._base, self._written_ns = str(noted["base"]), int(noted["written_ns"])
        except (KeyError, TypeError, ValueError, OverflowError):
            return
        self._rows = rows

    def digest(self, path: str, stamp: Stamp) -> str | None:
        """Return the digest of a file that has this stamp now, None if the stamp does not tell."""
        row = self._rows.get(path.removeprefix(self._base))
        if row is None or row[0] != stamp or is_recent(stamp[1], stamp[2], self._written_ns):
            return None
        return row[1]
