"""Scalar integer instructions (SOP1, SOP2, SOPC, SOPK) and their SCC rules."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.simulate.arrays import Array
from netra_build.simulate.group import Group
from netra_build.simulate.isa.table import register
from netra_build.simulate.machine import Run
from netra_build.simulate.operands import EXEC, Decoded, Operand
from netra_build.simulate.sources import Context, scalar_dest, scalar_source

Binary = Callable[[Array, Array], Array]
ONE = np.uint32(1)
_WIDE = ("u64", "b64", "i64")


def _bits(value: Array) -> Array:
    """View a result of any integer type as unsigned."""
    if value.dtype == np.int32:
        return value.view(np.uint32)
    return value.view(np.uint64) if value.dtype == np.int64 else value


def _dwords(kind: str) -> int:
    return 2 if kind in _WIDE else 1


def _nonzero(result: Array) -> Array:
    return result != 0


def _set_scc(g: Group, value: Array) -> None:
    g.scc = np.broadcast_to(value, (g.n,)).copy()


def _binary(
    names: str, kinds: str, fn: Binary, scc: Callable[[Array, Array, Array], Array] | None = None
) -> None:
    """Enter D = fn(S0, S1); ``kinds`` is "D S0 S1"; ``scc`` takes result, S0 and S1."""
    dst, first, second = kinds.split()

    def build(d: Decoded, _context: Context) -> Run:
        d.allow()
        put = scalar_dest(d.operands[0], _dwords(dst), d)
        get0 = scalar_source(d.operands[1], first, d)
        get1 = scalar_source(d.operands[2], second, d)

        def run(g: Group) -> None:
            a, b = get0(g), get1(g)
            result = np.asarray(fn(a, b))
            if scc is not None:
                _set_scc(g, scc(result, a, b))
            put(g, _bits(result))

        return run

    register(names, build)


def _unary(names: str, kinds: str, fn: Callable[[Array], Array], *, scc: bool = False) -> None:
    dst, first = kinds.split()

    def build(d: Decoded, _context: Context) -> Run:
        d.allow()
        put = scalar_dest(d.operands[0], _dwords(dst), d)
        get = scalar_source(d.operands[1], first, d)

        def run(g: Group) -> None:
            result = np.asarray(fn(get(g)))
            if scc:
                _set_scc(g, result != 0)
            put(g, _bits(result))

        return run

    register(names, build)


def _compare(name: str, kind: str, fn: Binary) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        get0 = scalar_source(d.operands[0], kind, d)
        get1 = scalar_source(d.operands[1], kind, d)

        def run(g: Group) -> None:
            _set_scc(g, fn(get0(g), get1(g)))

        return run

    register(name, build)


# Arithmetic


def _carry(result: Array, a: Array, _b: Array) -> Array:
    return result < a


def _borrow(_result: Array, a: Array, b: Array) -> Array:
    return a < b


def _add_overflow(result: Array, a: Array, b: Array) -> Array:
    return ((a ^ result) & (b ^ result)) < 0


def _sub_overflow(result: Array, a: Array, b: Array) -> Array:
    return ((a ^ b) & (a ^ result)) < 0


_binary("s_add_u32", "u32 u32 u32", np.add, _carry)
_binary("s_sub_u32", "u32 u32 u32", np.subtract, _borrow)
_binary("s_add_i32", "i32 i32 i32", np.add, _add_overflow)
_binary("s_sub_i32", "i32 i32 i32", np.subtract, _sub_overflow)
_binary("s_mul_i32", "i32 i32 i32", np.multiply)
_binary("s_min_i32", "i32 i32 i32", np.minimum, lambda r, a, b: a < b)
_binary("s_min_u32", "u32 u32 u32", np.minimum, lambda r, a, b: a < b)
_binary("s_max_i32", "i32 i32 i32", np.maximum, lambda r, a, b: a > b)
_binary("s_max_u32", "u32 u32 u32", np.maximum, lambda r, a, b: a > b)


def _mul_hi_unsigned(a: Array, b: Array) -> Array:
    return ((a.astype(np.uint64) * b.astype(np.uint64)) >> np.uint64(32)).astype(np.uint32)


def _mul_hi_signed(a: Array, b: Array) -> Array:
    return ((a.astype(np.int64) * b.astype(np.int64)) >> np.int64(32)).astype(np.int32)


def _absdiff(a: Array, b: Array) -> Array:
    return np.abs(a - b)


_binary("s_mul_hi_u32", "u32 u32 u32", _mul_hi_unsigned)
_binary("s_mul_hi_i32", "i32 i32 i32", _mul_hi_signed)
_binary("s_absdiff_i32", "i32 i32 i32", _absdiff, lambda r, a, b: r != 0)


def _with_carry(name: str, is_add: bool) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        put = scalar_dest(d.operands[0], 1, d)
        get0 = scalar_source(d.operands[1], "u32", d)
        get1 = scalar_source(d.operands[2], "u32", d)

        def run(g: Group) -> None:
            a, b = get0(g).astype(np.int64), get1(g).astype(np.int64)
            carry = g.scc.astype(np.int64)
            wide = a + b + carry if is_add else a - b - carry
            _set_scc(g, (wide >> np.int64(32)) != 0)
            put(g, wide.astype(np.uint64).astype(np.uint32))

        return run

    register(name, build)


_with_carry("s_addc_u32", True)
_with_carry("s_subb_u32", False)

# Bits


def _after(result: Array, _a: Array, _b: Array) -> Array:
    return result != 0


for _size in ("b32", "b64"):
    _kinds = f"{_size} {_size} {_size}"
    _binary(f"s_and_{_size}", _kinds, np.bitwise_and, _after)
    _binary(f"s_or_{_size}", _kinds, np.bitwise_or, _after)
    _binary(f"s_xor_{_size}", _kinds, np.bitwise_xor, _after)
    _binary(f"s_andn2_{_size}", _kinds, lambda a, b: a & ~b, _after)
    _binary(f"s_orn2_{_size}", _kinds, lambda a, b: a | ~b, _after)
    _binary(f"s_nand_{_size}", _kinds, lambda a, b: ~(a & b), _after)
    _binary(f"s_nor_{_size}", _kinds, lambda a, b: ~(a | b), _after)
    _binary(f"s_xnor_{_size}", _kinds, lambda a, b: ~(a ^ b), _after)


def _shift_left(a: Array, b: Array) -> Array:
    mask = 8 * a.dtype.itemsize - 1
    return a << (b & np.uint32(mask)).astype(a.dtype)


def _shift_right(a: Array, b: Array) -> Array:
    mask = 8 * a.dtype.itemsize - 1
    return a >> (b & np.uint32(mask)).astype(a.dtype)


_binary("s_lshl_b32", "b32 b32 u32", _shift_left, _after)
_binary("s_lshl_b64", "b64 b64 u32", _shift_left, _after)
_binary("s_lshr_b32", "b32 b32 u32", _shift_right, _after)
_binary("s_lshr_b64", "b64 b64 u32", _shift_right, _after)
_binary("s_ashr_i32", "i32 i32 u32", _shift_right, _after)
_binary("s_ashr_i64", "i64 i64 u32", _shift_right, _after)


def _shifted_add(amount: int) -> Binary:
    return lambda a, b: (a << np.uint32(amount)) + b


def _shifted_carry(amount: int) -> Callable[[Array, Array, Array], Array]:
    def scc(_result: Array, a: Array, b: Array) -> Array:
        wide = (a.astype(np.uint64) << np.uint64(amount)) + b.astype(np.uint64)
        return (wide >> np.uint64(32)) != 0

    return scc


for _amount in (1, 2, 3, 4):
    _name = f"s_lshl{_amount}_add_u32"
    _binary(_name, "u32 u32 u32", _shifted_add(_amount), _shifted_carry(_amount))


def _field_mask(width: Array, bits: int, dtype: np.dtype[np.generic]) -> Array:
    full = np.array(2**bits - 1, np.uint64)
    wide = width.astype(np.uint64)
    mask = np.where(wide >= bits, full, (np.uint64(1) << np.minimum(wide, 63)) - np.uint64(1))
    return mask.astype(dtype)


def _extract_unsigned(a: Array, b: Array) -> Array:
    bits = 8 * a.dtype.itemsize
    offset = (b & np.uint32(bits - 1)).astype(a.dtype)
    width = (b >> np.uint32(16)) & np.uint32(0x7F)
    return (a >> offset) & _field_mask(width, bits, a.dtype)


def _extract_signed(a: Array, b: Array) -> Array:
    unsigned = _bits(np.asarray(a))
    field = _extract_unsigned(unsigned, b)
    bits = 8 * unsigned.dtype.itemsize
    width = np.minimum((b >> np.uint32(16)) & np.uint32(0x7F), bits).astype(unsigned.dtype)
    shift = np.where(width == 0, 0, bits - width).astype(unsigned.dtype)
    signed = (field << shift).view(np.asarray(a).dtype) >> shift.astype(np.asarray(a).dtype)
    return np.where(width == 0, np.zeros_like(signed), signed)


_binary("s_bfe_u32", "u32 u32 u32", _extract_unsigned, _after)
_binary("s_bfe_i32", "i32 i32 u32", _extract_signed, _after)
_binary("s_bfe_u64", "u64 u64 u32", _extract_unsigned, _after)
_binary("s_bfe_i64", "i64 i64 u32", _extract_signed, _after)


def _make_mask_32(a: Array, b: Array) -> Array:
    ones = (ONE << (a & np.uint32(31))) - ONE
    return ones << (b & np.uint32(31))


def _make_mask_64(a: Array, b: Array) -> Array:
    width, offset = (a & np.uint32(63)).astype(np.uint64), (b & np.uint32(63)).astype(np.uint64)
    return ((np.uint64(1) << width) - np.uint64(1)) << offset


_binary("s_bfm_b32", "b32 u32 u32", _make_mask_32)
_binary("s_bfm_b64", "b64 u32 u32", _make_mask_64)
_HALF = np.uint32(0xFFFF)
_TOP = np.uint32(16)
_binary("s_pack_ll_b32_b16", "b32 b32 b32", lambda a, b: (a & _HALF) | (b << _TOP))
_binary("s_pack_lh_b32_b16", "b32 b32 b32", lambda a, b: (a & _HALF) | (b & ~_HALF))
_binary("s_pack_hh_b32_b16", "b32 b32 b32", lambda a, b: (a >> _TOP) | (b & ~_HALF))

# One operand


def _reverse_32(a: Array) -> Array:
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        low = np.uint32(mask)
        a = ((a >> np.uint32(shift)) & low) | ((a & low) << np.uint32(shift))
    return (a >> _TOP) | (a << _TOP)


def _count_ones(a: Array) -> Array:
    return np.bitwise_count(a).astype(np.uint32)


def _first_one(a: Array) -> Array:
    lowest = a & (~a + a.dtype.type(1))
    position = np.bitwise_count(lowest - a.dtype.type(1)).astype(np.int32)
    return np.where(a == 0, np.int32(-1), position)


def _leading_zeros(a: Array) -> Array:
    """Position of the highest one counted from the top, -1 for zero."""
    bits = 8 * a.dtype.itemsize
    filled = a
    shift = 1
    while shift < bits:
        filled = filled | (filled >> a.dtype.type(shift))
        shift *= 2
    count = (bits - np.bitwise_count(filled).astype(np.int32)).astype(np.int32)
    return np.where(a == 0, np.int32(-1), count)


def _leading_signs(a: Array) -> Array:
    unsigned = np.uint32 if a.dtype == np.int32 else np.uint64
    folded = (a ^ (a >> a.dtype.type(8 * a.dtype.itemsize - 1))).view(unsigned)
    return _leading_zeros(folded)


_unary("s_mov_b32", "b32 b32", lambda a: a)
_unary("s_mov_b64", "b64 b64", lambda a: a)
_unary("s_not_b32", "b32 b32", np.invert, scc=True)
_unary("s_not_b64", "b64 b64", np.invert, scc=True)
_unary("s_abs_i32", "i32 i32", np.abs, scc=True)
_unary("s_brev_b32", "b32 b32", _reverse_32)
_unary("s_bcnt1_i32_b32", "u32 b32", _count_ones, scc=True)
_unary("s_bcnt1_i32_b64", "u32 b64", _count_ones, scc=True)
_unary("s_bcnt0_i32_b32", "u32 b32", lambda a: _count_ones(~a), scc=True)
_unary("s_bcnt0_i32_b64", "u32 b64", lambda a: _count_ones(~a), scc=True)
_unary("s_ff1_i32_b32", "i32 b32", _first_one)
_unary("s_ff1_i32_b64", "i32 b64", _first_one)
_unary("s_ff0_i32_b32", "i32 b32", lambda a: _first_one(~a))
_unary("s_ff0_i32_b64", "i32 b64", lambda a: _first_one(~a))
_unary("s_flbit_i32_b32", "i32 b32", _leading_zeros)
_unary("s_flbit_i32_b64", "i32 b64", _leading_zeros)
_unary("s_flbit_i32", "i32 i32", _leading_signs)
_unary("s_flbit_i32_i64", "i32 i64", _leading_signs)
_unary("s_sext_i32_i8", "i32 i32", lambda a: a.astype(np.int8).astype(np.int32))
_unary("s_sext_i32_i16", "i32 i32", lambda a: a.astype(np.int16).astype(np.int32))

# Select, compare, immediate forms


def _select(name: str, kind: str) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        put = scalar_dest(d.operands[0], _dwords(kind), d)
        get0 = scalar_source(d.operands[1], kind, d)
        get1 = scalar_source(d.operands[2], kind, d)
        return lambda g: put(g, np.where(g.scc, get0(g), get1(g)))

    register(name, build)


_select("s_cselect_b32", "b32")
_select("s_cselect_b64", "b64")


def _conditional_move(name: str, kind: str) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        put = scalar_dest(d.operands[0], _dwords(kind), d)
        get = scalar_source(d.operands[1], kind, d)
        old = scalar_source(d.operands[0], kind, d)

        def run(g: Group) -> None:
            if g.scc.all():
                put(g, get(g))
            elif g.scc.any():
                put(g, np.where(g.scc, get(g), old(g)))

        return run

    register(name, build)


_conditional_move("s_cmov_b32", "b32")
_conditional_move("s_cmov_b64", "b64")

_COMPARE = {
    "eq": np.equal,
    "lg": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}
for _kind in ("i32", "u32"):
    for _relation, _fn in _COMPARE.items():
        _compare(f"s_cmp_{_relation}_{_kind}", _kind, _fn)
_compare("s_cmp_eq_u64", "u64", np.equal)
_compare("s_cmp_lg_u64", "u64", np.not_equal)


def _test_bit(a: Array, b: Array) -> Array:
    mask = 8 * a.dtype.itemsize - 1
    return ((a >> (b & b.dtype.type(mask)).astype(a.dtype)) & a.dtype.type(1)) != 0


def _bit_compare(name: str, kind: str, wanted: bool) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        get0 = scalar_source(d.operands[0], kind, d)
        get1 = scalar_source(d.operands[1], "u32", d)

        def run(g: Group) -> None:
            bit = _test_bit(np.asarray(get0(g)), np.asarray(get1(g)))
            _set_scc(g, bit if wanted else ~bit)

        return run

    register(name, build)


for _kind in ("b32", "b64"):
    _bit_compare(f"s_bitcmp1_{_kind}", _kind, True)
    _bit_compare(f"s_bitcmp0_{_kind}", _kind, False)


def _immediate(d: Decoded, signed: bool) -> Array:
    """The 16-bit immediate of an SOPK instruction, extended to 32 bits."""
    bits = d.source.words[0] & 0xFFFF
    if signed and bits & 0x8000:
        return np.asarray(np.int32(bits - 0x10000))
    return np.asarray(np.int32(bits)) if signed else np.asarray(np.uint32(bits))


def _build_movk(d: Decoded, _context: Context) -> Run:
    put = scalar_dest(d.operands[0], 1, d)
    value = _immediate(d, True).view(np.uint32)
    return lambda g: put(g, value)


def _build_cmovk(d: Decoded, _context: Context) -> Run:
    put = scalar_dest(d.operands[0], 1, d)
    old = scalar_source(d.operands[0], "u32", d)
    value = _immediate(d, True).view(np.uint32)

    def run(g: Group) -> None:
        if g.scc.any():
            put(g, value if g.scc.all() else np.where(g.scc, value, old(g)))

    return run


def _immediate_arithmetic(name: str, fn: Binary, has_scc: bool) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        put = scalar_dest(d.operands[0], 1, d)
        get = scalar_source(d.operands[0], "i32", d)
        value = _immediate(d, True)

        def run(g: Group) -> None:
            a = get(g)
            result = fn(a, value)
            if has_scc:
                _set_scc(g, _add_overflow(result, a, value))
            put(g, result.view(np.uint32))

        return run

    register(name, build)


def _immediate_compare(name: str, kind: str, fn: Binary) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        get = scalar_source(d.operands[0], kind, d)
        value = _immediate(d, kind == "i32")
        return lambda g: _set_scc(g, fn(get(g), value))

    register(name, build)


register("s_movk_i32", _build_movk)
register("s_cmovk_i32", _build_cmovk)
_immediate_arithmetic("s_addk_i32", np.add, True)
_immediate_arithmetic("s_mulk_i32", np.multiply, False)
for _kind in ("i32", "u32"):
    for _relation, _fn in _COMPARE.items():
        _immediate_compare(f"s_cmpk_{_relation}_{_kind}", _kind, _fn)

# EXEC


def _save_exec(name: str, fn: Binary) -> None:
    exec_operand = Operand("s", "exec", EXEC, 2)

    def build(d: Decoded, _context: Context) -> Run:
        put = scalar_dest(d.operands[0], 2, d)
        get = scalar_source(d.operands[1], "b64", d)
        read_exec = scalar_source(exec_operand, "b64", d)
        write_exec = scalar_dest(exec_operand, 2, d)

        def run(g: Group) -> None:
            mask, old = get(g), read_exec(g)
            put(g, old)
            new = np.broadcast_to(fn(mask, old), (g.n,))
            write_exec(g, new)
            _set_scc(g, new != 0)

        return run

    register(name, build)


_save_exec("s_and_saveexec_b64", lambda s, e: s & e)
_save_exec("s_or_saveexec_b64", lambda s, e: s | e)
_save_exec("s_xor_saveexec_b64", lambda s, e: s ^ e)
_save_exec("s_andn2_saveexec_b64", lambda s, e: s & ~e)
_save_exec("s_orn2_saveexec_b64", lambda s, e: s | ~e)
_save_exec("s_nand_saveexec_b64", lambda s, e: ~(s & e))
_save_exec("s_nor_saveexec_b64", lambda s, e: ~(s | e))
_save_exec("s_xnor_saveexec_b64", lambda s, e: ~(s ^ e))
_save_exec("s_andn1_saveexec_b64", lambda s, e: ~s & e)
_save_exec("s_orn1_saveexec_b64", lambda s, e: ~s | e)


def _bit_set(name: str, dwords: int, value: bool) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        kind = "b32" if dwords == 1 else "b64"
        put = scalar_dest(d.operands[0], dwords, d)
        get = scalar_source(d.operands[1], "u32", d)
        old = scalar_source(d.operands[0], kind, d)

        def run(g: Group) -> None:
            before = old(g)
            one = before.dtype.type(1)
            place = (get(g) & np.uint32(32 * dwords - 1)).astype(before.dtype)
            put(g, before | (one << place) if value else before & ~(one << place))

        return run

    register(name, build)


for _count, _suffix in ((1, "b32"), (2, "b64")):
    _bit_set(f"s_bitset1_{_suffix}", _count, True)
    _bit_set(f"s_bitset0_{_suffix}", _count, False)
