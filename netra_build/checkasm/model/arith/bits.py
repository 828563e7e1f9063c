"""Counting and turning the bits of unsigned integers."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.model.arrays import Array


def reverse_bits(a: Array) -> Array:
    """Return uint32 with its bits in reverse order."""
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        low = np.uint32(mask)
        a = ((a >> np.uint32(shift)) & low) | ((a & low) << np.uint32(shift))
    return (a >> np.uint32(16)) | (a << np.uint32(16))


def count_ones(a: Array) -> Array:
    """Return the number of ones as uint32."""
    return np.bitwise_count(a).astype(np.uint32)


def first_one(a: Array) -> Array:
    """Return the position of the lowest one as int32; -1 for zero."""
    lowest = a & (~a + a.dtype.type(1))
    position = np.bitwise_count(lowest - a.dtype.type(1)).astype(np.int32)
    return np.where(a == 0, np.int32(-1), position)


def leading_zeros(a: Array) -> Array:
    """Position of the highest one counted from the top, -1 for zero."""
    bits = 8 * a.dtype.itemsize
    filled = a
    shift = 1
    while shift < bits:
        filled = filled | (filled >> a.dtype.type(shift))
        shift *= 2
    count = (bits - np.bitwise_count(filled).astype(np.int32)).astype(np.int32)
    return np.where(a == 0, np.int32(-1), count)


def leading_signs(a: Array) -> Array:
    """Return how many leading bits of a signed number equal its sign; -1 when all do."""
    unsigned = np.uint32 if a.dtype == np.int32 else np.uint64
    folded = (a ^ (a >> a.dtype.type(8 * a.dtype.itemsize - 1))).view(unsigned)
    return leading_zeros(folded)


def reverse_pair(a: Array) -> Array:
    """Return uint64 with its bits in reverse order."""
    low, high = a.astype(np.uint32), (a >> np.uint64(32)).astype(np.uint32)
    result: Array = reverse_bits(low).astype(np.uint64) << np.uint64(32) | reverse_bits(high)
    return result


def quad_mask(a: Array) -> Array:
    """Return one bit per group of four bits of an unsigned integer: any of them set."""
    count = 2 * a.dtype.itemsize
    result = np.zeros_like(a)
    for at in range(count):
        any_bit = (a >> a.dtype.type(4 * at)) & a.dtype.type(15) != 0
        result |= any_bit.astype(a.dtype) << a.dtype.type(at)
    return result
