"""Actions as SCons nodes: one builder node per action, content signatures, our errors.

They are carried out in this process or in its workers; the first few here, so that a small build
starts no process. What comes of an action is noted here in either case: no process but this one has
the records.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import SCons.Builder
import SCons.CacheDir
import SCons.Errors
import SCons.Node
import SCons.Node.FS
import SCons.Script
import SCons.Util
from SCons.Action import Action as SConsAction

from netra_build.build.cache.store import Store
from netra_build.build.digests.action_digest import code_digest
from netra_build.build.freshness.freshness import Decision
from netra_build.build.graph.actions import Action, Paths, Place, Root
from netra_build.build.record.reasons import Ending
from netra_build.build.run.execution import Execution
from netra_build.build.run.executor import Outcome, attempt, logged, perform
from netra_build.build.run.workers import GATE, Begin, NoWorker, WorkerPool, most_workers
from netra_build.core.canonical_json import canonical_text
from netra_build.core.errors import BadInput, NetraError
from netra_build.scons.steps import Step, StepFile


def content_changed(
    dependency: Any, target: Any, previous: Any, repository_node: Any = None
) -> bool:
    """Decide by the bytes of ``dependency`` as they are now.

    SCons reuses a stored signature for a file that is older than two days and has the same
    whole-second time stamp; the file is hashed here instead, once a run.
    """
    is_plain = isinstance(dependency, SCons.Node.FS.File) and not isinstance(dependency, StepFile)
    if is_plain and "netra_hashed" not in dependency.attributes.__dict__:
        contents = dependency.get_contents() if dependency.exists() else b""
        dependency.get_ninfo().csig = SCons.Util.hash_signature(contents)
        dependency.attributes.netra_hashed = True
    try:
        return bool(dependency.get_csig() != previous.csig)
    except AttributeError:
        return True


def declare_graph(env: Any, execution: Execution) -> list[Any]:
    """Declare a node for every file of a graph's actions and return them, in their order.

    An action that was declared already, with the same files, is taken as it is.
    """
    context = env["NETRA_CONTEXT"]
    nodes: list[Any] = []
    cleared = _places_to_clear(execution)
    execution.note_sources(context.input_trace)
    name = execution.folders.name
    planned = {name(place): digest for place, digest in execution.graph.planned.items()}
    context.freshness(env).expect(planned)
    for action in execution.graph.actions:
        paths = execution.folders.names(action.outputs)
        known = context.action_by_paths.get(paths)
        if known is None:
            context.action_by_paths[paths] = action
            must_run = any(place in cleared for _, place in action.outputs)
            _declare_action(env, action, paths, execution, must_run)
        elif known is not action and known != action:
            raise made_in_two_ways(paths[0], action.outputs[0][1].root)
        nodes += [context.node_by_path[path] for path in paths]
    return nodes


def made_in_two_ways(path: str, root: Root) -> BadInput:
    """Return the error for two things asked for that make the same file or folder."""
    remedy = "ask in an Environment with another NETRA_BUILD"
    if root in (Root.OUT, Root.DIST):
        remedy = "name another folder with out="
    return BadInput(f"{path} is made in two ways", location="SConstruct", hint=remedy)


def _declare_action(
    env: Any, action: Action, paths: Paths, execution: Execution, must_run: bool
) -> None:
    context, inputs = env["NETRA_CONTEXT"], execution.folders.names(action.inputs)
    known = context.node_by_path
    for path in (*inputs, *paths):
        if path not in known:
            known[path] = env.fs.File(path)
    sources, targets = [known[path] for path in inputs], [known[path] for path in paths]
    made, number = (inputs, paths), len(context.steps)
    freshness = context.freshness(env)
    step = Step(action, execution, freshness, made, must_run=must_run, number=number)
    step.attach(env, _BUILDER, _DOING, targets, sources)
    context.steps.append(step)


def _places_to_clear(execution: Execution) -> frozenset[Place]:
    """Return what is to be written anew because a product's folder holds what is not of it.

    What is too much goes when the first file is written: the seal is enough. A link may stand in
    for a folder of the product, and then every file of it is written.
    """
    product, seal = execution.product, execution.graph.seal
    extra = product.extra_names() if product is not None else ()
    if product is None or seal is None or not extra:
        return frozenset()
    if not any((product.folder / name).is_symlink() for name in extra):
        return frozenset({seal})
    return frozenset(place for place in execution.graph.producers if place.root is Root.OUT)


def _build(target: list[Any], source: list[Any], env: Any) -> int:
    """Run the action behind a node; a failure becomes one ``BuildError`` with our message."""
    try:
        env["NETRA_CONTEXT"].executor.make(target[0].executor)
    except NetraError as error:
        given = {"errstr": str(error), "status": error.status, "exitstatus": 2}
        raise SCons.Errors.BuildError(target, **given) from None
    return 0


def _build_line(target: list[Any], source: list[Any], env: Any) -> str:
    step: Step = target[0].executor
    if not env.get("NETRA_VERBOSE"):
        return step.action.line()
    return "\n".join([step.action.line(), *_detail(step.action, step.execution)])


def _detail(action: Action, execution: Execution) -> list[str]:
    """Return the lines of ``verbose=1``: files, parameters and the tool's commands."""
    folders = execution.folders
    lines = [f"    {role} <- {folders.path(place)}" for role, place in action.inputs]
    lines += [f"    {role} -> {folders.path(place)}" for role, place in action.outputs]
    lines += [f"    {name} = {canonical_text(v).rstrip()}" for name, v in action.parameters]
    if action.stage.uses_tools and (command := execution.tools.command(action.stage.name)):
        lines.append(f"    {command}")
    return lines


