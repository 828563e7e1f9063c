"""Run one action: read its inputs, call its stage, write its outputs whole or not at all.

With a store the outputs are taken from there when the same action has run before, in any folder,
and kept there when it runs; either way they are written by the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from netra_build.build.cache.store import Store
from netra_build.build.digests.action_digest import action_digest
from netra_build.build.graph.actions import Action, Graph, Outputs, Place, Root
from netra_build.build.graph.product import Product
from netra_build.build.record.run_record import RunRecord
from netra_build.build.record.tally import Paths, Tally
from netra_build.build.run.decide import Decider
from netra_build.core.digests import blake3_hex, sha256_hex
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.stamps import FileState
from netra_build.core.streams import file_state


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
            decider = Decider(self.runs, self.disk, self.graph.name, self._declared, self.tools)
            object.__setattr__(self, "decider", decider)

    def _declared(self) -> frozenset[str]:
        return frozenset(map(self.folders.name, self.graph.producers))


@dataclass(frozen=True)
class ActionRun:
    """One action with the inputs that it is run on, read once. It logs nothing."""

    action: Action
    execution: Execution
    inputs: Mapping[str, bytes]
    stamps: Mapping[str, FileState]
    """State of each input file before it was read, by role."""
    begin: Callable[[], None] | None = None
    """What withdraws the product's seal, in place of the product itself."""
    _steady: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def input_digests(self) -> dict[str, str]:
        """The BLAKE3 of each input by role."""
        return {role: blake3_hex(data) for role, data in self.inputs.items()}

    def digest(self) -> str:
        """Return the action digest of exactly these inputs and the tools as they are now."""
        return action_digest(self.action, self.input_digests, self.execution.tools)

    def restore(self, store: Store, digest: str) -> dict[str, str] | None:
        """Write the outputs that the store has; return them as ``make`` does, None without any."""
        outputs = store.outputs(digest, [role for role, _ in self.action.outputs])
        return None if outputs is None else self._write(outputs)

    def make(self, store: Store | None = None, digest: str = "") -> dict[str, str]:
        """Call the stage and write what it makes; keep it in the store if there is one.

        Returns the BLAKE3 digest of each file written, by path. Raises the stage's ``NetraError``
        and writes nothing when it fails. What ran on inputs or tools that changed meanwhile is
        not kept.
        """
        outputs = self._outputs()
        written = self._write(outputs)
        if store is not None and self.is_steady(digest):
            store.put_outputs(digest, outputs)
        return written

    def is_steady(self, digest: str) -> bool:
        """Tell whether inputs and tools are what they were when ``digest`` was made of them.

        To be asked right after the stage has run; who asks again is told the same.
        """
        if digest not in self._steady:
            is_same = not self.changed_inputs()
            if is_same and self.action.stage.uses_tools:
                is_same = self.digest() == digest
            self._steady[digest] = is_same
        return self._steady[digest]

    def changed_inputs(self) -> tuple[Place, ...]:
        """Return the inputs that hold other bytes now than those which were read."""
        return tuple(place for role, place in self.action.inputs if self._has_changed(role))

    def path(self, role: str) -> Path:
        """Return the path of an input."""
        return self.execution.folders.path(self._place_by_role[role])

    @cached_property
    def _place_by_role(self) -> dict[str, Place]:
        return dict(self.action.inputs)

    def _outputs(self) -> Outputs:
        """Call the stage; raise its ``NetraError``, or ``ValueError`` for undeclared outputs."""
        action, tools = self.action, self.execution.tools
        try:
            outputs = action.stage.run(self.inputs, dict(action.parameters), tools)
        except NetraError as error:
            raise _explained(action, error, self.execution) from None
        made, declared = sorted(outputs), sorted(role for role, _ in action.outputs)
        if made != declared:
            raise ValueError(f"{action.line()}: made {made}, declared {declared}")
        return outputs

    def _has_changed(self, role: str) -> bool:
        path = self.execution.folders.name(self._place_by_role[role])
        if file_state(path) == self.stamps[role]:
            return False
        try:
            return self.execution.disk.read_bytes(path) != self.inputs[role]
        except NetraError:
            return True

    def _write(self, outputs: Outputs) -> dict[str, str]:
        """Write all outputs.

        Before the first file of a sealed product is written its seal is withdrawn, and the seal
        itself is written last (see ``Product``).
        """
        execution, declared = self.execution, dict(self.action.outputs)
        product, folders = execution.product, execution.folders
        if product is not None and any(place.root is Root.OUT for place in declared.values()):
            (self.begin or product.begin)()
        for role, place in declared.items():
            execution.disk.write_output(folders.name(place), outputs[role])
        if product is not None and execution.graph.seal in declared.values():
            product.finish()
        return {folders.name(place): blake3_hex(outputs[role]) for role, place in declared.items()}


def prepare_run(
    action: Action, execution: Execution, begin: Callable[[], None] | None = None
) -> ActionRun:
    """Read the inputs of an action; raise ``BadInput`` for one that cannot be read.

    ``begin`` withdraws the product's seal in place of the product itself.
    """
    read, name = execution.disk.read_stamped, execution.folders.name
    found = {role: read(name(place)) for role, place in action.inputs}
    inputs = {role: data for role, (data, _) in found.items()}
    _refuse_unplanned(action, execution, inputs)
    stamps = {role: state for role, (_, state) in found.items()}
    return ActionRun(action, execution, inputs, stamps, begin)


def _refuse_unplanned(action: Action, execution: Execution, inputs: Mapping[str, bytes]) -> None:
    """Refuse a source that is not what the build was planned with: products would contradict."""
    planned = execution.graph.planned
    for role, place in action.inputs:
        if place in planned and sha256_hex(inputs[role]) != planned[place]:
            raise BadInput(
                "file has changed since the build was planned",
                location=place.name,
                hint="build again",
            )


def _explained(action: Action, error: NetraError, execution: Execution) -> NetraError:
    if action.stage.explain is None or not action.hints:
        return error
    folders, disk = execution.folders, execution.disk
    hints = {role: disk.read_bytes(folders.path(place)) for role, place in action.hints}
    return action.stage.explain(error, hints, execution.tools).under(action.subject)
