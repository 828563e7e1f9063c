"""Typed reading of one JSON object, with the JSON pointer of every complaint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, nearest_hint

_REQUIRED: Any = object()
_KIND_BY_TYPE = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    tuple: "array",
}
_HEX64 = re.compile(r"[0-9a-f]{64}\Z")
MAX_INTEGER = 2**63 - 1


def escape_pointer(key: str) -> str:
    """Return one key as a JSON pointer segment."""
    return key.replace("~", "~0").replace("/", "~1")


def kind_of(value: Json) -> str:
    """Return the JSON name of a value's type, for messages."""
    return _KIND_BY_TYPE.get(type(value), "object")


def first_repeated(values: Iterable[str]) -> str | None:
    """Return the first value that was seen before, in linear time."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def quoted(names: Iterable[str]) -> str:
    """Return names as messages list them."""
    return ", ".join(f'"{name}"' for name in names)


class Fields:
    """One JSON object at ``location`` (file) and ``pointer``; every getter checks the type.

    Getters raise ``BadInput`` at ``FILE#/POINTER``. Without a default a key is required.
    """

    def __init__(self, value: Json, location: str, pointer: str = "") -> None:
        self.location = location
        self.pointer = pointer
        if not isinstance(value, dict):
            self.wrong(value, "object")
        self.value: dict[str, Json] = value

    def place(self, *keys: str | int) -> str:
        """Return the location of this object, or of what stands below its ``keys``."""
        whole = self.pointer
        for key in keys:
            whole += f"/{escape_pointer(str(key))}"
        return f"{self.location}#{whole}" if whole else self.location

    def refuse(self, fact: str, *keys: str | int, **details: Any) -> NoReturn:
        """Raise ``BadInput`` with ``fact`` at this object, or at what stands below ``keys``."""
        raise BadInput(fact, location=self.place(*keys), **details)

    def wrong(self, value: Json, expected: str, *keys: str | int) -> NoReturn:
        """Raise ``BadInput`` about a value of the wrong type below ``keys``."""
        self.refuse("value has the wrong type", *keys, expected=expected, got=kind_of(value))

    def equal(self, fact: str, *keys: str | int, expected: Json, got: Json) -> None:
        """Refuse with ``fact`` unless ``got`` is ``expected``."""
        if got != expected:
            self.refuse(fact, *keys, expected=expected, got=got)

    def hold(self, key: str, expected: Json, fact: str) -> None:
        """Refuse with ``fact`` unless ``key`` has the value, and the type, of ``expected``."""
        got = self.get(key)
        if got != expected or type(got) is not type(expected):
            self.refuse(fact, key, expected=expected, got=got)

    def hold_text(self, key: str, expected: str, fact: str) -> None:
        """Refuse with ``fact`` unless ``key`` has the text ``expected``, which is quoted."""
        got = self.text(key)
        if got != expected:
            self.refuse(fact, key, expected=f'"{expected}"', got=f'"{got[:80]}"')

    def close(self, known: str | Iterable[str]) -> None:
        """Refuse keys that are not ``known`` (one text: names between blanks)."""
        names = frozenset(known.split() if isinstance(known, str) else known)
        for key in self.value:
            if key not in names:
                self.refuse(f'unknown key "{key}"', hint=nearest_hint(key, names))

    def has(self, key: str) -> bool:
        """Tell whether the object holds ``key``."""
        return key in self.value

    def get(self, key: str, default: Json = _REQUIRED) -> Json:
        """Return any JSON value."""
        if key in self.value:
            return self.value[key]
        if default is _REQUIRED:
            self.refuse(f'required key "{key}" is missing')
        return default

    def text(self, key: str, default: Any = _REQUIRED, *, empty: bool = False) -> str:
        """Return a string, nonempty unless ``empty`` is set."""
        value = self.get(key, default)
        if not isinstance(value, str):
            self.wrong(value, "string", key)
        if not value and not empty:
            self.refuse("string is empty", key)
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a nonempty string, or None when the key is absent or null."""
        return None if self.value.get(key) is None else self.text(key)

    def word(self, key: str, known: Iterable[str], default: Any = _REQUIRED) -> str:
        """Return a string out of ``known``."""
        value = self.text(key, default)
        names = tuple(known)
        if value not in names:
            self.refuse(f'unknown word "{value}"', key, hint=nearest_hint(value, names))
        return value

    def integer(
        self, key: str, default: Any = _REQUIRED, *, low: int = 0, high: int = MAX_INTEGER
    ) -> int:
        """Return an integer (no boolean, no float) from ``low`` to ``high``."""
        return self.checked_integer(key, self.get(key, default), low, high)

    def checked_integer(self, key: str, value: Json, low: int = 0, high: int = MAX_INTEGER) -> int:
        """Check one value that stands below ``key`` as an integer from ``low`` to ``high``."""
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong(value, "integer", key)
        if not low <= value <= high:
            self.refuse("number is out of range", key, expected=f"{low} to {high}", got=value)
        return value

    def boolean(self, key: str, default: Any = _REQUIRED) -> bool:
        """Return a boolean."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            self.wrong(value, "boolean", key)
        return value

    def digest(self, key: str) -> str:
        """Return 64 lower-case hexadecimal digits."""
        value = self.text(key)
        if not _HEX64.match(value):
            wanted = "64 lower-case hexadecimal digits"
            self.refuse("digest has the wrong form", key, expected=wanted, got=f'"{value[:80]}"')
        return value

    def array(self, key: str, default: Any = _REQUIRED) -> list[Json]:
        """Return an array."""
        value = self.get(key, default)
        if not isinstance(value, list | tuple):
            self.wrong(value, "array", key)
        return list(value)

    def sized(self, key: str, count: int, fact: str) -> list[Json]:
        """Return an array; refuse with ``fact`` one that does not hold ``count`` elements."""
        values = self.array(key)
        self.equal(fact, key, expected=count, got=len(values))
        return values

    def texts(self, key: str, default: Any = _REQUIRED, *, unique: bool = False) -> tuple[str, ...]:
        """Return an array of nonempty strings, without repetition if ``unique``."""
        values = self.array(key, default)
        for index, value in enumerate(values):
            if not isinstance(value, str):
                self.wrong(value, "string", key, index)
            if not value:
                self.refuse("string is empty", key, index)
        if unique and len(set(values)) != len(values):
            self.refuse(f'"{first_repeated(values)}" is listed twice', key)
        return tuple(values)

    def extent(self, key: str) -> tuple[int, int, int]:
        """Return three positive integers."""
        x, y, z = self.sized(key, 3, "launch extent has the wrong number of dimensions")
        for index, value in enumerate((x, y, z)):
            if isinstance(value, bool) or not isinstance(value, int):
                self.wrong(value, "integer", key, index)
            if not 1 <= value <= 2**31 - 1:
                fact = "launch extent is out of range"
                self.refuse(fact, key, index, expected="1 to 2147483647", got=value)
        return x, y, z

    def child(self, key: str, default: Any = _REQUIRED) -> Fields:
        """Return the object below ``key``."""
        below = f"{self.pointer}/{escape_pointer(key)}"
        return Fields(self.get(key, default), self.location, below)

    def objects(self, key: str, default: Any = _REQUIRED) -> Iterator[Fields]:
        """Yield the objects of the array below ``key``."""
        base = f"{self.pointer}/{escape_pointer(key)}"
        for index, value in enumerate(self.array(key, default)):
            yield Fields(value, self.location, f"{base}/{index}")
