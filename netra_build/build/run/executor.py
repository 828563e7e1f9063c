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
from netra_build.core.errors import BadInput, NetraError, ToolchainFailed

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
    """What it was carried out with, where somebody needs it and no tool has changed meanwhile."""
    written: Mapping[str, str]
    """The BLAKE3 of each file written, by path."""
    ending: Ending
    noted: Line | None = None
    """What is to go on record of the run."""


class ActionRun:
    """One action with the inputs that it is run on, read once."""

    def __init__(self, job: Job, begin: Callable[[], None] | None = None) -> None:
        """Read the inputs; raise ``BadInput`` for one that cannot be read, or was altered.

        ``begin`` withdraws the product's seal in place of the product itself.
        """
        self.action, self.execution, self._begin = job.action, job.execution, begin
        read, name = self.execution.disk.read_bytes, self.execution.folders.name
        self.inputs = {role: read(name(place)) for role, place in self.action.inputs}
        self._refuse_altered(job.decision)

    @cached_property
    def input_digests(self) -> dict[str, str]:
        """The BLAKE3 of each input by role."""
        return {role: blake3_hex(data) for role, data in self.inputs.items()}

    def restore(self, store: Store, decision: Decision) -> Outcome | None:
        """Write the outputs that the store has; None if it has not all of them."""
        outputs = store.outputs(decision.digest, [role for role, _ in self.action.outputs])
        if outputs is None:
            return None
        return Outcome(decision, self._write(outputs), Ending.RESTORED)

    def make(self, store: Store | None, decision: Decision | None) -> Outcome:
        """Call the stage and write what it makes; keep it in the store if there is one.

        Raises the stage's ``NetraError`` and writes nothing when it fails. What ran on tools that
        changed meanwhile is not kept.
        """
        outputs = self._outputs()
        written = self._write(outputs)
        if decision and self.action.stage.uses_tools and self.digest() != decision.digest:
            decision = None
        if store is not None and decision is not None:
            store.put_outputs(decision.digest, outputs)
        return Outcome(decision, written, Ending.RAN)

    def digest(self) -> str:
        """Return the action digest of exactly these inputs and the tools as they are now."""
        return action_digest(
            self.action, self.input_digests, lambda: self.execution.tools.identity()
        )

    def _refuse_altered(self, known: Decision | None) -> None:
        """Refuse what is not as it was when the build was planned, or when it was made or found.

        A product of it would contradict itself, and a seal would vouch for what nobody made.
        """
        execution = self.execution
        planned, name = execution.graph.planned, execution.folders.name
        made = execution.made if known is None else known.input_digests
        for role, place in self.action.inputs:
            if place in planned and sha256_hex(self.inputs[role]) != planned[place]:
                raise altered(place.name, "since the build was planned")
            expected = made.get(name(place) if known is None else role)
            if expected is not None and self.input_digests[role] != expected:
                raise altered(name(place))

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
        if isinstance(error, ToolchainFailed):  # nor would the tool get further another time
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
        is_last = product is not None and execution.graph.seal in declared.values()
        if product is not None and is_last:
            product.refuse_extra()
        for role, place in declared.items():
            execution.disk.write_output(name(place), outputs[role])
        if product is not None and is_last:
            product.finish()
        return {name(place): blake3_hex(outputs[role]) for role, place in declared.items()}


def altered(path: str, since: str = "while the build ran") -> BadInput:
    """Return the error for a file that nothing may be made of, nor be vouched for."""
    return BadInput(f"file has changed {since}", location=path, hint="build again")


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
    decision = job.decision
    if decision is None and is_decided:
        decision = Decision(run.digest(), run.input_digests)
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
    execution.made.update(outcome.written)
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
