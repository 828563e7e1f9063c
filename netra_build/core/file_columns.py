"""Many files in one JSON document, a column for each thing that is known of them.

A list for every file would take longer to read and to write than all that the lists hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from netra_build.core.stamps import Stamp

Row = tuple[Stamp, str]
"""Stamp and digest of a file."""

NO_STAMP: Stamp = (0, 0, 0, 0, 0)
"""What no file has: it vouches for nothing."""

STAMP_PARTS = len(NO_STAMP)


def columns_of(rows: Mapping[str, Row]) -> dict[str, Any]:
    """Return files by name as plain JSON, in their order."""
    return {
        "names": list(rows),
        "stamps": list(chain.from_iterable([stamp for stamp, _ in rows.values()])),
        "digests": [digest for _, digest in rows.values()],
    }


def rows_in(columns: Any) -> dict[str, Row]:
    """Return the files in a document of ``columns_of``.

    Raises ``KeyError``, ``TypeError`` or ``ValueError`` for any other document.
    """
    names, stamps, digests = (columns[part] for part in ("names", "stamps", "digests"))
    check_texts(names)
    check_texts(digests)
    if not isinstance(stamps, list) or not set(map(type, stamps)) <= {int}:
        raise TypeError("not a list of numbers")
    rows = dict(zip(names, zip(each_stamp(stamps), digests, strict=True), strict=True))
    if len(rows) != len(names):
        raise ValueError("a file is named twice")
    return rows


def each_stamp(numbers: Sequence[int]) -> Iterable[Stamp]:
    """Return the stamps in the column of their numbers; ``ValueError`` when one is cut off."""
    return zip(*[iter(numbers)] * STAMP_PARTS, strict=True)


def check_texts(texts: Any) -> None:
    """Raise ``TypeError`` for anything but a list of texts."""
    if not isinstance(texts, list) or not set(map(type, texts)) <= {str}:
        raise TypeError("not a list of texts")


def groups_in(names: Iterable[str], counts: Any) -> list[tuple[str, ...]]:
    """Return the first names in groups of so many each.

    Raises ``TypeError`` or ``ValueError`` unless ``counts`` is a list of such numbers, of which
    none is zero.
    """
    if not isinstance(counts, list) or not set(map(type, counts)) <= {int}:
        raise TypeError("not a list of numbers")
    left = iter(names)
    groups = [tuple(islice(left, count)) for count in counts]
    if list(map(len, groups)) != counts or 0 in counts:
        raise ValueError("another number of files")
    return groups
