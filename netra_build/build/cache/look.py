"""Which of very many files a store has, by a look into each folder instead of one for each file."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable

from netra_build.build.cache.files import StoreFiles

MANY = 12
"""How many names of one folder are worth a look at all that lies in it."""


def held(files: StoreFiles, names: Iterable[str]) -> set[str]:
    """Return those of the names under which anything stands, as ``StoreFiles.has`` tells of one.

    A folder that cannot be looked into has nothing.
    """
    by_folder: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_folder[name.rpartition("/")[0]].append(name)
    found: set[str] = set()
    for folder, asked in by_folder.items():
        if len(asked) < MANY:
            found.update(filter(files.has, asked))
            continue
        try:
            there = {f"{folder}/{name}" for name in os.listdir(files.path(folder))}
        except OSError:
            continue
        found.update(there.intersection(asked))
    return found
