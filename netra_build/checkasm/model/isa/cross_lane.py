"""Instructions that move values between lanes or between lanes and scalar registers."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.operands import Decoded, Unsupported
from netra_build.checkasm.model.sources import Context, is_vector, scalar_dest, scalar_source

EVERYONE = np.ones((1, LANES), np.bool_)


def everyone(g: Group) -> Array:
    """Return bool[n, 64], all true: for instructions that ignore EXEC."""
    return np.broadcast_to(EVERYONE, (g.n, LANES))


def one_lane(g: Group, lane: Array) -> Array:
    """Return bool[n, 64] with one lane per wavefront."""
    result = np.zeros((g.n, LANES), np.bool_)
    result[np.arange(g.n), lane] = True
    return result


def _build_read_first(d: Decoded, context: Context) -> Run:
    """Lane 0 is read when no lane is active."""
    d.allow()
    put = scalar_dest(d.operands[0], 1, d)
    if not is_vector(d.operands[1]):
        raise Unsupported(f'operand "{d.operands[1].text}"')
    row = context.row(d.operands[1])

    def run(g: Group) -> None:
        lane = np.argmax(g.E, axis=1)
        if g.vstate[row]:
            g.check_vector(row, d, one_lane(g, lane))
        put(g, g.V[row][np.arange(g.n), lane])

    return run


def _build_read_lane(d: Decoded, context: Context) -> Run:
    d.allow()
    put = scalar_dest(d.operands[0], 1, d)
    row = context.row(d.operands[1])
    select = scalar_source(d.operands[2], "u32", d)

    def run(g: Group) -> None:
        lane = np.broadcast_to(select(g) & np.uint32(63), (g.n,)).astype(np.int64)
        if g.vstate[row]:
            g.check_vector(row, d, one_lane(g, lane))
        put(g, g.V[row][np.arange(g.n), lane])

    return run


def _build_write_lane(d: Decoded, context: Context) -> Run:
    """EXEC does not matter."""
    d.allow()
    row = context.row(d.operands[0])
    value = scalar_source(d.operands[1], "b32", d)
    select = scalar_source(d.operands[2], "u32", d)

    def run(g: Group) -> None:
        lane = np.broadcast_to(select(g) & np.uint32(63), (g.n,)).astype(np.int64)
        if g.vstate[row]:
            g.touch_vector(row, d, one_lane(g, lane))
        g.V[row][np.arange(g.n), lane] = value(g)

    return run


register("v_readfirstlane_b32", _build_read_first)
register("v_readlane_b32", _build_read_lane)
register("v_writelane_b32", _build_write_lane)


def _swap(name: str, first: Array, second: Array) -> None:
    """Exchange lanes ``first`` of the result register with lanes ``second`` of the source."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow("bound_ctrl", "fi")
        a, b = context.row(d.operands[0]), context.row(d.operands[1])

        def run(g: Group) -> None:
            if not g.full:
                raise Unsupported("lanes switched off")
            for row in (a, b):
                if g.vstate[row]:
                    g.check_vector(row, d)
                    g.touch_vector(row, d)
            kept = g.V[a][:, first]
            g.V[a][:, first] = g.V[b][:, second]
            g.V[b][:, second] = kept

        return run

    register(name, build)


_LANE = np.arange(LANES)
_swap("v_permlane32_swap_b32", _LANE[32:], _LANE[:32])
_swap("v_permlane16_swap_b32", _LANE[_LANE // 16 % 2 == 1], _LANE[_LANE // 16 % 2 == 0])


def _build_swap(d: Decoded, context: Context) -> Run:
    d.allow()
    a, b = context.row(d.operands[0]), context.row(d.operands[1])

    def run(g: Group) -> None:
        for row in (a, b):
            if g.vstate[row]:
                g.check_vector(row, d)
                g.touch_vector(row, d)
        kept = g.V[a].copy()
        np.copyto(g.V[a], g.V[b], where=g.E)
        np.copyto(g.V[b], kept, where=g.E)

    return run


register("v_swap_b32", _build_swap)
