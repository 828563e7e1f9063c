"""What running the actions of a graph takes: why each runs, and how many ended in which way.

The reasons are read off the files as they are, so they are asked for before anything is written:
what an action would be made from now, beside its last run.

An action *ran*, was *restored* from a store, was *cut off* (something before it was made anew, but
with the same bytes as before, so that it had nothing to do), or was *up to date* from the start.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from netra_build.build.digests.action_digest import code_parts
from netra_build.build.freshness.input_trace import InputTrace, absolute
from netra_build.build.graph.actions import Action, Graph, Paths, Place, Root
from netra_build.build.graph.product import Product
from netra_build.build.record.reasons import (
    FORGOTTEN,
    Cause,
    Ending,
    Ingredients,
    Reason,
    differences,
    ingredients_of,
    shown_digest,
)
from netra_build.build.record.run_file import Entry, Line
from netra_build.build.record.run_record import Pending, RunRecord
from netra_build.core.canonical_json import parse_object
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk


class Decider:
    """Gives the reasons of the actions of one graph, by the record of their last runs."""

    def __init__(self, record: RunRecord, execution: Execution) -> None:
        self.record, self.execution, self.folders = record, execution, execution.folders
        self._former_paths: dict[str, str] = {}

    @cached_property
    def identity(self) -> Mapping[str, str]:
        """The identity of the tools, asked for once: asking stats all their libraries."""
        found: Mapping[str, str] = self.execution.tools.identity()
        return found

    def entry(self, outputs: Paths) -> Entry | None:
        """Return the entry of the action that makes ``outputs``, if one of them is known."""
        found = (self.record.entry(path) for path in outputs)
        return next((entry for entry in found if entry is not None), None)

    def may_be_renamed(self, action: Action, outputs: Paths) -> bool:
        """Tell whether an action may be one that is on record under other names.

        What its reasons are then depends on those of the actions before it.
        """
        record = self.record
        if any(map(record.knows, outputs)):
            return False
        name = self.execution.graph.name
        return record.has_predecessors(name, action.stage.name, action.subject)

    def ingredients(self, action: Action, digest_of: Callable[[str, Place], str]) -> Ingredients:
        """Return what an action is made from; ``digest_of`` tells the BLAKE3 of an input."""
        return ingredients_of(action, self.folders.name, digest_of, lambda: self.identity)

    def reasons(self, action: Action, ingredients: Ingredients) -> tuple[Reason, ...]:
        """Return why ``action`` has to run; nothing when it has not."""
        outputs = self.folders.names(action.outputs)
        entry = self.entry(outputs)
        if entry is None:
            return self._first_reasons(action, outputs, ingredients)
        found = list(self._output_reasons(entry, action, outputs))
        is_other = entry.stage != action.stage.name
        if is_other:
            found.append(Reason(Cause.OTHER_STAGE, "", entry.stage, action.stage.name))
        return (*found, *differences(entry.ingredients, ingredients, is_other_stage=is_other))

    def _first_reasons(
        self, action: Action, outputs: Paths, ingredients: Ingredients
    ) -> tuple[Reason, ...]:
        if any(map(self.execution.disk.is_file, outputs)):
            return (Reason(Cause.NO_RECORD),)
        former = self._former(action, ingredients)
        if former is None:
            return (Reason(Cause.FIRST_BUILD),)
        self._former_paths.update(zip(outputs, former.paths, strict=False))
        old_name = former.output(former.paths[0]).name
        renamed = Reason(Cause.RENAMED, "", old_name, action.outputs[0][1].name)
        return (renamed, *differences(former.ingredients, ingredients, is_renamed=True))

    def _former(self, action: Action, ingredients: Ingredients) -> Entry | None:
        """Return the entry of this action under a name that nothing makes any more.

        Of several the one that took the former names of its inputs, then the one that ran last,
        then the one whose parameters differ least.
        """
        graph = self.execution.graph
        known = self.record.predecessors(graph.name, action.stage.name, action.subject)
        made = graph.producers if known else ()
        declared = frozenset(map(self.folders.name, made))
        gone = [entry for entry in known if declared.isdisjoint(entry.paths)]
        return min(gone, key=lambda entry: self._distance(entry, ingredients), default=None)

    def _distance(
        self, entry: Entry, ingredients: Ingredients
    ) -> tuple[int, int, int, tuple[str, ...]]:
        before = entry.ingredients.inputs
        shared = sum(
            role in before and before[role].path == self._former_paths.get(given.path, given.path)
            for role, given in ingredients.inputs.items()
        )
        changed = entry.ingredients.parameters.items() ^ ingredients.parameters.items()
        return -shared, -entry.last, len(changed), entry.paths

    def _output_reasons(self, entry: Entry, action: Action, outputs: Paths) -> list[Reason]:
        names = {path: place.name for path, (_, place) in zip(outputs, action.outputs, strict=True)}
        known, disk = {one.path: one for one in entry.outputs.values()}, self.execution.disk
        dropped = sorted(set(known) - set(names))
        found = [Reason(Cause.OUTPUT_DROPPED, known[path].name) for path in dropped]
        for path, name in names.items():
            if path not in known:
                found.append(Reason(Cause.OUTPUT_ADDED, name))
            elif not disk.is_file(path):
                found.append(Reason(Cause.OUTPUT_MISSING, name))
            elif (digest := blake3_hex(disk.read_bytes(path))) != known[path].digest:
                digests = shown_digest(known[path].digest), shown_digest(digest)
                found.append(Reason(Cause.OUTPUT_ALTERED, name, *digests))
        return found

    def begin(
        self, action: Action, input_digests: Mapping[str, str], otherwise: Reason = FORGOTTEN
    ) -> Pending:
        """Return what is to be recorded of a run that begins now, its reasons with it.

        ``otherwise`` is why the action runs if there is no other reason.
        """
        began, outputs = self.record.clock(), self.folders.names(action.outputs)
        made_from = self.ingredients(action, lambda role, _: input_digests[role])
        found = [self._of_seal(reason, action) for reason in self.reasons(action, made_from)]
        name = self.execution.graph.name
        return Pending(action, name, outputs, made_from, tuple(found) or (otherwise,), began)

    def _of_seal(self, reason: Reason, action: Action) -> Reason:
        """Return what a reason is in truth if it is of a seal that this build has withdrawn."""
        product = self.execution.product
        if product is None or not product.has_begun:
            return reason
        if reason == Reason(Cause.OUTPUT_MISSING, product.seal):
            return Reason(Cause.SEAL_WITHDRAWN, product.seal)
        is_seal = any(place == self.execution.graph.seal for _, place in action.outputs)
        if is_seal and product.has_withdrawn and reason.cause is Cause.FIRST_BUILD:
            return Reason(Cause.NO_RECORD)
        return reason

    def note(self, action: Action, noted: Line) -> None:
        """Record what was noted of a run, perhaps by a copy of this process that carried it out."""
        tools = self.identity if action.stage.uses_tools else {}
        self.record.note(noted, code_parts(action.stage.module), tools)


@dataclass(frozen=True)
class Folders:
    """Where the roots of a graph lie on this machine."""

    paths: Mapping[Root, Path]

    @cached_property
    def _prefixes(self) -> dict[Root, str]:
        return {root: str(path / "x")[:-1] for root, path in self.paths.items()}

    def path(self, place: Place) -> Path:
        """Return the path of one place."""
        return self.paths[place.root] / place.name

    def name(self, place: Place) -> str:
        """Return the path of one place as text."""
        return self._prefixes[place.root] + place.name

    def names(self, roles: Iterable[tuple[str, Place]]) -> Paths:
        """Return the paths of an action's inputs or outputs, in the order of their roles."""
        prefixes = self._prefixes
        return tuple([prefixes[place.root] + place.name for _, place in roles])


