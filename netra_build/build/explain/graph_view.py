"""The artifact graph as it is shown: actions with states, digests, durations, critical path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from netra_build.build.digests.action_digest import shown_digest
from netra_build.build.explain.upcoming import TO_COME, State, Verdict
from netra_build.core.canonical_json import Json

FORMAT = "netra-graph-1"
NOT_MADE, NOT_ON_RECORD = "not made", State.UNKNOWN.value


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
    is_critical: bool

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
    needs = [_needs(one, number_by_path) for one in unique]
    durations = [_ms(one) for one in unique]
    critical = _critical_path(needs, [ms or 0.0 for ms in durations])
    shown = [
        Shown(
            number,
            one.action.stage.label,
            one.action.subject,
            one.state,
            durations[number],
            _outputs(one),
            needs[number],
            _sources(one, number_by_path),
            tuple(reason.text() for reason in one.reasons) if one.state in TO_COME else (),
            number in critical,
        )
        for number, one in enumerate(unique)
    ]
    return GraphView(name, tuple(shown))


def _needs(verdict: Verdict, number_by_path: Mapping[str, int]) -> tuple[int, ...]:
    found = {number_by_path[path] for path in verdict.inputs if path in number_by_path}
    return tuple(sorted(found))


def _sources(verdict: Verdict, number_by_path: Mapping[str, int]) -> tuple[str, ...]:
    pairs = zip(verdict.inputs, verdict.action.inputs, strict=True)
    return tuple(place.name for path, (_, place) in pairs if path not in number_by_path)


def _ms(verdict: Verdict) -> float | None:
    entry = verdict.entry
    return entry.runs[entry.last].ms if entry is not None else None


def _outputs(verdict: Verdict) -> dict[str, str]:
    entry = verdict.entry
    made = {o.path: o.digest for o in entry.outputs.values()} if entry else {}
    known = {path: shown_digest(digest) for path, digest in {**made, **verdict.digests}.items()}
    pairs = zip(verdict.outputs, verdict.action.outputs, strict=True)
    unknown = NOT_MADE if verdict.state is State.MISSING else NOT_ON_RECORD
    return {place.name: known.get(path, unknown) for path, (_, place) in pairs}


def _critical_path(needs: Sequence[tuple[int, ...]], durations: Sequence[float]) -> set[int]:
    """Return the numbers of the chain with the greatest sum of durations."""
    total: list[float] = []
    before: list[int | None] = []
    for number, needed in enumerate(needs):
        best = max(needed, key=lambda one: total[one], default=None)
        before.append(best)
        total.append(durations[number] + (total[best] if best is not None else 0.0))
    step = max(range(len(total)), key=lambda one: total[one], default=None)
    found: set[int] = set()
    while step is not None:
        found.add(step)
        step = before[step]
    return found
