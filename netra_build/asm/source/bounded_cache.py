"""What was found out about some files, held as long as there is room: the least used goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")


class BoundedCache(Generic[Key, Found]):
    """Remembers a value for each key, up to a sum of costs; safe for many threads."""

    def __init__(self, most: int) -> None:
        """Hold nothing yet, and never more than costs of ``most`` together."""
        self._most = most
        self._held = 0
        self._rows: OrderedDict[Key, tuple[int, Found]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key, cost: int, make: Callable[[], Found]) -> Found:
        """Return the value of ``key``, made on demand; what ``make`` raises is not remembered.

        Two threads may make the same value at once; one that costs more than all is not held.
        """
        with self._lock:
            row = self._rows.get(key)
            if row is not None:
                self._rows.move_to_end(key)
                return row[1]
        made = make()
        with self._lock:
            if cost <= self._most and key not in self._rows:
                self._rows[key] = (cost, made)
                self._held += cost
                while self._held > self._most:
                    self._held -= self._rows.popitem(last=False)[1][0]
        return made

    @property
    def held(self) -> int:
        """The costs of all that is held."""
        return self._held
