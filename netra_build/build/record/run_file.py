"""The record of runs on disk: a first line about all, one of the heads, one for each action.

A build that ran one action of thousands must not pay for the others: the heads are read with the
file, the rest of an entry when somebody asks for it, and a line that did not change is written as
it was read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from netra_build.build.record.run_entry import (
    Entry,
    Head,
    Shared,
    counted,
    head_of,
    read_entry,
    read_shared,
    rest_of,
)
from netra_build.build.record.run_heads import heads_document, read_heads
from netra_build.core.canonical_json import Json, canonical_text, parse_object, plain_text
from netra_build.core.errors import BadInput

FORMAT = "netra-runs-2"

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


class Line:
    """The head of one action's entry, and the rest as it stands in the file."""

    __slots__ = ("_entry", "_state", "head", "rest")

    def __init__(self, head: Head, rest: bytes | memoryview, state: State) -> None:
        self.head = head
        self.rest = rest
        self._state = state
        self._entry: tuple[Entry | None] | None = None

    @property
    def entry(self) -> Entry | None:
        """The entry, read once; None if the rest of the line cannot be read."""
        if self._entry is None:
            self._entry = (self._read(),)
        return self._entry[0]

    def let_go(self) -> None:
        """Hold the text alone: an entry takes several times its space."""
        self._entry = None

    def _read(self) -> Entry | None:
        try:
            rest = json.loads(bytes(self.rest).decode())
            return read_entry(self.head, rest, self._state.codes, self._state.tools)
        except UNREADABLE:
            return None


class Noted(NamedTuple):
    """An entry as one process gives it to another."""

    head: Head
    rest: bytes


def noted_of(entry: Entry) -> Noted:
    """Return an entry in that form; its code and tools go another way."""
    return Noted(head_of(entry), plain_text(rest_of(entry)).encode())


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
        made_from = entry.ingredients
        return self.noted_line(noted_of(entry), made_from.code, made_from.tools)

    def noted_line(self, noted: Noted, code: Mapping[str, str], tools: Mapping[str, str]) -> Line:
        """Return the line of an entry that was noted elsewhere."""
        self.codes[noted.head.code_key] = dict(code)
        self.tools[noted.head.tools_key] = dict(tools)
        return Line(noted.head, noted.rest, self)


def read_state(data: bytes) -> State:
    """Return what a record says; one that cannot be read says nothing."""
    try:
        first, heads, *rests = _lines(data)
        document = parse_object(bytes(first), "record")
        requests, codes, tools = (document[key] for key in ("requests", "codes", "tools"))
        if document["format"] != FORMAT or not isinstance(requests, dict):
            return State()
        builds = counted(document["builds"])
        state = State(builds, requests, read_shared(codes), read_shared(tools))
        found = zip(read_heads(json.loads(bytes(heads).decode())), rests, strict=True)
        state.lines = [Line(head, rest, state) for head, rest in found]
    except UNREADABLE:
        return State()
    return state


def _lines(data: bytes) -> list[memoryview]:
    """Return the lines without copying them: nearly all go back into the file as they are."""
    view, lines, start = memoryview(data), [], 0
    while start < len(data):
        end = data.find(b"\n", start)
        lines.append(view[start : end if end >= 0 else len(data)])
        start = end + 1 if end >= 0 else len(data)
    return lines


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
    heads = plain_text(heads_document([one.head for one in lines]))
    first = canonical_text(document).rstrip()
    return b"\n".join([first.encode(), heads.encode(), *(one.rest for one in lines), b""])
