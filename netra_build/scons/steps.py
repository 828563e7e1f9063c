"""Our actions as SCons sees them: an executor for each, and a file node for each of its outputs.

Nodes of SCons's own take apart, hash, compare and store a signature for every file and parameter,
which costs more than assembling a kernel. Ours are files like any other to whoever builds on them,
but whether they are up to date is asked once for all outputs of an action, by its action digest.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import SCons.Action
import SCons.Errors
import SCons.Executor
import SCons.Node
import SCons.Node.FS
import SCons.Util

from netra_build.build.freshness.freshness import Decision, Freshness
from netra_build.build.graph.actions import Action, Paths
from netra_build.build.record.reasons import FORGOTTEN, Cause, Reason
from netra_build.build.run.execution import Execution
from netra_build.build.run.executor import Job, Outcome
from netra_build.core.digests import blake3_hex
from netra_build.core.errors import NetraError

RESTORED = "STORE"
"""Label of an action whose outputs come from the store."""
EXPLAINED = " " * 11
"""How SCons indents the causes of ``--debug=explain``."""


def node_is_done(node: Any) -> bool:
    """Tell whether a node was found up to date or was made in this run."""
    return node.get_state() in (SCons.Node.executed, SCons.Node.up_to_date)


def show_line(line: str, *_: Any) -> None:
    """Show the line of an action in one piece: two threads may show theirs at once."""
    sys.stdout.write(f"{line}\n")


class Step(SCons.Executor.Executor):  # type: ignore[misc]
    """What makes the targets of one action, and whether it has to."""

    def __init__(
        self,
        action: Action,
        execution: Execution,
        freshness: Freshness,
        paths: tuple[Paths, Paths],
        *,
        must_run: bool,
        number: int,
    ) -> None:
        """``paths`` are those of inputs and outputs, in the order of their roles.

        ``number`` is its place among all steps that were declared.
        """
        super().__init__([])
        self.action, self.execution, self.freshness = action, execution, freshness
        self.input_paths, self.output_paths = paths
        self.must_run, self.number = must_run, number
        self.decision: Decision | None = None
        self.is_restored = False
        self._targets: list[Any] = []
        self._sources: list[Any] = []
        self._has_to_run: bool | None = None

    def attach(
        self, env: Any, builder: Any, doing: Any, targets: list[Any], sources: list[Any]
    ) -> None:
        """Make ``targets`` the files of this step, which ``doing`` makes of ``sources``."""
        self.env, self.action_list = env, [doing]
        self.batches = [SCons.Executor.Batch(targets, sources)]
        self._targets, self._sources = targets, list(dict.fromkeys(sources))
        for target in targets:
            if target.has_builder():
                raise SCons.Errors.UserError(f"{target} is made in two ways")
            target.__class__ = StepFile
            target.builder, target.env, target.executor = builder, env, self
            target.is_explicit = True
            target.sources, target.implicit = self._sources, []

    @property
    def node(self) -> Any:
        """The node of the first output, whose state is that of the step."""
        return self._targets[0]

    def get_all_targets(self) -> list[Any]:
        """Return the nodes of all outputs."""
        return self._targets

    get_action_targets = get_all_targets

    def get_all_children(self) -> Any:
        """Return what has to be looked at first: the inputs, and what a user's script adds."""
        if any(target.depends or target.ignore_set for target in self._targets):
            return super().get_all_children()
        return self._sources

    def get_all_prerequisites(self) -> Any:
        """Return what a user's script wants built before."""
        if all(target.prerequisites is None for target in self._targets):
            return []
        return super().get_all_prerequisites()

    def get_build_env(self) -> Any:
        """Return the environment that all steps of a product share."""
        return self.env

    def cleanup(self) -> None:
        """Keep everything: there is nothing that could be computed anew."""

    def has_to_run(self) -> bool:
        """Tell whether the action has to run; decided once, when all its inputs are there."""
        if self._has_to_run is None:
            self.decision = self.freshness.decision(self.action, self.input_paths)
            self._has_to_run = (
                self.must_run
                or self.decision is None
                or not self.freshness.is_fresh(self.output_paths, self._noted_digest(self.decision))
            )
        return self._has_to_run

    def decide_anew(self) -> None:
        """Forget what was decided: SCons builds once more in this process (``--interactive``)."""
        self._has_to_run, self.decision = None, None
        self.freshness.look_again((*self.input_paths, *self.output_paths))
        if self.execution.product is not None:
            self.execution.product.has_begun = False
        self.env["NETRA_CONTEXT"].executor.end_workers()

    def job(self) -> Job:
        """Return what is to be carried out."""
        return Job(self.action, self.execution, self.decision, self._otherwise())

    def note(self, outcome: Outcome) -> None:
        """Remember what was written, and by which action if it can be told."""
        digest = self._noted_digest(outcome.decision) if outcome.decision else ""
        self.freshness.note(outcome.written, self.output_paths, digest)

    def restore(self) -> bool:
        """Take all outputs from the store, and say so; False when the action has to run."""
        is_restored: bool = self.env["NETRA_CONTEXT"].executor.restore(self)
        if is_restored and SCons.Action.print_actions:
            show = self.env.get("PRINT_CMD_LINE_FUNC", show_line)
            show(self.action.line(RESTORED), [self.node], [], self.env)
        return is_restored

    def _noted_digest(self, decision: Decision) -> str:
        """Return what an action is known by in the record: its digest, and what it depends on.

        A user's script may name further files that it has to follow (``Depends``).
        """
        added = self._added()
        if not added:
            return decision.digest
        texts = [decision.digest, *(f"{node}\n{self._content(node)}" for node in added)]
        return blake3_hex("\n".join(texts).encode("utf-8", "surrogatepass"))

    def _added(self) -> list[Any]:
        """Return what a user's script makes the files of this step depend on."""
        return list(dict.fromkeys(node for target in self._targets for node in target.depends))

    def _otherwise(self) -> Reason:
        """Return why the action runs if nothing that it is made of has changed."""
        if self.node.always_build or self.must_run:
            return Reason(Cause.ALWAYS)
        added = self._added()
        if added and self.freshness.record.action_digest(self.output_paths):
            return Reason(Cause.DEPENDENCY_CHANGED, ", ".join(f'"{node}"' for node in added))
        return FORGOTTEN

    def _content(self, node: Any) -> str:
        """Return what changes with a node; SCons may take the signature of an old file on trust."""
        if isinstance(node, SCons.Node.FS.File):
            return self.freshness.file_digest(str(node)) or ""
        return str(node.get_csig())

    def reasons(self) -> list[str]:
        """Return why the action has to run, in words."""
        decider, path_of = self.execution.decider, self.execution.folders.name
        if decider is None:
            return []
        made_from = decider.ingredients(
            self.action, lambda _, place: self.freshness.file_digest(path_of(place)) or ""
        )
        found = decider.reasons(self.action, made_from) or (self._otherwise(),)
        return [reason.text() for reason in found]