@dataclass(frozen=True)
class Counts:
    """How many actions ended in which way."""

    ran: int = 0
    cut_off: int = 0
    restored: int = 0
    up_to_date: int = 0

    def line(self, seconds: float) -> str:
        """Return the closing line of a build that took ``seconds``."""
        return (
            f"netra: ran {self.ran}, cut off {self.cut_off}, restored {self.restored}, "
            f"up to date {self.up_to_date} in {seconds:.1f} s"
        )


class Tally:
    """Counts the actions of one build; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Paths, str] = {}
        self._endings: dict[Paths, Ending] = {}

    def begin(self, outputs: Paths, line: str) -> None:
        """Note that the action that makes ``outputs`` is being executed; ``line`` describes it."""
        with self._lock:
            self._running[outputs] = line

    def end(self, outputs: Paths, ending: Ending | None) -> None:
        """Note how the action that makes ``outputs`` ended; None if it was not carried out."""
        with self._lock:
            self._running.pop(outputs, None)
            if ending is not None:
                self._endings[outputs] = ending

    def running(self) -> tuple[str, ...]:
        """Return what is being executed now, in the order in which it was begun."""
        with self._lock:
            return tuple(self._running.values())

    def count(self, ending: Ending) -> int:
        """Return how many actions have ended so."""
        with self._lock:
            return sum(one is ending for one in self._endings.values())

    def counts(self, settled: Iterable[tuple[Paths, Paths]]) -> Counts:
        """Sum up. ``settled`` are the outputs and inputs of what was found to have nothing to do.

        They stand in an order in which each comes after what it needs.
        """
        with self._lock:
            renewed = {path for outputs in self._endings for path in outputs}
        up_to_date = cut_off = 0
        for outputs, inputs in settled:
            if renewed.isdisjoint(inputs):
                up_to_date += 1
            else:
                cut_off += 1
                renewed.update(outputs)
        return Counts(self.count(Ending.RAN), cut_off, self.count(Ending.RESTORED), up_to_date)


@dataclass(eq=False)
class Execution:
    """All that running the actions of one graph takes."""

    graph: Graph
    folders: Folders
    disk: Disk
    tools: Any
    tally: Tally = field(default_factory=Tally)
    runs: RunRecord | None = None
    """Where runs are recorded with their reasons; nowhere if there is none."""
    has_own_folder: bool = False
    """Whether the product's folder is one of ours, in which nobody else's files may lie."""
    made: dict[str, str] = field(init=False, default_factory=dict)
    """The BLAKE3 of what was made outside SCons, by path; in a build of SCons each step knows."""
    product: Product | None = field(init=False, default=None)
    decider: Decider | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        graph = self.graph
        if graph.seal is not None:
            folder, names = self.folders.paths[Root.OUT], graph.products(Root.OUT)
            made = folder, graph.seal.name, names, self.disk, graph.listing
            self.product = Product(*made, is_alone=self.has_own_folder)
        if self.runs is not None:
            self.decider = Decider(self.runs, self)

    def warnings(self) -> list[str]:
        """Return a note for each of the warnings in the graph's reports, once all is made."""
        paths = [self.folders.path(place) for place in self.graph.reports]
        reports = [parse_object(self.disk.read_bytes(path), str(path)) for path in paths]
        return [f"warning: {line}" for report in reports for line in report["warnings"]]

    def note_sources(self, input_trace: InputTrace) -> None:
        """Note every file that the graph reads and does not make."""
        actions, producers = self.graph.actions, self.graph.producers
        for place in {place for one in actions for _, place in (*one.inputs, *one.hints)}:
            if place not in producers:
                input_trace.saw_file(absolute(self.folders.path(place)))
