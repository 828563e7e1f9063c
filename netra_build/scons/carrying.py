"""Carry out the action of a step: here, or by one of the processes that work for this one.

The first few actions are made here, so that a small build starts no process. What comes of an
action is noted here in either case: no process but this one has the records.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import SCons.CacheDir

from netra_build.core import carry_out
from netra_build.core.account import Account
from netra_build.core.carry_out import Carried
from netra_build.core.errors import NetraError
from netra_build.core.execute import ActionRun, prepare_run
from netra_build.core.hands import GATE, Begin, Hands
from netra_build.core.standing import Decision
from netra_build.core.store import Store
from netra_build.scons.steps import Step


class Task(NamedTuple):
    """What a hand is told: which step, and what was decided about it."""

    number: int
    decision: Decision
    is_restoring: bool
    is_kept: bool
    """Whether what is made goes to the store."""


class Answer(NamedTuple):
    """What a hand answers: what came of it, and why its store takes nothing more, if so."""

    carried: Carried | None
    trouble: str


def restore(step: Step) -> bool:
    """Restore the outputs of a step from the store; False when the action has to run."""
    store = _store(step) if step.action.stage.is_kept else None
    if store is None:
        return False
    hands = _hands(step)
    if hands is not None and not store.has_outputs(_known(step).digest):
        return False
    try:
        carried = _by_hand(step, hands, store, True) if hands else _restored_here(step, store)
    except NetraError:
        return False  # the action meets it again, and reports it
    if carried is not None:
        _note(step, carried)
    return carried is not None


def make(step: Step) -> None:
    """Run the action of a step and keep its outputs in the store.

    Raises the action's ``NetraError``.
    """
    is_kept = step.action.stage.is_kept and not SCons.CacheDir.cache_readonly
    store = _store(step) if is_kept else None
    hands = _hands(step)
    carried = _by_hand(step, hands, store, False) if hands else _made_here(step, store)
    assert carried is not None
    _note(step, carried)


def work_by_hand(declared: Any, task: Task, begin: Begin) -> Answer:
    """Do a task in a hand, with the step, the store and the tools that the hand has."""
    step: Step = declared.steps[task.number]
    store: Store | None = declared.opened_store() if task.is_restoring or task.is_kept else None
    product = step.execution.product

    def withdraw() -> None:
        if product is not None and not product.has_begun:
            begin()
            product.note_begun()

    run = prepare_run(step.action, step.execution, withdraw)
    decision = carry_out.decided_for(run, task.decision)
    carried: Carried | None
    if task.is_restoring:
        carried = carry_out.restored(run, decision, store) if store is not None else None
    else:
        carried = carry_out.made(run, decision, store)
    return Answer(carried, store.trouble if store is not None else "")


def _hands(step: Step) -> Hands | None:
    """Return who works for this process, None when the step is carried out here.

    A seal is: it is what makes this process's product whole.
    """
    seal = step.execution.graph.seal
    is_seal = any(place == seal for _, place in step.action.outputs)
    if step.decision is None or step.prepared is not None or is_seal:
        return None
    hands: Hands | None = step.env["NETRA_DECLARED"].hands(step.action.stage.is_long, work_by_hand)
    return hands


def _by_hand(step: Step, hands: Hands, store: Store | None, is_restoring: bool) -> Carried | None:
    decision = _known(step)
    product = step.execution.product
    task = Task(step.number, decision, is_restoring, store is not None)
    account = Account(step.action, step.execution, decision.input_digests, step.otherwise())
    with account:
        answer: Answer = hands.ask(task, lambda: product.begin() if product is not None else None)
        if store is not None and answer.trouble:
            store.trouble = store.trouble or answer.trouble
        _close(account, answer.carried)
    return answer.carried


def _restored_here(step: Step, store: Store) -> Carried | None:
    """Restore in this process; what was read stays for the action if the store has nothing."""
    with GATE.inside():
        run = prepare_run(step.action, step.execution)
        decision = carry_out.decided_for(run, step.decision)
        carried = None
        if store.has_outputs(decision.digest):
            with _account(step, run) as account:
                carried = carry_out.restored(run, decision, store)
                _close(account, carried)
        step.prepared = run if carried is None else None
        return carried


def _made_here(step: Step, store: Store | None) -> Carried:
    with GATE.inside():
        run, step.prepared = step.prepared or prepare_run(step.action, step.execution), None
        decision = carry_out.decided_for(run, step.decision)
        with _account(step, run) as account:
            carried = carry_out.made(run, decision, store)
            _close(account, carried)
        return carried


def _account(step: Step, run: ActionRun) -> Account:
    return Account(step.action, step.execution, run.input_digests, step.otherwise())


def _close(account: Account, carried: Carried | None) -> None:
    if carried is None:
        account.not_begun()
    else:
        account.done(carried.written, carried.ending, carried.decision.input_digests)


def _note(step: Step, carried: Carried) -> None:
    noted = step.noted_digest(carried.decision) if carried.is_steady else ""
    step.standing.note(carried.written, step.output_paths, noted)


def _known(step: Step) -> Decision:
    """Return the decision about a step whose inputs could all be read."""
    assert step.decision is not None
    return step.decision


def _store(step: Step) -> Store | None:
    """Return the store of a step, None without one and with ``--cache-disable``."""
    declared = step.env["NETRA_DECLARED"]
    return declared.store(step.env) if SCons.CacheDir.cache_enabled else None
