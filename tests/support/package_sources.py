"""The source of every module of the package, for tests that read it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "netra_build"

Sources = dict[str, str]
"""Module name to source."""


def read_sources() -> Sources:
    """Return the source of every module of the package."""
    sources = {}
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        sources[name] = path.read_text(encoding="utf-8")
    return sources


def part_of(module: str) -> str:
    """Return the folder or top module that decides the level, ``""`` for the package itself."""
    return [*module.split("."), ""][1]


@cache
def parsed(source: str) -> ast.Module:
    """Return the tree of a source; every rule asks for those of all modules."""
    return ast.parse(source)


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """Return every node of a source, in the order of ``ast.walk``."""
    return tuple(ast.walk(parsed(source)))
