"""Online softmax over FP8 and BF16 keys, shared by the attention kernels.

Every rounding point of the contract is a rounding here, in this order: scores in FP32 by steps of
the head dimension, the scale, the difference to the running maximum, the exponential, FP8 or BF16
probabilities, FP32 accumulators by steps of the keys, the denominator in the order of
``lane_sums``. Given correctly rounded exponentials, outputs are exact. Hardware's are within one
unit in the last place: there an FP8 probability flips now and then, and 2 units of BF16 in at most
1 % of the outputs are to be accepted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netra_build.checkasm.numerics.arithmetic import LOG2E, add, divide, exp2, fma, multiply
from netra_build.checkasm.numerics.formats import F32, from_e4m3, to_e4m3

FLOOR = np.float32(-1e20)
"""Running maximum before the first key: a tile entirely outside the window leaves it unchanged."""

PREFIX_DIMENSIONS = 128
KEYS_PER_PRODUCT = 32


def round_fp8(values: F32) -> F32:
    """Return the values rounded to E4M3, saturated at 448."""
    return from_e4m3(to_e4m3(values, saturate=True))


def exponential(x: F32) -> F32:
    """Return 2^(x * log2 e): the product rounded to FP32, then the power."""
    return exp2(multiply(x, LOG2E))


def product(a: F32, b: F32, start: F32 | None, step: int) -> F32:
    """Return start + a @ b with one rounding to FP32 for each ``step`` of the inner dimension.

    ``a`` is [rows, inner], ``b`` [inner, columns], ``start`` [rows, columns] or zero.
    """
    total = np.zeros((a.shape[0], b.shape[1]), np.float32) if start is None else start
    for first in range(0, a.shape[1], step):
        part = slice(first, first + step)
        exact = a[:, part].astype(np.float64) @ b[part].astype(np.float64)
        total = (total.astype(np.float64) + exact).astype(np.float32)
    return total


def lane_sums(weights: F32) -> F32:
    """Return the weights [rows, keys] of a tile summed over the keys of each lane: [rows, 4].

    Key 16 j + 4 g + r is number 4 j + r of lane g. A lane adds the second half of its numbers to
    the first until one is left.
    """
    rows, keys = weights.shape
    subtiles = 1 << max(0, (-(keys // -16) - 1).bit_length())
    padded = np.zeros((rows, 16 * subtiles), np.float32)
    padded[:, :keys] = weights
    numbers: F32 = padded.reshape(rows, subtiles, 4, 4).transpose(0, 2, 1, 3).reshape(rows, 4, -1)
    while numbers.shape[2] > 1:
        half = numbers.shape[2] // 2
        numbers = add(numbers[:, :, :half], numbers[:, :, half:])
    return numbers[:, :, 0]


@dataclass
class OnlineSoftmax:
    """Running maximum [rows], denominators [rows, 4 lanes], accumulator [rows, D] of query rows."""

    maximum: F32
    lanes: F32
    accumulator: F32

    @classmethod
    def empty(cls, rows: int, dimensions: int) -> OnlineSoftmax:
        """Return the state before the first key."""
        return cls(
            np.full(rows, FLOOR),
            np.zeros((rows, 4), np.float32),
            np.zeros((rows, dimensions), np.float32),
        )

    def probabilities(self, scores: F32) -> F32:
        """Take in the scores [rows, keys] of a tile and return exp(score - new maximum).

        Maximum, denominator (of unrounded probabilities) and accumulator are brought up to date;
        the caller adds the products with the values.
        """
        new = np.maximum(self.maximum, scores.max(axis=1))
        factor = exponential(add(self.maximum, -new))
        result = exponential(add(scores, -new[:, None]))
        self.maximum = new
        factors = np.broadcast_to(factor[:, None], self.lanes.shape)
        self.lanes = fma(self.lanes, factors, lane_sums(result))
        self.accumulator = multiply(self.accumulator, factor[:, None])
        return result

    def denominator(self) -> F32:
        """Return the sums of the four lanes."""
        a, b, c, d = self.lanes.T
        return add(add(a, b), add(c, d))

    def quotient(self) -> F32:
        """Return accumulator / denominator, rounded to FP32."""
        return divide(self.accumulator, self.denominator()[:, None])


def hide(scores: F32, visible: npt.NDArray[np.bool_]) -> F32:
    """Return the scores with -inf where a key is not visible."""
    return np.where(visible, scores, np.float32(-np.inf)).astype(np.float32)


def attend_prefix(
    state: OnlineSoftmax,
    q: F32,
    keys: F32,
    values: F32,
    scale: np.float32,
    *,
    tile: int,
    window: int | None = None,
) -> None:
    """Take in n keys, ``tile`` at a time: q [T, D] rounded to FP8 inside, keys and values [n, D].

    With a window, prefix key j is visible to token t if n + t <= j + window; tiles without any
    visible key are skipped.
    """
    count, tokens = len(keys), len(q)
    q8 = round_fp8(q)
    for first in range(0, count, tile):
        last = min(first + tile, count)
        scores = multiply(product(q8, keys[first:last].T, None, PREFIX_DIMENSIONS), scale)
        if window is not None:
            reach = np.arange(first, last)[None, :] + window
            visible = count + np.arange(tokens)[:, None] <= reach
            if not visible.any():
                continue
            scores = hide(scores, visible)
        weights = round_fp8(state.probabilities(scores))
        state.accumulator = product(
            weights, values[first:last], state.accumulator, KEYS_PER_PRODUCT
        )
