"""The first difference of two JSON documents: its pointer and both values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput

MAX_SHOWN = 120


@dataclass(frozen=True)
class Difference:
    """The JSON pointer of the first difference, and the value on each side."""

    pointer: str
    expected: str
    actual: str

    def refusal(self, fact: str, place: str, hint: str = "") -> BadInput:
        """Return the error that names the difference in the document at ``place``."""
        return BadInput(
            fact,
            location=f"{place}#{self.pointer}" if self.pointer else place,
            expected=self.expected,
            got=self.actual,
            hint=hint,
        )


def first_difference(expected: Json, actual: Json) -> Difference | None:
    """Return the first difference in key and index order, or None when both are equal.

    True and 1 differ, and so do 1 and 1.0.
    """
    stack: list[tuple[str, Json, Json]] = [("", expected, actual)]
    while stack:
        pointer, one, other = stack.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            keys = sorted({*one, *other}, reverse=True)
            below = [(_escaped(key), one.get(key, _GAP), other.get(key, _GAP)) for key in keys]
        elif isinstance(one, list) and isinstance(other, list):
            pairs = zip_longest(one, other, fillvalue=_GAP)
            below = [(str(index), *pair) for index, pair in enumerate(pairs)][::-1]
        elif type(one) is not type(other) or one != other:
            return Difference(pointer, _shown(one), _shown(other))
        else:
            continue
        stack += [(f"{pointer}/{key}", left, right) for key, left, right in below]
    return None


def hold_same(expected: Json, actual: Json, fact: str, place: str) -> None:
    """Raise ``BadInput`` with ``fact`` at the first difference of a document called ``place``."""
    difference = first_difference(expected, actual)
    if difference is not None:
        raise difference.refusal(fact, place)


_GAP = object()
"""Stands for a key or index that one side lacks."""


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _shown(value: Json) -> str:
    if value is _GAP:
        return "nothing"
    if isinstance(value, dict):
        return f"an object of {len(value)} keys"
    if isinstance(value, list):
        return f"an array of {len(value)} items"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    return (f'"{value}"' if isinstance(value, str) else str(value))[:MAX_SHOWN]
