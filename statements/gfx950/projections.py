"""Matrix-vector products: the router projection of BF16 and the dense one of block-scaled FP8."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.numerics.arithmetic import add, fma, multiply, tree64
from netra_build.checkasm.numerics.formats import F32, Bits, Codes, from_bf16, to_bf16
from netra_build.checkasm.numerics.inputs import FLOATS, SCALED, Rng, bf16
from netra_build.checkasm.numerics.scenario import Asked, Entry, Scenario, generator, junk

from .block_scaled import block_terms

CHUNK = 512
ROUTER_CASES = (*FLOATS, "exact_zeros")
ROUTER_ROWS = {"random": 3, "largest": 16}
DENSE_CASES = ("random", "zeros", "subnormals", "saturation", "equal", "largest")


def router_projection(hidden: Bits, weight: Bits) -> Bits:
    """Return bf16 bits [rows, N] of ``hidden`` [rows, K] times ``weight`` [N, K], bf16 bits.

    A lane owns 8 consecutive k of every 512: a chain of the even and one of the odd k (a product,
    then three fma), their sum added to the lane's; then the 64 lanes by ``tree64``.
    """
    rows, depth = hidden.shape
    left = from_bf16(hidden).reshape(rows, 1, depth // CHUNK, 64, 8)
    right = from_bf16(weight).reshape(1, weight.shape[0], depth // CHUNK, 64, 8)
    lanes = np.zeros((rows, weight.shape[0], 64), np.float32)
    for chunk in range(depth // CHUNK):
        a, b = left[:, :, chunk], right[:, :, chunk]
        lanes = add(add(_chain(a, b, 0), _chain(a, b, 1)), lanes)
    return to_bf16(tree64(lanes))


def _chain(a: F32, b: F32, first: int) -> F32:
    """Return the chain over ``first``, ``first`` + 2, ... of the last axis."""
    total = multiply(a[..., first], b[..., first])
    for k in range(first + 2, 8, 2):
        x, y = np.broadcast_arrays(a[..., k], b[..., k])
        total = fma(x, y, total)
    return total


def dense_projection(
    activation: Codes, activation_scale: F32, weight: Codes, weight_scale: F32
) -> Bits:
    """Return bf16 bits [N] of ``weight`` [N, K] (stored shuffled) times ``activation`` [K].

    ``activation_scale`` [K/128], ``weight_scale`` [N/128, K/128]. Per K block, ascending:
    acc = acc + w_scale*(a_scale*dot), each operation rounded; the dot is exact, rounded once.
    """
    total = np.zeros(weight.shape[0], np.float32)
    for term in block_terms(activation, activation_scale, weight, weight_scale):
        total = add(total, term)
    return to_bf16(total)


def _router(asked: Asked) -> Scenario:
    rng = asked.rng()
    rows = ROUTER_ROWS.get(asked.case, 1 + asked.seed % 2)
    hidden, weight = bf16(asked.case, rng, rows, 2048), bf16(asked.case, rng, 256, 2048)
    if asked.case == "exact_zeros":
        hidden, weight = _exact_zeros(rng, rows)
    values = {"out": junk("uint16", rows, 256), "hidden": hidden, "weight": weight}
    expected = {"out": router_projection(hidden, weight)}
    return asked.launch(values, (256, rows, 1), (64, 1, 1), expected)


def _exact_zeros(rng: Rng, rows: int) -> tuple[Bits, Bits]:
    """Return rows whose products cancel two by two within a chain, so that every sum is zero.

    Of four numbers the first two differ from the others in their lowest mantissa bits: a bit of
    one BF16 number that gets into its neighbour of the same dword leaves a sum.
    """
    scale = np.exp2(rng.integers(-8, 8, 512))
    first, odd = rng.integers(129, 131, 512), rng.integers(128, 256, 512)
    second = 259 - first
    numbers = [first * scale, odd * scale, -second * scale, -odd * scale]
    hidden = np.stack(numbers, axis=1).reshape(2048)
    signs = rng.integers(0, 2, (256, 512)) * 2 - 1
    same = rng.integers(128, 256, (256, 512))
    weight = np.stack([second * signs, same, first * signs, same], axis=2).reshape(256, 2048)
    return (
        to_bf16(np.broadcast_to(hidden, (rows, 2048)).astype(np.float32)),
        to_bf16(weight.astype(np.float32)),
    )


def _dense(asked: Asked, waves: int) -> Scenario:
    fill = SCALED[asked.case]
    rng = generator("dense", asked.case, asked.seed)
    inputs = {
        "activation": fill.codes(rng, (4096,)),
        "activation_scale": fill.scales(rng, (32,)),
        "weight": fill.codes(rng, (2048, 4096)),
        "weight_scale": fill.scales(rng, (16, 32)),
    }
    values = {**inputs, "out": junk("uint16", 2048)}
    expected = {"out": dense_projection(*inputs.values())}
    return asked.launch(values, (128 // waves, 1, 1), (64 * waves, 1, 1), expected)


TACTICS = {
    "router_bf16_verify_m16": Entry(_router, ROUTER_CASES),
    "dense_m1_fp8_one_wave": Entry(lambda asked: _dense(asked, 1), DENSE_CASES),
    "dense_m1_fp8_four_wave_lds": Entry(lambda asked: _dense(asked, 4), DENSE_CASES),
}