_DOING = SConsAction(_build, _build_line)
_BUILDER = SCons.Builder.Builder(action=_DOING)
"""One for all nodes, which makes them derived ones; each has an executor of its own."""


FEW = 16
"""How many times workers are asked for before there are any: a small build needs none."""


class Task(NamedTuple):
    """What a worker is told: which step, what was decided about it, and what to do."""

    number: int
    decision: Decision
    only: Ending
    is_kept: bool
    """Whether the store is used."""


class StepExecutor:
    """Carries out the steps of one build context; called from several threads."""

    def __init__(
        self,
        steps: Sequence[Step],
        store_of: Callable[[Any], Store | None],
        begin_in_worker: Callable[[], None],
    ) -> None:
        """``begin_in_worker`` is called first in each worker, to open anew what has locks."""
        self._steps = steps
        self._store_of = store_of
        self._begin_in_worker = begin_in_worker
        self._lock = threading.Lock()
        self._workers: WorkerPool | None = None
        self._asked = 0

    def restore(self, step: Step) -> bool:
        """Restore the outputs of a step from the store; False when the action has to run."""
        store = self._store(step)
        if store is None or step.decision is None or not store.has_outputs(step.decision.digest):
            return False
        try:
            outcome = self._perform(step, store, Ending.RESTORED)
        except NetraError:
            return False  # the action meets it again, and reports it
        if outcome is not None:
            step.note(outcome)
        return outcome is not None

    def make(self, step: Step) -> None:
        """Run the action of a step, keep its outputs in the store; raise its ``NetraError``."""
        store = None if SCons.CacheDir.cache_readonly else self._store(step)
        outcome = self._perform(step, store, Ending.RAN)
        assert outcome is not None
        step.note(outcome)

    def end_workers(self) -> None:
        """End who works for this process; the next build has others."""
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()

    def _perform(self, step: Step, store: Store | None, only: Ending) -> Outcome | None:
        workers = self._workers_for(step)
        if workers is not None and step.decision is not None:
            task = Task(step.number, step.decision, only, store is not None)
            with suppress(NoWorker):
                return logged(step.job(), lambda: self._by_worker(step, workers, task, store))
        with GATE.inside():
            return perform(step.job(), store, only)

    def _by_worker(
        self, step: Step, workers: WorkerPool, task: Task, store: Store | None
    ) -> Outcome | None:
        product = step.execution.product
        begin = product.begin if product is not None else lambda: None
        outcome: Outcome | None
        outcome, trouble = workers.ask(task, begin)
        if store is not None:
            store.trouble = store.trouble or trouble
        return outcome

    def _workers_for(self, step: Step) -> WorkerPool | None:
        """Return who works for this process, None while there is little to do, or one job.

        A seal is written here: it is what makes this process's product whole. What may be an
        action under another name is made here too: its reasons follow from those of others.
        """
        execution, action = step.execution, step.action
        if any(place == execution.graph.seal for _, place in action.outputs):
            return None
        decider = execution.decider
        if decider is not None and decider.may_be_renamed(action, step.output_paths):
            return None
        with self._lock:
            self._asked += 1
            if self._workers is None and (action.stage.is_long or self._asked > FEW):
                most = most_workers(SCons.Script.GetOption("num_jobs"))
                if most:
                    with suppress(
                        NetraError
                    ):  # a worker runs the code that we have read, and speak of
                        any(code_digest(step.action.stage.module) == "" for step in self._steps)
                    self._workers = WorkerPool(most, self._work, self._begin_in_worker)
            return self._workers

    def _store(self, step: Step) -> Store | None:
        """Return the store for a step, None without one and with ``--cache-disable``."""
        if not step.action.stage.is_kept or not SCons.CacheDir.cache_enabled:
            return None
        return self._store_of(step.env)

    def _work(self, task: Task, begin: Begin) -> tuple[Outcome | None, str]:
        """Do a task in a worker, with the step, the store and the tools that the worker has.

        Returns what came of the action, and why the store takes nothing more, if so.
        """
        step = self._steps[task.number]
        store = self._store_of(step.env) if task.is_kept else None
        product = step.execution.product

        def withdraw() -> None:
            if product is not None and not product.has_begun:
                begin()
                product.has_begun = True

        job = replace(step.job(), decision=task.decision)
        outcome = attempt(job, store, task.only, withdraw)
        return outcome, store.trouble if store is not None else ""
