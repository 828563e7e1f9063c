"""One action on the books while it is carried out: in the tally, and in the record of runs.

Whoever carries out an action opens its account before anything is written, since the reasons of a
run are read off the files as they are, and says at the end what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType

from netra_build.core.execute import Execution
from netra_build.core.graph import Action
from netra_build.core.ingredients import Ingredients, ingredients_of
from netra_build.core.reasons import FORGOTTEN, Cause, Reason
from netra_build.core.run_record import Pending
from netra_build.core.tally import Ending


class Account:
    """The account of one action; open as a context. One that is left with nothing said failed."""

    def __init__(
        self,
        action: Action,
        execution: Execution,
        input_digests: Mapping[str, str],
        otherwise: Reason = FORGOTTEN,
    ) -> None:
        """``input_digests`` are what is known of the inputs; ``otherwise`` is why it runs if
        there is no other reason."""
        self.action = action
        self.execution = execution
        self.paths = execution.folders.names(action.outputs)
        self._digests = input_digests
        self._otherwise = otherwise
        self._ending: Ending | None = Ending.FAILED
        self._pending: Pending | None = None

    def __enter__(self) -> Account:
        self.execution.tally.begin(self.paths, self.action.line())
        self._pending = self._run_pending()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ending = Ending.FAILED if error is not None else self._ending
        self.execution.tally.end(self.paths, ending)

    def done(
        self, written: Mapping[str, str], ending: Ending, input_digests: Mapping[str, str]
    ) -> None:
        """Say that the action wrote files of these BLAKE3 from inputs of those."""
        self._ending = ending
        if self._pending is not None and self.execution.runs is not None:
            made_from = _of_inputs(self._pending.ingredients, input_digests)
            pending = replace(self._pending, ingredients=made_from)
            self.execution.runs.done(pending, written, ending)

    def not_begun(self) -> None:
        """Say that nothing was carried out: the store did not have it."""
        self._ending = None

    def _run_pending(self) -> Pending | None:
        """Return what is to be recorded of a run that begins now, its reasons with it."""
        execution, decider = self.execution, self.execution.decider
        if decider is None:
            return None
        began = decider.record.clock()
        made_from = ingredients_of(
            self.action,
            execution.folders.name,
            lambda role, place: self._digests[role],
            decider.identity,
        )
        reasons = decider.reasons(self.action, self.paths, made_from)
        if execution.product is not None and execution.product.has_begun:
            seal = execution.product.seal
            missing = Reason(Cause.OUTPUT_MISSING, seal), Reason(Cause.SEAL_WITHDRAWN, seal)
            reasons = tuple(missing[1] if one == missing[0] else one for one in reasons)
        reasons = reasons or (self._otherwise,)
        return Pending(self.action, execution.graph.name, self.paths, made_from, reasons, began)


def _of_inputs(ingredients: Ingredients, digests: Mapping[str, str]) -> Ingredients:
    """Return ingredients with the inputs that were read in the end."""
    known = ingredients.inputs
    if all(known[role].digest == digest for role, digest in digests.items()):
        return ingredients
    inputs = {role: known[role]._replace(digest=digest) for role, digest in digests.items()}
    return replace(ingredients, inputs=inputs)
