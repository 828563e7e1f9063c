"""Vector integer and bit instructions."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.model.arith.bits import (
    count_ones,
    first_one,
    leading_signs,
    leading_zeros,
    reverse_bits,
)
from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.isa.vector import operation

U = np.uint32
ALL = np.uint32(0xFFFFFFFF)
M24 = np.uint32(0xFFFFFF)


# Moves and logic

operation("v_mov_b32 v_accvgpr_mov_b32", "b32 = b32", lambda a: a, is_move=True)
operation("v_accvgpr_read_b32 v_accvgpr_write_b32", "b32 = b32", lambda a: a, is_move=True)
operation("v_mov_b64", "b64 = b64", lambda a: a, is_move=True)
operation("v_not_b32", "b32 = b32", np.invert)
operation("v_and_b32", "b32 = b32 b32", np.bitwise_and)
operation("v_or_b32", "b32 = b32 b32", np.bitwise_or)
operation("v_xor_b32", "b32 = b32 b32", np.bitwise_xor)
operation("v_xnor_b32", "b32 = b32 b32", lambda a, b: ~(a ^ b))
operation("v_or3_b32", "b32 = b32 b32 b32", lambda a, b, c: a | b | c)
operation("v_and_or_b32", "b32 = b32 b32 b32", lambda a, b, c: (a & b) | c)
operation("v_bfi_b32", "b32 = b32 b32 b32", lambda a, b, c: (a & b) | (~a & c))
operation("v_xad_u32", "u32 = u32 u32 u32", lambda a, b, c: (a ^ b) + c)
operation("v_cndmask_b32", "b32 = b32 b32 mask", lambda a, b, m: np.where(m, b, a), is_move=True)

# Addition


def _add_saturating(a: Array, b: Array) -> Array:
    total = a + b
    return np.where(total < a, ALL, total)


def _sub_saturating(a: Array, b: Array) -> Array:
    return np.where(a < b, U(0), a - b)


def _signed_saturating(wide: Array) -> Array:
    return np.clip(wide, -(2**31), 2**31 - 1).astype(np.int32)


operation("v_add_u32", "u32 = u32 u32", np.add, saturate=_add_saturating)
operation("v_sub_u32", "u32 = u32 u32", np.subtract, saturate=_sub_saturating)
operation(
    "v_subrev_u32", "u32 = u32 u32", lambda a, b: b - a, saturate=lambda a, b: _sub_saturating(b, a)
)
operation(
    "v_add_i32",
    "i32 = i32 i32",
    np.add,
    saturate=lambda a, b: _signed_saturating(a.astype(np.int64) + b),
)
operation(
    "v_sub_i32",
    "i32 = i32 i32",
    np.subtract,
    saturate=lambda a, b: _signed_saturating(a.astype(np.int64) - b),
)
operation("v_add3_u32", "u32 = u32 u32 u32", lambda a, b, c: a + b + c)


def _add_with(a: Array, b: Array, carry: object = False) -> tuple[Array, Array]:
    wide = a.astype(np.uint64) + b.astype(np.uint64) + np.asarray(carry).astype(np.uint64)
    return wide.astype(U), (wide >> np.uint64(32)) != 0


def _sub_with(a: Array, b: Array, borrow: object = False) -> tuple[Array, Array]:
    wide = a.astype(np.int64) - b.astype(np.int64) - np.asarray(borrow).astype(np.int64)
    return wide.view(np.uint64).astype(U), wide < 0


operation("v_add_co_u32", "u32 mask = u32 u32", _add_with)
operation("v_addc_co_u32", "u32 mask = u32 u32 mask", _add_with)
operation("v_sub_co_u32", "u32 mask = u32 u32", _sub_with)
operation("v_subb_co_u32", "u32 mask = u32 u32 mask", _sub_with)
operation("v_subrev_co_u32", "u32 mask = u32 u32", lambda a, b: _sub_with(b, a))
operation("v_subbrev_co_u32", "u32 mask = u32 u32 mask", lambda a, b, c: _sub_with(b, a, c))

# Shifts


def _shl(a: Array, amount: Array) -> Array:
    result: Array = a << (amount & U(8 * a.dtype.itemsize - 1)).astype(a.dtype)
    return result


def _shr(a: Array, amount: Array) -> Array:
    result: Array = a >> (amount & U(8 * a.dtype.itemsize - 1)).astype(a.dtype)
    return result


operation("v_lshlrev_b32", "b32 = u32 b32", lambda n, a: _shl(a, n))
operation("v_lshrrev_b32", "b32 = u32 b32", lambda n, a: _shr(a, n))
operation("v_ashrrev_i32", "i32 = u32 i32", lambda n, a: _shr(a, n))
operation("v_lshlrev_b64", "b64 = u32 b64", lambda n, a: _shl(a, n))
operation("v_lshrrev_b64", "b64 = u32 b64", lambda n, a: _shr(a, n))
operation("v_ashrrev_i64", "i64 = u32 i64", lambda n, a: _shr(a, n))
operation("v_lshl_add_u32", "u32 = u32 u32 u32", lambda a, n, c: _shl(a, n) + c)
operation("v_add_lshl_u32", "u32 = u32 u32 u32", lambda a, b, n: _shl(a + b, n))
operation("v_lshl_or_b32", "u32 = u32 u32 u32", lambda a, n, c: _shl(a, n) | c)
operation("v_lshl_add_u64", "u64 = u64 u32 u64", lambda a, n, c: _shl(a, n & U(7)) + c)


def _align(a: Array, b: Array, amount: Array) -> Array:
    wide = (a.astype(np.uint64) << np.uint64(32)) | b
    return (wide >> amount.astype(np.uint64)).astype(U)


operation("v_alignbit_b32", "b32 = b32 b32 u32", lambda a, b, n: _align(a, b, n & U(31)))
operation("v_alignbyte_b32", "b32 = b32 b32 u32", lambda a, b, n: _align(a, b, (n & U(3)) * U(8)))

# Multiplication


def _signed_24(a: Array) -> Array:
    return (a << np.int32(8)) >> np.int32(8)


def _high_unsigned(a: Array, b: Array) -> Array:
    return ((a.astype(np.uint64) * b.astype(np.uint64)) >> np.uint64(32)).astype(U)


def _high_signed(a: Array, b: Array) -> Array:
    return ((a.astype(np.int64) * b.astype(np.int64)) >> np.int64(32)).astype(np.int32)


operation("v_mul_lo_u32", "u32 = u32 u32", np.multiply)
operation("v_mul_hi_u32", "u32 = u32 u32", _high_unsigned)
operation("v_mul_hi_i32", "i32 = i32 i32", _high_signed)
operation("v_mul_u32_u24", "u32 = u32 u32", lambda a, b: (a & M24) * (b & M24))
operation("v_mul_i32_i24", "i32 = i32 i32", lambda a, b: _signed_24(a) * _signed_24(b))
operation("v_mul_hi_u32_u24", "u32 = u32 u32", lambda a, b: _high_unsigned(a & M24, b & M24))
operation(
    "v_mul_hi_i32_i24", "i32 = i32 i32", lambda a, b: _high_signed(_signed_24(a), _signed_24(b))
)
operation("v_mad_u32_u24", "u32 = u32 u32 u32", lambda a, b, c: (a & M24) * (b & M24) + c)
operation("v_mad_i32_i24", "i32 = i32 i32 i32", lambda a, b, c: _signed_24(a) * _signed_24(b) + c)


def _mad_unsigned(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    total = a.astype(np.uint64) * b.astype(np.uint64) + c
    return total, total < c


def _mad_signed(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    product = a.astype(np.int64) * b.astype(np.int64)
    total = product + c
    return total, ((product ^ total) & (c ^ total)) < 0


operation("v_mad_u64_u32", "u64 mask = u32 u32 u64", _mad_unsigned)
operation("v_mad_i64_i32", "i64 mask = i32 i32 i64", _mad_signed)

# Extremes

for _suffix in ("i32", "u32"):
    _two, _three = f"{_suffix} = {_suffix} {_suffix}", f"{_suffix} = {_suffix} {_suffix} {_suffix}"
    operation(f"v_max_{_suffix}", _two, np.maximum)
    operation(f"v_min_{_suffix}", _two, np.minimum)
    operation(f"v_max3_{_suffix}", _three, lambda a, b, c: np.maximum(np.maximum(a, b), c))
    operation(f"v_min3_{_suffix}", _three, lambda a, b, c: np.minimum(np.minimum(a, b), c))
    operation(
        f"v_med3_{_suffix}",
        _three,
        lambda a, b, c: np.maximum(np.minimum(np.maximum(a, b), c), np.minimum(a, b)),
    )

# Bit fields and counting


def _field_unsigned(a: Array, offset: Array, width: Array) -> Array:
    result: Array = (a >> (offset & U(31))) & ((U(1) << (width & U(31))) - U(1))
    return result


def _field_signed(a: Array, offset: Array, width: Array) -> Array:
    # The shift is arithmetic: a field that reaches beyond bit 31 continues with the sign.
    bits = (width & U(31)).astype(np.int32)
    moved = a >> (offset & U(31)).astype(np.int32)
    up = np.where(bits == 0, 0, 32 - bits).astype(np.int32)
    return np.where(bits == 0, np.int32(0), (moved << up) >> up)


def _bit_count(a: Array, b: Array) -> Array:
    return count_ones(np.asarray(a)) + b


def _mask_bits(width: Array, offset: Array) -> Array:
    return ((U(1) << (width & U(31))) - U(1)) << (offset & U(31))


operation("v_bfe_u32", "u32 = u32 u32 u32", _field_unsigned)
operation("v_bfe_i32", "i32 = i32 u32 u32", _field_signed)
operation("v_bfm_b32", "u32 = u32 u32", _mask_bits)
operation("v_bfrev_b32", "b32 = b32", reverse_bits)
operation("v_bcnt_u32_b32", "u32 = b32 u32", _bit_count)
operation("v_ffbh_u32", "i32 = u32", leading_zeros)
operation("v_ffbl_b32", "i32 = u32", first_one)
operation("v_ffbh_i32", "i32 = i32", leading_signs)

_BELOW = np.arange(LANES, dtype=np.uint64)
_BELOW_MASK = (np.uint64(1) << _BELOW) - np.uint64(1)
_LOW = _BELOW_MASK.astype(U)
_HIGH = (_BELOW_MASK >> np.uint64(32)).astype(U)
operation("v_mbcnt_lo_u32_b32", "u32 = b32 u32", lambda m, c: count_ones(m & _LOW) + c)
operation("v_mbcnt_hi_u32_b32", "u32 = b32 u32", lambda m, c: count_ones(m & _HIGH) + c)
