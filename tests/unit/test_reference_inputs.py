"""Contracts, input cases, comparison and guard zones of the reference."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from netra_build.checkasm.numerics.compare import (
    compare_arrays,
    compare_outputs,
    guarded_output,
)
from netra_build.checkasm.numerics.inputs import CASES, make_inputs, parse_label
from netra_build.checkasm.numerics.registry import CONTRACTS, Sizes, Tolerance, contract_of
from netra_build.core.errors import BadInput

ULPS = Tolerance("ulps", 2, "test")
EXACT = Tolerance()
DTYPES = {"fp8_e4m3": "uint8", "fp32": "float32", "bf16": "uint16", "int32": "int32"}


@pytest.mark.parametrize("tactic", CONTRACTS)
def test_contract_is_the_kernel_abi(tactic: str, root: Path) -> None:
    """Names, offsets, types, launch and kernarg size, against the published argument tables."""
    contract = contract_of(tactic)
    abi = json.loads((root / f"manifests/gfx950/contracts/{tactic}.json").read_text())
    sizes = Sizes(tokens=3, experts=257)
    names = {"tokens": 3, "routed_rows": 27}
    assert [a.name for a in contract.arguments] == [a["name"] for a in abi["arguments"]]
    for ours, theirs in zip(contract.arguments, abi["arguments"], strict=True):
        assert (ours.offset, ours.size) == (theirs["offset"], theirs["size"])
        assert (ours.kind, ours.access) == (theirs["kind"], theirs["access"])
        assert list(ours.shape(sizes)) == [names.get(n, n) for n in theirs["shape"]]
        if ours.kind == "pointer":
            assert ours.dtype == DTYPES[theirs["dtype"]]
    assert list(contract.block) == abi["block"]
    assert list(contract.grid(sizes)) == [names.get(n, n) for n in abi["grid"]]
    last = contract.arguments[-1]
    assert 0 <= contract.kernarg_bytes - last.offset - last.size < 8


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tactic", CONTRACTS)
def test_every_case_is_repeatable_finite_and_quiet(tactic: str, case: str, seed: int) -> None:
    """The label repeats the bytes; every expected output is made of numbers, without warnings."""
    contract = contract_of(tactic)
    sizes = Sizes(tokens=1, experts=9)
    first = make_inputs(contract, case, seed, sizes)
    assert first.label == f"{tactic}/{case}/{seed}"
    again = make_inputs(*parse_label(first.label), sizes)
    for name, value in first.values.items():
        assert np.array_equal(value, again.values[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outputs = contract.expected(first.values)
    for argument in contract.outputs():
        array = outputs[argument.name]
        assert array.shape == argument.shape(sizes)
        assert str(array.dtype) == argument.dtype
        assert np.isfinite(array.astype(np.float64)).all()
        assert argument.dtype != "uint8" or not np.any(array & 0x7F == 0x7F)


def test_seeds_give_different_inputs() -> None:
    """Two seeds, two arguments of one launch: four different arrays."""
    contract = contract_of("moe_down_reduce_decode_m1")
    sets = [make_inputs(contract, "random", seed, Sizes(1, 9)) for seed in (1, 2)]
    assert not np.array_equal(sets[0].values["act"], sets[1].values["act"])
    same = sets[0].values["act"].reshape(-1)[:512] == sets[0].values["w2"].reshape(-1)[:512]
    assert not same.all()


def test_routing_cases() -> None:
    """What the routing cases promise, and distinct experts otherwise."""
    contract = contract_of("moe_down_reduce_decode_m1")

    def ids(case: str) -> np.ndarray:
        return make_inputs(contract, case, 1, Sizes(4, 12)).values["topk_ids"]

    assert all(len(set(row)) == 9 for row in ids("random").tolist())
    assert all(len(set(row)) == 1 for row in ids("repeated_expert").tolist())
    assert all(len(set(row)) < 9 for row in ids("duplicated_ids").tolist())
    assert ids("last_expert")[:, -1].tolist() == [11] * 4
    weights = make_inputs(contract, "one_hot_routing", 1, Sizes(4, 12)).values["topk_weights"]
    assert sorted(weights.reshape(-1).tolist()) == [0.0] * 32 + [1.0] * 4


def test_subnormal_case_reaches_subnormals() -> None:
    """The case is worth its name: outputs lie below the smallest normal number."""
    contract = contract_of("moe_gate_up_decode_m1")
    values = make_inputs(contract, "subnormals", 1, Sizes(1, 2)).values
    out = contract.expected(values)["out"]
    assert 0 < np.abs(out).max() < 2.0**-126


def test_outputs_start_as_junk() -> None:
    """A kernel that writes nothing cannot pass."""
    values = make_inputs(contract_of("moe_gate_up_decode_m1"), "zeros", 1, Sizes(1, 1)).values
    assert set(values["out"].view(np.uint32).reshape(-1).tolist()) == {0xA5A5A5A5}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: contract_of("moe_gate_up_decode"),
            'no reference for tactic "moe_gate_up_decode"\n'
            'hint: did you mean "moe_gate_up_decode_m1"?',
        ),
        (
            lambda: make_inputs(contract_of("moe_gate_up_decode_m1"), "zero"),
            'moe_gate_up_decode_m1: unknown input case "zero"\nhint: did you mean "zeros"?',
        ),
        (
            lambda: contract_of("moe_silu_quant_decode_m1").argument("row"),
            'moe_silu_quant_decode_m1: unknown argument "row"\nhint: did you mean "rows"?',
        ),
        (
            lambda: parse_label("a/b"),
            '"a/b" is no input label; expected TACTIC/CASE/SEED, got a/b',
        ),
        (
            lambda: Sizes(tokens=0),
            "sizes are out of range; expected 1 to 1024 tokens and 1 to 257 experts, got 0 and 12",
        ),
        (
            lambda: compare_outputs({"out": np.zeros(1)}, {}, EXACT),
            'output "out" is missing',
        ),
        (
            lambda: compare_arrays("out", np.zeros(2, "f4"), np.zeros(2, "f8"), EXACT),
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
    result = compare_arrays("out", expected, got, EXACT)
    assert not result.is_equal
    assert result.line() == (
        'output "out": 2 of 4 elements differ, by up to 1 ulp: '
        "[0, 0] expected 0x3f800000, got 0x3f800001 (1 ulp); "
        "[0, 1] expected 0x00000000, got 0x80000000 (0 ulp)"
    )
    assert compare_arrays("out", expected, expected, EXACT).line() == (
        'output "out": 4 elements agree'
    )


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
    result = compare_arrays("out", np.zeros(1000, np.uint8), np.full(1000, 7, np.uint8), EXACT)
    assert (result.differing, len(result.first), result.largest_ulps) == (1000, 8, 7)


def test_guard_zones_notice_one_byte_on_either_side() -> None:
    """Writes inside are fine, one byte before or behind the output is not."""
    for at, shown in ((-1, "-1"), (24, "24"), (279, "279")):
        guarded = guarded_output("out", "float32", (2, 3))
        guarded.view[...] = 5.0
        assert guarded.fault() == ""
        guarded.buffer[guarded.start + at] ^= 1
        assert guarded.fault() == (
            f'output "out": guard zone written at byte {shown} from its start'
        )


def test_guarded_output_starts_as_junk_and_aligned() -> None:
    """The view shares the buffer's memory and holds the pattern before the launch."""
    guarded = guarded_output("out", "uint16", (4,), before=32, behind=16)
    assert guarded.start % 16 == 0
    assert guarded.view.view(np.uint8).tolist() == [0xA5, 0x5A, 0xC3, 0x3C] * 2
