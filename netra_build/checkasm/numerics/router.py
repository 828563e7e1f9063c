"""What the router projection computes: a BF16 matrix-vector product in a fixed order."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.numerics.formats import F32, Bits, add, fma, from_bf16, multiply, to_bf16
from netra_build.checkasm.numerics.orders import tree64

CHUNK = 512


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
