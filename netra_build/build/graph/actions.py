"""Actions and the graph they form: what is made from what, by which stage.

A graph is plain data. The SCons front turns it into nodes, ``netra rebuild`` runs it from top to
bottom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from netra_build.build.graph.product import Listing, listed_files
from netra_build.core.canonical_json import Json
from netra_build.core.disk import relative_name
from netra_build.core.errors import NetraError

Paths = tuple[str, ...]
"""The files of one action, in the order of its roles; its outputs name it."""
Inputs = Mapping[str, bytes]
Parameters = Mapping[str, Json]
Outputs = Mapping[str, bytes]


class Root(StrEnum):
    """The folders a place can lie in; a graph never holds an absolute path."""

    SOURCE = "source"  # the library root: manifests, templates, golden sources
    EXTERNAL = "external"  # objects that a user brings from elsewhere
    WORK = "work"  # intermediate files
    OUT = "out"  # the product
    KEY = "key"  # the folder of a signing key
    DEBUG = "debug"  # code objects with line tables, never shipped
    DIST = "dist"  # packages of products


MADE_ROOTS = (Root.WORK, Root.OUT, Root.DEBUG, Root.DIST)
"""Roots below which actions make files; in the others they only read."""


class _Pair(NamedTuple):
    root: Root
    name: str


class Place(_Pair):
    """One file, named by its root and its path below that root.

    A graph has tens of thousands, each hashed several times: tuples do that fastest.
    """

    __slots__ = ()

    def __new__(cls, root: Root, name: str) -> Place:
        """Return the place; ``ValueError`` or ``BadInput`` for a name that is not normalised."""
        if relative_name(name, root) != name:
            raise ValueError(f"place is not normalised: {name}")
        return super().__new__(cls, root, name)

    def __str__(self) -> str:
        return f"{self.root.value}:{self.name}"


@dataclass(frozen=True)
class Stage:
    """A kind of step: a pure function from named bytes and parameters to named bytes.

    ``run(inputs, parameters, tools)`` returns one content per declared output. ``module`` is
    the module whose imports give the stage's code digest. ``uses_tools`` says that the tool
    chain's identity is an input. ``explain(error, hints, tools)`` may turn a failure into a
    better one with files that are no inputs (they never reach a digest). ``is_kept`` is False for
    a stage that makes its outputs in less time than the store needs to give them back,
    ``is_long`` True for one that takes seconds.
    """

    name: str
    label: str
    module: str
    run: Callable[[Inputs, Parameters, Any], Outputs]
    uses_tools: bool = False
    explain: Callable[[NetraError, Inputs, Any], NetraError] | None = None
    is_kept: bool = True
    is_long: bool = False

    def apply(
        self,
        subject: str,
        inputs: Mapping[str, Place],
        outputs: Mapping[str, Place],
        parameters: Mapping[str, Json] | None = None,
        hints: Mapping[str, Place] | None = None,
    ) -> Action:
        """Return the application of this stage to ``subject``; roles are put in order."""
        return Action(
            stage=self,
            subject=subject,
            outputs=tuple(sorted(outputs.items())),
            inputs=tuple(sorted(inputs.items())),
            parameters=tuple(sorted((parameters or {}).items())),
            hints=tuple(sorted((hints or {}).items())),
        )


@dataclass(frozen=True, slots=True)
class Action:
    """One application of a stage. Roles name the inputs and outputs inside the stage."""

    stage: Stage
    subject: str
    outputs: tuple[tuple[str, Place], ...]
    inputs: tuple[tuple[str, Place], ...] = ()
    parameters: tuple[tuple[str, Json], ...] = ()
    hints: tuple[tuple[str, Place], ...] = ()

    def line(self, label: str = "") -> str:
        """Return the short build line, for example ``ASM      moe.gate_up -> x.o``.

        A ``label`` stands for the stage's own when the outputs come from elsewhere.
        """
        names = [place.name for _, place in self.outputs]
        shown = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        return f"{label or self.stage.label:<8} {self.subject} -> {shown}"


@dataclass(frozen=True)
class Graph:
    """All actions that one asked-for thing needs, each after what it needs.

    ``seal`` is the product's last file. It is withdrawn before any other file of the product is
    rewritten, so a product that has it is whole. ``listing`` reads the other files' names from it.
    """

    name: str
    actions: tuple[Action, ...]
    seal: Place | None = None
    notes: tuple[str, ...] = field(default=())
    listing: Listing = listed_files
    planned: Mapping[Place, str] = field(default_factory=dict)
    """SHA-256 of the sources whose bytes decided what the graph is; actions take no others."""
    locations: Mapping[str, str] = field(default_factory=dict)
    """Where a user stated what a stage refuses, by the location that the stage gives it."""
    reports: tuple[Place, ...] = ()
    """JSON objects whose ``warnings`` are to be shown when all is made."""

    @cached_property
    def producers(self) -> dict[Place, Action]:
        """Map every product to the one action that makes it."""
        return {place: action for action in self.actions for _, place in action.outputs}

    def products(self, root: Root) -> tuple[str, ...]:
        """Return the names of all files made below ``root``, sorted."""
        return tuple(sorted(place.name for place in self.producers if place.root is root))

    def sources(self) -> tuple[Place, ...]:
        """Return the inputs that no action makes, sorted."""
        used = {place for action in self.actions for _, place in action.inputs}
        return tuple(sorted(used - set(self.producers)))


def check_graph(graph: Graph) -> None:
    """Raise ``ValueError`` unless every product has one producer and comes before its use."""
    made: set[Place] = set()
    products = set(graph.producers)
    for action in graph.actions:
        for _, place in action.inputs:
            if place in products and place not in made:
                raise ValueError(f"{action.line()}: {place} is used before it is made")
            if place not in products and place.root in MADE_ROOTS:
                raise ValueError(f"{action.line()}: nothing makes {place}")
        for _, place in action.outputs:
            if place in made or place.root not in MADE_ROOTS:
                raise ValueError(f"{action.line()}: {place} cannot be made here")
            made.add(place)
