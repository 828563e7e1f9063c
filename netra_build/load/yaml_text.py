"""Strict reader of YAML recipes: every scalar is text, every node knows its line.

No implicit types, no duplicate keys, no anchors, aliases, tags or several documents; size and
depth are bounded. What a key means is decided by the reader of the recipe, not by YAML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from netra_build.core.errors import BadInput
from netra_build.core.nearest import nearest_hint

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 16


@dataclass(frozen=True)
class Located:
    """A value with the place it was written at, ``FILE:LINE``."""

    value: str | list[Located] | dict[str, Located]
    location: str

    def mapping(self, required: frozenset[str], optional: frozenset[str]) -> dict[str, Located]:
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
        raise BadInput(
            "file is too large",
            location=location,
            expected=f"at most {MAX_BYTES} bytes",
            got=len(data),
        )
    try:
        text = data.decode("utf-8")
        node = _composed(text, location)
    except UnicodeDecodeError as error:
        raise BadInput(f"not valid UTF-8 at byte {error.start}", location=location) from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        fact = f"not valid YAML: {error.problem}"
        raise BadInput(fact, location=f"{location}:{line}") from None
    except (YAMLError, RecursionError, ValueError) as error:
        fact = "not valid YAML: " + str(error).splitlines()[0].lower()
        raise BadInput(fact, location=location) from None
    if node is None:
        raise BadInput("document is empty", location=location)
    return _located(node, location, 0)


def _composed(text: str, location: str) -> Node | None:
    """Return the node of a text, its tokens looked at first unless they cannot be refused."""
    if any(mark in text for mark in "&*!"):
        _refuse_sharing(text, location)
    try:
        node: Node | None = YAML(typ="safe", pure=True).compose(text)
    except (YAMLError, RecursionError):
        _refuse_sharing(text, location)
        raise
    return node


def _refuse_sharing(text: str, location: str) -> None:
    """Refuse anchors, aliases, tags and depth while they are only tokens."""
    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        kind = type(event).__name__
        depth += kind in ("MappingStartEvent", "SequenceStartEvent")
        depth -= kind in ("MappingEndEvent", "SequenceEndEvent")
        place = f"{location}:{event.start_mark.line + 1}"
        if kind == "AliasEvent" or getattr(event, "anchor", None):
            raise BadInput("anchors and aliases are not allowed", location=place)
        if getattr(event, "tag", None) or getattr(event, "ctag", None):
            raise BadInput("tags are not allowed", location=place)
        if depth > MAX_DEPTH:
            raise _too_deep(place)


def _too_deep(place: str) -> BadInput:
    return BadInput(f"nesting is deeper than {MAX_DEPTH} levels", location=place)


def _located(node: Node, file: str, depth: int) -> Located:
    location = f"{file}:{node.start_mark.line + 1}"
    if isinstance(node, ScalarNode):
        return Located(node.value, location)
    if depth == MAX_DEPTH:
        raise _too_deep(location)
    if isinstance(node, SequenceNode):
        return Located([_located(item, file, depth + 1) for item in node.value], location)
    if isinstance(node, MappingNode):
        return Located(_entries(node, file, depth), location)
    raise BadInput("node of an unknown kind", location=location)


def _entries(node: MappingNode, file: str, depth: int) -> dict[str, Located]:
    entries: dict[str, Located] = {}
    for key_node, value_node in node.value:
        place = f"{file}:{key_node.start_mark.line + 1}"
        if not isinstance(key_node, ScalarNode):
            raise BadInput("key is not a text", location=place)
        if key_node.value in entries:
            raise BadInput(f'key "{key_node.value}" appears twice in one mapping', location=place)
        value = _located(value_node, file, depth + 1)
        simple = Located(value.value, place) if isinstance(value.value, str) else value
        entries[key_node.value] = simple
    return entries
