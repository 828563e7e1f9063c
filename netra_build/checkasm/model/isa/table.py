"""The table from mnemonic to semantics, filled by the modules of this package."""

from __future__ import annotations

from collections.abc import Callable

from netra_build.checkasm.model.group import Run
from netra_build.checkasm.model.operands import Decoded
from netra_build.checkasm.model.sources import Context

Builder = Callable[[Decoded, Context], Run]
"""Turns one decoded instruction into what it does to a group of wavefronts."""

TABLE: dict[str, Builder] = {}
"""Builder by mnemonic without encoding suffix."""


def register(names: str, builder: Builder) -> None:
    """Enter ``builder`` for every blank-separated mnemonic in ``names``."""
    for name in names.split():
        if name in TABLE:
            raise ValueError(f"{name} is entered twice")
        TABLE[name] = builder
