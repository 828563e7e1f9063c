"""Statements as modules, made from the bytes that were hashed, never from the disk again.

A mistake in a statement is one line with its file and line, whether it shows when the file is read
or when a launch is made. What is refused here is refused early and with its line; it is no wall
against malice, since numpy alone can read files. ``core/confined.py`` limits what is run.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from traceback import walk_tb
from types import ModuleType
from typing import Any, TypeGuard

from netra_build.checkasm.numerics import (
    arithmetic,
    formats,
    inputs,
    online_softmax,
    scenario,
)
from netra_build.checkasm.numerics.scenario import Asked, Entry, Scenario
from netra_build.checkasm.numerics.statement_source import (
    FOLDER,
    REFUSED,
    Statement,
    compiled,
    declared,
    neighbour_file,
    stem,
)
from netra_build.core.errors import BadInput, NetraError

TOOL_BOX = (arithmetic, formats, inputs, online_softmax, scenario)
"""What statements use of this package: part of the code of whatever loads them."""

MAX_SHOWN = 300
"""Characters of an exception's text in a message."""

_LOADS = count()


def load_entry(statement: Statement) -> Entry:
    """Return what a statement declares of its tactic; ``BadInput`` names any mistake in its file.

    So does the entry itself, when it makes a launch.
    """
    module = load_modules(statement.files)[statement.name]
    name = statement.name
    entries = getattr(module, "TACTICS", None) or {statement.tactic: getattr(module, "ENTRY", None)}
    for tactic, line in declared(statement.files[name], name):
        if not _is_sound(entries.get(tactic)):
            fact = f'tactic "{tactic}" is not stated by an Entry'
            raise BadInput(fact, location=f"{name}:{line}")
    entry: Entry = entries[statement.tactic]
    return replace(entry, make=_located_maker(entry.make, statement))


def _is_sound(entry: Any) -> TypeGuard[Entry]:
    """Tell whether what was declared has the types of an entry."""
    return (
        isinstance(entry, Entry)
        and callable(entry.make)
        and isinstance(entry.cases, tuple)
        and isinstance(entry.specializations, Mapping)
        and all(isinstance(one, Mapping) for one in entry.specializations.values())
    )


def load_modules(files: Mapping[str, bytes]) -> dict[str, ModuleType]:
    """Return one module for each file, by the file's name; neighbours import each other."""
    loading = _Loading(files)
    for name in files:
        with _located(name):
            loading.module(name)
    return loading.modules


class _Loading:
    """Files that become modules, each once, under names that no other loading has."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.codes = {name: compiled(data, name) for name, data in files.items()}
        self.package = f"statements_{next(_LOADS)}"
        self.modules: dict[str, ModuleType] = {}
        allowed = {name: value for name, value in vars(builtins).items() if name not in REFUSED}
        self.builtins = {**allowed, "__import__": self._import}

    def module(self, name: str) -> ModuleType:
        """Return the module of a file; it is run when it is first asked for."""
        if name not in self.modules:
            self.modules[name] = module = ModuleType(f"{self.package}.{stem(name)}")
            module.__dict__.update(__file__=name, __builtins__=self.builtins)
            # Dataclasses look for their own module there while they are made.
            sys.modules[module.__name__] = module
            try:
                exec(self.codes[name], module.__dict__)
            finally:
                del sys.modules[module.__name__]
        return self.modules[name]

    def _import(
        self, name: str, names: Any = None, values: Any = None, wanted: Any = (), level: int = 0
    ) -> ModuleType:
        """Take the place of ``__import__`` in statements, which import neighbours relatively."""
        if level:
            neighbour = neighbour_file(next(iter(self.codes)), name)
            if neighbour not in self.codes:
                raise ImportError(f'"{neighbour}" was not there when this build was planned')
            return self.module(neighbour)
        return builtins.__import__(name, names, values, wanted, level)


def _located_maker(
    make: Callable[[Asked], Scenario], statement: Statement
) -> Callable[[Asked], Scenario]:
    def located(asked: Asked) -> Scenario:
        with _located(statement.name):
            made = make(asked)
        if not isinstance(made, Scenario):
            fact = f'launch of "{statement.tactic}" is no Scenario'
            raise BadInput(fact, location=statement.name)
        return made

    return located


@contextmanager
def _located(name: str) -> Iterator[None]:
    """Turn an exception out of a statement into one line with its file and line.

    One that no line of a statement raises, as a call with another signature, is placed at ``name``.
    """
    try:
        yield
    except BaseException as error:  # no interrupt: those end the process that statements run in
        place = name
        for frame, line in walk_tb(error.__traceback__):
            if frame.f_code.co_filename.startswith(f"{FOLDER}/"):
                place = f"{frame.f_code.co_filename}:{line}"
        if isinstance(error, NetraError):
            raise error.under(place) from None
        fact = f"statement raises {type(error).__name__}: {_text(error)}".removesuffix(": ")
        raise BadInput(fact[:MAX_SHOWN], location=place) from None


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return "its text cannot be shown"
