"""Plain results: the nearest float, and the one on the other side of the exact number."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np
import pytest

from netra_build.checkasm.numerics.arithmetic import (
    exp2,
    plain_log2,
    plain_reciprocal,
    plain_square_root,
    second_nearest,
)

F32 = np.float32


def decimal_log2(x: Decimal) -> Decimal:
    return x.ln() / Decimal(2).ln()


FUNCTIONS: list[tuple[Callable, Callable[[Decimal], Decimal], tuple[float, float]]] = [
    (plain_reciprocal, lambda x: 1 / x, (-30, 30)),
    (plain_square_root, Decimal.sqrt, (-30, 30)),
    (plain_log2, decimal_log2, (-30, 30)),
    (exp2, lambda x: (x * Decimal(2).ln()).exp(), (-8, 6)),
]


@pytest.mark.parametrize(("function", "exact", "powers"), FUNCTIONS)
def test_the_second_nearest_is_the_other_neighbour(
    function: Callable, exact: Callable[[Decimal], Decimal], powers: tuple[float, float]
) -> None:
    x = np.exp2(np.random.default_rng(5).uniform(*powers, 200)).astype(F32)
    near = function(x)
    with second_nearest():
        second = function(x)
    assert (function(x) == near).all()
    with localcontext() as context:
        context.prec = 50
        for number, one, other in zip(x, near, second, strict=True):
            true = exact(Decimal(float(number)))
            low, high = sorted((Decimal(float(one)), Decimal(float(other))))
            assert low < true < high
            assert np.nextafter(one, other) == other
            assert abs(Decimal(float(one)) - true) <= abs(Decimal(float(other)) - true)


EXACT = [
    (plain_reciprocal, [0.25, -2.0, np.inf, 0.0, np.nan, 2.0**127, 1e-39, 3.3e38]),
    (plain_square_root, [0.0, 2.25, np.inf, 16.0]),
    (plain_log2, [1.0, 0.0, 0.125, np.inf]),
    (exp2, [0.0, 3.0, -149.0, -1000.0, 1000.0, np.inf, -np.inf, -126.5, -149.3]),
]


@pytest.mark.parametrize(("function", "numbers"), EXACT)
def test_exact_and_extreme_results_have_no_second(function: Callable, numbers: list) -> None:
    x = np.array(numbers, F32)
    near = function(x)
    with second_nearest():
        second = function(x)
    assert near.view(np.uint32).tolist() == second.view(np.uint32).tolist()
