"""What the gated-delta-rule kernels compute, in the contracts' rounding order.

Divisions are correctly rounded, exp2 and the square root plain (see ``plain``): on silicon v_exp,
v_sqrt and v_log are within one unit in the last place.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.formats import (
    F32,
    F64,
    Bits,
    add,
    divide,
    exp2,
    fma,
    from_bf16,
    multiply,
    round_bf16,
    to_bf16,
)
from netra_build.checkasm.numerics.orders import tree64, xor16
from netra_build.checkasm.numerics.plain import plain_log2, plain_reciprocal, plain_square_root

Ids = npt.NDArray[np.int32]

LOG2E = np.uint32(0x3FB8AA3B).view(np.float32)
LN2 = np.uint32(0x3F317218).view(np.float32)
UNIT = 2.0**-24
LOWEST_LOG = np.float32(-126 * np.log(2.0))
EPSILON = np.uint32(0x358637BD).view(np.float32)
QUERY_SCALE = np.uint32(0x3DB504F3).view(np.float32)
SOFTPLUS_LIMIT = 20.0
CHUNK = 64
COLUMNS = 8
"""Consecutive values of K that one lane owns."""


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


def normalise(rows: Bits) -> F32:
    """Return rows [..., 128] divided by sqrt(sum of squares + 1e-6), the sum in lane order."""
    values = from_bf16(rows)
    squares = multiply(values, values)
    lanes = add(squares[..., 0::2], squares[..., 1::2])
    norm = plain_square_root(add(tree64(lanes), EPSILON))
    return divide(values, norm[..., None])


def gates(a_log: F32, a: Bits, dt_bias: Bits, b: Bits) -> tuple[F32, F32]:
    """Return decay and beta [tokens, heads] in the contract's rounding order.

    ``a`` and ``b`` are [tokens, heads], ``a_log`` and ``dt_bias`` [heads]. Exponentials, the
    logarithm and the softplus' reciprocal are plain, the quotient of beta is correctly rounded.
    ``exact_gates`` says what the numbers stand for.
    """
    x = add(from_bf16(a), from_bf16(dt_bias))
    e = exponential(x)
    y = add(np.float32(1), e)
    ratio = multiply(e, plain_reciprocal(add(np.float32(-1), y)))
    softplus = multiply(multiply(plain_log2(y), LN2), ratio)
    softplus = np.where(y == 1, e, softplus)
    softplus = np.where(x > np.float32(SOFTPLUS_LIMIT), x, softplus)
    decay = exponential(multiply(-exponential(a_log), softplus))
    wide = from_bf16(b)
    power = exponential(-np.abs(wide))
    numerator = np.where(wide < 0, power, np.float32(1))
    return decay, divide(numerator, add(np.float32(1), power))


def exact_gates(a_log: F32, a: Bits, dt_bias: Bits, b: Bits) -> tuple[F32, F32, F64]:
    """Return decay and beta [tokens, heads], exact up to one rounding, and -log(decay).

    decay = exp(-exp(a_log)*softplus(a + dt_bias)), beta = 1/(1 + exp(-b)); softplus(x) is x
    above 20. Shapes as those of ``gates``, which stays near these numbers: see ``gate_distance``.
    """
    x = add(from_bf16(a), from_bf16(dt_bias)).astype(np.float64)
    low = np.log1p(np.exp(np.minimum(x, SOFTPLUS_LIMIT)))
    softplus = np.where(x <= SOFTPLUS_LIMIT, low, x)
    rate = np.exp(a_log.astype(np.float64)) * softplus
    wide = from_bf16(b).astype(np.float64)
    with np.errstate(under="ignore", over="ignore"):
        decay = np.exp(-rate).astype(np.float32)
        beta = (1 / (1 + np.exp(-wide))).astype(np.float32)
    return decay, beta, rate


def gate_distance(rate: F64, a_log: F32, x: F64, b: F32) -> tuple[F64, F64]:
    """Return how far decay and beta may be from the exact numbers, relative to these.

    Each plain instruction is half to one unit of FP32 off; the exponentials multiply that by
    their arguments. ``rate`` is -log(decay), ``x`` a + dt_bias.
    """
    decay = rate * (np.abs(x) + np.abs(a_log) + 16) + rate + 8
    return decay * UNIT, (np.abs(b).astype(np.float64) + 8) * UNIT


def verify(
    state: F32, qn: F32, kn: F32, v: F32, decay: F32, beta: F32, variant: int
) -> tuple[Bits, F32]:
    """Run the tokens over ``state`` [heads, 128 v, 128 k]: outputs and the final state.

    ``qn``, ``kn`` are [T, heads, 128] (repeated for value heads), ``v`` [T, heads, 128], ``decay``
    and ``beta`` [T, heads]. Outputs are bf16 bits [T, heads, 128]; the state is never rounded.
    Variant 17 sums a dot product as an even and an odd chain, variant 13 as rounded products
    one after another (k) or as one fma chain (q).
    """
    outputs = np.zeros((len(decay), *state.shape[:2]), np.uint16)
    for token in range(len(decay)):
        state = multiply(state, decay[token][:, None, None])
        rest = add(v[token], -_dot_k(state, kn[token], variant))
        update = multiply(rest, beta[token][:, None])
        key, value = np.broadcast_arrays(kn[token][:, None, :], update[:, :, None])
        state = fma(key, value, state)
        outputs[token] = to_bf16(_dot_q(state, qn[token], variant))
    return outputs, state


def _split(state: F32, vector: F32) -> tuple[F32, F32]:
    """Return both as [heads, rows or 1, 16 lanes, 8 K]."""
    heads, rows, depth = state.shape
    lanes = depth // COLUMNS
    return state.reshape(heads, rows, lanes, COLUMNS), vector.reshape(heads, 1, lanes, COLUMNS)


def _step(p: F32, c: F32, k: int, total: F32) -> F32:
    """Return fma(p[k], c[k], total)."""
    x, y = np.broadcast_arrays(p[..., k], c[..., k])
    return fma(x, y, total)


def _dot_k(state: F32, vector: F32, variant: int) -> F32:
    p, c = _split(state, vector)
    if variant == 17:
        return _dot_even_odd(p, c)
    total = add(multiply(p[..., 0], c[..., 0]), multiply(p[..., 1], c[..., 1]))
    for k in range(2, COLUMNS):
        total = add(total, multiply(p[..., k], c[..., k]))
    return xor16(total)


def _dot_even_odd(p: F32, c: F32) -> F32:
    even, odd = multiply(p[..., 0], c[..., 0]), multiply(p[..., 1], c[..., 1])
    for k in (2, 4, 6):
        even, odd = _step(p, c, k, even), _step(p, c, k + 1, odd)
    return xor16(add(even, odd))


def _dot_q(state: F32, vector: F32, variant: int) -> F32:
    p, c = _split(state, vector)
    if variant == 17:
        return _dot_even_odd(p, c)
    forward = _step(p, c, 1, multiply(p[..., 0], c[..., 0]))
    backward = _step(p, c, 0, multiply(p[..., 1], c[..., 1]))
    swaps = (np.arange(p.shape[1]) // 4 % 2 == 1)[None, :, None]
    total = np.where(swaps, backward, forward)
    for k in range(2, COLUMNS):
        total = _step(p, c, k, total)
    return xor16(total)


def convolve(x: F32, weight: F32, history: F32) -> tuple[Bits, Bits]:
    """Return outputs [T, D] and windows [T, D, 3], bf16 bits, of one sequence.

    ``x`` [T, D], ``weight`` [D, 4] and ``history`` [D, 3] (oldest first) are bf16 values. Products
    are rounded to bf16, added in float32 from left to right; SiLU divides correctly rounded. A
    window is the last three inputs after a token.
    """
    outputs, windows = [], []
    for token in x:
        inputs = np.concatenate([history, token[:, None]], axis=1)
        products = round_bf16(multiply(inputs, weight))
        total = add(add(add(products[:, 0], products[:, 1]), products[:, 2]), products[:, 3])
        denominator = add(np.float32(1), exponential(-total))
        outputs.append(to_bf16(divide(total, denominator)))
        history = inputs[:, 1:]
        windows.append(to_bf16(history))
    return np.stack(outputs), np.stack(windows)


def prefill(k: F32, v: F32, w: F32, g: F32, state: F32) -> tuple[list[Bits], Bits, F32]:
    """Return the state before each chunk of 64 tokens, v_new [T, 128] and the final state.

    One sequence and value head: ``k``, ``v``, ``w`` are [T, 128] bf16 values, ``g`` [T] float32
    cumulative within a chunk, ``state`` [128 v, 128 k]. Dot products are exact, rounded once.
    """
    states: list[Bits] = []
    corrected = np.zeros(v.shape, np.uint16)
    for start in range(0, len(g), CHUNK):
        part = slice(start, min(start + CHUNK, len(g)))
        last = g[part][-1]
        states.append(to_bf16(state))
        dot = w[part].astype(np.float64) @ round_bf16(state).T.astype(np.float64)
        x = add(v[part], -dot.astype(np.float32))
        corrected[part] = to_bf16(x)
        decay = add(last, -g[part])
        factor = np.where(decay <= 0, exponential(np.minimum(decay, np.float32(0))), np.float32(0))
        scaled = round_bf16(multiply(x, factor[:, None])).astype(np.float64)
        update = (scaled.T @ k[part].astype(np.float64)).astype(np.float32)
        whole = np.full_like(state, exponential(np.asarray([last], np.float32))[0])
        state = fma(state, whole, update)
    return states, corrected, state
