"""Element-wise vector instructions on integers, bits, bytes and halves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arith import integer
from netra_build.checkasm.model.arith.ieee import of_three
from netra_build.checkasm.model.arrays import LANES, U32, U64, Array
from netra_build.checkasm.model.isa.vector import operation

ALL = U32(0xFFFFFFFF)
M24 = U32(0xFFFFFF)


# Moves and logic

operation("v_mov_{b32,b64}", "T = T", lambda a: a, is_move=True)
operation("v_accvgpr_{mov,read,write}_b32", "b32 = b32", lambda a: a, is_move=True)
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


@operation("v_bitop3_b32", "b32 = b32 b32 b32 bitop3", modifiers=("bitop3",))
def _any_function(a: Array, b: Array, c: Array, table: Array) -> Array:
    """Any function of three bits; the truth table's index is 4 * a + 2 * b + c."""
    result = np.zeros(np.broadcast(a, b, c).shape, U32)
    for index in (index for index in range(8) if table >> index & 1):
        x = a if index & 4 else ~a
        y = b if index & 2 else ~b
        result |= x & y & (c if index & 1 else ~c)
    return result


# Addition


def _add_saturating(a: Array, b: Array) -> Array:
    total = a + b
    return np.where(total < a, ALL, total)


def _sub_saturating(a: Array, b: Array) -> Array:
    return np.where(a < b, U32(0), a - b)


