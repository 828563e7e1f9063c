"""What a build would run now and why, found out without running anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from netra_build.build.explain.reasons import FORGOTTEN, Cause, Reason
from netra_build.build.freshness.freshness import Freshness
from netra_build.build.graph.actions import Action, Place
from netra_build.build.record.run_file import Entry
from netra_build.build.record.tally import Paths
from netra_build.build.run.execution import Execution
from netra_build.core.digests import blake3_hex


class State(StrEnum):
    """How an action stands before a build."""

    UP_TO_DATE = "up to date"
    UNKNOWN = "not on record"  # the files are there; whether they are current is not known here
    MAY_RUN = "may run"  # something before it runs, and may give the same bytes as before
    WOULD_RUN = "would run"
    MISSING = "missing"  # would run, for a file that is not there


TO_COME = (State.MAY_RUN, State.WOULD_RUN, State.MISSING)
"""States in which the outputs are not settled."""


@dataclass(frozen=True)
class Verdict:
    """One action: how it stands, why it would run, and its last run."""

    action: Action
    inputs: Paths
    outputs: Paths
    state: State
    reasons: tuple[Reason, ...]
    entry: Entry | None
    digests: Mapping[str, str] = field(default_factory=dict)
    """The BLAKE3 of outputs that stand, by path, where more is known than the last run."""


def upcoming(
    executions: Iterable[Execution], freshness: Freshness | None = None
) -> dict[str, Verdict]:
    """Return the verdict on every action by the path of each of its outputs, in graph order.

    What ``freshness`` lets stand, as a build would, stands: the store may have given its files in a
    build that ran nothing.
    """
    verdicts: dict[str, Verdict] = {}
    digest_by_path: dict[str, str] = {}
    for execution in executions:
        for action in execution.graph.actions:
            outputs = execution.folders.names(action.outputs)
            if outputs[0] not in verdicts:
                verdict = _verdict(action, outputs, execution, verdicts, digest_by_path)
                if freshness is not None:
                    verdict = _judged(verdict, verdicts, freshness)
                verdicts.update(dict.fromkeys(outputs, verdict))
    return verdicts


def _judged(verdict: Verdict, verdicts: Mapping[str, Verdict], freshness: Freshness) -> Verdict:
    """Return the verdict of the record of runs as what is known of the outputs changes it."""
    if _is_fresh(verdict, verdicts, freshness):
        entry = _entry_of(verdict, freshness)
        digests = {path: freshness.file_digest(path) or "" for path in verdict.outputs}
        stays = replace(verdict, state=State.UP_TO_DATE, reasons=())
        return replace(stays, entry=entry, digests=digests)
    if verdict.state is State.UNKNOWN:
        return replace(verdict, state=State.WOULD_RUN)
    if verdict.state is State.UP_TO_DATE and not freshness.record.action_digest(verdict.outputs):
        return replace(verdict, state=State.WOULD_RUN, reasons=(FORGOTTEN,))
    return verdict


def _is_fresh(verdict: Verdict, verdicts: Mapping[str, Verdict], freshness: Freshness) -> bool:
    """Tell whether a build would let an action stand whose inputs are settled."""
    before = (verdicts.get(path) for path in verdict.inputs)
    if any(one is not None and one.state in TO_COME for one in before):
        return False
    decision = freshness.decision(verdict.action, verdict.inputs)
    return decision is not None and freshness.is_fresh(verdict.outputs, decision.digest)


def _entry_of(verdict: Verdict, freshness: Freshness) -> Entry | None:
    """Return the entry of the last run, unless it gave other bytes than are there."""
    made = () if verdict.entry is None else verdict.entry.outputs.values()
    is_theirs = all(freshness.file_digest(output.path) == output.digest for output in made)
    return verdict.entry if is_theirs else None


def _verdict(
    action: Action,
    outputs: Paths,
    execution: Execution,
    verdicts: Mapping[str, Verdict],
    digest_by_path: dict[str, str],
) -> Verdict:
    decider, folders = execution.decider, execution.folders
    if decider is None:
        raise ValueError("an execution without a record of runs")
    unknown: list[Reason] = []

    def digest_of(role: str, place: Place) -> str:
        path = folders.name(place)
        before = verdicts.get(path)
        if before is not None and before.state in TO_COME:
            unknown.append(Reason(Cause.INPUT_RENEWED, place.name))
        elif not execution.disk.is_file(path):
            unknown.append(Reason(Cause.INPUT_MISSING, place.name))
        else:
            if path not in digest_by_path:
                digest_by_path[path] = blake3_hex(execution.disk.read_bytes(path))
            return digest_by_path[path]
        return ""

    certain = decider.reasons(action, decider.ingredients(action, digest_of))
    inputs = folders.names(action.inputs)
    state, reasons = _state(certain, unknown), (*certain, *unknown)
    if state is State.MAY_RUN:
        reasons = tuple(unknown)
    return Verdict(action, inputs, outputs, state, reasons, decider.entry(outputs))


def _state(certain: Iterable[Reason], unknown: Iterable[Reason]) -> State:
    causes = {reason.cause for reason in certain}
    if causes & {Cause.OUTPUT_MISSING, Cause.FIRST_BUILD, Cause.RENAMED}:
        return State.MISSING
    to_come = {reason.cause for reason in unknown}
    if causes - {Cause.NO_RECORD} or Cause.INPUT_MISSING in to_come:
        return State.WOULD_RUN
    if to_come:
        return State.MAY_RUN
    return State.UNKNOWN if causes else State.UP_TO_DATE
