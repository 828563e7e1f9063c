"""The answer to ``why``: the files of a question, and the chain of reasons of each.

A question names a path, a tactic, an operation or a symbol. The chain leads from the last change of
a file back to the edit that started it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from netra_build.build.freshness.freshness import Freshness
from netra_build.build.graph.actions import Action, Paths, Root
from netra_build.build.record.reasons import Cause, Reason, shown_digest
from netra_build.build.record.run_file import Entry
from netra_build.build.record.run_record import RunRecord
from netra_build.build.run.execution import Execution
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, nearest_hint
from netra_build.formats.vocabulary import TARGET
from netra_build.inspect.upcoming import TO_COME, State, Verdict, upcoming

FORMAT = "netra-why-1"
HSACO = "hsaco"
FOLLOWED = (Cause.INPUT_CHANGED, Cause.INPUT_ADDED)
"""Causes behind which there is the run that made the input."""
INDENT = "  "
MOST_RENEWED, MOST_MODULES = 3, 5
"""How many inputs made again are shown of one action in a list, and how many changed modules."""


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
        documents = {name: step and step.document() for name, step in steps.items()}
        return {"path": self.path, "state": self.state, **documents}


def answer(path: str, record: RunRecord, verdicts: Mapping[str, Verdict]) -> Answer:
    """Return why the file at ``path`` was last made, and why it would be made again."""
    entry, verdict = record.entry(path), verdicts.get(path)
    state = "made by nothing that was asked for" if verdict is None else verdict.state.value
    made = again = ahead = None
    if entry is not None:
        build = entry.output(path).build
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
    made = maker.output(paths[0])
    if shown_digest(made.digest) != reason.new:
        return Link(reason, remark="it was made again since")
    if (maker.paths[0], made.build) in seen:
        run = f"{_blanks(maker.line)} {maker.runs[made.build].how} in build {made.build}"
        return Link(reason, remark=f"{run}, see above")
    return Link(reason, _past(maker, made.build, record, seen))


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
    left_out = {*[line for line in lines if line.endswith(waiting)][MOST_RENEWED:]}
    yield from (line for line in lines if line not in left_out)
    if left_out:
        yield f"{INDENT}... and {len(left_out)} more inputs"


def answers(
    target: str, executions: Sequence[Execution], record: RunRecord, freshness: Freshness
) -> list[Answer]:
    """Return one answer for each file that ``target`` stands for.

    Raises ``BadInput`` when it stands for none.
    """
    verdicts = upcoming(executions, freshness)
    return [answer(path, record, verdicts) for path in asked_files(target, executions, record)]


def why_text(
    target: str, executions: Sequence[Execution], record: RunRecord, freshness: Freshness
) -> str:
    """Return the answers in words; without a target, what a build would run."""
    if not target:
        return "\n".join(upcoming_lines(list(upcoming(executions, freshness).values())))
    found = answers(target, executions, record, freshness)
    return "\n".join(line for one in found for line in one.lines())


def why_document(target: str, found: Sequence[Answer]) -> dict[str, Json]:
    """Return the answers as JSON."""
    return {"format": FORMAT, "target": target, "files": [one.document() for one in found]}


def asked_files(target: str, executions: Iterable[Execution], record: RunRecord) -> Paths:
    """Return the paths of the files that ``target`` stands for, at least one.

    The first that fits: the path of a file that is made or was made; the end of such paths; a
    tactic id, an operation or a kernel symbol, which stands for its code objects.
    Raises ``BadInput`` with the nearest known name when nothing fits.
    """
    executions = tuple(executions)
    made = {
        path: action
        for execution in executions
        for action in execution.graph.actions
        for path in execution.folders.names(action.outputs)
    }
    asked = str(PurePosixPath(target))
    known = {*made, *(path for line in record.lines() for path in line.outputs)}
    if asked in known:
        return (asked,)
    _refuse_source(target, executions)
    ends = sorted(path for path in known if path.endswith(f"/{asked}"))
    current = tuple(path for path in ends if path in made)
    if ends:
        return current or tuple(ends)
    words = _words(executions, made)
    if target not in words:
        raise BadInput(
            f'nothing that was asked for makes "{target}"',
            location="why",
            hint=nearest_hint(target, [*words, *(PurePosixPath(path).name for path in made)]),
        )
    return tuple(sorted(words[target]))


def _refuse_source(target: str, executions: Iterable[Execution]) -> None:
    places = ((one.folders, place) for one in executions for place in one.graph.sources())
    if any(target in (place.name, str(folders.path(place))) for folders, place in places):
        raise BadInput(
            f'"{target}" is a source, nothing makes it',
            location="why",
            hint="name a file that is made from it",
        )


def _words(executions: Iterable[Execution], made: Mapping[str, Action]) -> dict[str, set[str]]:
    words: dict[str, set[str]] = {}
    for path, action in made.items():
        parts = PurePosixPath(path)
        if parts.suffix == ".hsaco" and parts.parent.name == HSACO:
            tactics = action.subject.split(" + ")
            for word in (parts.stem, *tactics, *(f"{TARGET}.{one}" for one in tactics)):
                words.setdefault(word, set()).add(path)
    for execution in executions:
        for name, hsaco in _operations(execution):
            words.setdefault(name, set()).add(str(execution.folders.paths[Root.OUT] / hsaco))
    return words


def _operations(execution: Execution) -> Iterator[tuple[str, str]]:
    """Yield name and code object of every kernel operation of an engine."""
    for action in execution.graph.actions:
        document: Json = dict(action.parameters).get("document")
        operations = document.get("operations") if isinstance(document, dict) else None
        for one in operations if isinstance(operations, list) else ():
            if isinstance(one, dict) and isinstance(one.get(HSACO), str):
                yield str(one["name"]), str(one[HSACO])
