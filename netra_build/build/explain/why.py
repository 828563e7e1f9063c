"""The chain of reasons behind a file: from its last change back to the edit that started it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from netra_build.build.digests.action_digest import shown_digest
from netra_build.build.explain.reasons import Cause, Reason
from netra_build.build.explain.upcoming import TO_COME, State, Verdict
from netra_build.build.record.run_file import Entry
from netra_build.build.record.run_record import RunRecord
from netra_build.core.canonical_json import Json

FOLLOWED = (Cause.INPUT_CHANGED, Cause.INPUT_ADDED)
"""Causes behind which there is the run that made the input."""
INDENT = "  "
MOST_RENEWED = 3
"""How many inputs that are made again are shown of one action in a list of many."""
MOST_MODULES = 5
"""How many changed modules are shown of one run; JSON holds all."""


@dataclass(frozen=True)
class Link:
    """One reason in a chain, and what is behind it: the step that made the input, or a remark."""

    reason: Reason
    behind: Step | None = None
    remark: str = ""

    def document(self) -> dict[str, Json]:
        """Return the link as JSON; what is not there is left out."""
        cause, name, old, new = self.reason
        parts = {"name": name, "old": old, "new": new, "remark": self.remark}
        behind = {"behind": self.behind.document()} if self.behind is not None else {}
        named = {key: text for key, text in parts.items() if text}
        return {"cause": cause.value, "text": self.reason.text(), **named, **behind}


@dataclass(frozen=True)
class Step:
    """One run of one action, past or to come, with its reasons."""

    headline: str
    links: tuple[Link, ...]

    def document(self) -> dict[str, Json]:
        """Return the step as JSON, with all that is behind it."""
        return {"what": self.headline, "because": [link.document() for link in self.links]}


@dataclass(frozen=True)
class Answer:
    """Why one file is as it is, and whether it stays so."""

    path: str
    state: str
    made: Step | None
    """The run that gave the file its bytes."""
    again: Step | None
    """The last run, when it gave the bytes that were there already."""
    ahead: Step | None
    """The run to come."""

    def lines(self) -> Iterator[str]:
        """Yield the answer in words."""
        yield f"{self.path}: {self.state}"
        steps = [step for step in (self.made, self.again, self.ahead) if step is not None]
        for step in steps:
            yield from _step_lines(step, INDENT)
        if not steps and self.state == State.UP_TO_DATE:
            yield INDENT + Reason(Cause.NO_RECORD).text()

    def document(self) -> dict[str, Json]:
        """Return the answer as JSON."""
        steps = {"made": self.made, "again": self.again, "ahead": self.ahead}
        return {
            "path": self.path,
            "state": self.state,
            **{name: step and step.document() for name, step in steps.items()},
        }


def answer(path: str, record: RunRecord, verdicts: Mapping[str, Verdict]) -> Answer:
    """Return why the file at ``path`` was last made, and why it would be made again."""
    entry, verdict = record.entry(path), verdicts.get(path)
    state = "made by nothing that was asked for" if verdict is None else verdict.state.value
    made = again = ahead = None
    if entry is not None:
        build, _ = entry.run_of(path)
        made = _past(entry, build, record, set())
        if build != entry.last:
            again = _past(entry, entry.last, record, set(), "with the same bytes ")
    if verdict is not None and verdict.state in TO_COME:
        ahead = _ahead(verdict, verdicts, set())
    return Answer(path, state, made, again, ahead)


def _past(
    entry: Entry, build: int, record: RunRecord, seen: set[tuple[str, int]], how: str = ""
) -> Step:
    """Return one recorded run; what was shown once is not followed again."""
    run = entry.runs[build]
    seen.add((entry.paths[0], build))
    links = tuple(_link(reason, entry, record, seen) for reason in run.reasons)
    return Step(f"{_blanks(entry.line)} {run.how} {how}in build {build} because", links)


def _link(reason: Reason, entry: Entry, record: RunRecord, seen: set[tuple[str, int]]) -> Link:
    if reason.cause not in FOLLOWED:
        return Link(reason)
    paths = [one.path for one in entry.ingredients.inputs.values() if one.name == reason.name]
    maker = record.entry(paths[0]) if paths else None
    if maker is None:
        return Link(reason)
    build, run = maker.run_of(paths[0])
    digest = next(o.digest for o in maker.outputs.values() if o.path == paths[0])
    if shown_digest(digest) != reason.new:
        return Link(reason, remark="it was made again since")
    if (maker.paths[0], build) in seen:
        return Link(reason, remark=f"{_blanks(maker.line)} {run.how} in build {build}, see above")
    return Link(reason, _past(maker, build, record, seen))


def _ahead(verdict: Verdict, verdicts: Mapping[str, Verdict], seen: set[str]) -> Step:
    """Return what would run now; what was shown once is not followed again."""
    seen.add(verdict.outputs[0])
    links = tuple(_link_ahead(reason, verdict, verdicts, seen) for reason in verdict.reasons)
    verb = "may run" if verdict.state is State.MAY_RUN else "would run"
    return Step(f"{_blanks(verdict.action.line())} {verb} now because", links)


def _link_ahead(
    reason: Reason, verdict: Verdict, verdicts: Mapping[str, Verdict], seen: set[str]
) -> Link:
    if reason.cause is not Cause.INPUT_RENEWED:
        return Link(reason)
    pairs = zip(verdict.inputs, verdict.action.inputs, strict=True)
    path = next(path for path, (_, place) in pairs if place.name == reason.name)
    before = verdicts.get(path)
    if before is None:
        return Link(reason)
    if before.outputs[0] in seen:
        return Link(reason, remark=f"{_blanks(before.action.line())}, see above")
    return Link(reason, _ahead(before, verdicts, seen))


def _blanks(line: str) -> str:
    return " ".join(line.split())


def _step_lines(step: Step, indent: str) -> Iterator[str]:
    yield indent + step.headline
    modules = [link for link in step.links if link.reason.cause is Cause.CODE_CHANGED]
    left_out = modules[MOST_MODULES:]
    for link in step.links:
        if link in left_out:
            continue
        yield indent + INDENT + link.reason.text()
        if link.remark:
            yield indent + INDENT * 2 + link.remark
        if link.behind is not None:
            yield from _step_lines(link.behind, indent + INDENT * 2)
    if left_out:
        yield f"{indent}{INDENT}... and {len(left_out)} more parts of the code"


def upcoming_lines(found: Iterable[Verdict]) -> Iterator[str]:
    """Yield every action that would run or may run, with its reasons, and how many of each."""
    verdicts = {verdict.outputs: verdict for verdict in found}.values()
    for verdict in verdicts:
        if verdict.state in TO_COME:
            yield from _shortened(list(_step_lines(_ahead(verdict, {}, set()), "")))
    counted = {state: sum(v.state is state for v in verdicts) for state in State}
    would = counted[State.WOULD_RUN] + counted[State.MISSING]
    unknown = f", {counted[State.UNKNOWN]} not on record" if counted[State.UNKNOWN] else ""
    yield (
        f"netra: {would} would run, {counted[State.MAY_RUN]} may run, "
        f"{counted[State.UP_TO_DATE]} up to date{unknown}"
    )


def _shortened(lines: list[str]) -> Iterator[str]:
    """Yield the lines of one step, of many inputs that are made again only the first."""
    waiting = Cause.INPUT_RENEWED.text.partition("{name}")[2]
    renewed = [line for line in lines if line.endswith(waiting)]
    left_out = set(renewed[MOST_RENEWED:])
    yield from (line for line in lines if line not in left_out)
    if left_out:
        yield f"{INDENT}... and {len(left_out)} more inputs"
