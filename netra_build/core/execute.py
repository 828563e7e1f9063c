"""Run one action: read its inputs, call its stage, write its outputs whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netra_build.core.disk import Disk
from netra_build.core.errors import NetraError
from netra_build.core.graph import Action, Graph, Place, Root


@dataclass(frozen=True)
class Folders:
    """Where the roots of a graph lie on this machine."""

    paths: Mapping[Root, Path]

    def path(self, place: Place) -> Path:
        """Return the path of one place."""
        return self.paths[place.root] / place.name


def run_action(
    action: Action, folders: Folders, disk: Disk, tools: Any, seal: Place | None = None
) -> None:
    """Run ``action``; raise the stage's ``NetraError`` and write nothing when it fails.

    ``seal`` is removed before the first product is written (see ``Graph.seal``).
    """
    inputs = {role: disk.read_bytes(folders.path(place)) for role, place in action.inputs}
    try:
        outputs = action.stage.run(inputs, dict(action.parameters), tools)
    except NetraError as error:
        raise _explained(action, error, folders, disk, tools) from None
    declared = dict(action.outputs)
    if set(outputs) != set(declared):
        raise ValueError(f"{action.line()}: made {sorted(outputs)}, declared {sorted(declared)}")
    if seal is not None and any(place.root is Root.OUT for place in declared.values()):
        disk.remove(folders.path(seal))
    for role, place in declared.items():
        disk.write_bytes(folders.path(place), outputs[role])


def run_graph(graph: Graph, folders: Folders, disk: Disk, tools: Any) -> None:
    """Run every action of ``graph`` in order, whatever exists already."""
    for action in graph.actions:
        run_action(action, folders, disk, tools, graph.seal)


def _explained(
    action: Action, error: NetraError, folders: Folders, disk: Disk, tools: Any
) -> NetraError:
    if action.stage.explain is None or not action.hints:
        return error
    hints = {role: disk.read_bytes(folders.path(place)) for role, place in action.hints}
    return action.stage.explain(error, hints, tools)
