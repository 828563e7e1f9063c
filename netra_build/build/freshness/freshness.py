"""Whether an action has to run: its digest now, beside the one that its outputs were made with.

The digest is that of the store (``action_digest``), so what decides about a rebuild and what names
a stored result cannot differ. A source is hashed once in a build. What an action of ours wrote is
not, as long as its stamp is the one on record. On a source that is not what the build was planned
with nothing can be decided: what reads it has to run, and is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from netra_build.build.digests.action_digest import action_digest
from netra_build.build.freshness.output_record import OutputRecord
from netra_build.build.graph.actions import Action
from netra_build.build.record.tally import Paths
from netra_build.core.digests import blake3_hex, sha256_hex
from netra_build.core.disk import Disk
from netra_build.core.errors import NetraError


@dataclass(frozen=True)
class KnownTools:
    """The tool chain's identity as it was found when the build began."""

    found: Mapping[str, str]

    def identity(self) -> Mapping[str, str]:
        """Return the identity; nothing is looked at again."""
        return self.found


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
        self._tools = KnownTools(identity)
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
        return Decision(action_digest(action, found, self._tools), found)

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