class StepFile(SCons.Node.FS.File):  # type: ignore[misc]
    """A file that one of our actions makes.

    It has no signature of its own in SCons's file. Whoever depends on it sees the BLAKE3 of its
    bytes as its content signature. A node that SCons knows already becomes one of this class.
    """

    __slots__ = ()

    def is_up_to_date(self) -> bool:
        """Ask the step, which decides for all its files."""
        return not self.executor.has_to_run()

    def changed(self, node: Any = None, allowcache: bool = False) -> bool:
        """Ask the step, as ``is_up_to_date``."""
        return bool(self.executor.has_to_run())

    def get_csig(self) -> str:
        """Return the BLAKE3 of the file; that of no bytes when there is none."""
        return self.executor.freshness.file_digest(str(self)) or blake3_hex(b"")

    get_cachedir_csig = get_csig

    def get_ninfo(self) -> Any:
        """Return what SCons stores of a file in the signature of one that is made from it."""
        ninfo = super().get_ninfo()
        if node_is_done(self):
            ninfo.csig = self.get_csig()
            ninfo.timestamp, ninfo.size = self.get_timestamp(), self.get_size()
        return ninfo

    def scan(self) -> None:
        """Look for nothing: an action declares all that it reads."""

    def make_ready(self) -> None:
        """Do nothing: no signature is taken apart, and outputs are in the store already."""

    visited = release_target_info = push_to_cache = make_ready

    def prepare(self) -> None:
        """Refuse what a user's script made it depend on and is not there; keep the old file."""
        for node in self.depends:
            if node.missing():
                text = f"Explicit dependency `{node}' not found, needed by target `{self}'."
                raise SCons.Errors.StopError(text)

    def clear(self) -> None:
        """Forget what was found out about the file, and what its step has decided."""
        super().clear()
        self.executor.decide_anew()

    def built(self) -> None:
        """Let nodes of SCons's own that wait for this file look for what it includes again."""
        for parent in self.waiting_parents:
            if not isinstance(parent, StepFile):
                for node in (parent, *getattr(parent, "target_peers", ())):
                    node.implicit = None
        if not SCons.Action.execute_actions:
            self.executor.freshness.mark_unknown([str(self)])
        self.clear_memoized_values()

    def retrieve_from_cache(self) -> bool:
        """Restore the files of the step from our store, by its action digest.

        SCons asks each target in turn before it runs an action; the first decides for all. A cache
        of the user's is not for these nodes.
        """
        step: Step = self.executor
        if self is step.node:
            is_asked = SCons.Action.execute_actions and not self.nocache
            step.is_restored = bool(is_asked) and step.restore()
        return step.is_restored

    def explain(self) -> str:
        """Return the text of ``--debug=explain``: the reasons that are recorded, too."""
        try:
            reasons = self.executor.reasons()
        except NetraError as error:
            reasons = [error.line()]
        return f"rebuilding `{self}' because:\n" + "".join(f"{EXPLAINED}{one}\n" for one in reasons)


def last_files(nodes: Sequence[Any]) -> list[Any]:
    """Return the last of one product's nodes if it brings all others, else all of them.

    All stand in the order in which they are to be made: a proof before a simulation.
    """
    used = {source for node in nodes for source in node.sources}
    is_enough = all(node in used for node in nodes[:-1])
    return [nodes[-1]] if is_enough else list(nodes)
