"""Strict reader of YAML recipes: every scalar is text, every node knows its line.

No implicit types, no duplicate keys, no anchors, aliases, tags or several documents; size and
depth are bounded. What a key means is decided by the reader of the recipe, not by YAML.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any, NamedTuple, NoReturn

import yaml
from yaml import events

from netra_build.core.errors import BadInput, nearest_hint

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 16


_PARSER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
"""Of the loaders only the events are used; the one in C needs a tenth of the other's time."""


class Located(NamedTuple):
    """A value with the place it was written at, ``FILE:LINE``."""

    value: str | list[Located] | dict[str, Located]
    location: str

    def mapping(self, required: Set[str], optional: Set[str]) -> dict[str, Located]:
        """Return the entries of a mapping; refuse other kinds, unknown and missing keys."""
        if not isinstance(self.value, dict):
            self.refuse("not a mapping of keys to values")
        known = required | optional
        for key, entry in self.value.items():
            if key not in known:
                hint = nearest_hint(key, known)
                raise BadInput(f'unknown key "{key}"', location=entry.location, hint=hint)
        for key in sorted(required - self.value.keys()):
            self.refuse(f'key "{key}" is missing')
        return self.value

    def items(self) -> dict[str, Located]:
        """Return the entries of a mapping with free keys."""
        if not isinstance(self.value, dict):
            self.refuse("not a mapping of keys to values")
        return self.value

    def sequence(self) -> list[Located]:
        """Return the entries of a nonempty sequence."""
        if not isinstance(self.value, list) or not self.value:
            self.refuse("not a nonempty sequence")
        return self.value

    def text(self) -> str:
        """Return a nonempty scalar."""
        if not isinstance(self.value, str) or not self.value:
            self.refuse("not a nonempty text")
        return self.value

    def boolean(self) -> bool:
        """Return ``true`` or ``false``."""
        if self.value not in ("true", "false"):
            self.refuse("not true or false")
        return self.value == "true"

    def integer(self) -> int:
        """Return a decimal number of at most 18 digits."""
        text = self.text()
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
            self.refuse("not a decimal number")
        return int(text)

    def refuse(self, fact: str) -> NoReturn:
        """Raise ``BadInput`` at this place."""
        raise BadInput(fact, location=self.location)


def parse_yaml(data: bytes, location: str) -> Located:
    """Parse one YAML document; ``location`` is the file's name for messages."""
    if len(data) > MAX_BYTES:
        most = f"at most {MAX_BYTES} bytes"
        raise BadInput("file is too large", location=location, expected=most, got=len(data))
    try:
        return _Reader(data.decode("utf-8"), location).document()
    except UnicodeDecodeError as error:
        raise BadInput(f"not valid UTF-8 at byte {error.start}", location=location) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        fact = f"not valid YAML: {error.problem}"
        raise BadInput(fact, location=f"{location}:{line}") from None
    except (yaml.YAMLError, ValueError) as error:
        fact = "not valid YAML: " + str(error).splitlines()[0].lower()
        raise BadInput(fact, location=location) from None


class _Reader:
    """Makes values of the parser's events; what is refused ends it at once, at any length."""

    def __init__(self, text: str, file: str) -> None:
        self._next: Callable[[], Any] = _PARSER(text).get_event
        self._file = file

    def document(self) -> Located:
        """Return the value of the only document."""
        self._next()  # the start of the stream
        if isinstance(self._next(), events.StreamEndEvent):
            raise BadInput("document is empty", location=self._file)
        found = self._value(self._next(), 0)
        event = self._next()
        while isinstance(event, events.DocumentEndEvent):
            event = self._next()
        if not isinstance(event, events.StreamEndEvent):
            fact = "not valid YAML: but found another document"
            raise BadInput(fact, location=self._place(event))
        return found

    def _place(self, event: Any) -> str:
        return f"{self._file}:{event.start_mark.line + 1}"

    def _value(self, event: Any, depth: int) -> Located:
        """Return the value that begins with ``event``, below ``depth`` collections."""
        place = self._place(event)
        if event.anchor:  # every alias has one
            raise BadInput("anchors and aliases are not allowed", location=place)
        if event.tag:
            raise BadInput("tags are not allowed", location=place)
        if isinstance(event, events.ScalarEvent):
            return Located(event.value, place)
        if depth == MAX_DEPTH:
            raise BadInput(f"nesting is deeper than {MAX_DEPTH} levels", location=place)
        if isinstance(event, events.SequenceStartEvent):
            return Located(self._sequence(depth + 1), place)
        return Located(self._mapping(depth + 1), place)

    def _sequence(self, depth: int) -> list[Located]:
        items = []
        while not isinstance(event := self._next(), events.SequenceEndEvent):
            items.append(self._value(event, depth))
        return items

    def _mapping(self, depth: int) -> dict[str, Located]:
        entries: dict[str, Located] = {}
        while not isinstance(event := self._next(), events.MappingEndEvent):
            key, place = self._value(event, depth)
            if not isinstance(key, str):
                raise BadInput("key is not a text", location=place)
            if key in entries:
                raise BadInput(f'key "{key}" appears twice in one mapping', location=place)
            value = self._value(self._next(), depth)
            entries[key] = Located(value.value, place) if isinstance(value.value, str) else value
        return entries
