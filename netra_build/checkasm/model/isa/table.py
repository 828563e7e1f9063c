"""The table from mnemonic to semantics, filled by the modules of this package.

Most instructions are a row: mnemonics, the kinds of their results and sources, and a pure function
between the values. Kinds read "f32 mask = f32 f32"; ``T`` in them stands for the last choice in
braces of a mnemonic such as ``v_{max,min}_{i32,u32}``, and ``!`` behind a kind for the register of
the first result, read as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.sources import Form, Get, Put

Builder = Callable[[Form], Run]
"""Turns one decoded instruction into what it does to a group of wavefronts."""

Function = Callable[..., Any]
"""Takes one array per source; returns one array, or a tuple for several results."""

TABLE: dict[str, Builder] = {}
"""Builder by mnemonic without encoding suffix."""


@dataclass(frozen=True)
class Spec:
    """One element-wise operation: kinds of results and sources, and the function between them."""

    dst: tuple[str, ...]
    src: tuple[str, ...]
    fn: Function
    is_move: bool = False
    """Bits pass unchanged: no flushing of subnormals."""
    saturate: Function | None = None
    """What ``clamp`` computes instead, for integer operations."""
    keeps_high: bool = False
    """A 16-bit result leaves the other half of the register alone."""
    is_approximate: bool = False
    """The function also takes which of the floats within one unit it gives."""
    modifiers: tuple[str, ...] | None = None
    """Those that are known, if not the usual ones."""


MEANINGS: dict[str, Spec] = {}
"""Element-wise operation by mnemonic."""


def register(names: str, builder: Builder) -> Builder:
    """Enter ``builder`` for every blank-separated mnemonic in ``names``, braces expanded."""
    for name, _ in spellings(names):
        if name in TABLE:
            raise ValueError(f"{name} is entered twice")
        TABLE[name] = builder
    return builder


def instruction(names: str) -> Callable[[Builder], Builder]:
    """Enter the decorated builder for every mnemonic in ``names``."""
    return partial(register, names)


def spellings(names: str) -> Iterator[tuple[str, str]]:
    """Yield every mnemonic that ``a_{b,c}_{d,e}`` words spell, with the choice it ends with."""
    for word in names.split():
        parts = [part.split(",") for part in re.split(r"[{}]", word)]
        for chosen in product(*parts):
            yield "".join(chosen), "".join(chosen[-2:])


def sides(kinds: str, of: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split "f32 = T T" into the kinds of results and sources, ``of`` for T."""
    left, _, right = kinds.replace("T", of).partition("=")
    return tuple(left.split()), tuple(right.split())


def apply(gets: Sequence[Get], puts: Sequence[Put], fn: Function) -> Run:
    """Return what reads the sources, calls the function and writes its results."""
    if len(puts) > 1:

        def run_several(g: Group) -> None:
            results = fn(*[get(g) for get in gets])
            for put, value in zip(puts, results, strict=True):
                put(g, value)

        return run_several
    put = puts[0]
    if len(gets) == 1:
        get0 = gets[0]
        return lambda g: put(g, fn(get0(g)))
    if len(gets) == 2:
        get0, get1 = gets
        return lambda g: put(g, fn(get0(g), get1(g)))
    if len(gets) == 3:
        get0, get1, get2 = gets
        return lambda g: put(g, fn(get0(g), get1(g), get2(g)))
    return lambda g: put(g, fn(*[get(g) for get in gets]))
