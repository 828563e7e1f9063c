"""Launches against the published argument tables, input cases, and comparison of outputs."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from kernel_statements import entry_of, scenario, stated_in, stated_tactics

from netra_build.checkasm.numerics.scenario import Bound, compare_arrays
from netra_build.core.errors import BadInput

moe = stated_in("moe")

ULPS = Bound(2)
BYTES = {"i64": 8, "u64": 8, "i32": 4, "int32": 4, "fp32": 4, "bf16": 2, "u8": 1, "fp8_e4m3": 1}
MOE = ("moe_gate_up_decode_m1", "moe_silu_quant_decode_m1", "moe_down_reduce_decode_m1")


def abi_of(root: Path, tactic: str) -> dict:
    """Return the published argument table."""
    return json.loads((root / f"manifests/gfx950/contracts/{tactic}.json").read_text())


@pytest.mark.parametrize("tactic", stated_tactics())
def test_a_launch_is_that_of_the_kernel_abi(tactic: str, root: Path) -> None:
    """Names in order, pointers and values, sizes of elements, who writes, block and grid."""
    variant = list(entry_of(tactic).specializations)[-1]
    abi, launch = abi_of(root, tactic), scenario(tactic, variant)
    assert list(launch.values) == [argument["name"] for argument in abi["arguments"]]
    for argument in abi["arguments"]:
        name, value = argument["name"], launch.values[argument["name"]]
        if isinstance(value, int):
            assert value == 0 if argument["kind"] == "pointer" else 0 <= value < 2**32
        else:
            assert argument["kind"] == "pointer"
            is_read = name not in ("scratch", "profile")
            assert value.dtype.itemsize == BYTES[argument["dtype"]] or not is_read, name
        assert argument["access"] in ("write", "read_write") or name not in launch.expected
    for ours, theirs in zip(
        (*launch.block, *launch.grid), (*abi["block"], *abi["grid"]), strict=True
    ):
        assert isinstance(theirs, str) or ours == theirs


@pytest.mark.parametrize("tactic", MOE)
def test_the_shapes_of_a_launch_are_those_of_the_kernel_abi(tactic: str, root: Path) -> None:
    """Two tokens; of the experts only a few are in memory."""
    launch, abi = scenario(tactic, seed=2), abi_of(root, tactic)
    sizes = {"tokens": 2, "routed_rows": 18, 257: moe.EXPERTS}
    for argument in abi["arguments"]:
        value = launch.values[argument["name"]]
        assert list(np.shape(value)) == [sizes.get(n, n) for n in argument["shape"]]
    assert list(launch.grid) == [sizes.get(n, n) for n in abi["grid"]]


@pytest.mark.parametrize("case", entry_of(MOE[0]).cases)
@pytest.mark.parametrize("tactic", MOE)
def test_every_case_is_repeatable_finite_and_quiet(
    tactic: str, case: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The label repeats the bytes; every expected output is made of numbers, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = scenario(tactic, "", case, seed)
    assert first.label == f"{tactic}/{case}/{seed}"
    for statement in ("gate_up", "silu_quant", "down_reduce"):
        monkeypatch.setattr(moe, statement, lambda *inputs: (inputs, inputs))
    again = scenario(tactic, "", case, seed)
    for name, value in first.values.items():
        assert np.array_equal(value, again.values[name])
    for name, array in first.expected.items():
        assert array.shape == first.values[name].shape
        assert array.dtype == first.values[name].dtype
        assert np.isfinite(array.astype(np.float64)).all()
        assert array.dtype != np.uint8 or not np.any(array & 0x7F == 0x7F)


def test_seeds_give_different_inputs() -> None:
    """Two seeds, two arguments of one launch: four different arrays."""
    sets = [scenario("moe_down_reduce_decode_m1", seed=seed).values for seed in (1, 3)]
    assert not np.array_equal(sets[0]["act"], sets[1]["act"])
    same = sets[0]["act"].reshape(-1)[:512] == sets[0]["w2"].reshape(-1)[:512]
    assert not same.all()


def test_routing_cases() -> None:
    """What the routing cases promise, and distinct experts otherwise."""

    def values(case: str, name: str) -> np.ndarray:
        return scenario("moe_down_reduce_decode_m1", "", case).values[name]

    assert all(len(set(row)) == 9 for row in values("random", "topk_ids").tolist())
    assert all(len(set(row)) == 1 for row in values("repeated_expert", "topk_ids").tolist())
    assert all(len(set(row)) < 9 for row in values("duplicated_ids", "topk_ids").tolist())
    assert values("last_expert", "topk_ids")[:, -1].tolist() == [11] * 2
    weights = values("one_hot_routing", "topk_weights")
    assert sorted(weights.reshape(-1).tolist()) == [0.0] * 8 + [1.0]


def test_subnormal_case_reaches_subnormals() -> None:
    """The case is worth its name: outputs lie below the smallest normal number."""
    out = scenario("moe_gate_up_decode_m1", "", "subnormals").expected["out"]
    assert 0 < np.abs(out).max() < 2.0**-126


def test_outputs_start_as_junk() -> None:
    """A kernel that writes nothing cannot pass."""
    values = scenario("moe_gate_up_decode_m1", "", "zeros").values
    assert set(values["out"].view(np.uint32).reshape(-1).tolist()) == {0xA5A5A5A5}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: entry_of("moe_gate_up_decode"),
            'no numeric contract for "moe_gate_up_decode"\n'
            'hint: did you mean "moe_gate_up_decode_m1"?',
        ),
        (
            lambda: scenario("moe_gate_up_decode_m1", "", "zero"),
            'moe_gate_up_decode_m1: unknown input case "zero"\nhint: did you mean "zeros"?',
        ),
        (
            lambda: compare_arrays("out", np.zeros(2, "f4"), np.zeros(2, "f8")),
            'output "out" has another shape or type; expected float32 [2], got float64 [2]',
        ),
    ],
)
def test_refusals(call, message: str) -> None:
    """Whole messages of what is refused."""
    with pytest.raises(BadInput) as caught:
        call()
    assert str(caught.value) == message


def test_exact_comparison_sees_every_bit() -> None:
    """A flipped low bit and a zero's sign; the line names places, bits and distance."""
    expected = np.array([[1.0, 0.0], [2.0, 3.0]], np.float32)
    got = expected.copy()
    got.view(np.uint32)[0, 0] += 1
    got[0, 1] = -0.0
    result = compare_arrays("out", expected, got)
    assert not result.is_equal
    assert result.line() == (
        'output "out": 2 of 4 elements differ, by up to 1 ulp: '
        "[0, 0] expected 0x3f800000, got 0x3f800001 (1 ulp); "
        "[0, 1] expected 0x00000000, got 0x80000000 (0 ulp)"
    )
    assert compare_arrays("out", expected, expected).line() == ('output "out": 4 elements agree')


@pytest.mark.parametrize(
    ("left", "right", "ulps", "agrees"),
    [
        (0x3F80, 0x3F82, 2, True),
        (0x3F80, 0x3F83, 3, False),
        (0x0001, 0x8001, 2, True),
        (0x0002, 0x8001, 3, False),
        (0x8000, 0x0000, 0, True),
    ],
)
def test_ulp_comparison_of_bf16(left: int, right: int, ulps: int, agrees: bool) -> None:
    """Distances across zero count representable values, as everywhere else."""
    arrays = [np.array([bits], np.uint16) for bits in (left, right)]
    result = compare_arrays("out", *arrays, ULPS)
    assert (result.largest_ulps, result.is_equal) == (ulps, agrees)


def test_only_the_first_differences_are_kept() -> None:
    """A wrong array of any size gives a short report with the right count."""
    result = compare_arrays("out", np.zeros(1000, np.uint8), np.full(1000, 7, np.uint8))
    assert (result.differing, len(result.first), result.largest_ulps) == (1000, 8, 7)
