"""Integers of 32 and 64 bits: carries, shifts, bit fields, counting and turning bits."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.model.arrays import U32, U64, Array


def bits_of(value: Array) -> Array:
    """View an array of any integer type as unsigned."""
    if value.dtype == np.int32:
        return value.view(U32)
    return value.view(U64) if value.dtype == np.int64 else value


def _size(a: Array) -> int:
    return 8 * int(a.dtype.itemsize)


def _wide(a: Array) -> Array:
    return a.astype(np.int64 if a.dtype == np.int32 else U64)


# Arithmetic


def add_carry(a: Array, b: Array, carry: object = False) -> tuple[Array, Array]:
    """Return the uint32 sum and whether it has a carry."""
    wide = a.astype(U64) + b.astype(U64) + np.asarray(carry).astype(U64)
    return wide.astype(U32), (wide >> U64(32)) != 0


def subtract_borrow(a: Array, b: Array, borrow: object = False) -> tuple[Array, Array]:
    """Return the uint32 difference and whether it borrows."""
    wide = a.astype(np.int64) - b.astype(np.int64) - np.asarray(borrow).astype(np.int64)
    return wide.view(U64).astype(U32), wide < 0


def high_product(a: Array, b: Array) -> Array:
    """Return the upper half of the product of two numbers of 32 bits."""
    wide = _wide(a) * _wide(b)
    return np.asarray(wide >> wide.dtype.type(32), a.dtype)


def median3(a: Array, b: Array, c: Array) -> Array:
    """Return the middle one of three."""
    return np.maximum(np.minimum(np.maximum(a, b), c), np.minimum(a, b))


# Shifts and fields


def shift_left(a: Array, amount: Array) -> Array:
    """Shift by as many of the low bits of ``amount`` as the type of ``a`` has use for."""
    result: Array = a << (amount & U32(_size(a) - 1)).astype(a.dtype)
    return result


def shift_right(a: Array, amount: Array) -> Array:
    """Shift like ``shift_left``; a signed number keeps its sign."""
    result: Array = a >> (amount & U32(_size(a) - 1)).astype(a.dtype)
    return result


def ones(width: Array) -> Array:
    """Return an unsigned number of ``width`` ones."""
    one = width.dtype.type(1)
    # Numpy shifts by the size of the type or more to zero.
    return np.asarray((one << width) - one)


def field(a: Array, offset: Array, width: Array) -> Array:
    """Return ``width`` bits from ``offset`` on, with zeros or, if ``a`` has a sign, signs above.

    The shift is arithmetic: a signed field that reaches beyond the operand continues with its sign.
    """
    moved: Array = a >> offset.astype(a.dtype)
    if a.dtype.kind == "u":
        return moved & ones(width.astype(a.dtype))
    bits = width.astype(a.dtype)
    up = np.where((bits == 0) | (bits >= _size(a)), 0, _size(a) - bits).astype(a.dtype)
    return np.asarray(np.where(bits == 0, a.dtype.type(0), (moved << up) >> up))


def mask_bits(width: Array, offset: Array) -> Array:
    """Return ones at ``offset`` of the unsigned type of the operands."""
    limit = width.dtype.type(_size(width) - 1)
    return np.asarray(ones(width & limit) << (offset & limit))


def sign_extended(a: Array, width: int) -> Array:
    """Return int32 of the low ``width`` bits of 32."""
    up = np.int32(32 - width)
    return np.right_shift(np.left_shift(a.view(np.int32), up), up)


# Bits of unsigned numbers


def reverse_bits(a: Array) -> Array:
    """Return the bits in reverse order."""
    if a.dtype == U64:
        low, high = a.astype(U32), (a >> U64(32)).astype(U32)
        return np.asarray(reverse_bits(low).astype(U64) << U64(32) | reverse_bits(high))
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        a = ((a >> U32(shift)) & U32(mask)) | ((a & U32(mask)) << U32(shift))
    return (a >> U32(16)) | (a << U32(16))


def count_ones(a: Array) -> Array:
    """Return the number of ones as uint32."""
    return np.bitwise_count(a).astype(U32)


def first_one(a: Array) -> Array:
    """Return the position of the lowest one as int32; -1 for zero."""
    lowest = a & (~a + a.dtype.type(1))
    position = np.bitwise_count(lowest - a.dtype.type(1)).astype(np.int32)
    return np.where(a == 0, np.int32(-1), position)


def leading_zeros(a: Array) -> Array:
    """Position of the highest one counted from the top, -1 for zero."""
    filled = a
    for shift in (1, 2, 4, 8, 16, 32)[: _size(a).bit_length() - 1]:
        filled = filled | (filled >> a.dtype.type(shift))
    count = np.int32(_size(a)) - np.bitwise_count(filled).astype(np.int32)
    return np.where(a == 0, np.int32(-1), count)


def leading_signs(a: Array) -> Array:
    """Return how many leading bits of a signed number equal its sign; -1 when all do."""
    return leading_zeros(bits_of(a ^ (a >> a.dtype.type(_size(a) - 1))))


def quad_any(a: Array) -> Array:
    """Return a one in the lowest bit of each group of four bits: any of them set."""
    shifted = a | a >> a.dtype.type(1)
    shifted = shifted | shifted >> a.dtype.type(2)
    return np.asarray(shifted & a.dtype.type(int("1" * (_size(a) // 4), 16)))


def quad_mask(a: Array) -> Array:
    """Return one bit per group of four bits: any of them set."""
    result = np.zeros_like(a)
    groups = quad_any(a)
    for at in range(_size(a) // 4):
        result |= (groups >> a.dtype.type(3 * at)) & a.dtype.type(1 << at)
    return result
