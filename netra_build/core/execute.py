"""Run one action: read its inputs, call its stage, write its outputs whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netra_build.core.decide import Decider
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk
from netra_build.core.errors import NetraError
from netra_build.core.graph import Action, Graph, Place, Root
from netra_build.core.ingredients import ingredients_of
from netra_build.core.product import Product
from netra_build.core.reasons import Cause, Reason
from netra_build.core.run_record import Pending, RunRecord
from netra_build.core.tally import Ending, Paths, Tally


@dataclass(frozen=True)
class Folders:
    """Where the roots of a graph lie on this machine."""

    paths: Mapping[Root, Path]

    def path(self, place: Place) -> Path:
        """Return the path of one place."""
        return self.paths[place.root] / place.name

    def names(self, roles: Iterable[tuple[str, Place]]) -> Paths:
        """Return the paths of an action's inputs or outputs, in the order of their roles."""
        return tuple(str(self.path(place)) for _, place in roles)


@dataclass(frozen=True)
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
    product: Product | None = field(init=False, default=None)
    decider: Decider | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.graph.seal is not None:
            folder = self.folders.paths[Root.OUT]
            names = self.graph.products(Root.OUT)
            seal, listing = self.graph.seal.name, self.graph.listing
            alone = self.has_own_folder
            product = Product(folder, seal, names, self.disk, listing, is_alone=alone)
            object.__setattr__(self, "product", product)
        if self.runs is not None:
            decider = Decider(self.runs, self.disk, self.graph.name, self._declared)
            object.__setattr__(self, "decider", decider)

    def _declared(self) -> frozenset[str]:
        return frozenset(str(self.folders.path(place)) for place in self.graph.producers)


def run_action(action: Action, execution: Execution, *, is_always: bool = False) -> dict[str, str]:
    """Run ``action``; raise the stage's ``NetraError`` and write nothing when it fails.

    Returns the BLAKE3 digest of each file written, by path. ``is_always`` says that somebody wants
    it run whether it has to or not, which is recorded as the reason if there is no other.

    Before the first file of a sealed product is written its seal is withdrawn, and the seal
    itself is written last (see ``Product``).
    """
    outputs, ending = execution.folders.names(action.outputs), Ending.FAILED
    execution.tally.begin(outputs, action.line())
    try:
        written = _run(action, outputs, execution, is_always)
        ending = Ending.RAN
    finally:
        execution.tally.end(outputs, ending)
    return written


def _run(action: Action, paths: Paths, execution: Execution, is_always: bool) -> dict[str, str]:
    folders, disk = execution.folders, execution.disk
    inputs = {role: disk.read_bytes(folders.path(place)) for role, place in action.inputs}
    pending = _pending(action, paths, inputs, execution, is_always)
    try:
        outputs = action.stage.run(inputs, dict(action.parameters), execution.tools)
    except NetraError as error:
        raise _explained(action, error, execution) from None
    declared = dict(action.outputs)
    if set(outputs) != set(declared):
        raise ValueError(f"{action.line()}: made {sorted(outputs)}, declared {sorted(declared)}")
    product = execution.product
    if product is not None and any(place.root is Root.OUT for place in declared.values()):
        product.begin()
    for role, place in declared.items():
        disk.write_bytes(folders.path(place), outputs[role])
    if product is not None and execution.graph.seal in declared.values():
        product.finish()
    written = {str(folders.path(p)): blake3_hex(outputs[role]) for role, p in declared.items()}
    if pending is not None and execution.runs is not None:
        execution.runs.done(pending, written, Ending.RAN)
    return written


def _pending(
    action: Action,
    outputs: Paths,
    inputs: Mapping[str, bytes],
    execution: Execution,
    is_always: bool,
) -> Pending | None:
    """Return what is to be recorded of a run that begins now, its reasons with it."""
    decider, folders = execution.decider, execution.folders
    if decider is None:
        return None
    began = decider.record.clock()
    made_from = ingredients_of(
        action,
        lambda place: str(folders.path(place)),
        lambda role, place: blake3_hex(inputs[role]),
        execution.tools,
    )
    reasons = decider.reasons(action, outputs, made_from)
    if execution.product is not None and execution.product.has_begun:
        seal = execution.product.seal
        missing = Reason(Cause.OUTPUT_MISSING, seal), Reason(Cause.SEAL_WITHDRAWN, seal)
        reasons = tuple(missing[1] if one == missing[0] else one for one in reasons)
    if not reasons:
        reasons = (Reason(Cause.ALWAYS if is_always else Cause.FORGOTTEN),)
    return Pending(action, execution.graph.name, outputs, made_from, reasons, began)


def run_graph(execution: Execution) -> dict[str, str]:
    """Run every action of the graph in order, whatever exists already; return all digests."""
    written: dict[str, str] = {}
    for action in execution.graph.actions:
        written |= run_action(action, execution)
    return written


def _explained(action: Action, error: NetraError, execution: Execution) -> NetraError:
    if action.stage.explain is None or not action.hints:
        return error
    folders, disk = execution.folders, execution.disk
    hints = {role: disk.read_bytes(folders.path(place)) for role, place in action.hints}
    return action.stage.explain(error, hints, execution.tools).under(action.subject)
