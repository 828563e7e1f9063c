"""Modules that a package has because their files lie in it, without a list of them.

The package file says ``MEMBERS_ARE_REACHED = True``: code digests then count all members for
whatever imports the package, as if each one was imported by name.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path


def members_in(folder: Path) -> tuple[str, ...]:
    """Return the names of the modules whose files lie in a folder, sorted."""
    return tuple(sorted(path.stem for path in folder.glob("[a-z]*.py")))


def declared_in(package: str, table: str) -> dict[str, str]:
    """Return what the modules of ``package`` declare, with the module; none of them is imported.

    A module declares the keys of the literal ``table``, which is its last statement, or, without
    one, its own name.
    """
    found: dict[str, str] = {}
    for path in sorted(Path(importlib.import_module(package).__path__[0]).glob("[a-z]*.py")):
        _, mark, literal = path.read_text("utf-8").rpartition(f"\n{table} = ")
        keys = _keys(literal) if mark else (path.stem,)
        found |= dict.fromkeys(keys, path.stem)
    return found


def _keys(literal: str) -> tuple[str, ...]:
    display = ast.parse(literal.strip(), mode="eval").body
    assert isinstance(display, ast.Dict)
    return tuple(str(key.value) for key in display.keys if isinstance(key, ast.Constant))
