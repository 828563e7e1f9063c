"""The stored order of weights, for tests: the inverse of what the statements undo."""

from __future__ import annotations

import numpy as np


def shuffle_n16k16(weights: np.ndarray) -> np.ndarray:
    """Shuffle logical codes [..., N, K] to the stored order of the same shape."""
    *lead, rows, columns = weights.shape
    tiled = weights.reshape(*lead, rows // 16, 16, columns // 32, 2, 16)
    order = np.moveaxis(tiled, -4, -2)
    return np.ascontiguousarray(order).reshape(weights.shape)
