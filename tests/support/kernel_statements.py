"""The numeric statements of our library, loaded once: suites, launches and modules for tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from netra_build.checkasm.numerics.loader import load_modules
from netra_build.checkasm.numerics.scenario import Entry, Scenario
from netra_build.checkasm.numerics.statement_source import FOLDER, Statement
from netra_build.checkasm.numerics.statements import read_statement
from netra_build.checkasm.numerics.statements import stated_tactics as stated_by
from netra_build.checkasm.numerics.suite import Suite
from netra_build.core.disk import RealDisk
from netra_build.formats.library import Library

LIBRARY = Library(Path(__file__).resolve().parents[2], RealDisk())


def stated_tactics() -> list[str]:
    """Return the ids of all tactics that our library states."""
    return list(stated_by(LIBRARY))


def statement(tactic: str) -> Statement:
    """Return the files that state a tactic."""
    return read_statement(LIBRARY, tactic)


def stated_in(stem: str) -> ModuleType:
    """Return the module of one file; it is the one that ``scenario`` uses."""
    return _modules()[f"{FOLDER}/{stem}.py"]


def named_in(stem: str, *names: str) -> list[Any]:
    """Return what one file defines under these names."""
    return [getattr(stated_in(stem), name) for name in names]


def entry_of(tactic: str) -> Entry:
    """Return what a statement declares of its tactic."""
    module = _modules()[statement(tactic).name]
    return module.TACTICS[tactic] if hasattr(module, "TACTICS") else module.ENTRY


def scenario(tactic: str, variant: str = "", case: str = "random", seed: int = 1) -> Scenario:
    """Return one launch; the same words always give the same bytes."""
    return Suite(tactic, entry_of(tactic)).scenario(variant, case, seed)


@cache
def _modules() -> dict[str, ModuleType]:
    names = sorted({name for tactic in stated_tactics() for name in statement(tactic).files})
    return load_modules({name: LIBRARY.read(name) for name in names})
