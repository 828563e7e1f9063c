"""Carry out actions: read the inputs, restore or make the outputs, write them whole or not at all.

With a store the outputs are taken from there when the same action has run before, in any folder,
and kept there when it runs; either way they are written by the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from netra_build.build.cache.store import Store
from netra_build.build.digests.action_digest import action_digest
from netra_build.build.freshness.freshness import Decision
from netra_build.build.graph.actions import Action, Graph, Outputs, Place, Root
from netra_build.build.record.reasons import FORGOTTEN, Ending, Reason
from netra_build.build.record.run_file import Line
from netra_build.build.run.execution import Execution, Folders
from netra_build.core.digests import blake3_hex, sha256_hex
from netra_build.core.disk import RealDisk, sealed_folder
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.streams import file_state

WORKERS = 4
"""How many actions run side by side outside SCons."""


@dataclass(frozen=True)
class Job:
    """One action to carry out, and what was found out about it before."""

    action: Action
    execution: Execution
    decision: Decision | None = None
    otherwise: Reason = FORGOTTEN
    """Why the action runs if there is no other reason."""


@dataclass(frozen=True)
class Outcome:
    """What came of an action."""

    decision: Decision | None
    """The digest and the inputs that it was really carried out with, where somebody needs them."""
    written: Mapping[str, str]
    """The BLAKE3 of each file written, by path."""
    ending: Ending
    is_steady: bool
    """Whether inputs and tools were the same at the end as at the beginning."""
    noted: Line | None = None
    """What is to go on record of the run."""


class ActionRun:
    """One action with the inputs that it is run on, read once."""

    def __init__(self, job: Job, begin: Callable[[], None] | None = None) -> None:
        """Read the inputs; raise ``BadInput`` for one that cannot be read, or was not planned with.

        ``begin`` withdraws the product's seal in place of the product itself.
        """
        self.action, self.execution, self._begin = job.action, job.execution, begin
        read, name = self.execution.disk.read_stamped, self.execution.folders.name
        found = {role: read(name(place)) for role, place in self.action.inputs}
        self.inputs = {role: data for role, (data, _) in found.items()}
        self._stamps = {role: state for role, (_, state) in found.items()}
        self._refuse_unplanned()

    @cached_property
    def input_digests(self) -> dict[str, str]:
        """The BLAKE3 of each input by role."""
        return {role: blake3_hex(data) for role, data in self.inputs.items()}

    def decided(self, known: Decision | None) -> Decision:
        """Return the decision about the bytes that were read, whenever they were written."""
        if known is not None and known.input_digests == self.input_digests:
            return known
        return Decision(self._digest(), self.input_digests)

    def restore(self, store: Store, decision: Decision) -> Outcome | None:
        """Write the outputs that the store has; None if it has not all of them."""
        outputs = store.outputs(decision.digest, [role for role, _ in self.action.outputs])
        if outputs is None:
            return None
        return Outcome(decision, self._write(outputs), Ending.RESTORED, is_steady=True)

    def make(self, store: Store | None, decision: Decision | None) -> Outcome:
        """Call the stage and write what it makes; keep it in the store if there is one.

        Raises the stage's ``NetraError`` and writes nothing when it fails. What ran on inputs or
        tools that changed meanwhile is not kept.
        """
        outputs = self._outputs()
        written = self._write(outputs)
        is_steady = decision is not None and self._is_steady(decision.digest)
        if store is not None and decision is not None and is_steady:
            store.put_outputs(decision.digest, outputs)
        return Outcome(decision, written, Ending.RAN, is_steady)

    def _digest(self) -> str:
        """Return the action digest of exactly these inputs and the tools as they are now."""
        return action_digest(
            self.action, self.input_digests, lambda: self.execution.tools.identity()
        )

    def _is_steady(self, digest: str) -> bool:
        """Tell whether inputs and tools are what they were when ``digest`` was made of them."""
        if any(self._has_changed(role, place) for role, place in self.action.inputs):
            return False
        return not self.action.stage.uses_tools or self._digest() == digest

    def _has_changed(self, role: str, place: Place) -> bool:
        path = self.execution.folders.name(place)
        if file_state(path) == self._stamps[role]:
            return False
        try:
            return self.execution.disk.read_bytes(path) != self.inputs[role]
        except NetraError:
            return True

    def _refuse_unplanned(self) -> None:
        """Refuse a source that is not what was planned with: products would contradict."""
        planned = self.execution.graph.planned
        for role, place in self.action.inputs:
            if place in planned and sha256_hex(self.inputs[role]) != planned[place]:
                raise BadInput(
                    "file has changed since the build was planned",
                    location=place.name,
                    hint="build again",
                )

    def _outputs(self) -> Outputs:
        """Call the stage; raise its ``NetraError``, or ``ValueError`` for undeclared outputs."""
        action = self.action
        try:
            outputs = action.stage.run(self.inputs, dict(action.parameters), self.execution.tools)
        except NetraError as error:
            raise self._explained(error) from None
        made, declared = sorted(outputs), sorted(role for role, _ in action.outputs)
        if made != declared:
            raise ValueError(f"{action.line()}: made {made}, declared {declared}")
        return outputs

    def _explained(self, error: NetraError) -> NetraError:
        action, execution = self.action, self.execution
        error.location = execution.graph.locations.get(error.location, error.location)
        if action.stage.explain is None or not action.hints:
            return error
        if not isinstance(error, BadInput):  # nor would the tool get further another time
            return error.under(action.subject)
        read, path = execution.disk.read_bytes, execution.folders.path
        hints = {role: read(path(place)) for role, place in action.hints}
        return action.stage.explain(error, hints, execution.tools).under(action.subject)

    def _write(self, outputs: Outputs) -> dict[str, str]:
        """Write all outputs, the seal of a product withdrawn before; return their digests."""
        execution, declared = self.execution, dict(self.action.outputs)
        product, name = execution.product, execution.folders.name
        if product is not None and any(place.root is Root.OUT for place in declared.values()):
            (self._begin or product.begin)()
        for role, place in declared.items():
            execution.disk.write_output(name(place), outputs[role])
        if product is not None and execution.graph.seal in declared.values():
            product.finish()
        return {name(place): blake3_hex(outputs[role]) for role, place in declared.items()}


def attempt(
    job: Job,
    store: Store | None,
    only: Ending | None = None,
    begin: Callable[[], None] | None = None,
) -> Outcome | None:
    """Restore what an action makes, or else make it and keep it; log nothing.

    ``only`` RESTORED makes nothing, and returns None when the store does not have it all; ``only``
    RAN restores nothing.
    """
    store, decider = store if job.action.stage.is_kept else None, job.execution.decider
    run = ActionRun(job, begin)
    pending = None
    if decider is not None:
        pending = decider.begin(job.action, run.input_digests, job.otherwise)
    is_decided = store is not None or pending is not None
    decision = run.decided(job.decision) if is_decided else None
    outcome = None
    if store is not None and decision is not None and only is not Ending.RAN:
        outcome = run.restore(store, decision)
    if outcome is None and only is not Ending.RESTORED:
        outcome = run.make(store, decision)
    if outcome is None or decider is None or pending is None:
        return outcome
    noted = decider.record.noted(pending, outcome.written, outcome.ending)
    return replace(outcome, noted=noted)


def logged(job: Job, carry_out: Callable[[], Outcome | None]) -> Outcome | None:
    """Have a job carried out, here or by a worker, and log it; one that raises has failed."""
    execution = job.execution
    ending: Ending | None = Ending.FAILED
    paths = execution.folders.names(job.action.outputs)
    execution.tally.begin(paths, job.action.line())
    try:
        outcome = carry_out()
        if outcome is not None and outcome.noted is not None and execution.decider is not None:
            execution.decider.note(job.action, outcome.noted)
        ending = outcome.ending if outcome is not None else None
    finally:
        execution.tally.end(paths, ending)
    return outcome


def perform(job: Job, store: Store | None = None, only: Ending | None = None) -> Outcome | None:
    """Carry out a job as ``attempt`` does, and log it."""
    return logged(job, lambda: attempt(job, store, only))


def run_action(action: Action, execution: Execution, store: Store | None = None) -> dict[str, str]:
    """Restore an action from the store, or make and keep it; return the BLAKE3 of its files."""
    outcome = perform(Job(action, execution), store)
    assert outcome is not None
    return dict(outcome.written)


def run_graph(execution: Execution, store: Store | None = None) -> dict[str, str]:
    """Run every action of the graph in order, whatever exists already; return all digests."""
    written: dict[str, str] = {}
    for action in execution.graph.actions:
        written |= run_action(action, execution, store)
    return written


def built_files(
    graph: Graph, source: Path, tools: Any, say: Callable[[str], None]
) -> dict[str, bytes]:
    """Run a graph in a folder that is removed; return the files of its product by name.

    Every warning of its reports is said.
    Actions that do not wait for each other run side by side: their programs are other processes.
    """
    disk = RealDisk()
    with sealed_folder() as place, ThreadPoolExecutor(max_workers=WORKERS) as pool:
        out = place / "out"
        paths = {Root.SOURCE: source, Root.WORK: place / "work", Root.OUT: out}
        execution = Execution(graph, Folders(paths), disk, tools)
        run = partial(run_action, execution=execution)
        for actions in _levels(graph):
            list(pool.map(run, actions))
        for line in execution.warnings():
            say(line)
        return {name: disk.read_bytes(out / name) for name in graph.products(Root.OUT)}


def _levels(graph: Graph) -> list[list[Action]]:
    """Return the actions of a graph in groups, each of which needs only the groups before it."""
    level_by_place: dict[Place, int] = {}
    levels: dict[int, list[Action]] = {}
    for action in graph.actions:
        level = 1 + max((level_by_place.get(place, 0) for _, place in action.inputs), default=0)
        level_by_place |= {place: level for _, place in action.outputs}
        levels.setdefault(level, []).append(action)
    return [levels[level] for level in sorted(levels)]
