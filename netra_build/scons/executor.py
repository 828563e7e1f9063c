"""Carry out steps in this process or in its workers.

The first few actions are made here, so that a small build starts no process. What comes of an
action is noted here in either case: no process but this one has the records.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import SCons.CacheDir
import SCons.Script

from netra_build.build.cache.store import Store
from netra_build.build.freshness.freshness import Decision
from netra_build.build.record.reasons import Ending
from netra_build.build.run.executor import Outcome, attempt, logged, perform
from netra_build.build.run.workers import GATE, Begin, NoWorker, WorkerPool, most_workers
from netra_build.core.errors import NetraError
from netra_build.scons.steps import Step

FEW = 16
"""How many times workers are asked for before there are any: a small build needs none."""


class Task(NamedTuple):
    """What a worker is told: which step, what was decided about it, and what to do."""

    number: int
    decision: Decision
    only: Ending
    is_kept: bool
    """Whether the store is used."""


class Answer(NamedTuple):
    """What a worker answers."""

    outcome: Outcome | None
    """What came of the action; None if the store does not have it."""
    trouble: str
    """Why the store takes nothing more, if so."""


class StepExecutor:
    """Carries out the steps of one build context; called from several threads."""

    def __init__(
        self,
        steps: Sequence[Step],
        store_of: Callable[[Any], Store | None],
        begin_in_worker: Callable[[], None],
    ) -> None:
        """``store_of`` gives the store of an environment.

        ``begin_in_worker`` is called first in each worker, to open anew what has locks.
        """
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
        answer: Answer = workers.ask(task, begin)
        if store is not None and answer.trouble:
            store.trouble = store.trouble or answer.trouble
        return answer.outcome

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
                    self._workers = WorkerPool(most, self._work, self._begin_in_worker)
            return self._workers

    def _store(self, step: Step) -> Store | None:
        """Return the store for a step, None without one and with ``--cache-disable``."""
        if not step.action.stage.is_kept or not SCons.CacheDir.cache_enabled:
            return None
        return self._store_of(step.env)

    def _work(self, task: Task, begin: Begin) -> Answer:
        """Do a task in a worker, with the step, the store and the tools that the worker has."""
        step = self._steps[task.number]
        store = self._store_of(step.env) if task.is_kept else None
        product = step.execution.product

        def withdraw() -> None:
            if product is not None and not product.has_begun:
                begin()
                product.has_begun = True

        job = replace(step.job(), decision=task.decision)
        outcome = attempt(job, store, task.only, withdraw)
        return Answer(outcome, store.trouble if store is not None else "")