def _signed_saturating(fn: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: np.clip(fn(a.astype(np.int64), b), -(2**31), 2**31 - 1).astype(np.int32)


def _reversed(fn: Callable[..., object]) -> Callable[..., object]:
    return lambda a, b, *rest: fn(b, a, *rest)


operation("v_add_u32", "u32 = u32 u32", np.add, saturate=_add_saturating)
operation("v_sub_u32", "u32 = u32 u32", np.subtract, saturate=_sub_saturating)
operation(
    "v_subrev_u32", "u32 = u32 u32", _reversed(np.subtract), saturate=_reversed(_sub_saturating)
)
operation("v_add_i32", "i32 = i32 i32", np.add, saturate=_signed_saturating(np.add))
operation("v_sub_i32", "i32 = i32 i32", np.subtract, saturate=_signed_saturating(np.subtract))
operation("v_add3_u32", "u32 = u32 u32 u32", lambda a, b, c: a + b + c)
operation("v_add_co_u32", "u32 mask = u32 u32", integer.add_carry)
operation("v_addc_co_u32", "u32 mask = u32 u32 mask", integer.add_carry)
operation("v_sub_co_u32", "u32 mask = u32 u32", integer.subtract_borrow)
operation("v_subb_co_u32", "u32 mask = u32 u32 mask", integer.subtract_borrow)
operation("v_subrev_co_u32", "u32 mask = u32 u32", _reversed(integer.subtract_borrow))
operation("v_subbrev_co_u32", "u32 mask = u32 u32 mask", _reversed(integer.subtract_borrow))
operation("v_add_{u16,i16}", "T = T T", np.add)
operation("v_sub_{u16,i16}", "T = T T", np.subtract)
operation("v_subrev_u16", "u16 = u16 u16", _reversed(np.subtract))

# Shifts


def _align(a: Array, b: Array, amount: Array) -> Array:
    wide = (a.astype(U64) << U64(32)) | b
    return (wide >> amount.astype(U64)).astype(U32)


operation("v_lshlrev_{b32,b64}", "T = u32 T", _reversed(integer.shift_left))
operation("v_lshrrev_{b32,b64}", "T = u32 T", _reversed(integer.shift_right))
operation("v_ashrrev_{i32,i64}", "T = u32 T", _reversed(integer.shift_right))
operation("v_lshl_add_u32", "u32 = u32 u32 u32", lambda a, n, c: integer.shift_left(a, n) + c)
operation("v_add_lshl_u32", "u32 = u32 u32 u32", lambda a, b, n: integer.shift_left(a + b, n))
operation("v_lshl_or_b32", "u32 = u32 u32 u32", lambda a, n, c: integer.shift_left(a, n) | c)
operation(
    "v_lshl_add_u64", "u64 = u64 u32 u64", lambda a, n, c: integer.shift_left(a, n & U32(7)) + c
)
operation("v_alignbit_b32", "b32 = b32 b32 u32", lambda a, b, n: _align(a, b, n & U32(31)))
operation(
    "v_alignbyte_b32", "b32 = b32 b32 u32", lambda a, b, n: _align(a, b, (n & U32(3)) * U32(8))
)
operation("v_lshlrev_b16", "u16 = u16 u16", lambda n, a: a << (n & U32(15)))
operation("v_lshrrev_b16", "u16 = u16 u16", lambda n, a: a >> (n & U32(15)))
operation("v_ashrrev_i16", "i16 = i16 i16", lambda n, a: a >> (n & np.int32(15)))

# Multiplication


def _signed24(fn: Callable[..., Array]) -> Callable[..., Array]:
    """Return the function of the low 24 bits of the first two operands, as signed numbers."""
    extended = integer.sign_extended
    return lambda a, b, *rest: fn(extended(a, 24), extended(b, 24), *rest)


def _multiply_add(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


@operation("v_mad_u64_u32", "u64 mask = u32 u32 u64")
def _mad_unsigned(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    total = a.astype(U64) * b.astype(U64) + c
    return total, total < c


@operation("v_mad_i64_i32", "i64 mask = i32 i32 i64")
def _mad_signed(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    product = a.astype(np.int64) * b.astype(np.int64)
    total = product + c
    return total, ((product ^ total) & (c ^ total)) < 0


operation("v_mul_lo_{u16,u32}", "T = T T", np.multiply)
operation("v_mul_hi_{u32,i32}", "T = T T", integer.high_product)
operation("v_mul_u32_u24", "u32 = u32 u32", lambda a, b: (a & M24) * (b & M24))
operation("v_mul_i32_i24", "i32 = i32 i32", _signed24(np.multiply))
operation("v_mul_hi_u32_u24", "u32 = u32 u32", lambda a, b: integer.high_product(a & M24, b & M24))
operation("v_mul_hi_i32_i24", "i32 = i32 i32", _signed24(integer.high_product))
operation("v_mad_u32_u24", "u32 = u32 u32 u32", lambda a, b, c: (a & M24) * (b & M24) + c)
operation("v_mad_i32_i24", "i32 = i32 i32 i32", _signed24(_multiply_add))
operation("v_mad_legacy_{u16,i16}", "T = T T T", _multiply_add)
operation("v_mad_{u16,i16}", "T = T T T", _multiply_add, keeps_high=True)
operation("v_mad_u32_u16", "u32 = u16 u16 u32", _multiply_add)
operation("v_mad_i32_i16", "i32 = i16 i16 i32", _multiply_add)


def _parts(value: Array, width: int, *, signed: bool = False) -> list[Array]:
    """Return the numbers of ``width`` bits in uint32, lowest first, as int64."""
    bits = [(value >> U32(at)) & U32((1 << width) - 1) for at in range(0, 32, width)]
    return [(integer.sign_extended(one, width) if signed else one).astype(np.int64) for one in bits]


def _dot(width: int, *, signed: bool) -> Callable[[Array, Array, Array], Array]:
    def run(a: Array, b: Array, c: Array) -> Array:
        pairs = zip(_parts(a, width, signed=signed), _parts(b, width, signed=signed), strict=True)
        total = c.astype(np.int64) + sum(x * y for x, y in pairs)
        return (total & np.int64(0xFFFFFFFF)).astype(U32)

    return run


for _count, _width in ((2, 16), (4, 8), (8, 4)):
    _signed = _dot(_width, signed=True)
    operation(f"v_dot{_count}_i32_i{_width}", "b32 = b32 b32 b32", _signed, modifiers=())
    operation(f"v_dot{_count}c_i32_i{_width}", "b32 = b32 b32 b32!", _signed, modifiers=())
    _unsigned = _dot(_width, signed=False)
    operation(f"v_dot{_count}_u32_u{_width}", "b32 = b32 b32 b32", _unsigned, modifiers=())

# Extremes

operation("v_max_{i16,u16,i32,u32}", "T = T T", np.maximum)
operation("v_min_{i16,u16,i32,u32}", "T = T T", np.minimum)
operation("v_max3_{i16,u16,i32,u32}", "T = T T T", of_three(np.maximum))
operation("v_min3_{i16,u16,i32,u32}", "T = T T T", of_three(np.minimum))
operation("v_med3_{i16,u16,i32,u32}", "T = T T T", integer.median3)

# Bit fields and counting


@operation("v_bfe_u32", "u32 = u32 u32 u32")
def _field(a: Array, offset: Array, width: Array) -> Array:
    return integer.field(a, offset & U32(31), width & U32(31))


_BELOW_MASK = (U64(1) << np.arange(LANES, dtype=U64)) - U64(1)
_LOW, _HIGH = _BELOW_MASK.astype(U32), (_BELOW_MASK >> U64(32)).astype(U32)
operation("v_bfe_i32", "i32 = i32 u32 u32", _field)
operation("v_bfm_b32", "u32 = u32 u32", integer.mask_bits)
operation("v_bfrev_b32", "b32 = b32", integer.reverse_bits)
operation("v_bcnt_u32_b32", "u32 = b32 u32", lambda a, b: integer.count_ones(np.asarray(a)) + b)
operation("v_ffbh_u32", "i32 = u32", integer.leading_zeros)
operation("v_ffbl_b32", "i32 = u32", integer.first_one)
operation("v_ffbh_i32", "i32 = i32", integer.leading_signs)
operation("v_mbcnt_lo_u32_b32", "u32 = b32 u32", lambda m, c: integer.count_ones(m & _LOW) + c)
operation("v_mbcnt_hi_u32_b32", "u32 = b32 u32", lambda m, c: integer.count_ones(m & _HIGH) + c)

# Bytes and halves


@operation("v_perm_b32", "b32 = b32 b32 b32")
def _permute_bytes(a: Array, b: Array, selector: Array) -> Array:
    """Each selector byte picks a byte of {a, b}, a sign spread over a byte, 0x00 or 0xff."""
    wide = (a.astype(U64) << U64(32)) | b
    result = np.zeros(np.broadcast(wide, selector).shape, U32)
    for at in range(4):
        pick = (selector >> U32(8 * at)) & U32(0xFF)
        plain = (wide >> (np.minimum(pick, 7).astype(U64) * U64(8))) & U64(0xFF)
        sign_bit = (pick.astype(U64) & U64(3)) * U64(16) + U64(15)
        sign = ((wide >> sign_bit) & U64(1)) * U64(0xFF)
        byte = np.where(pick < 8, plain, np.where(pick < 12, sign, 0))
        byte = np.where(pick >= 13, U64(0xFF), byte)
        result |= byte.astype(U32) << U32(8 * at)
    return result


def _differences(a: Array, b: Array, width: int) -> list[Array]:
    return [np.abs(x - y) for x, y in zip(_parts(a, width), _parts(b, width), strict=True)]


def _sum_of_differences(width: int, shift: int = 0) -> Callable[[Array, Array, Array], Array]:
    def run(a: Array, b: Array, c: Array) -> Array:
        total = np.asarray(sum(_differences(a, b, width))).astype(U32)
        return np.asarray((total << U32(shift)) + c)

    return run


@operation("v_msad_u8", "u32 = u32 u32 u32")
def _masked_differences(a: Array, b: Array, c: Array) -> Array:
    """Bytes of b that are zero do not count."""
    rows = zip(_differences(a, b, 8), _parts(b, 8), strict=True)
    total = c.astype(np.int64) + sum(np.where(y == 0, 0, size) for size, y in rows)
    return total.astype(U64).astype(U32)


@operation("v_lerp_u8", "u32 = u32 u32 u32")
def _average(a: Array, b: Array, c: Array) -> Array:
    """Mean of bytes; the lowest bit of each byte of c rounds it up."""
    result = np.zeros(np.broadcast(a, b, c).shape, np.int64)
    rows = zip(_parts(a, 8), _parts(b, 8), _parts(c, 8), strict=True)
    for at, (x, y, up) in enumerate(rows):
        result = result | ((x + y + (up & 1)) >> 1) << 8 * at
    return result.astype(U32)


@operation("v_sat_pk_u8_i16", "u32 = u32")
def _pack_saturated(a: Array) -> Array:
    low, high = (np.clip(x, 0, 255) for x in _parts(a, 16, signed=True))
    return np.asarray(low | high << 8, U32)


operation("v_sad_u8", "u32 = u32 u32 u32", _sum_of_differences(8))
operation("v_sad_hi_u8", "u32 = u32 u32 u32", _sum_of_differences(8, shift=16))
operation("v_sad_u16", "u32 = u32 u32 u32", _sum_of_differences(16))
operation("v_sad_u32", "u32 = u32 u32 u32", lambda a, b, c: np.where(a > b, a - b, b - a) + c)
