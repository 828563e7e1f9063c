"""How every action was run last: from what, why, and for how long.

One file beside the work files, read when it is first needed and written at the end of a build in
which something ran. A build that is killed loses what it would have added; a file that cannot be
read knows nothing, and the reason for a run is then that there is no record.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

from netra_build.build.graph.actions import Action, Paths
from netra_build.build.record import run_file
from netra_build.build.record.reasons import Ending, Ingredients, Reason
from netra_build.build.record.run_file import Entry, Line, Output
from netra_build.core.canonical_json import Json
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput

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
        self.asked: dict[str, Json] = {}
        """What was asked for in this build, by the folder of its product."""
        self._is_changed = False
        self._has_run = False

    def entry(self, path: str) -> Entry | None:
        """Return the entry of the action that made a file last."""
        with self._lock:
            line = self._lines.get(path)
            return self._state.entry(line) if line is not None else None

    def lines(self) -> list[Line]:
        """Return every action that no other has taken an output from, by their outputs."""
        with self._lock:
            lines = self._lines
            whole = [n for n in lines.values() if all(lines.get(path) is n for path in n.outputs)]
            unique = {line.outputs: line for line in whole}
            return [line for _, line in sorted(unique.items())]

    def ask(self, folder: str, request: Json) -> None:
        """Note what was asked for, by the folder of its product; written when something ran."""
        self.asked[folder] = request

    def restored(
        self, requests: Mapping[str, Json], made: Mapping[str, Any], unlike: Iterable[str]
    ) -> None:
        """Note what was asked for, and what was given whole without a run, by path.

        ``unlike`` are the files of it that another run made than the last on record. What is said
        of them goes, and so does what the same graphs have made beside them under other names: it
        is of a state that is no more. The record is written, and counts no build.
        """
        graphs = {one["graph"] for one in requests.values() if isinstance(one, dict)}
        folders = {path.rpartition("/")[0] for path in made}
        with self._lock:
            self.asked.update(requests)
            self._forget(unlike)
            for line in self.lines():
                path = line.outputs[0]
                is_beside = path not in made and path.rpartition("/")[0] in folders
                if is_beside and line.graph in graphs:
                    self._forget(line.outputs)
            self._is_changed = True

    def requests(self) -> dict[str, Json]:
        """Return what was asked for in builds so far, by the folder of its product."""
        return {**self._state.requests, **self.asked}

    def predecessors(self, graph: str, stage: str, subject: str) -> tuple[Entry, ...]:
        """Return what was known of one graph's actions of this stage and subject at the start."""
        with self._lock:
            lines = self._by_subject.get((graph, stage, subject), ())
            found = [self._state.entry(line) for line in lines]
        return tuple(entry for entry in found if entry is not None)

    def knows(self, path: str) -> bool:
        """Tell whether an action is on record as having made a file."""
        return path in self._lines

    def has_predecessors(self, graph: str, stage: str, subject: str) -> bool:
        """Tell whether ``predecessors`` would return anything."""
        return (graph, stage, subject) in self._by_subject

    def begin_anew(self) -> None:
        """Share no lock with the process that this one is a copy of."""
        self._lock = threading.RLock()

    def noted(self, pending: Pending, digests: Mapping[str, str], how: Ending) -> Line:
        """Return what to record of a run that succeeded; ``digests`` are its outputs' by path."""
        ms = round((self.clock() - pending.began) * 1000, 2)
        with self._lock:
            build = self._state.builds + 1
            old = self.entry(pending.outputs[0])
        outputs = _outputs(pending, digests, old, build)
        runs = dict(old.runs) if old is not None else {}
        runs[build] = run_file.Run(how.value, ms, pending.reasons)
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
        return run_file.line_of(entry)

    def note(self, noted: Line, code: Mapping[str, str], tools: Mapping[str, str]) -> None:
        """Record what was ``noted``, perhaps in a copy of this process, of this code and tools.

        Another output of an action whose outputs it takes keeps its entry until it is made anew, or
        the record is written: the reasons of an action do not depend on which ran before it.
        """
        with self._lock:
            self._state.codes[noted.code_key] = dict(code)
            self._state.tools[noted.tools_key] = dict(tools)
            self._lines.update(dict.fromkeys(noted.outputs, noted))
            self._is_changed = self._has_run = True

    def save(self) -> None:
        """Write the record if something ran or was restored since it was read."""
        with self._lock:
            if not self._is_changed:
                return
            builds = self._state.builds + self._has_run
            kept = [line for line in self.lines() if self._is_kept(line, builds)]
            state = replace(self._state, builds=builds, requests=self.requests(), lines=kept)
            self.disk.write_bytes(self.path, run_file.state_bytes(state))
            self._is_changed = False

    def _forget(self, paths: Iterable[str]) -> None:
        """Drop whatever made one of these files, with all that it made."""
        for path in paths:
            line = self._lines.get(path)
            if line is not None:
                for gone in line.outputs:
                    self._lines.pop(gone, None)

    def _is_kept(self, line: Line, builds: int) -> bool:
        is_young = line.last + KEPT_BUILDS > builds
        return is_young or any(map(self.disk.is_file, line.outputs))

    @cached_property
    def _state(self) -> run_file.State:
        if not self.disk.is_file(self.path):
            return run_file.State()
        try:
            return run_file.read_state(self.disk.read_bytes(self.path))
        except BadInput:
            return run_file.State()

    @cached_property
    def _lines(self) -> dict[str, Line]:
        return {path: line for line in self._state.lines for path in line.outputs}

    @cached_property
    def _by_subject(self) -> dict[tuple[str, str, str], list[Line]]:
        found: dict[tuple[str, str, str], list[Line]] = {}
        for line in self._state.lines:
            key = line.graph, line.stage, line.subject
            found.setdefault(key, []).append(line)
        return found


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
