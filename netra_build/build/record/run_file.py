"""The record of runs on disk: a first line about all, one of the heads, one for each action.

A build that ran one action of thousands must not pay for the others: the heads are read with the
file, the rest of an entry when somebody asks for it, and a line that did not change is written as
it was read. Code and tools are the same for many actions: entries name them by a key, and the first
line holds each once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from netra_build.build.graph.actions import Paths
from netra_build.build.record.reasons import Cause, Ending, Ingredients, Input, Reason
from netra_build.core.canonical_json import Json, canonical_text, parse_object, plain_text
from netra_build.core.errors import BadInput

FORMAT = "netra-runs-3"
MOST_BUILDS = 10**12
LONGEST_MS = 10.0**12

Shared = dict[str, dict[str, str]]
"""Code or tools by their key."""

OTHER_FORM = (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)
"""What reading raises for a document of any other form."""


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
    def paths(self) -> Paths:
        """Paths of the outputs, in the order of their roles."""
        return tuple(output.path for _, output in sorted(self.outputs.items()))

    def output(self, path: str) -> Output:
        """Return the output that lies at ``path``."""
        return next(output for output in self.outputs.values() if output.path == path)


class Line(NamedTuple):
    """An entry as the file has it, and as workers send it: the head, and the rest unread."""

    outputs: Paths
    graph: str
    stage: str
    subject: str
    last: int
    code_key: str
    tools_key: str
    rest: bytes


@dataclass(eq=False)
class State:
    """All that a record holds."""

    builds: int = 0
    requests: dict[str, Json] = field(default_factory=dict)
    codes: Shared = field(default_factory=dict)
    tools: Shared = field(default_factory=dict)
    lines: Sequence[Line] = ()

    def entry(self, line: Line) -> Entry | None:
        """Return the entry that a line holds, None if the rest of the line cannot be read."""
        try:
            return _entry(line, json.loads(line.rest), self.codes, self.tools)
        except OTHER_FORM:
            return None


def read_state(data: bytes) -> State:
    """Return what a record says; one that cannot be read says nothing."""
    try:
        first, heads, *rests = data.removesuffix(b"\n").split(b"\n")
        document = parse_object(first, "record")
        requests, codes, tools = (document[key] for key in ("requests", "codes", "tools"))
        if document["format"] != FORMAT or not isinstance(requests, dict):
            return State()
        found = zip(json.loads(heads), rests, strict=True)
        lines = [_line(head, rest) for head, rest in found]
        return State(_counted(document["builds"]), requests, _shared(codes), _shared(tools), lines)
    except (BadInput, *OTHER_FORM):
        return State()


def state_bytes(state: State) -> bytes:
    """Return a record's file, of code and tools only what its lines name."""
    codes = {line.code_key for line in state.lines}
    tools = {line.tools_key for line in state.lines}
    first = {
        "format": FORMAT,
        "builds": state.builds,
        "requests": state.requests,
        "codes": {key: parts for key, parts in state.codes.items() if key in codes},
        "tools": {key: parts for key, parts in state.tools.items() if key in tools},
    }
    heads = plain_text([line[:-1] for line in state.lines])
    texts = canonical_text(first).rstrip(), heads
    return b"\n".join([*map(str.encode, texts), *(line.rest for line in state.lines), b""])


def line_of(entry: Entry) -> Line:
    """Return an entry as the file has it."""
    made_from = entry.ingredients
    rest: dict[str, Json] = {
        "line": entry.line,
        "inputs": dict(made_from.inputs),
        "parameters": dict(made_from.parameters),
        "outputs": dict(entry.outputs),
        "runs": {str(build): list(run) for build, run in entry.runs.items()},
    }
    names = entry.graph, entry.stage, entry.subject, entry.last
    keys = made_from.code_key, made_from.tools_key
    return Line(entry.paths, *names, *keys, plain_text(rest).encode())


def _line(head: Any, rest: bytes) -> Line:
    outputs, graph, stage, subject, last, *keys = head
    if not isinstance(outputs, list) or not outputs:
        raise TypeError("not the outputs of an action")
    _texts([*outputs, graph, stage, subject, *keys])
    code_key, tools_key = keys
    return Line(tuple(outputs), graph, stage, subject, _counted(last), code_key, tools_key, rest)


def _entry(line: Line, document: Any, codes: Shared, tools: Shared) -> Entry:
    """Return an entry; raises one of ``OTHER_FORM`` for a document of any other form."""
    [text, *_] = _texts([document["line"], *document["inputs"], *document["outputs"]])
    ingredients = Ingredients(
        inputs={role: Input(*_texts(given)) for role, given in document["inputs"].items()},
        parameters=_named(document["parameters"]),
        code_key=line.code_key,
        code=codes[line.code_key],
        tools_key=line.tools_key,
        tools=tools[line.tools_key],
    )
    outputs = {role: _output(*made) for role, made in document["outputs"].items()}
    runs = {_counted(int(build)): _run(*run) for build, run in document["runs"].items()}
    if {line.last, *(output.build for output in outputs.values())} - set(runs):
        raise ValueError("an output without the run that made it")
    names = line.graph, line.stage, text, line.subject
    entry = Entry(*names, ingredients, outputs, line.last, runs)
    if entry.paths != line.outputs:
        raise ValueError("a head of other outputs")
    return entry


def _output(path: Any, name: Any, digest: Any, build: Any) -> Output:
    _texts([path, name, digest])
    return Output(path, name, digest, _counted(build))


def _run(how: Any, ms: Any, reasons: Any) -> Run:
    if type(ms) not in (int, float) or not 0 <= ms <= LONGEST_MS:  # nor what is not a number
        raise ValueError("not a time that an action takes")
    return Run(Ending(how).value, float(ms), tuple(map(_reason, reasons)))


def _reason(parts: Any) -> Reason:
    cause, *rest = _texts(parts)
    return Reason(Cause(cause), *rest)


def _counted(number: Any) -> int:
    """Return the number of a build."""
    if type(number) is not int or not 0 <= number <= MOST_BUILDS:
        raise ValueError("not a number of builds")
    return number


def _shared(document: Any) -> Shared:
    return {key: _named(parts) for key, parts in document.items()}


def _named(document: Any) -> dict[str, str]:
    _texts([*document, *document.values()])
    return dict(document)


def _texts(values: Any) -> list[str]:
    """Return texts that can be written; a lone surrogate raises ``UnicodeEncodeError``."""
    "".join(values).encode()  # raises ``TypeError`` for anything but texts
    return list(values)
