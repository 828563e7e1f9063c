"""What our actions wrote, by path: an output that reads otherwise now is made again.

A build tool that only asks whether a target exists would go on from altered bytes. The record is
kept beside the work files; a file that it does not know counts as altered.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from netra_build.core.canonical_json import canonical_bytes, parse_object
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput

FORMAT = "netra-outputs-1"


class OutputRecord:
    """Digests of outputs by path; safe to use from several threads."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self.path = path
        self.disk = disk
        self._lock = threading.Lock()
        self._digests = self._read()
        self._is_changed = False

    def is_altered(self, paths: Iterable[str]) -> bool:
        """Tell whether any of the files that exist has other bytes than were written."""
        return any(self._is_altered(path) for path in paths)

    def note(self, written: Mapping[str, str]) -> None:
        """Remember the BLAKE3 digests of files that were just written."""
        with self._lock:
            self._digests.update(written)
            self._is_changed = True

    def save(self) -> None:
        """Write the record if it changed; entries of files that are gone are dropped."""
        with self._lock:
            if not self._is_changed:
                return
            kept = {p: d for p, d in self._digests.items() if self.disk.is_file(Path(p))}
            document = {"format": FORMAT, "blake3": kept}
            self.disk.write_bytes(self.path, canonical_bytes(document))
            self._is_changed = False

    def _is_altered(self, path: str) -> bool:
        if not self.disk.is_file(Path(path)):
            return False
        known = self._digests.get(path)
        return known is None or blake3_hex(self.disk.read_bytes(Path(path))) != known

    def _read(self) -> dict[str, str]:
        """Return the digests on file; a record that cannot be read knows nothing."""
        if not self.disk.is_file(self.path):
            return {}
        try:
            found = parse_object(self.disk.read_bytes(self.path), str(self.path)).get("blake3")
        except BadInput:
            return {}
        if not isinstance(found, dict):
            return {}
        return {path: digest for path, digest in found.items() if isinstance(digest, str)}
