"""Carry out one action: restore what it makes from a store, or make it.

What is done here is the same in the process that builds and in one that works for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.build.cache.store import Store
from netra_build.build.explain.reasons import FORGOTTEN, Reason
from netra_build.build.freshness.freshness import Decision
from netra_build.build.graph.actions import Action
from netra_build.build.record.tally import Ending
from netra_build.build.run.action_log import ActionLog, pending_run
from netra_build.build.run.execute import ActionRun, Execution, prepare_run


@dataclass(frozen=True)
class Outcome:
    """What came of an action."""

    decision: Decision
    """The digest and the inputs that it was really carried out with."""
    written: Mapping[str, str]
    """The BLAKE3 of each file written, by path."""
    ending: Ending
    is_steady: bool
    """Whether inputs and tools were the same at the end as at the beginning."""


def decided_for(run: ActionRun, decision: Decision | None) -> Decision:
    """Return the decision about the bytes that ``run`` has read, whenever they were written."""
    if decision is not None and decision.input_digests == run.input_digests:
        return decision
    return Decision(run.digest(), run.input_digests)


def restored(run: ActionRun, decision: Decision, store: Store) -> Outcome | None:
    """Write the outputs that the store has; None if it has not all of them."""
    written = run.restore(store, decision.digest)
    return None if written is None else Outcome(decision, written, Ending.RESTORED, is_steady=True)


def made(run: ActionRun, decision: Decision, store: Store | None) -> Outcome:
    """Run the action and keep what it made in the store, if there is one."""
    written = run.make(store, decision.digest)
    return Outcome(decision, written, Ending.RAN, run.is_steady(decision.digest))


def run_action(
    action: Action,
    execution: Execution,
    store: Store | None = None,
    otherwise: Reason = FORGOTTEN,
) -> dict[str, str]:
    """Restore ``action`` from the store, or make and keep it; return as ``ActionRun.make`` does."""
    run = prepare_run(action, execution)
    with ActionLog(action, execution) as log:
        pending = pending_run(action, execution, run.input_digests, otherwise)
        if store is None or not action.stage.is_kept:
            written, ending = run.make(), Ending.RAN
        else:
            decision = Decision(run.digest(), run.input_digests)
            outcome = restored(run, decision, store) or made(run, decision, store)
            written, ending = dict(outcome.written), outcome.ending
        log.done(pending, written, ending)
    return written


def run_graph(execution: Execution, store: Store | None = None) -> dict[str, str]:
    """Run every action of the graph in order, whatever exists already; return all digests."""
    written: dict[str, str] = {}
    for action in execution.graph.actions:
        written |= run_action(action, execution, store)
    return written
