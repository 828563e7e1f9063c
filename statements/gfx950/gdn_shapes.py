"""Heads, dimension and draft tokens of the gated-delta-rule kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

QK_HEADS = 16
VALUE_HEADS = 32
DIM = 128
TOKENS = 12

Ids = npt.NDArray[np.int32]
