"""Whether an action has to run: its digest now, beside the one that its outputs were made with.

The digest is that of the store (``action_digest``), so what decides about a rebuild and what names
a stored result cannot differ. A source is hashed once in a build. What an action of ours wrote is
not, as long as its stamp is the one on record. On a source that is not what the build was planned
with nothing can be decided: what reads it has to run, and is refused.

The record of outputs is kept beside the work files: one that reads otherwise than it was written is
made again.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from netra_build.build.digests.action_digest import action_digest
from netra_build.build.graph.actions import Action, Paths
from netra_build.core.digests import blake3_hex, sha256_hex
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput, NetraError
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


class OutputRecord:
    """Digests of outputs by path; safe to use from several threads."""

    def __init__(self, path: Path, disk: Disk, *, verify: bool = False) -> None:
        """Read the record; with ``verify`` no stamp is trusted, every file is read."""
        self.path = path
        self.disk = disk
        self._lock = threading.Lock()
        self._written, self._made = self._read()
        """Each file's stamp, or ``NO_STAMP`` when none vouches for it, and what was written; all
        outputs of the action that made it, in the order of their roles, and the action digest."""
        self._is_changed = False
        if verify:
            self._written = {path: (NO_STAMP, row[1]) for path, row in self._written.items()}

    def note(self, written: Mapping[str, str]) -> None:
        """Remember the BLAKE3 digests of files that were just written."""
        with self._lock:
            self._forget_makers(written)
            self._written.update({path: (NO_STAMP, digest) for path, digest in written.items()})
            self._is_changed = True

    def note_action(self, outputs: Paths, digest: str) -> None:
        """Remember the action digest that files were made by, all that the action makes.

        To be called after ``note`` of these files: what is noted later, something else has written.
        """
        with self._lock:
            self._forget_makers(outputs)
            self._made.update(dict.fromkeys(outputs, (outputs, digest)))
            self._is_changed = True

    def action_digest(self, outputs: Paths) -> str | None:
        """Return the action digest by which exactly these files were made, in this order.

        None if that is not known. It is no word on their bytes: ``confirmed`` tells of them.
        """
        known, digest = self._made.get(outputs[0], ((), ""))
        return digest if known == outputs else None

    def confirmed(self, path: str) -> Row | None:
        """Return stamp and digest of a file that has the bytes that were written, else None."""
        stamp = own_stamp_of(path)
        known = self._written.get(path)
        if stamp is None or known is None:
            return None
        if known[0] == stamp:
            return known
        moment_ns = time.time_ns()
        if blake3_hex(self.disk.read_bytes(path)) != known[1]:
            return None
        row = stamp, known[1]
        if not is_recent(stamp[1], stamp[2], moment_ns):
            with self._lock:
                self._written[path] = row
                self._is_changed = True
        return row

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
        """Return what is kept as JSON: the outputs of each action in turn come first."""
        written = self._written
        gone = {path for path in written if not self.disk.is_file(path)}
        makers = {
            outputs: action
            for outputs, action in dict(self._made.values()).items()
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
            for output in self._made.get(path, ((), ""))[0]:
                self._made.pop(output, None)

    def _read(self) -> tuple[dict[str, Row], dict[str, tuple[Paths, str]]]:
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
            makers = list(zip(groups, actions, strict=True))
            return written, {path: made for made in makers for path in made[0]}
        except (BadInput, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return {}, {}


@dataclass(frozen=True)
class Decision:
    """The digest of an action before it runs, and the digests of the inputs it was made of."""

    digest: str
    input_digests: Mapping[str, str]


class Freshness:
    """What the files of one build are, and which actions stand as they are.

    Not to be asked from several threads at once; ``note`` may be called from any.
    """

    def __init__(self, record: OutputRecord, disk: Disk, identity: Mapping[str, str]) -> None:
        self.record = record
        self.disk = disk
        self._identity = identity
        """The tool chain's identity as it was found when the build began."""
        self._digests: dict[str, str | None] = {}
        self._planned: dict[str, str] = {}

    def expect(self, planned: Mapping[str, str]) -> None:
        """Expect sources, by path, to have these SHA-256."""
        self._planned.update(planned)

    def file_digest(self, path: str) -> str | None:
        """Return the BLAKE3 of a file as it is in this build.

        None when it cannot be read, or is a source of other bytes than were expected.
        """
        if path not in self._digests:
            self._digests[path] = self._read_digest(path)
        return self._digests[path]

    def decision(self, action: Action, input_paths: Paths) -> Decision | None:
        """Return the digest that an action would have now, None when an input cannot be read."""
        found: dict[str, str] = {}
        for (role, _), path in zip(action.inputs, input_paths, strict=True):
            digest = self.file_digest(path)
            if digest is None:
                return None
            found[role] = digest
        return Decision(action_digest(action, found, lambda: self._identity), found)

    def is_fresh(self, outputs: Paths, digest: str) -> bool:
        """Tell whether all outputs are what was written, by an action of this digest."""
        if self.record.action_digest(outputs) != digest:
            return False
        for path in outputs:
            confirmed = self.record.confirmed(path)
            if confirmed is None:
                return False
            self._digests[path] = confirmed[1]
        return True

    def note(self, written: Mapping[str, str], outputs: Paths, digest: str) -> None:
        """Remember what an action wrote and the digest that it had; an empty one never stands."""
        self.record.note(written)
        self.record.note_action(outputs, digest)
        self._digests.update(written)

    def mark_unknown(self, paths: Iterable[str]) -> None:
        """Count files as unknown: they would be made anew, but nothing is made in this run."""
        self._digests.update(dict.fromkeys(paths))

    def look_again(self, paths: Iterable[str]) -> None:
        """Take nothing of what was seen of files for what they are now."""
        for path in paths:
            self._digests.pop(path, None)

    def _read_digest(self, path: str) -> str | None:
        try:
            data = self.disk.read_bytes(Path(path))
        except NetraError:
            return None
        is_planned = path not in self._planned or sha256_hex(data) == self._planned[path]
        return blake3_hex(data) if is_planned else None
