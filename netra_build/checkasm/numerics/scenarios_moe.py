"""Launches of the decode MoE kernels, one input case and seed each."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.checkasm.numerics.inputs import CASES, make_inputs
from netra_build.checkasm.numerics.registry import Shape, Sizes, contract_of
from netra_build.checkasm.numerics.scenario import Scenario
from netra_build.core.errors import BadInput

MOE_CASES = tuple(CASES)
SIZES_BY_CASE = {"random": (1, 2, 1), "last_expert": (2,)}
"""Rows of activations, by case and then by seed; one row where a case is not named."""

SURPLUS_BY_CASE = {"equal": 2}
"""Work-groups beyond the last row, for a kernel that is told how many rows there are."""


def decode(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch of one decode MoE kernel, 1 or 2 rows, 12 experts in memory."""
    contract = contract_of(tactic)
    rows = SIZES_BY_CASE.get(case, (1,))
    inputs = make_inputs(contract, case, seed, Sizes(tokens=rows[(seed - 1) % len(rows)]))
    width, height, depth = _extent(contract.grid(inputs.sizes))
    if any(argument.kind != "pointer" for argument in contract.arguments):
        width += SURPLUS_BY_CASE.get(case, 0)
    return Scenario(
        label=inputs.label,
        tactic=tactic,
        specialization=specialization,
        values=inputs.values,
        grid=(width, height, depth),
        block=_extent(contract.block),
        expected=contract.expected(inputs.values),
    )


def _extent(shape: Shape) -> tuple[int, int, int]:
    if len(shape) != 3:
        raise BadInput("extent has not three dimensions", expected=3, got=len(shape))
    return shape[0], shape[1], shape[2]
