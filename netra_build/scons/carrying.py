"""Carry out the action of a step: here, or by one of the processes that work for this one.

The first few actions are made here, so that a small build starts no process. What comes of an
action is noted here in either case: no process but this one has the records.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import SCons.CacheDir

from netra_build.build.cache.store import Store
from netra_build.build.freshness.freshness import Decision
from netra_build.build.record.run_file import Line
from netra_build.build.record.run_record import Pending
from netra_build.build.run import executor
from netra_build.build.run.action_log import ActionLog, pending_run
from netra_build.build.run.execute import ActionRun, prepare_run
from netra_build.build.run.executor import Outcome
from netra_build.build.workers.workers import GATE, Begin, NoWorker, WorkerPool
from netra_build.core.errors import NetraError
from netra_build.scons.steps import Step


class Task(NamedTuple):
    """What a worker is told: which step, and what was decided about it."""

    number: int
    decision: Decision
    is_restoring: bool
    is_kept: bool
    """Whether what is made goes to the store."""


class Answer(NamedTuple):
    """What a worker answers."""

    outcome: Outcome | None
    """What came of the action; None if the store does not have it."""
    noted: Line | None
    """What is to go on record of the run."""
    trouble: str
    """Why the store takes nothing more, if so."""


def restore(step: Step) -> bool:
    """Restore the outputs of a step from the store; False when the action has to run."""
    store = _store(step) if step.action.stage.is_kept else None
    if store is None:
        return False
    workers = _workers(step)
    if workers is not None and not store.has_outputs(_known(step).digest):
        return False
    try:
        outcome = _restored(step, workers, store)
    except NetraError:
        return False  # the action meets it again, and reports it
    if outcome is not None:
        _note(step, outcome)
    return outcome is not None


def make(step: Step) -> None:
    """Run the action of a step and keep its outputs in the store.

    Raises the action's ``NetraError``.
    """
    is_kept = step.action.stage.is_kept and not SCons.CacheDir.cache_readonly
    store = _store(step) if is_kept else None
    _note(step, _made(step, _workers(step), store))


def work_in_worker(context: Any, task: Task, begin: Begin) -> Answer:
    """Do a task in a worker, with the step, the store and the tools that the worker has."""
    step: Step = context.steps[task.number]
    store: Store | None = context.opened_store() if task.is_restoring or task.is_kept else None
    product = step.execution.product

    def withdraw() -> None:
        if product is not None and not product.has_begun:
            begin()
            product.note_begun()

    run = prepare_run(step.action, step.execution, withdraw)
    decision = executor.decided_for(run, task.decision)
    pending = _pending(step, run)
    if task.is_restoring:
        outcome = executor.restored(run, decision, store) if store is not None else None
    else:
        outcome = executor.made(run, decision, store)
    runs, noted = step.execution.runs, None
    if outcome is not None and pending is not None and runs is not None:
        noted = runs.noted(pending, outcome.written, outcome.ending)
    return Answer(outcome, noted, store.trouble if store is not None else "")


def _workers(step: Step) -> WorkerPool | None:
    """Return who works for this process, None when the step is carried out here.

    A seal is: it is what makes this process's product whole. So is what may be an action under
    another name, whose reasons follow from those of others.
    """
    execution, action = step.execution, step.action
    is_seal = any(place == execution.graph.seal for _, place in action.outputs)
    if step.decision is None or step.prepared is not None or is_seal:
        return None
    decider = execution.decider
    if decider is not None and decider.may_be_renamed(action, step.output_paths):
        return None
    context = step.env["NETRA_CONTEXT"]
    workers: WorkerPool | None = context.workers(action.stage.is_long, work_in_worker)
    return workers


def _by_worker(
    step: Step, workers: WorkerPool, store: Store | None, *, is_restoring: bool
) -> Outcome | None:
    product = step.execution.product
    task = Task(step.number, _known(step), is_restoring, store is not None)
    with ActionLog(step.action, step.execution) as log:
        answer: Answer = workers.ask(task, lambda: product.begin() if product is not None else None)
        if store is not None and answer.trouble:
            store.trouble = store.trouble or answer.trouble
        if answer.outcome is None:
            log.not_begun()
        else:
            log.done_elsewhere(answer.noted, answer.outcome.ending)
    return answer.outcome


def _restored(step: Step, workers: WorkerPool | None, store: Store) -> Outcome | None:
    if workers is not None:
        with suppress(NoWorker):
            return _by_worker(step, workers, store, is_restoring=True)
    return _restored_here(step, store)


def _made(step: Step, workers: WorkerPool | None, store: Store | None) -> Outcome:
    if workers is not None:
        with suppress(NoWorker):
            outcome = _by_worker(step, workers, store, is_restoring=False)
            assert outcome is not None
            return outcome
    return _made_here(step, store)


def _restored_here(step: Step, store: Store) -> Outcome | None:
    """Restore in this process; what was read stays for the action if the store has nothing."""
    with GATE.inside():
        run = prepare_run(step.action, step.execution)
        decision = executor.decided_for(run, step.decision)
        outcome = None
        if store.has_outputs(decision.digest):
            with ActionLog(step.action, step.execution) as log:
                pending = _pending(step, run)
                outcome = executor.restored(run, decision, store)
                if outcome is None:
                    log.not_begun()
                else:
                    log.done(pending, outcome.written, outcome.ending)
        step.prepared = run if outcome is None else None
        return outcome


def _made_here(step: Step, store: Store | None) -> Outcome:
    with GATE.inside():
        run, step.prepared = step.prepared or prepare_run(step.action, step.execution), None
        decision = executor.decided_for(run, step.decision)
        with ActionLog(step.action, step.execution) as log:
            pending = _pending(step, run)
            outcome = executor.made(run, decision, store)
            log.done(pending, outcome.written, outcome.ending)
        return outcome


def _pending(step: Step, run: ActionRun) -> Pending | None:
    return pending_run(step.action, step.execution, run.input_digests, step.otherwise())


def _note(step: Step, outcome: Outcome) -> None:
    noted = step.noted_digest(outcome.decision) if outcome.is_steady else ""
    step.freshness.note(outcome.written, step.output_paths, noted)


def _known(step: Step) -> Decision:
    """Return the decision about a step whose inputs could all be read."""
    assert step.decision is not None
    return step.decision


def _store(step: Step) -> Store | None:
    """Return the store of a step, None without one and with ``--cache-disable``."""
    context = step.env["NETRA_CONTEXT"]
    return context.store(step.env) if SCons.CacheDir.cache_enabled else None
