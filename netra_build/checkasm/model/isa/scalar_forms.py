"""Builders of scalar instructions: two operands, one operand, comparison into SCC."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.operands import Decoded
from netra_build.checkasm.model.sources import Context, scalar_dest, scalar_source

Binary = Callable[[Array, Array], Array]
ONE = np.uint32(1)
_WIDE = ("u64", "b64", "i64")


def bits_of(value: Array) -> Array:
    """View a result of any integer type as unsigned."""
    if value.dtype == np.int32:
        return value.view(np.uint32)
    return value.view(np.uint64) if value.dtype == np.int64 else value


def dwords_of(kind: str) -> int:
    """Return the registers that an operand kind takes."""
    return 2 if kind in _WIDE else 1


def set_scc(g: Group, value: Array) -> None:
    """Set SCC of every wavefront from bool[n] or one bool."""
    g.scc = value if value.shape == g.scc.shape else np.full(g.n, value)


def binary(
    names: str, kinds: str, fn: Binary, scc: Callable[[Array, Array, Array], Array] | None = None
) -> None:
    """Enter D = fn(S0, S1); ``kinds`` is "D S0 S1"; ``scc`` takes result, S0 and S1."""
    dst, first, second = kinds.split()

    def build(d: Decoded, _context: Context) -> Run:
        d.allow()
        put = scalar_dest(d.operands[0], dwords_of(dst), d)
        get0 = scalar_source(d.operands[1], first, d)
        get1 = scalar_source(d.operands[2], second, d)

        def run(g: Group) -> None:
            a, b = get0(g), get1(g)
            result = np.asarray(fn(a, b))
            if scc is not None:
                set_scc(g, scc(result, a, b))
            put(g, bits_of(result))

        return run

    register(names, build)


def unary(names: str, kinds: str, fn: Callable[[Array], Array], *, scc: bool = False) -> None:
    """Enter D = fn(S0); ``kinds`` is "D S0"; with ``scc`` SCC tells a result other than zero."""
    dst, first = kinds.split()

    def build(d: Decoded, _context: Context) -> Run:
        d.allow()
        put = scalar_dest(d.operands[0], dwords_of(dst), d)
        get = scalar_source(d.operands[1], first, d)

        def run(g: Group) -> None:
            result = np.asarray(fn(get(g)))
            if scc:
                set_scc(g, result != 0)
            put(g, bits_of(result))

        return run

    register(names, build)


def compare(name: str, kind: str, fn: Binary) -> None:
    """Enter SCC = fn(S0, S1)."""

    def build(d: Decoded, _context: Context) -> Run:
        get0 = scalar_source(d.operands[0], kind, d)
        get1 = scalar_source(d.operands[1], kind, d)

        def run(g: Group) -> None:
            set_scc(g, fn(get0(g), get1(g)))

        return run

    register(name, build)


def add_overflow(result: Array, a: Array, b: Array) -> Array:
    """Tell where a signed addition overflowed."""
    return ((a ^ result) & (b ^ result)) < 0
