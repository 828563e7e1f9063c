"""The record of runs on disk: a first line about all, then a line for each action.

A build that ran one action of thousands must not pay for the others: the head of a line is read
with the file, the rest when somebody asks for it, and a line that did not change is written as it
was read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from netra_build.core.canonical_json import Json, canonical_text, parse_object, plain_text
from netra_build.core.errors import BadInput
from netra_build.core.run_entry import (
    Entry,
    Head,
    Shared,
    counted,
    head_of,
    read_entry,
    read_head,
    read_shared,
    rest_of,
)

FORMAT = "netra-runs-1"
BETWEEN = "\t"
"""Stands between head and rest of a line; JSON in one line never holds it."""

UNREADABLE = (
    BadInput,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
    OverflowError,
)
"""What reading raises for a document of any other form."""


@dataclass(frozen=True)
class Line:
    """The head of one action's entry, and the text of the whole."""

    head: Head
    text: str
    state: State

    @cached_property
    def entry(self) -> Entry | None:
        """The entry, None if the rest of the line cannot be read."""
        try:
            rest = json.loads(self.text.partition(BETWEEN)[2])
            return read_entry(self.head, rest, self.state.codes, self.state.tools)
        except UNREADABLE:
            return None


@dataclass(eq=False)
class State:
    """All that a record holds."""

    builds: int = 0
    requests: dict[str, Json] = field(default_factory=dict)
    codes: Shared = field(default_factory=dict)
    tools: Shared = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    def line(self, entry: Entry) -> Line:
        """Return the line of an entry; its code and tools are noted."""
        head, made_from = head_of(entry), entry.ingredients
        self.codes[head.code_key] = dict(made_from.code)
        self.tools[head.tools_key] = dict(made_from.tools)
        return Line(head, f"{plain_text(head)}{BETWEEN}{plain_text(rest_of(entry))}", self)


def read_state(data: bytes) -> State:
    """Return what a record says; one that cannot be read says nothing."""
    try:
        first, *rest = data.decode("utf-8").rstrip("\n").split("\n")
        document = parse_object(first.encode(), "record")
        requests, codes, tools = (document[key] for key in ("requests", "codes", "tools"))
        if document["format"] != FORMAT or not isinstance(requests, dict):
            return State()
        builds = counted(document["builds"])
        state = State(builds, requests, read_shared(codes), read_shared(tools))
        # One text for all: starting the parser takes longer than a head.
        heads = json.loads("[" + ",".join(text.partition(BETWEEN)[0] for text in rest) + "]")
        state.lines = [
            Line(read_head(head), text, state) for head, text in zip(heads, rest, strict=True)
        ]
    except UNREADABLE:
        return State()
    return state


def state_bytes(
    state: State, builds: int, requests: Mapping[str, Json], lines: Iterable[Line]
) -> bytes:
    """Return a record with these lines, of code and tools only what they name."""
    lines = list(lines)
    codes, tools = {one.head.code_key for one in lines}, {one.head.tools_key for one in lines}
    document: dict[str, Json] = {
        "format": FORMAT,
        "builds": builds,
        "requests": dict(requests),
        "codes": {key: dict(parts) for key, parts in state.codes.items() if key in codes},
        "tools": {key: dict(parts) for key, parts in state.tools.items() if key in tools},
    }
    texts = [canonical_text(document).rstrip(), *(one.text for one in lines)]
    return ("\n".join(texts) + "\n").encode()
