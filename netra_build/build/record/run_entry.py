"""The entry of one action in the record of runs, and its form on disk.

Code and tools are the same for many actions: entries name them by a key, and the record holds each
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from netra_build.build.digests.ingredients import Ingredients, Input
from netra_build.build.explain.reasons import Cause, Reason
from netra_build.build.record.tally import Ending
from netra_build.core.canonical_json import Json

Shared = dict[str, dict[str, str]]
"""Code or tools by their key."""

MOST_BUILDS = 10**12
LONGEST_MS = 10.0**12


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


class Head(NamedTuple):
    """What is needed of every entry, also of those that nobody asks about."""

    outputs: tuple[str, ...]
    graph: str
    stage: str
    subject: str
    last: int
    code_key: str
    tools_key: str


def head_of(entry: Entry) -> Head:
    """Return the head of an entry."""
    names = entry.graph, entry.stage, entry.subject
    made_from = entry.ingredients
    return Head(entry.paths, *names, entry.last, made_from.code_key, made_from.tools_key)


def rest_of(entry: Entry) -> dict[str, Json]:
    """Return the JSON form of what the head does not say; code and tools are elsewhere."""
    made_from = entry.ingredients
    return {
        "line": entry.line,
        "inputs": dict(made_from.inputs),
        "parameters": dict(made_from.parameters),
        "outputs": dict(entry.outputs),
        "runs": {
            str(build): [run.how, run.ms, list(run.reasons)] for build, run in entry.runs.items()
        },
    }


def _output(path: Any, name: Any, digest: Any, build: Any) -> Output:
    _texts([path, name, digest])
    return Output(path, name, digest, counted(build))


def read_entry(head: Head, document: Any, codes: Shared, tools: Shared) -> Entry:
    """Return an entry from its head and the JSON form of the rest.

    Raises ``KeyError``, ``TypeError``, ``ValueError`` or ``AttributeError`` for any other form.
    """
    _texts([*document["inputs"], *document["outputs"]])
    ingredients = Ingredients(
        inputs={role: Input(*_texts(given)) for role, given in document["inputs"].items()},
        parameters=_named(document["parameters"]),
        code_key=head.code_key,
        code=codes[head.code_key],
        tools_key=head.tools_key,
        tools=tools[head.tools_key],
    )
    outputs = {role: _output(*made) for role, made in document["outputs"].items()}
    runs = {
        counted(int(build)): Run(Ending(how).value, _took(ms), tuple(map(_reason, reasons)))
        for build, (how, ms, reasons) in document["runs"].items()
    }
    if {head.last, *(output.build for output in outputs.values())} - set(runs):
        raise ValueError("an output without the run that made it")
    [line] = _texts([document["line"]])
    names = head.graph, head.stage, line, head.subject
    entry = Entry(*names, ingredients, outputs, head.last, runs)
    if entry.paths != head.outputs:
        raise ValueError("a head of other outputs")
    return entry


def read_shared(document: Any) -> Shared:
    """Return code or tools by their key; raises as ``read_entry`` does."""
    return {key: _named(parts) for key, parts in document.items()}


def counted(number: Any) -> int:
    """Return the number of a build; raises ``TypeError`` or ``ValueError`` for what is none."""
    if type(number) is not int:
        raise TypeError("not a number of builds")
    if not 0 <= number <= MOST_BUILDS:
        raise ValueError("more builds than there can be")
    return number


def _took(ms: Any) -> float:
    if type(ms) not in (int, float):
        raise TypeError("not a time")
    if not 0 <= ms <= LONGEST_MS:  # refuses what is not a number, too
        raise ValueError("a time that no action takes")
    return float(ms)


def _named(document: Any) -> dict[str, str]:
    _texts([*document, *document.values()])
    return dict(document)


def _reason(parts: Any) -> Reason:
    cause, *rest = _texts(parts)
    return Reason(Cause(cause), *rest)


def _texts(values: Any) -> list[str]:
    """Return texts that can be written; a lone surrogate raises ``UnicodeEncodeError``."""
    "".join(values).encode()  # raises ``TypeError`` for anything but texts
    return list(values)
