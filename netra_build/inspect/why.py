"""The answer to ``why``: the files of a question, and the chain of reasons of each.

A question names a path, a tactic, an operation or a symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from netra_build.build.explain.upcoming import upcoming
from netra_build.build.explain.why import Answer, answer, upcoming_lines
from netra_build.build.freshness.freshness import Freshness
from netra_build.build.graph.actions import Action, Root
from netra_build.build.record.run_record import RunRecord
from netra_build.build.record.tally import Paths
from netra_build.build.run.execution import Execution
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, nearest_hint
from netra_build.formats.vocabulary import TARGET

FORMAT = "netra-why-1"
HSACO = "hsaco"
Made = Mapping[str, Action]
"""Actions by the path of each file that they make."""


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
    made = _made(executions)
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
    for execution in executions:
        for place in execution.graph.sources():
            if target in (place.name, str(execution.folders.path(place))):
                raise BadInput(
                    f'"{target}" is a source, nothing makes it',
                    location="why",
                    hint="name a file that is made from it",
                )


def _made(executions: Iterable[Execution]) -> dict[str, Action]:
    return {
        path: action
        for execution in executions
        for action in execution.graph.actions
        for path in execution.folders.names(action.outputs)
    }


def _words(executions: Iterable[Execution], made: Made) -> dict[str, set[str]]:
    """Return the code objects by every name for them."""
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
