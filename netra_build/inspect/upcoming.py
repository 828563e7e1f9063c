"""What a build would run now and why, without running anything, and the graph as it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from netra_build.build.freshness.freshness import Freshness
from netra_build.build.graph.actions import Action, Paths, Place
from netra_build.build.record.reasons import FORGOTTEN, Cause, Reason, shown_digest
from netra_build.build.record.run_file import Entry
from netra_build.build.run.execution import Execution
from netra_build.core.canonical_json import Json
from netra_build.core.digests import blake3_hex

FORMAT = "netra-graph-1"
NOT_MADE = "not made"


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
        made = () if verdict.entry is None else verdict.entry.outputs.values()
        # The last run counts unless it gave other bytes than are there.
        is_theirs = all(freshness.file_digest(one.path) == one.digest for one in made)
        digests = {path: freshness.file_digest(path) or "" for path in verdict.outputs}
        stays = replace(verdict, state=State.UP_TO_DATE, reasons=(), digests=digests)
        return stays if is_theirs else replace(stays, entry=None)
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


@dataclass(frozen=True)
class Shown:
    """One action: what it is, how it stands, and what it needs (numbers of other actions).

    ``ms`` is the duration of its last run, None if it is on no record. ``outputs`` are its files
    by name with the digest that was recorded.
    """

    number: int
    stage: str
    subject: str
    state: State
    ms: float | None
    outputs: dict[str, str]
    needs: tuple[int, ...]
    sources: tuple[str, ...]
    reasons: tuple[str, ...]
    is_critical: bool = False

    def document(self) -> dict[str, Json]:
        """Return the action as JSON."""
        shown = {name: value for name, value in vars(self).items() if name != "is_critical"}
        return {**shown, "critical": self.is_critical}

    def duration(self) -> str:
        """Return the duration in words."""
        return "" if self.ms is None else f"{self.ms:.1f} ms"


@dataclass(frozen=True)
class GraphView:
    """All actions of one graph, each after what it needs."""

    name: str
    actions: tuple[Shown, ...]

    def critical(self) -> tuple[Shown, ...]:
        """Return the chain of actions whose last runs took longest one after another."""
        return tuple(one for one in self.actions if one.is_critical)

    def headline(self) -> str:
        """Return one line that sums the graph up."""
        counted = {state: sum(one.state is state for one in self.actions) for state in State}
        states = [f"{count} {state.value}" for state, count in counted.items() if count]
        took = sum(one.ms or 0.0 for one in self.critical())
        path = f"critical path {took:.1f} ms in {len(self.critical())} actions"
        return f"{self.name}: {', '.join([f'{len(self.actions)} actions', *states])}; {path}"

    def document(self) -> dict[str, Json]:
        """Return the view as JSON."""
        return {
            "format": FORMAT,
            "name": self.name,
            "actions": [one.document() for one in self.actions],
            "critical_path": [one.number for one in self.critical()],
        }


def graph_view(name: str, verdicts: Iterable[Verdict]) -> GraphView:
    """Return the view of a graph; ``verdicts`` in graph order, repeated ones count once."""
    unique = list({verdict.outputs: verdict for verdict in verdicts}.values())
    number_by_path = {path: n for n, one in enumerate(unique) for path in one.outputs}
    shown = [_shown(number, one, number_by_path) for number, one in enumerate(unique)]
    critical = _critical_path(shown)
    return GraphView(name, tuple(replace(o, is_critical=o.number in critical) for o in shown))


def _shown(number: int, verdict: Verdict, number_by_path: Mapping[str, int]) -> Shown:
    entry, action = verdict.entry, verdict.action
    inputs = zip(verdict.inputs, action.inputs, strict=True)
    outputs = zip(verdict.outputs, action.outputs, strict=True)
    made = {o.path: o.digest for o in entry.outputs.values()} if entry else {}
    known = {path: shown_digest(digest) for path, digest in {**made, **verdict.digests}.items()}
    unknown = NOT_MADE if verdict.state is State.MISSING else State.UNKNOWN.value
    reasons = verdict.reasons if verdict.state in TO_COME else ()
    return Shown(
        number=number,
        stage=action.stage.label,
        subject=action.subject,
        state=verdict.state,
        ms=entry.runs[entry.last].ms if entry else None,
        outputs={place.name: known.get(path, unknown) for path, (_, place) in outputs},
        needs=tuple(sorted({number_by_path[p] for p in verdict.inputs if p in number_by_path})),
        sources=tuple(place.name for path, (_, place) in inputs if path not in number_by_path),
        reasons=tuple(reason.text() for reason in reasons),
    )


def _critical_path(actions: Sequence[Shown]) -> set[int]:
    """Return the numbers of the chain with the greatest sum of durations."""
    total: list[float] = []
    before: list[int | None] = []
    for one in actions:
        best = max(one.needs, key=lambda number: total[number], default=None)
        before.append(best)
        total.append((one.ms or 0.0) + (total[best] if best is not None else 0.0))
    step = max(range(len(total)), key=lambda one: total[one], default=None)
    found: set[int] = set()
    while step is not None:
        found.add(step)
        step = before[step]
    return found
