"""The entry of one action in the record of runs, and its form on disk.

Code and tools are the same for many actions: entries name them by a key, and the record holds each
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from netra_build.core.canonical_json import Json
from netra_build.core.ingredients import Ingredients, Input
from netra_build.core.reasons import Cause, Reason

Shared = dict[str, dict[str, str]]
"""Code or tools by their key."""


class Output(NamedTuple):
    """One output: path, name below its root, BLAKE3, and the build that gave it these bytes."""

    path: str
    name: str
    digest: str
    build: int


class Run(NamedTuple):
    """One run of an action: how it ended, how long it took and why it was done."""

    how: str
    ms: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Entry:
    """One action as it was run last, and the runs that gave its outputs their bytes."""

    graph: str
    stage: str
    line: str
    subject: str
    ingredients: Ingredients
    outputs: Mapping[str, Output]
    last: int
    """Number of the build in which it ran last."""
    runs: Mapping[int, Run]

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the outputs, in the order of their roles."""
        return tuple(output.path for _, output in sorted(self.outputs.items()))

    def run_of(self, path: str) -> tuple[int, Run]:
        """Return number and run of the build that gave an output its bytes."""
        build = next(o.build for o in self.outputs.values() if o.path == path)
        return build, self.runs[build]


def entry_document(entry: Entry) -> dict[str, Json]:
    """Return the JSON form of an entry, code and tools by key alone."""
    made_from = entry.ingredients
    return {
        "graph": entry.graph,
        "stage": entry.stage,
        "line": entry.line,
        "subject": entry.subject,
        "inputs": {role: list(given) for role, given in made_from.inputs.items()},
        "parameters": dict(made_from.parameters),
        "code": made_from.code_key,
        "tools": made_from.tools_key,
        "outputs": {role: list(output) for role, output in entry.outputs.items()},
        "last": entry.last,
        "runs": {
            str(build): [run.how, run.ms, [[r.cause.value, *r[1:]] for r in run.reasons]]
            for build, run in entry.runs.items()
        },
    }


def _output(path: Any, name: Any, digest: Any, build: Any) -> Output:
    _texts([path, name, digest])
    return Output(path, name, digest, int(build))


def read_entry(document: Any, codes: Shared, tools: Shared) -> Entry:
    """Return an entry from its JSON form.

    Raises ``KeyError``, ``TypeError``, ``ValueError`` or ``AttributeError`` for any other form.
    """
    ingredients = Ingredients(
        inputs={role: Input(*_texts(given)) for role, given in document["inputs"].items()},
        parameters=_named(document["parameters"]),
        code_key=document["code"],
        code=codes[document["code"]],
        tools_key=document["tools"],
        tools=tools[document["tools"]] if document["tools"] else {},
    )
    outputs = {role: _output(*made) for role, made in document["outputs"].items()}
    runs = {
        int(build): Run(str(how), float(ms), tuple(_reason(reason) for reason in reasons))
        for build, (how, ms, reasons) in document["runs"].items()
    }
    if not outputs or {output.build for output in outputs.values()} - set(runs):
        raise ValueError("an output without the run that made it")
    names = ("graph", "stage", "line", "subject")
    graph, stage, line, subject = _texts([document[name] for name in names])
    last = int(document["last"])
    if last not in runs:
        raise ValueError("a last run that is not there")
    return Entry(graph, stage, line, subject, ingredients, outputs, last, runs)


def read_shared(document: Any) -> Shared:
    """Return code or tools by their key; raises as ``read_entry`` does."""
    return {key: _named(parts) for key, parts in document.items()}


def _named(document: Any) -> dict[str, str]:
    _texts(list(document.values()))
    return dict(document)


def _reason(parts: Any) -> Reason:
    cause, *rest = _texts(parts)
    return Reason(Cause(cause), *rest)


def _texts(values: Any) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise TypeError("not a text")
    return list(values)
