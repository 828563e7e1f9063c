"""Reciprocal, roots, exponential, logarithm, sine and cosine in float32.

The hardware is within one unit in the last place. The model gives the nearest float, and on
request the second nearest, which is within one unit as well. A float64 estimate nearly always
decides; where it lies too close to a float32 tie, decimal arithmetic does.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from functools import lru_cache

import numpy as np

from netra_build.checkasm.model.arith.ieee import F32, F64, SMALLEST_NORMAL, TIE, TIE_MASK, fix_nan
from netra_build.checkasm.model.arrays import Array

_EXACT = Context(prec=60, Emin=-9999, Emax=9999)
_LN_2 = _EXACT.ln(Decimal(2))
_NEAR = np.int64(16)
"""How many float64 units an estimate may be off."""

_SUBNORMAL_UNIT = 2.0**-149

Exact = Callable[[Decimal], Decimal]

NEAREST = "nearest"
SECOND_NEAREST = "second nearest"
"""Possible results of an instruction that the ISA allows an error of one unit."""

APPROXIMATE = ("v_rcp_f32", "v_rcp_iflag_f32", "v_sqrt_f32", "v_rsq_f32", "v_exp_f32", "v_log_f32")
"""Those instructions, as far as the choice applies to them."""


def second_nearest(nearest: Array, estimate: Array) -> Array:
    """Return the float32 on the other side of the exact result, less than one unit off.

    Exact results stay as they are, and so do subnormal ones, zeros, infinities and NaNs.
    """
    wide = nearest.astype(F64)
    toward = np.where(wide < estimate, F32(np.inf), F32(-np.inf))
    other = np.nextafter(nearest, toward)
    # NaN compares as false.
    is_inexact = (wide < estimate) | (wide > estimate)
    is_usual = np.isfinite(nearest) & np.isfinite(other)
    is_usual &= np.minimum(np.abs(nearest), np.abs(other)) >= SMALLEST_NORMAL
    return np.where(is_inexact & is_usual, other, nearest)


def _round(estimate: Array, x: Array, exact: Exact) -> Array:
    """Round a float64 estimate of f(x) to float32, asking ``exact`` near ties."""
    result = estimate.astype(F32)
    bits = np.ascontiguousarray(estimate).view(np.int64)
    doubtful = np.abs((bits & TIE_MASK) - TIE) <= _NEAR
    tiny = np.abs(estimate) < SMALLEST_NORMAL
    if tiny.any():
        # Subnormal results have ties half way between multiples of their unit.
        units = np.abs(estimate) / _SUBNORMAL_UNIT
        doubtful = np.where(tiny, np.abs(units - np.floor(units) - 0.5) < 2.0**-20, doubtful)
    if doubtful.any():
        # All lanes of a launch may hold the same number, over and over.
        values, inverse = np.unique(x[doubtful], return_inverse=True)
        nearest = [_nearest(exact, float(value)) for value in values]
        result[doubtful] = np.array(nearest, F32)[inverse]
    return result


@lru_cache(maxsize=1 << 12)
def _nearest(exact: Exact, x: float) -> np.float32:
    """Return the float32 nearest to f(x)."""
    value = exact(Decimal(x))
    middle = F32(float(value))
    choices = (np.nextafter(middle, F32(-np.inf)), middle, np.nextafter(middle, F32(np.inf)))

    def key(choice: np.float32) -> tuple[Decimal, int]:
        distance = _EXACT.abs(_EXACT.subtract(value, Decimal(float(choice))))
        return distance, int(choice.view(np.uint32)) & 1

    return min((c for c in choices if np.isfinite(c)), key=key)


def _one_unit(
    estimate: Callable[[Array], Array], exact: Exact | None = None
) -> Callable[..., Array]:
    """Return a function of float32 for which the ISA allows an error of one unit.

    ``estimate`` works in float64; without ``exact`` it needs no help near ties.
    """

    def run(x: Array, approximation: str = NEAREST) -> Array:
        wide = estimate(x.astype(F64))
        nearest = wide.astype(F32) if exact is None else _round(wide, x, exact)
        if approximation != NEAREST:
            nearest = second_nearest(nearest, wide)
        return fix_nan(nearest, x)

    return run


def _exact_reciprocal_root(value: Decimal) -> Decimal:
    return _EXACT.divide(Decimal(1), _EXACT.sqrt(value))


def _exact_exp2(value: Decimal) -> Decimal:
    return _EXACT.exp(_EXACT.multiply(value, _LN_2))


def _exact_log2(value: Decimal) -> Decimal:
    return _EXACT.divide(_EXACT.ln(value), _LN_2)


reciprocal = _one_unit(lambda x: 1.0 / x)
square_root = _one_unit(np.sqrt)
"""A negative number gives NaN, -0 gives -0."""
reciprocal_root = _one_unit(lambda x: 1.0 / np.sqrt(x), _exact_reciprocal_root)
# Beyond this range the result is zero or infinite; the bound keeps the estimate finite.
exp2 = _one_unit(lambda x: np.exp2(np.clip(x, -1000.0, 1000.0)), _exact_exp2)
log2 = _one_unit(np.log2, _exact_log2)
"""Zero gives -infinity, a negative number NaN."""

_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def _sine(turn: Decimal) -> Decimal:
    """sin(2 pi turn) for |turn| <= 1 by its power series."""
    x = _EXACT.multiply(_EXACT.multiply(Decimal(2), _PI), turn)
    square = _EXACT.multiply(x, x)
    term = total = x
    for k in range(1, 60):
        term = _EXACT.divide(_EXACT.multiply(term, -square), Decimal((2 * k) * (2 * k + 1)))
        total = _EXACT.add(total, term)
    return total


def _exact_cosine(turn: Decimal) -> Decimal:
    return _sine(_EXACT.subtract(Decimal("0.25"), abs(turn)))


def _of_turns(fn: np.ufunc, zero: float, exact: Exact) -> Callable[[Array], Array]:
    """Return a function of 2 pi x; float64 pi misses its exact zero."""

    def run(x: Array) -> Array:
        turn = x.astype(F64)
        turn = turn - np.rint(turn)
        estimate = np.where(np.abs(turn) == zero, 0.0, fn(2.0 * np.pi * turn))
        return fix_nan(_round(estimate, turn, exact), x)

    return run


sine, cosine = _of_turns(np.sin, 0.5, _sine), _of_turns(np.cos, 0.25, _exact_cosine)
