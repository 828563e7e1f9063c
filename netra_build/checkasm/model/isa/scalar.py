"""Scalar arithmetic, logic and bit fields (SOP1, SOP2) and their SCC rules."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arith.bits import (
    count_ones,
    first_one,
    leading_signs,
    leading_zeros,
    quad_mask,
    reverse_bits,
    reverse_pair,
)
from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.scalar_forms import (
    Binary,
    add_overflow,
    binary,
    bits_of,
    set_scc,
    unary,
)
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.operands import Decoded
from netra_build.checkasm.model.sources import Context, scalar_dest, scalar_source

ONE = np.uint32(1)

# Arithmetic


def _carry(result: Array, a: Array, _b: Array) -> Array:
    return result < a


def _borrow(_result: Array, a: Array, b: Array) -> Array:
    return a < b


def _sub_overflow(result: Array, a: Array, b: Array) -> Array:
    return ((a ^ b) & (a ^ result)) < 0


binary("s_add_u32", "u32 u32 u32", np.add, _carry)
binary("s_sub_u32", "u32 u32 u32", np.subtract, _borrow)
binary("s_add_i32", "i32 i32 i32", np.add, add_overflow)
binary("s_sub_i32", "i32 i32 i32", np.subtract, _sub_overflow)
binary("s_mul_i32", "i32 i32 i32", np.multiply)
binary("s_min_i32", "i32 i32 i32", np.minimum, lambda r, a, b: a < b)
binary("s_min_u32", "u32 u32 u32", np.minimum, lambda r, a, b: a < b)
binary("s_max_i32", "i32 i32 i32", np.maximum, lambda r, a, b: a >= b)
binary("s_max_u32", "u32 u32 u32", np.maximum, lambda r, a, b: a >= b)


def _mul_hi_unsigned(a: Array, b: Array) -> Array:
    return ((a.astype(np.uint64) * b.astype(np.uint64)) >> np.uint64(32)).astype(np.uint32)


def _mul_hi_signed(a: Array, b: Array) -> Array:
    return ((a.astype(np.int64) * b.astype(np.int64)) >> np.int64(32)).astype(np.int32)


def _absdiff(a: Array, b: Array) -> Array:
    result: Array = np.abs(a - b)
    return result


binary("s_mul_hi_u32", "u32 u32 u32", _mul_hi_unsigned)
binary("s_mul_hi_i32", "i32 i32 i32", _mul_hi_signed)
binary("s_absdiff_i32", "i32 i32 i32", _absdiff, lambda r, a, b: r != 0)


def _with_carry(name: str, is_add: bool) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        put = scalar_dest(d.operands[0], 1, d)
        get0 = scalar_source(d.operands[1], "u32", d)
        get1 = scalar_source(d.operands[2], "u32", d)

        def run(g: Group) -> None:
            a, b = get0(g).astype(np.int64), get1(g).astype(np.int64)
            carry = g.scc.astype(np.int64)
            wide = a + b + carry if is_add else a - b - carry
            set_scc(g, (wide >> np.int64(32)) != 0)
            put(g, wide.astype(np.uint64).astype(np.uint32))

        return run

    register(name, build)


_with_carry("s_addc_u32", True)
_with_carry("s_subb_u32", False)

# Bits


def _after(result: Array, _a: Array, _b: Array) -> Array:
    return np.not_equal(result, 0)


for _size in ("b32", "b64"):
    _kinds = f"{_size} {_size} {_size}"
    binary(f"s_and_{_size}", _kinds, np.bitwise_and, _after)
    binary(f"s_or_{_size}", _kinds, np.bitwise_or, _after)
    binary(f"s_xor_{_size}", _kinds, np.bitwise_xor, _after)
    binary(f"s_andn2_{_size}", _kinds, lambda a, b: a & ~b, _after)
    binary(f"s_orn2_{_size}", _kinds, lambda a, b: a | ~b, _after)
    binary(f"s_nand_{_size}", _kinds, lambda a, b: ~(a & b), _after)
    binary(f"s_nor_{_size}", _kinds, lambda a, b: ~(a | b), _after)
    binary(f"s_xnor_{_size}", _kinds, lambda a, b: ~(a ^ b), _after)


def _shift_left(a: Array, b: Array) -> Array:
    mask = 8 * a.dtype.itemsize - 1
    result: Array = a << (b & np.uint32(mask)).astype(a.dtype)
    return result


def _shift_right(a: Array, b: Array) -> Array:
    mask = 8 * a.dtype.itemsize - 1
    result: Array = a >> (b & np.uint32(mask)).astype(a.dtype)
    return result


binary("s_lshl_b32", "b32 b32 u32", _shift_left, _after)
binary("s_lshl_b64", "b64 b64 u32", _shift_left, _after)
binary("s_lshr_b32", "b32 b32 u32", _shift_right, _after)
binary("s_lshr_b64", "b64 b64 u32", _shift_right, _after)
binary("s_ashr_i32", "i32 i32 u32", _shift_right, _after)
binary("s_ashr_i64", "i64 i64 u32", _shift_right, _after)


def _shifted_add(amount: int) -> Binary:
    return lambda a, b: (a << np.uint32(amount)) + b


def _shifted_carry(amount: int) -> Callable[[Array, Array, Array], Array]:
    def scc(_result: Array, a: Array, b: Array) -> Array:
        wide = (a.astype(np.uint64) << np.uint64(amount)) + b.astype(np.uint64)
        result: Array = (wide >> np.uint64(32)) != 0
        return result

    return scc


for _amount in (1, 2, 3, 4):
    _name = f"s_lshl{_amount}_add_u32"
    binary(_name, "u32 u32 u32", _shifted_add(_amount), _shifted_carry(_amount))


def _field_mask(width: Array, bits: int, dtype: np.dtype[np.generic]) -> Array:
    full = np.array(2**bits - 1, np.uint64)
    wide = width.astype(np.uint64)
    mask = np.where(wide >= bits, full, (np.uint64(1) << np.minimum(wide, 63)) - np.uint64(1))
    return mask.astype(dtype)


def _extract_unsigned(a: Array, b: Array) -> Array:
    bits = 8 * a.dtype.itemsize
    offset = (b & np.uint32(bits - 1)).astype(a.dtype)
    width = (b >> np.uint32(16)) & np.uint32(0x7F)
    result: Array = (a >> offset) & _field_mask(width, bits, a.dtype)
    return result


def _extract_signed(a: Array, b: Array) -> Array:
    # The shift is arithmetic: a field that reaches beyond the operand continues with its sign.
    field = bits_of(_extract_unsigned(np.asarray(a), b))
    bits = 8 * field.dtype.itemsize
    width = np.minimum((b >> np.uint32(16)) & np.uint32(0x7F), bits).astype(field.dtype)
    shift = np.where(width == 0, 0, bits - width).astype(field.dtype)
    signed = (field << shift).view(np.asarray(a).dtype) >> shift.astype(np.asarray(a).dtype)
    result: Array = np.where(width == 0, np.zeros_like(signed), signed)
    return result


binary("s_bfe_u32", "u32 u32 u32", _extract_unsigned, _after)
binary("s_bfe_i32", "i32 i32 u32", _extract_signed, _after)
binary("s_bfe_u64", "u64 u64 u32", _extract_unsigned, _after)
binary("s_bfe_i64", "i64 i64 u32", _extract_signed, _after)


def _make_mask_32(a: Array, b: Array) -> Array:
    ones = (ONE << (a & np.uint32(31))) - ONE
    return ones << (b & np.uint32(31))


def _make_mask_64(a: Array, b: Array) -> Array:
    width, offset = (a & np.uint32(63)).astype(np.uint64), (b & np.uint32(63)).astype(np.uint64)
    return ((np.uint64(1) << width) - np.uint64(1)) << offset


binary("s_bfm_b32", "b32 u32 u32", _make_mask_32)
binary("s_bfm_b64", "b64 u32 u32", _make_mask_64)
_HALF = np.uint32(0xFFFF)
_TOP = np.uint32(16)
binary("s_pack_ll_b32_b16", "b32 b32 b32", lambda a, b: (a & _HALF) | (b << _TOP))
binary("s_pack_lh_b32_b16", "b32 b32 b32", lambda a, b: (a & _HALF) | (b & ~_HALF))
binary("s_pack_hh_b32_b16", "b32 b32 b32", lambda a, b: (a >> _TOP) | (b & ~_HALF))

# One operand

unary("s_mov_b32", "b32 b32", lambda a: a)
unary("s_mov_b64", "b64 b64", lambda a: a)
unary("s_not_b32", "b32 b32", np.invert, scc=True)
unary("s_not_b64", "b64 b64", np.invert, scc=True)
unary("s_abs_i32", "i32 i32", np.abs, scc=True)
unary("s_brev_b32", "b32 b32", reverse_bits)
unary("s_bcnt1_i32_b32", "u32 b32", count_ones, scc=True)
unary("s_bcnt1_i32_b64", "u32 b64", count_ones, scc=True)
unary("s_bcnt0_i32_b32", "u32 b32", lambda a: count_ones(~a), scc=True)
unary("s_bcnt0_i32_b64", "u32 b64", lambda a: count_ones(~a), scc=True)
unary("s_ff1_i32_b32", "i32 b32", first_one)
unary("s_ff1_i32_b64", "i32 b64", first_one)
unary("s_ff0_i32_b32", "i32 b32", lambda a: first_one(~a))
unary("s_ff0_i32_b64", "i32 b64", lambda a: first_one(~a))
unary("s_flbit_i32_b32", "i32 b32", leading_zeros)
unary("s_flbit_i32_b64", "i32 b64", leading_zeros)
unary("s_flbit_i32", "i32 i32", leading_signs)
unary("s_flbit_i32_i64", "i32 i64", leading_signs)
unary("s_sext_i32_i8", "i32 i32", lambda a: a.astype(np.int8).astype(np.int32))
unary("s_sext_i32_i16", "i32 i32", lambda a: a.astype(np.int16).astype(np.int32))
unary("s_brev_b64", "b64 b64", reverse_pair)
unary("s_quadmask_b32", "b32 b32", quad_mask, scc=True)
unary("s_quadmask_b64", "b64 b64", quad_mask, scc=True)
