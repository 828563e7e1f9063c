"""Arithmetic of the statements: operations rounded once, plain results, sums over lanes.

Denormals are kept throughout. A contract says where it uses a plain result of v_rcp, v_sqrt, v_exp
or v_log, and where a refined, correctly rounded one. The statements take the nearest float32 for a
plain one; inside ``second_nearest`` they take the float32 on the other side of the exact number,
which is less than one unit off as well. A kernel that meets its contract with both does not depend
on the choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal, localcontext

import numpy as np

from netra_build.checkasm.numerics.formats import F32, F64

F32Like = F32 | np.float32

SMALLEST_NORMAL = np.float32(2.0**-126)
LOG2E = np.uint32(0x3FB8AA3B).view(np.float32)
LN2 = np.uint32(0x3F317218).view(np.float32)
LOWEST_LOG = np.float32(-126 * np.log(2.0))
"""Logarithm of the smallest normal number."""

_is_second: ContextVar[bool] = ContextVar("is_second", default=False)


def multiply(a: F32Like, b: F32Like) -> F32:
    """Return the product rounded once to float32, without numpy's warnings."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return np.multiply(a, b, dtype=np.float32)


def add(a: F32Like, b: F32Like) -> F32:
    """Return the sum rounded once to float32, without numpy's warnings."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.add(a, b, dtype=np.float32)


def fma(a: F32, b: F32, c: F32) -> F32:
    """Return a*b + c with one rounding.

    The product is exact in float64; the sum is rounded to odd there, which keeps the second
    rounding to float32 from seeing a false tie.
    """
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        total = product + addend
        back = total - product
        error = (product - (total - back)) + (addend - back)
        is_even = (total.view(np.int64) & 1) == 0
        inexact = (error != 0) & np.isfinite(total) & np.isfinite(error)
        toward = np.where(error > 0, np.inf, -np.inf)
        odd = np.where(inexact & is_even, np.nextafter(total, toward), total)
        return odd.astype(np.float32)


def reciprocal(values: F32) -> F32:
    """Return 1/x, correctly rounded: one float64 division has enough bits to round twice."""
    with np.errstate(divide="ignore", over="ignore"):
        return (1.0 / values.astype(np.float64)).astype(np.float32)


def divide(numerator: F32, denominator: F32) -> F32:
    """Return the correctly rounded quotient."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        quotient = numerator.astype(np.float64) / denominator.astype(np.float64)
        return quotient.astype(np.float32)


@contextmanager
def second_nearest() -> Iterator[None]:
    """Context in which plain results are the second nearest floats."""
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


def exp2(values: F32) -> F32:
    """Return 2**x as v_exp delivers it: correctly rounded, unless ``plain`` says otherwise.

    float64 decides unless its result lies within a few units of the middle between two float32
    numbers; those are computed again with 60 digits.
    """
    with np.errstate(over="ignore", under="ignore"):
        wide = np.exp2(values.astype(np.float64))
        low = np.nextafter(wide, 0.0)
        high = np.nextafter(wide, np.inf)
        for _ in range(3):
            low, high = np.nextafter(low, 0.0), np.nextafter(high, np.inf)
        result = wide.astype(np.float32)
        unsure = low.astype(np.float32) != high.astype(np.float32)
        unsure &= values != np.rint(values)
    for index in np.argwhere(unsure):
        place = tuple(index)
        result[place] = _exp2_exact(float(values[place]))
    return delivered(result, wide)


def _exp2_exact(value: float) -> np.float32:
    """Round 2**value once, from a decimal with 60 digits (the result is never a tie)."""
    with localcontext() as context:
        context.prec = 60
        exact = (Decimal(2).ln() * Decimal(value)).exp()
        middle = np.float32(float(exact))
        neighbours = [np.nextafter(middle, np.float32(way)) for way in (-np.inf, np.inf)]
        finite = [x for x in (middle, *neighbours) if np.isfinite(x)]
        return np.float32(min(finite, key=lambda x: abs(Decimal(float(x)) - exact)))


def exponential(x: F32) -> F32:
    """Return exp(x) as the contracts write it: one fma and one exp2, subnormal results kept."""
    is_small = multiply(x, LOG2E) < -126
    raised = np.where(is_small, np.float32(64), np.float32(0))
    power = exp2(fma(x, np.full_like(x, LOG2E), raised))
    with np.errstate(under="ignore"):
        lowered = (power.astype(np.float64) * 2.0**-64).astype(np.float32)
    return np.where(is_small, lowered, power)


def at_scaling(x: F32) -> F32:
    """Return those x whose product with log2 e is -126 or the next float below or above.

    Below -126 the kernels scale the power, which rounds its argument at another place.
    """
    border = np.float32(-126)
    beside = [np.nextafter(border, np.float32(way)) for way in (-np.inf, np.inf)]
    return x[np.isin(multiply(x, LOG2E), [border, *beside])]


def tree64(lanes: F32) -> F32:
    """Return the sum of the last axis, 64 lanes.

    Within each row of 16 lanes a lane adds the one 8, 4, 2 and 1 before it (+0 where there is
    none), so that lane 15 has the sum; the row sums are added as (R2 + R3) + (R0 + R1).
    """
    rows = lanes.reshape(*lanes.shape[:-1], 4, 16)
    for distance in (8, 4, 2, 1):
        before = np.zeros_like(rows)
        before[..., distance:] = rows[..., :-distance]
        rows = add(rows, before)
    sums = rows[..., 15]
    return add(add(sums[..., 2], sums[..., 3]), add(sums[..., 0], sums[..., 1]))


def xor16(lanes: F32) -> F32:
    """Return the sum of the last axis, 16 lanes: a butterfly of distance 8, 4, 2, 1."""
    index = np.arange(16)
    for distance in (8, 4, 2, 1):
        lanes = add(lanes, lanes[..., index ^ distance])
    first: F32 = lanes[..., 0]
    return first
