"""The whole decode MoE layer of one row at its real size: 9 routed rows of 257 experts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from kernel_statements import named_in
from numpy.typing import NDArray

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.model.launch import Options, Prepared, prepare

down_reduce, gate_up, silu_quant = named_in("moe", "down_reduce", "gate_up", "silu_quant")

HIDDEN, INTERMEDIATE, SLOTS = 2048, 512, 9
FULL_EXPERTS = 257
SHARED_EXPERT = 256


def prepared(root: Path, toolchain: Toolchain, tactic: str) -> Prepared:
    """Assemble and link one golden source."""
    unit = (root / "golden" / "gfx950" / tactic / "kernel.s").read_bytes()
    return prepare(
        toolchain.link([toolchain.assemble(unit)]), f"netra_{tactic}_gfx950", toolchain, tactic
    )


def finite_codes(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return fp8 codes without the two NaN codes."""
    codes = rng.integers(0, 255, shape, dtype=np.uint8)
    codes[codes == 0x7F] = 0x3F
    return codes


def run(kernel: Prepared, grid: tuple[int, int, int], block: int, args: list) -> dict:
    """Run one launch with every check on; nothing may be found."""
    outcome = kernel.launch(grid, (block, 1, 1), args, Options())
    assert outcome.report.findings == ()
    return dict(outcome.outputs)


def test_the_full_size_layer_agrees_bit_for_bit(
    root: Path, toolchain: Toolchain, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    hidden = finite_codes(rng, (1, HIDDEN))
    hidden_scale = np.exp2(rng.uniform(-6, 0, (1, 16))).astype(np.float32)
    w13 = finite_codes(rng, (FULL_EXPERTS, 2 * INTERMEDIATE, HIDDEN))
    w13_scale = np.exp2(rng.uniform(-8, -4, (FULL_EXPERTS, 8, 16))).astype(np.float32)
    w2 = finite_codes(rng, (FULL_EXPERTS, HIDDEN, INTERMEDIATE))
    w2_scale = np.exp2(rng.uniform(-8, -4, (FULL_EXPERTS, 16, 4))).astype(np.float32)
    routed = rng.permutation(SHARED_EXPERT)[: SLOTS - 1]
    ids = np.append(routed, SHARED_EXPERT).astype(np.int32).reshape(1, SLOTS)
    weights = rng.dirichlet(np.ones(SLOTS)).astype(np.float32).reshape(1, SLOTS)

    gate_up_f32 = np.zeros((SLOTS, 2 * INTERMEDIATE), np.float32)
    first = prepared(root, toolchain, "moe_gate_up_decode_m1")
    args = [hidden, hidden_scale, w13, w13_scale, ids, gate_up_f32]
    found = list(run(first, (576, 1, 1), 64, args).values())[5]
    wanted = gate_up(hidden, hidden_scale, w13, w13_scale, ids)
    assert found.tobytes() == wanted.tobytes()

    codes = np.zeros((SLOTS, INTERMEDIATE), np.uint8)
    scale = np.zeros((SLOTS, 4), np.float32)
    second = prepared(root, toolchain, "moe_silu_quant_decode_m1")
    rows = found.reshape(SLOTS, 2, INTERMEDIATE)
    outputs = list(run(second, (SLOTS, 1, 1), 64, [rows, codes, scale, SLOTS]).values())
    expected_codes, expected_scale = silu_quant(rows)
    assert outputs[1].tobytes() == expected_codes.tobytes()
    assert outputs[2].tobytes() == expected_scale.tobytes()

    out = np.zeros((1, HIDDEN), np.uint16)
    third = prepared(root, toolchain, "moe_down_reduce_decode_m1")
    act = outputs[1].reshape(1, SLOTS, INTERMEDIATE)
    act_scale = outputs[2].reshape(1, SLOTS, 4)
    args = [act, act_scale, w2, w2_scale, weights, ids, out]
    final = list(run(third, (128, 1, 1), 128, args).values())[6]
    wanted = down_reduce(act, act_scale, w2, w2_scale, weights, ids)
    assert final.tobytes() == wanted.tobytes()
    assert np.count_nonzero(final) > HIDDEN // 2
