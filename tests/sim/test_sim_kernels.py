"""The decode MoE kernels in the functional model: bit-exact, silent, and every wait needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kernel_statements import scenario, stated_in

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.listings import parse_disassembly
from netra_build.checkasm.model.launch import Options, prepare

down_reduce = stated_in("moe").down_reduce

DECODE = ("moe_gate_up_decode_m1", "moe_silu_quant_decode_m1", "moe_down_reduce_decode_m1")
S_NOP = (0xBF800000).to_bytes(4, "little")


@pytest.fixture(scope="module")
def golden(toolchain, root):
    """Return ``golden(tactic)``: the linked golden source and its symbol."""

    def build(tactic: str) -> tuple[bytes, str]:
        source = Path(root, "golden", "gfx950", tactic, "kernel.s").read_bytes()
        hsaco = toolchain.link([toolchain.assemble(source)])
        return hsaco, read_code_object(hsaco, tactic).kernels[0].symbol

    return build


def run(toolchain, hsaco: bytes, symbol: str, launch, grid=None):
    prepared = prepare(hsaco, symbol, toolchain, symbol)
    args = list(launch.values.values())
    return prepared.launch(grid or launch.grid, launch.block, args, Options())


@pytest.mark.parametrize("case", ["random", "zeros"])
@pytest.mark.parametrize("tactic", DECODE)
def test_decode_kernels_are_exact_and_silent(toolchain, golden, tactic, case):
    launch = scenario(tactic, "", case, 3)
    outcome = run(toolchain, *golden(tactic), launch)
    assert [finding.line() for finding in outcome.report.findings] == []
    for name, expected in launch.expected.items():
        found = outcome.outputs[name]
        assert np.array_equal(found.view(np.uint8), np.ascontiguousarray(expected).view(np.uint8))


def test_whole_layer_at_full_grid(toolchain, golden):
    """576 + 9 + 128 work-groups per token, each kernel reading what the one before wrote."""
    launches = [scenario(tactic, "", "random", 5) for tactic in DECODE]
    first, middle, last = (dict(launch.values) for launch in launches)
    assert launches[0].grid == (576, 2, 1)

    def step(at: int, values: dict) -> dict:
        launch = replace(launches[at], values=values)
        outcome = run(toolchain, *golden(DECODE[at]), launch)
        assert outcome.report.is_clean
        return outcome.outputs

    middle["in"] = step(0, first)["out"].reshape(middle["in"].shape)
    activated = step(1, middle)
    last["act"] = activated["out"].reshape(last["act"].shape)
    last["act_scale"] = activated["scale"].reshape(last["act_scale"].shape)
    last["topk_ids"] = first["topk_ids"]
    expected = down_reduce(*list(last.values())[:-1])
    assert np.array_equal(step(2, last)["out"], expected)


@pytest.mark.parametrize("tactic", DECODE)
def test_every_wait_and_barrier_taken_out_is_found(toolchain, golden, sample, tactic):
    """The mutation score of the dynamic checks on these kernels is 100 %."""
    hsaco, symbol = golden(tactic)
    code = read_code_object(hsaco, tactic)
    text = code.section(".text")
    listing = parse_disassembly(toolchain.disassemble(hsaco, label=tactic)).instructions
    launch = scenario(tactic, "", "random", 1)
    waits = [i for i in listing if i.mnemonic in ("s_waitcnt", "s_barrier")]
    assert len(waits) >= 3
    missed = []
    for wait in sample(waits, 12):
        at = text.offset + wait.address - text.address
        mutant = hsaco[:at] + S_NOP + hsaco[at + 4 :]
        if run(toolchain, mutant, symbol, launch, (2, 1, 1)).report.is_clean:
            missed.append(f"{wait.address:#x}: {wait.text}")
    assert missed == []


@pytest.mark.parametrize("tactic", DECODE)
def test_buffers_one_element_too_short_are_found(toolchain, golden, tactic):
    hsaco, symbol = golden(tactic)
    launch = scenario(tactic, "", "random", 1)
    for name, value in launch.values.items():
        if not isinstance(value, np.ndarray):
            continue
        # Weights of experts that no token chose are never touched.
        shortened = value.reshape(-1)[:-1]
        if name in ("w13", "w13_scale", "w2", "w2_scale"):
            experts = int(np.max(launch.values["topk_ids"])) + 1
            shortened = value[:experts].reshape(-1)[:-1]
        cut = replace(launch, values=launch.values | {name: shortened})
        counts = run(toolchain, hsaco, symbol, cut).report.counts
        assert list(counts) == ["out-of-bounds"], name
