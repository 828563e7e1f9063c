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
from pathlib import Path
from typing import NamedTuple

from netra_build.build.record.tally import Paths
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput
from netra_build.core.stamps import (
    NO_STAMP,
    Row,
    check_texts,
    columns_of,
    groups_in,
    is_recent,
    own_stamp_of,
    rows_in,
)

FILE_NAME = "outputs.json"
FORMAT = "netra-outputs-4"


class Made(NamedTuple):
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
        """Each file's stamp, or ``NO_STAMP`` when none vouches for it, and what was written."""
        self._vouched: dict[str, Row] = {}
        """Files that were seen in this build to have the stamp that vouches for them."""
        self._is_changed = False
        if verify:
            self._written = {path: (NO_STAMP, row[1]) for path, row in self._written.items()}

    def note(self, written: Mapping[str, str]) -> None:
        """Remember the BLAKE3 digests of files that were just written."""
        with self._lock:
            self._forget_makers(written)
            for path in written:
                self._vouched.pop(path, None)
            self._written.update({path: (NO_STAMP, digest) for path, digest in written.items()})
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

    def confirmed(self, path: str) -> Row | None:
        """Return stamp and digest of a file that has the bytes that were written, else None."""
        stamp = own_stamp_of(path)
        known = self._written.get(path)
        if stamp is None or known is None:
            return None
        if known[0] == stamp:
            self._vouched[path] = known
            return known
        moment_ns = time.time_ns()
        if blake3_hex(self.disk.read_bytes(path)) != known[1]:
            return None
        row = stamp, known[1]
        if not is_recent(stamp[1], stamp[2], moment_ns):
            with self._lock:
                self._written[path] = self._vouched[path] = row
                self._is_changed = True
        return row

    def once_confirmed(self, path: str) -> Row | None:
        """Return what ``confirmed`` has said of a file in this build, or says now.

        The file may have been altered since. Then it has another stamp, as whoever compares sees.
        """
        return self._vouched.get(path) or self.confirmed(path)

    def knows(self, path: str) -> bool:
        """Tell whether one of our actions is on record as having written ``path``."""
        return path in self._written

    def save(self) -> None:
        """Write the record if it changed; entries of files that are gone are dropped."""
        with self._lock:
            if not self._is_changed:
                return
            self.disk.write_bytes(self.path, json.dumps(self._document()).encode("utf-8"))
            self._is_changed = False

    def _document(self) -> dict[str, object]:
        """Return what is kept as JSON: the outputs of each action one after the other come first.

        A file that was seen in this build is not looked for again.
        """
        written, vouched = self._written, self._vouched
        gone = {p for p in written if p not in vouched and not self.disk.is_file(p)}
        unique = {made.outputs: made.action for made in self._made.values()}
        makers = {
            outputs: action
            for outputs, action in unique.items()
            if gone.isdisjoint(outputs) and all(path in written for path in outputs)
        }
        rows = {path: written[path] for outputs in makers for path in outputs}
        rows.update({path: row for path, row in written.items() if path not in gone})
        return {
            "format": FORMAT,
            "files": columns_of(rows),
            "actions": list(makers.values()),
            "counts": list(map(len, makers)),
        }

    def _forget_makers(self, paths: Iterable[str]) -> None:
        """Drop every action that is on record as having made one of these files."""
        for path in paths:
            made = self._made.get(path)
            for output in made.outputs if made is not None else ():
                self._made.pop(output, None)

    def _read(self) -> tuple[dict[str, Row], dict[str, Made]]:
        """Return what is on file; a record that cannot be read knows nothing."""
        if not self.disk.is_file(self.path):
            return {}, {}
        try:
            found = json.loads(self.disk.read_bytes(self.path))
            if found["format"] != FORMAT:
                return {}, {}
            written, actions = rows_in(found["files"]), found["actions"]
            check_texts(actions)
            groups = groups_in(written, found["counts"])
            makers = [Made(*row) for row in zip(groups, actions, strict=True)]
            return written, {path: made for made in makers for path in made.outputs}
        except (BadInput, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return {}, {}
