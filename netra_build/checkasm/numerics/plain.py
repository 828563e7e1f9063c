"""Results of instructions that deliver one unit in the last place: v_rcp, v_sqrt, v_exp, v_log.

A contract says where such a plain result stands, and where a refined, correctly rounded one. The
statements take the nearest float for it; inside ``second_nearest`` they take the float32 on the
other side of the exact number, which is less than one unit off as well. A kernel that meets its
contract with both does not owe it to the luck of one machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

SMALLEST_NORMAL = np.float32(2.0**-126)

_is_second: ContextVar[bool] = ContextVar("is_second", default=False)


@contextmanager
def second_nearest() -> Iterator[None]:
    """State contracts for a machine whose plain results are the second nearest floats."""
    token = _is_second.set(True)
    try:
        yield
    finally:
        _is_second.reset(token)


def delivered(nearest: F32, exact: F64) -> F32:
    """Return what the machine delivers, given the nearest float32 and the number in float64.

    Exact, subnormal, zero and infinite results are the nearest ones always.
    """
    if not _is_second.get():
        return nearest
    above = exact > nearest
    other = np.nextafter(nearest, np.where(above, np.float32(np.inf), np.float32(-np.inf)))
    is_kept = ~above & ~(exact < nearest)
    for number in (nearest, other):
        is_kept |= ~np.isfinite(number) | (np.abs(number) < SMALLEST_NORMAL)
    return np.where(is_kept, nearest, other)


def plain_reciprocal(values: F32) -> F32:
    """Return 1/x as v_rcp delivers it."""
    with np.errstate(divide="ignore", over="ignore"):
        exact = 1.0 / values.astype(np.float64)
        return delivered(exact.astype(np.float32), exact)


def plain_square_root(values: F32) -> F32:
    """Return the square root as v_sqrt delivers it."""
    exact = np.sqrt(values.astype(np.float64))
    return delivered(exact.astype(np.float32), exact)


def plain_log2(values: F32) -> F32:
    """Return the logarithm to base two as v_log delivers it."""
    with np.errstate(divide="ignore"):
        exact = np.log2(values.astype(np.float64))
    return delivered(exact.astype(np.float32), exact)
