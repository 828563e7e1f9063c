"""Typed reading of one JSON object, with the JSON pointer of every complaint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.core.nearest import nearest_hint

_REQUIRED: Any = object()
_HEX64 = re.compile(r"[0-9a-f]{64}\Z")
MAX_INTEGER = 2**63 - 1


def escape_pointer(key: str) -> str:
    """Return one key as a JSON pointer segment."""
    return key.replace("~", "~0").replace("/", "~1")


def kind_of(value: Json) -> str:
    """Return the JSON name of a value's type, for messages."""
    if value is None:
        return "null"
    for types, word in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, types):
            return word
    return "array" if isinstance(value, list | tuple) else "object"


def first_repeated(values: Iterable[str]) -> str | None:
    """Return the first value that was seen before, in linear time."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


class Fields:
    """One JSON object at ``location`` (file) and ``pointer``; every getter checks the type.

    Getters raise ``BadInput`` at ``FILE#/POINTER``. Without a default a key is required.
    """

    def __init__(self, value: Json, location: str, pointer: str = "") -> None:
        self.location = location
        self.pointer = pointer
        if not isinstance(value, dict):
            raise BadInput(
                "value has the wrong type",
                location=self.place(),
                expected="object",
                got=kind_of(value),
            )
        self.value: dict[str, Json] = value

    def place(self, key: str | int | None = None) -> str:
        """Return the location of this object or of one of its keys."""
        tail = "" if key is None else "/" + escape_pointer(str(key))
        whole = self.pointer + tail
        return f"{self.location}#{whole}" if whole else self.location

    def refuse(self, fact: str, key: str | None = None, **details: Any) -> NoReturn:
        """Raise ``BadInput`` with ``fact`` at this object or at one of its keys."""
        raise BadInput(fact, location=self.place(key), **details)

    def hold(self, key: str, expected: Json, fact: str) -> None:
        """Refuse with ``fact`` unless ``key`` has the value, and the type, of ``expected``."""
        got = self.get(key)
        if got != expected or type(got) is not type(expected):
            self.refuse(fact, key, expected=expected, got=got)

    def close(self, known: Iterable[str]) -> None:
        """Refuse keys that are not ``known``, naming the nearest known one."""
        names = frozenset(known)
        for key in self.value:
            if key not in names:
                raise BadInput(
                    f'unknown key "{key}"',
                    location=self.place(),
                    hint=nearest_hint(key, names),
                )

    def has(self, key: str) -> bool:
        """Tell whether the object holds ``key``."""
        return key in self.value

    def get(self, key: str, default: Json = _REQUIRED) -> Json:
        """Return any JSON value."""
        if key in self.value:
            return self.value[key]
        if default is _REQUIRED:
            raise BadInput(f'required key "{key}" is missing', location=self.place())
        return default

    def wrong(self, key: str, expected: str, value: Json) -> NoReturn:
        """Raise ``BadInput`` about a value of the wrong type."""
        raise BadInput(
            "value has the wrong type",
            location=self.place(key),
            expected=expected,
            got=kind_of(value),
        )

    def text(self, key: str, default: Any = _REQUIRED, *, empty: bool = False) -> str:
        """Return a string, nonempty unless ``empty`` is set."""
        value = self.get(key, default)
        if not isinstance(value, str):
            self.wrong(key, "string", value)
        if not value and not empty:
            raise BadInput("string is empty", location=self.place(key))
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a nonempty string, or None when the key is absent or null."""
        return None if self.value.get(key) is None else self.text(key)

    def word(self, key: str, known: Iterable[str], default: Any = _REQUIRED) -> str:
        """Return a string out of ``known``."""
        value = self.text(key, default)
        names = tuple(known)
        if value not in names:
            raise BadInput(
                f'unknown word "{value}"',
                location=self.place(key),
                hint=nearest_hint(value, names),
            )
        return value

    def integer(
        self, key: str, default: Any = _REQUIRED, *, low: int = 0, high: int = MAX_INTEGER
    ) -> int:
        """Return an integer (no boolean, no float) from ``low`` to ``high``."""
        return self.checked_integer(key, self.get(key, default), low, high)

    def checked_integer(
        self, key: str | int, value: Json, low: int = 0, high: int = MAX_INTEGER
    ) -> int:
        """Check one value that stands below ``key`` as an integer from ``low`` to ``high``."""
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong(str(key), "integer", value)
        if not low <= value <= high:
            raise BadInput(
                "number is out of range",
                location=self.place(key),
                expected=f"{low} to {high}",
                got=value,
            )
        return value

    def boolean(self, key: str, default: Any = _REQUIRED) -> bool:
        """Return a boolean."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            self.wrong(key, "boolean", value)
        return value

    def digest(self, key: str) -> str:
        """Return 64 lower-case hexadecimal digits."""
        value = self.text(key)
        if not _HEX64.match(value):
            raise BadInput(
                "digest has the wrong form",
                location=self.place(key),
                expected="64 lower-case hexadecimal digits",
                got=f'"{value[:80]}"',
            )
        return value

    def array(self, key: str, default: Any = _REQUIRED) -> list[Json]:
        """Return an array."""
        value = self.get(key, default)
        if not isinstance(value, list | tuple):
            self.wrong(key, "array", value)
        return list(value)

    def texts(self, key: str, default: Any = _REQUIRED, *, unique: bool = False) -> tuple[str, ...]:
        """Return an array of nonempty strings, without repetition if ``unique``."""
        values = self.array(key, default)
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise BadInput(
                    "value has the wrong type",
                    location=f"{self.place(key)}/{index}",
                    expected="string",
                    got=kind_of(value),
                )
            if not value:
                raise BadInput("string is empty", location=f"{self.place(key)}/{index}")
        if unique and len(set(values)) != len(values):
            raise BadInput(f'"{first_repeated(values)}" is listed twice', location=self.place(key))
        return tuple(values)

    def extent(self, key: str) -> tuple[int, int, int]:
        """Return three positive integers."""
        values = self.array(key)
        if len(values) != 3:
            raise BadInput(
                "launch extent has the wrong number of dimensions",
                location=self.place(key),
                expected=3,
                got=len(values),
            )
        x, y, z = (self._positive(key, index, value) for index, value in enumerate(values))
        return x, y, z

    def _positive(self, key: str, index: int, value: Json) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadInput(
                "value has the wrong type",
                location=f"{self.place(key)}/{index}",
                expected="integer",
                got=kind_of(value),
            )
        if not 1 <= value <= 2**31 - 1:
            raise BadInput(
                "launch extent is out of range",
                location=f"{self.place(key)}/{index}",
                expected="1 to 2147483647",
                got=value,
            )
        return value

    def child(self, key: str, default: Any = _REQUIRED) -> Fields:
        """Return the object below ``key``."""
        return Fields(
            self.get(key, default), self.location, f"{self.pointer}/{escape_pointer(key)}"
        )

    def objects(self, key: str, default: Any = _REQUIRED) -> Iterator[Fields]:
        """Yield the objects of the array below ``key``."""
        base = f"{self.pointer}/{escape_pointer(key)}"
        for index, value in enumerate(self.array(key, default)):
            yield Fields(value, self.location, f"{base}/{index}")
