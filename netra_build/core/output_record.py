"""What our actions wrote, by path: an output that reads otherwise now is made again.

A build tool that only asks whether a target exists would go on from altered bytes. The record is
kept beside the work files; a file that it does not know counts as altered. A file whose stamp is
the one it had when it was last read or written is not read again, unless it could have changed
since without a new stamp.

It also knows by which action digest the outputs of an action were made, as long as nothing else
has written one of them since.
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
from netra_build.core.tally import Paths

FILE_NAME = "outputs.json"
FORMAT = "netra-outputs-3"


@dataclass(frozen=True)
class Written:
    """The digest that was written under a path, and a stamp that vouches for it, if one does."""

    digest: str
    stamp: Stamp | None = None


@dataclass(frozen=True)
class Made:
    """The outputs of one action in the order of their roles, and what they were made by."""

    outputs: Paths
    action: str
    """The action digest."""


class OutputRecord:
    """Digests of outputs by path; safe to use from several threads."""

    def __init__(self, path: Path, disk: Disk, *, verify: bool = False) -> None:
        """Read the record; with ``verify`` no stamp is trusted, every file is read."""
        self.path = path
        self.disk = disk
        self._lock = threading.Lock()
        self._written, self._made = self._read()
        self._is_changed = False
        if verify:
            self._written = {p: Written(known.digest) for p, known in self._written.items()}

    def note(self, written: Mapping[str, str]) -> None:
        """Remember the BLAKE3 digests of files that were just written."""
        with self._lock:
            self._forget_makers(written)
            self._written.update({path: Written(digest) for path, digest in written.items()})
            self._is_changed = True

    def note_action(self, outputs: Paths, digest: str) -> None:
        """Remember the action digest that files were made by, all that the action makes.

        To be called after ``note`` of these files: whatever is noted of one of them later means
        that something else has written it.
        """
        with self._lock:
            self._forget_makers(outputs)
            self._made.update(dict.fromkeys(outputs, Made(outputs, digest)))
            self._is_changed = True

    def action_digest(self, outputs: Paths) -> str | None:
        """Return the action digest by which exactly these files were made, in this order.

        None if that is not known. It is no word on their bytes: ``confirmed`` tells of them.
        """
        made = self._made.get(outputs[0])
        return made.action if made is not None and made.outputs == outputs else None

    def confirmed(self, path: str) -> tuple[Stamp, str] | None:
        """Return stamp and digest of a file that has the bytes that were written, else None."""
        stamp = own_stamp_of(path)
        known = self._written.get(path)
        if stamp is None or known is None:
            return None
        if known.stamp == stamp:
            return stamp, known.digest
        moment_ns = time.time_ns()
        if blake3_hex(self.disk.read_bytes(path)) != known.digest:
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
                if self.disk.is_file(path)
            }
            unique = {made.outputs: made for made in self._made.values()}
            makers = [
                [made.action, *made.outputs]
                for made in unique.values()
                if all(path in kept for path in made.outputs)
            ]
            document = {"format": FORMAT, "outputs": kept, "actions": makers}
            self.disk.write_bytes(self.path, json.dumps(document).encode("utf-8"))
            self._is_changed = False

    def _forget_makers(self, paths: Iterable[str]) -> None:
        """Drop every action that is on record as having made one of these files."""
        for path in paths:
            made = self._made.get(path)
            for output in made.outputs if made is not None else ():
                self._made.pop(output, None)

    def _read(self) -> tuple[dict[str, Written], dict[str, Made]]:
        """Return what is on file; a record that cannot be read knows nothing."""
        if not self.disk.is_file(self.path):
            return {}, {}
        try:
            found = json.loads(self.disk.read_bytes(self.path))
            if found["format"] != FORMAT:
                return {}, {}
            written = {path: _entry(row) for path, row in found["outputs"].items()}
            makers = [_made(row) for row in found["actions"]]
            return written, {path: made for made in makers for path in made.outputs}
        except (BadInput, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return {}, {}


def _entry(row: list[str | int]) -> Written:
    """Return an entry of the record; ``TypeError`` or ``ValueError`` for what is none."""
    digest, *stamp = row
    if not isinstance(digest, str) or not all(type(number) is int for number in stamp):
        raise TypeError("no entry")
    if not stamp:
        return Written(digest)
    size, mtime_ns, ctime_ns, inode, device = (int(number) for number in stamp)
    return Written(digest, (size, mtime_ns, ctime_ns, inode, device))


def _made(row: list[str]) -> Made:
    """Return an action of the record; ``TypeError`` or ``ValueError`` for what is none."""
    action, first, *others = row
    if not isinstance(row, list) or not all(isinstance(text, str) for text in row):
        raise TypeError("no action")
    return Made((first, *others), action)
