"""Instructions that may be one unit off: nearest, or second nearest where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np
import pytest

from netra_build.checkasm.model.arith.transcendental import APPROXIMATE, SECOND_NEAREST
from netra_build.checkasm.model.launch import Options, prepare

BODY = """s_load_dwordx2 s[4:5], s[0:1], 0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
global_load_dword v2, v1, s[4:5]
s_waitcnt vmcnt(0)
{} v2, v2
s_nop 0
global_store_dword v1, v2, s[4:5]"""

EXACT: dict[str, tuple[Callable[[Decimal], Decimal], tuple[float, float]]] = {
    "v_rcp_f32": (lambda x: 1 / x, (-30, 30)),
    "v_rcp_iflag_f32": (lambda x: 1 / x, (-30, 30)),
    "v_sqrt_f32": (Decimal.sqrt, (-30, 30)),
    "v_rsq_f32": (lambda x: 1 / x.sqrt(), (-30, 30)),
    "v_exp_f32": (lambda x: (x * Decimal(2).ln()).exp(), (-8, 6)),
    "v_log_f32": (lambda x: x.ln() / Decimal(2).ln(), (-30, 30)),
}


def both(bench: object, name: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return what an instruction delivers on either machine, and whether it counts as such."""
    prepared = prepare(bench.build(BODY.format(name)), "bench", bench.toolchain)
    found = []
    for machine in (prepared, prepared.approximating(SECOND_NEAREST)):
        outcome = machine.launch((1, 1, 1), (64, 1, 1), {"data": x}, Options())
        assert outcome.report.is_clean
        found.append(outcome.outputs["data"])
    return found[0], found[1], prepared.has_approximate_results


def test_every_instruction_has_its_statement_here() -> None:
    assert set(EXACT) == set(APPROXIMATE)


@pytest.mark.parametrize("name", APPROXIMATE)
def test_the_exact_number_lies_between_both(bench: object, name: str) -> None:
    exact, powers = EXACT[name]
    x = np.exp2(np.random.default_rng(9).uniform(*powers, 64)).astype(np.float32)
    near, second, is_approximate = both(bench, name, x)
    assert is_approximate
    with localcontext() as context:
        context.prec = 50
        for number, one, other in zip(x, near, second, strict=True):
            true = exact(Decimal(float(number)))
            low, high = sorted((Decimal(float(one)), Decimal(float(other))))
            assert low < true < high
            assert np.nextafter(one, other) == other
            assert abs(Decimal(float(one)) - true) <= abs(Decimal(float(other)) - true)


KEPT = {
    "v_rcp_f32": [0.25, -2.0, np.inf, 0.0, -0.0, np.nan, 2.0**127, 1e-39, 3.3e38],
    "v_sqrt_f32": [0.0, -0.0, 2.25, np.inf, 16.0, -1.0],
    "v_rsq_f32": [0.0, 0.25, 4.0, np.inf],
    "v_exp_f32": [0.0, 3.0, -149.0, -1000.0, 1000.0, np.inf, -np.inf, -126.5, -149.3],
    "v_log_f32": [1.0, 0.0, 0.125, np.inf, -1.0],
}


@pytest.mark.parametrize(("name", "numbers"), KEPT.items())
def test_exact_and_extreme_results_are_the_same(bench: object, name: str, numbers: list) -> None:
    x = np.resize(np.array(numbers, np.float32), 64)
    near, second, _ = both(bench, name, x)
    assert near.view(np.uint32).tolist() == second.view(np.uint32).tolist()


def test_other_instructions_are_the_same(bench: object) -> None:
    x = np.random.default_rng(2).standard_normal(64).astype(np.float32)
    near, second, is_approximate = both(bench, "v_sin_f32", x)
    assert near.tolist() == second.tolist()
    assert not is_approximate
