"""Decide why an action has to run: what it would be made from now, beside its last run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from netra_build.build.digests.ingredients import Ingredients, shown_digest
from netra_build.build.explain.reasons import Cause, Reason, differences
from netra_build.build.graph.actions import Action
from netra_build.build.record.run_file import Entry
from netra_build.build.record.run_record import RunRecord
from netra_build.build.record.tally import Paths
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk


class Decider:
    """Gives the reasons of the actions of one graph, by the record of their last runs.

    ``declared`` returns the paths of all files that the graph makes now: an action that made none
    of them is one whose files have other names now.
    """

    def __init__(
        self,
        record: RunRecord,
        disk: Disk,
        graph: str,
        declared: Callable[[], frozenset[str]],
        tools: Any,
    ) -> None:
        self.record = record
        self.disk = disk
        self.graph = graph
        self._declared = declared
        self._tools = tools
        self._identity: Mapping[str, str] | None = None
        self._former_paths: dict[str, str] = {}

    def identity(self) -> Mapping[str, str]:
        """Return the identity of the tools, asked for once: asking stats all their libraries."""
        if self._identity is None:
            self._identity = self._tools.identity()
        return self._identity

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
        return record.has_predecessors(self.graph, action.stage.name, action.subject)

    def reasons(
        self, action: Action, outputs: Paths, ingredients: Ingredients
    ) -> tuple[Reason, ...]:
        """Return why ``action`` has to run; nothing when it has not."""
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
        if any(map(self.disk.is_file, outputs)):
            return (Reason(Cause.NO_RECORD),)
        former = self._former(action, ingredients)
        if former is None:
            return (Reason(Cause.FIRST_BUILD),)
        self._former_paths.update(zip(outputs, former.paths, strict=False))
        old_name = next(o.name for o in former.outputs.values() if o.path == former.paths[0])
        renamed = Reason(Cause.RENAMED, "", old_name, action.outputs[0][1].name)
        return (renamed, *differences(former.ingredients, ingredients, is_renamed=True))

    def _former(self, action: Action, ingredients: Ingredients) -> Entry | None:
        """Return the entry of this action under a name that nothing makes any more.

        Of several the one that took the former names of its inputs, then the one that ran last,
        then the one whose parameters differ least.
        """
        known = self.record.predecessors(self.graph, action.stage.name, action.subject)
        gone = [entry for entry in known if self._declared().isdisjoint(entry.paths)]
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
        known = {output.path: output for output in entry.outputs.values()}
        dropped = sorted(set(known) - set(names))
        found = [Reason(Cause.OUTPUT_DROPPED, known[path].name) for path in dropped]
        for path, name in names.items():
            if path not in known:
                found.append(Reason(Cause.OUTPUT_ADDED, name))
            elif not self.disk.is_file(path):
                found.append(Reason(Cause.OUTPUT_MISSING, name))
            elif (digest := blake3_hex(self.disk.read_bytes(path))) != known[path].digest:
                digests = shown_digest(known[path].digest), shown_digest(digest)
                found.append(Reason(Cause.OUTPUT_ALTERED, name, *digests))
        return found
