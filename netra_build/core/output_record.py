"""What our actions wrote, by path: an output that reads otherwise now is made again.

A build tool that only asks whether a target exists would go on from altered bytes. The record is
kept beside the work files; a file that it does not know counts as altered. A file whose stamp is
the one it had when it was last read or written is not read again, unless it could have changed
since without a new stamp.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput
from netra_build.core.stamps import Stamp, is_recent, own_stamp_of

FORMAT = "netra-outputs-2"


@dataclass(frozen=True)
class Written:
    """The digest that was written under a path, and a stamp that vouches for it, if one does."""

    digest: str
    stamp: Stamp | None = None


class OutputRecord:
    """Digests of outputs by path; safe to use from several threads."""

    def __init__(self, path: Path, disk: Disk, *, verify: bool = False) -> None:
        """Read the record; with ``verify`` no stamp is trusted, every file is read."""
        self.path = path
        self.disk = disk
        self._lock = threading.Lock()
        self._written = self._read()
        self._is_changed = False
        if verify:
            self._written = {p: Written(known.digest) for p, known in self._written.items()}

    def is_altered(self, paths: Iterable[str]) -> bool:
        """Tell whether any of the files that exist has other bytes than were written."""
        return any(self._is_altered(path) for path in paths)

    def note(self, written: Mapping[str, str]) -> None:
        """Remember the BLAKE3 digests of files that were just written."""
        with self._lock:
            self._written.update({path: Written(digest) for path, digest in written.items()})
            self._is_changed = True

    def forget(self, paths: Iterable[str]) -> None:
        """Count files as altered from now on: what they were made of is not certain."""
        with self._lock:
            for path in paths:
                self._written.pop(path, None)
            self._is_changed = True

    def confirmed(self, path: str) -> tuple[Stamp, str] | None:
        """Return stamp and digest of a file that has the bytes that were written, else None."""
        stamp = own_stamp_of(path)
        known = self._written.get(path)
        if stamp is None or known is None:
            return None
        if known.stamp == stamp:
            return stamp, known.digest
        moment_ns = time.time_ns()
        if blake3_hex(self.disk.read_bytes(Path(path))) != known.digest:
            return None
        if not is_recent(stamp[1], stamp[2], moment_ns):
            with self._lock:
                self._written[path] = Written(known.digest, stamp)
                self._is_changed = True
        return stamp, known.digest

    def knows(self, path: str) -> bool:
        """Tell whether one of our actions is on record as having written ``path``."""
        return path in self._written

    def save(self) -> None:
        """Write the record if it changed; entries of files that are gone are dropped."""
        with self._lock:
            if not self._is_changed:
                return
            kept = {
                path: [known.digest, *(known.stamp or ())]
                for path, known in self._written.items()
                if self.disk.is_file(Path(path))
            }
            document = {"format": FORMAT, "outputs": kept}
            self.disk.write_bytes(self.path, json.dumps(document).encode("utf-8"))
            self._is_changed = False

    def _is_altered(self, path: str) -> bool:
        if not self.disk.is_file(Path(path)):
            return False
        return self.confirmed(path) is None

    def _read(self) -> dict[str, Written]:
        """Return the digests on file; a record that cannot be read knows nothing."""
        if not self.disk.is_file(self.path):
            return {}
        try:
            found = json.loads(self.disk.read_bytes(self.path))
            if found["format"] != FORMAT:
                return {}
            return {path: _entry(row) for path, row in found["outputs"].items()}
        except (BadInput, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return {}


def _entry(row: list[str | int]) -> Written:
    """Return an entry of the record; ``TypeError`` or ``ValueError`` for what is none."""
    digest, *stamp = row
    if not isinstance(digest, str) or not all(type(number) is int for number in stamp):
        raise TypeError("no entry")
    if not stamp:
        return Written(digest)
    size, mtime_ns, ctime_ns, inode, device = (int(number) for number in stamp)
    return Written(digest, (size, mtime_ns, ctime_ns, inode, device))
