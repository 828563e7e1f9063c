"""What is logged of one action while it is carried out: in the tally, and in the record of runs.

The reasons of a run are read off the files as they are, so whoever carries out an action asks for
them before anything is written, and says at the end what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from netra_build.build.digests.code_digest import code_parts
from netra_build.build.digests.ingredients import ingredients_of
from netra_build.build.explain.reasons import FORGOTTEN, Cause, Reason
from netra_build.build.graph.actions import Action
from netra_build.build.record.run_file import Line
from netra_build.build.record.run_record import Pending
from netra_build.build.record.tally import Ending
from netra_build.build.run.execute import Execution


class ActionLog:
    """The log of one action; open as a context. One that is left with nothing said failed."""

    def __init__(self, action: Action, execution: Execution) -> None:
        self.action = action
        self.execution = execution
        self.paths = execution.folders.names(action.outputs)
        self._ending: Ending | None = Ending.FAILED

    def __enter__(self) -> ActionLog:
        self.execution.tally.begin(self.paths, self.action.line())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ending = Ending.FAILED if error is not None else self._ending
        self.execution.tally.end(self.paths, ending)

    def done(self, pending: Pending | None, written: Mapping[str, str], ending: Ending) -> None:
        """Say that the action wrote files of these BLAKE3."""
        self._ending = ending
        if pending is not None and self.execution.runs is not None:
            self.execution.runs.done(pending, written, ending)

    def done_elsewhere(self, noted: Line | None, ending: Ending) -> None:
        """Say that a copy of this process carried it out, and what that has noted of the run."""
        self._ending = ending
        decider = self.execution.decider
        if noted is not None and decider is not None:
            tools = decider.identity() if self.action.stage.uses_tools else {}
            decider.record.note(noted, code_parts(self.action.stage.module), tools)

    def not_begun(self) -> None:
        """Say that nothing was carried out: the store did not have it."""
        self._ending = None


def pending_run(
    action: Action,
    execution: Execution,
    input_digests: Mapping[str, str],
    otherwise: Reason = FORGOTTEN,
) -> Pending | None:
    """Return what is to be recorded of a run that begins now, its reasons with it.

    ``otherwise`` is why the action runs if there is no other reason. None without a record.
    """
    decider, paths = execution.decider, execution.folders.names(action.outputs)
    if decider is None:
        return None
    began = decider.record.clock()
    made_from = ingredients_of(
        action, execution.folders.name, lambda role, _: input_digests[role], decider.identity
    )
    reasons = tuple(
        _of_seal(reason, action, execution) for reason in decider.reasons(action, paths, made_from)
    )
    return Pending(action, execution.graph.name, paths, made_from, reasons or (otherwise,), began)


def _of_seal(reason: Reason, action: Action, execution: Execution) -> Reason:
    """Return what a reason is in truth if it is that of a seal that this build has withdrawn."""
    product = execution.product
    if product is None or not product.has_begun:
        return reason
    if reason == Reason(Cause.OUTPUT_MISSING, product.seal):
        return Reason(Cause.SEAL_WITHDRAWN, product.seal)
    is_seal = any(place == execution.graph.seal for _, place in action.outputs)
    if is_seal and product.has_withdrawn and reason.cause is Cause.FIRST_BUILD:
        return Reason(Cause.NO_RECORD)
    return reason
