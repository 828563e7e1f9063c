"""How every action was run last: from what, why, and for how long.

One file beside the work files, read when it is first needed and written at the end of a build in
which something ran. A build that is killed loses what it would have added; a file that cannot be
read knows nothing, and the reason for a run is then that there is no record.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import perf_counter

from netra_build.core.canonical_json import Json, canonical_bytes, parse_object
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput
from netra_build.core.graph import Action
from netra_build.core.ingredients import Ingredients
from netra_build.core.reasons import Reason
from netra_build.core.run_entry import (
    Entry,
    Output,
    Run,
    entry_document,
    read_entry,
    read_shared,
)
from netra_build.core.tally import Ending, Paths

FORMAT = "netra-runs-1"
FILE_NAME = "runs.json"
KEPT_BUILDS = 20
"""For how many builds an entry is kept after the last of its outputs is gone."""


@dataclass(frozen=True)
class Pending:
    """An action that is being run: what it is made from, why, and since when."""

    action: Action
    graph: str
    outputs: Paths
    ingredients: Ingredients
    reasons: tuple[Reason, ...]
    began: float


class RunRecord:
    """Entries of actions; safe to use from several threads."""

    def __init__(self, path: Path, disk: Disk, clock: Callable[[], float] = perf_counter) -> None:
        self.path = path
        self.disk = disk
        self.clock = clock
        self._lock = threading.RLock()
        self._asked: dict[str, Json] = {}
        self._is_changed = False

    def entry(self, path: str) -> Entry | None:
        """Return the entry of the action that made a file last."""
        with self._lock:
            return self._makers.get(path)

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, in the order of their first outputs."""
        with self._lock:
            unique = {entry.paths: entry for entry in self._makers.values()}
        return tuple(entry for _, entry in sorted(unique.items()))

    def ask(self, folder: str, request: Json) -> None:
        """Note what was asked for, by the folder of its product; written when something ran."""
        self._asked[folder] = request

    def requests(self) -> dict[str, Json]:
        """Return what was asked for in builds so far, by the folder of its product."""
        return {**self._state.requests, **self._asked}

    def predecessors(self, graph: str, stage: str, subject: str) -> tuple[Entry, ...]:
        """Return what was known of one graph's actions of this stage and subject at the start."""
        with self._lock:
            return tuple(self._by_subject.get((graph, stage, subject), ()))

    def done(self, pending: Pending, digests: Mapping[str, str], how: Ending) -> None:
        """Record a run that succeeded; ``digests`` are the BLAKE3 of its outputs by path."""
        ms = round((self.clock() - pending.began) * 1000, 2)
        with self._lock:
            build = self._state.builds + 1
            old = self._makers.get(pending.outputs[0])
            outputs = _outputs(pending, digests, old, build)
            runs = dict(old.runs) if old is not None else {}
            runs[build] = Run(how.value, ms, pending.reasons)
            kept = {build, *(output.build for output in outputs.values())}
            entry = Entry(
                pending.graph,
                pending.action.stage.name,
                pending.action.line(),
                pending.action.subject,
                pending.ingredients,
                outputs,
                build,
                {number: run for number, run in runs.items() if number in kept},
            )
            self._makers.update(dict.fromkeys(pending.outputs, entry))
            self._is_changed = True

    def save(self) -> None:
        """Write the record if something ran since it was read."""
        with self._lock:
            if not self._is_changed:
                return
            builds = self._state.builds + 1
            kept = [entry for entry in self.entries() if self._is_kept(entry, builds)]
            made_from = [entry.ingredients for entry in kept]
            document: dict[str, Json] = {
                "format": FORMAT,
                "builds": builds,
                "requests": self.requests(),
                "codes": {one.code_key: dict(one.code) for one in made_from},
                "tools": {one.tools_key: dict(one.tools) for one in made_from if one.tools},
                "actions": [entry_document(entry) for entry in kept],
            }
            self.disk.write_bytes(self.path, canonical_bytes(document))
            self._is_changed = False

    def _is_kept(self, entry: Entry, builds: int) -> bool:
        is_young = entry.last + KEPT_BUILDS > builds
        return is_young or any(self.disk.is_file(Path(path)) for path in entry.paths)

    @cached_property
    def _state(self) -> _State:
        if not self.disk.is_file(self.path):
            return _State()
        try:
            return _read(parse_object(self.disk.read_bytes(self.path), str(self.path)))
        except (BadInput, KeyError, TypeError, ValueError, AttributeError):
            return _State()

    @cached_property
    def _makers(self) -> dict[str, Entry]:
        return {path: entry for entry in self._state.entries for path in entry.paths}

    @cached_property
    def _by_subject(self) -> dict[tuple[str, str, str], list[Entry]]:
        found: dict[tuple[str, str, str], list[Entry]] = {}
        for entry in self._state.entries:
            found.setdefault((entry.graph, entry.stage, entry.subject), []).append(entry)
        return found


@dataclass(frozen=True)
class _State:
    """What the file said when it was read."""

    builds: int = 0
    requests: Mapping[str, Json] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()


def _read(document: dict[str, Json]) -> _State:
    if document["format"] != FORMAT:
        return _State()
    codes, tools = read_shared(document["codes"]), read_shared(document["tools"])
    requests, actions = document["requests"], document["actions"]
    if not isinstance(requests, dict) or not isinstance(actions, list):
        raise TypeError("not of this form")
    entries = tuple(read_entry(action, codes, tools) for action in actions)
    return _State(int(str(document["builds"])), requests, entries)


def _outputs(
    pending: Pending, digests: Mapping[str, str], old: Entry | None, build: int
) -> dict[str, Output]:
    """Return the outputs of a run; one with the bytes of before keeps the build they are of."""
    before = {output.path: output for output in old.outputs.values()} if old is not None else {}
    outputs = {}
    for (role, place), path in zip(pending.action.outputs, pending.outputs, strict=True):
        known = before.get(path)
        is_same = known is not None and known.digest == digests[path]
        made = known.build if known is not None and is_same else build
        outputs[role] = Output(path, place.name, digests[path], made)
    return outputs
