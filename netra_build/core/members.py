"""Modules that a package has because their files lie in it, without a list of them.

The package file says ``MEMBERS_ARE_REACHED = True``: code digests then count all members for
whatever imports the package, as if each one was imported by name.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType


def members_in(folder: Path) -> tuple[str, ...]:
    """Return the names of the modules whose files lie in a folder, sorted."""
    return tuple(sorted(path.stem for path in folder.glob("[a-z]*.py")))


def member_names(package: str) -> tuple[str, ...]:
    """Return the names of the modules in ``package``, sorted; none of them is imported."""
    return members_in(Path(importlib.import_module(package).__path__[0]))


def load_member(package: str, name: str) -> ModuleType:
    """Import and return one module that ``member_names`` gave."""
    return importlib.import_module(f"{package}.{name}")
