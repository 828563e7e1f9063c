"""Vector instructions on bytes and 16-bit integers, byte permutation and any-function-of-three."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.isa.vector import operation
from netra_build.checkasm.model.operands import Decoded
from netra_build.checkasm.model.sources import Context, vector_dest, vector_source

U = np.uint32

# Bytes


def _permute_bytes(a: Array, b: Array, selector: Array) -> Array:
    """Each selector byte picks a byte of {a, b}, a sign spread over a byte, 0x00 or 0xff."""
    wide = (a.astype(np.uint64) << np.uint64(32)) | b
    result = np.zeros(np.broadcast(wide, selector).shape, U)
    for at in range(4):
        pick = (selector >> U(8 * at)) & U(0xFF)
        plain = (wide >> (np.minimum(pick, 7).astype(np.uint64) * np.uint64(8))) & np.uint64(0xFF)
        sign_bit = (pick.astype(np.uint64) & np.uint64(3)) * np.uint64(16) + np.uint64(15)
        sign = ((wide >> sign_bit) & np.uint64(1)) * np.uint64(0xFF)
        byte = np.where(pick < 8, plain, np.where(pick < 12, sign, 0))
        byte = np.where(pick >= 13, np.uint64(0xFF), byte)
        result |= byte.astype(U) << U(8 * at)
    return result


operation("v_perm_b32", "b32 = b32 b32 b32", _permute_bytes)


def _sum_of_differences(a: Array, b: Array, c: Array) -> Array:
    total = np.array(c, copy=True)
    for at in range(4):
        x = ((a >> U(8 * at)) & U(0xFF)).astype(np.int32)
        y = ((b >> U(8 * at)) & U(0xFF)).astype(np.int32)
        total = total + np.abs(x - y).astype(U)
    return total


def _difference(a: Array, b: Array, c: Array) -> Array:
    return np.where(a > b, a - b, b - a) + c


operation("v_sad_u8", "u32 = u32 u32 u32", _sum_of_differences)
operation("v_sad_u32", "u32 = u32 u32 u32", _difference)


def _build_bitop3(d: Decoded, context: Context) -> Run:
    """Any function of three bits; the truth table's index is 4 * s0 + 2 * s1 + s2."""
    d.allow("bitop3")
    table = d.number("bitop3")
    put = vector_dest(d.operands[0], "b32", d, context)
    gets = [vector_source(operand, "b32", d, context) for operand in d.operands[1:4]]

    def run(g: Group) -> None:
        s0, s1, s2 = (get(g) for get in gets)
        result: Array = np.zeros((g.n, LANES), U)
        for index in range(8):
            if table >> index & 1:
                a = s0 if index & 4 else ~s0
                b = s1 if index & 2 else ~s1
                c = s2 if index & 1 else ~s2
                result |= a & b & c
        put(g, result)

    return run


register("v_bitop3_b32", _build_bitop3)

# Sixteen bits

operation("v_add_u16", "u16 = u16 u16", np.add)
operation("v_sub_u16", "u16 = u16 u16", np.subtract)
operation("v_subrev_u16", "u16 = u16 u16", lambda a, b: b - a)
operation("v_mul_lo_u16", "u16 = u16 u16", np.multiply)
operation("v_mad_legacy_u16", "u16 = u16 u16 u16", lambda a, b, c: a * b + c)
operation("v_mad_legacy_i16", "i16 = i16 i16 i16", lambda a, b, c: a * b + c)
operation("v_mad_u16", "u16 = u16 u16 u16", lambda a, b, c: a * b + c, keeps_high=True)
operation("v_mad_i16", "i16 = i16 i16 i16", lambda a, b, c: a * b + c, keeps_high=True)
operation("v_add_i16", "i16 = i16 i16", np.add)
operation("v_sub_i16", "i16 = i16 i16", np.subtract)
operation("v_max_u16", "u16 = u16 u16", np.maximum)
operation("v_min_u16", "u16 = u16 u16", np.minimum)
operation("v_max_i16", "i16 = i16 i16", np.maximum)
operation("v_min_i16", "i16 = i16 i16", np.minimum)
operation("v_lshlrev_b16", "u16 = u16 u16", lambda n, a: a << (n & U(15)))
operation("v_lshrrev_b16", "u16 = u16 u16", lambda n, a: a >> (n & U(15)))
operation("v_ashrrev_i16", "i16 = u16 i16", lambda n, a: a >> (n & U(15)).astype(np.int32))
operation("v_mad_u32_u16", "u32 = u16 u16 u32", lambda a, b, c: a * b + c)
operation("v_mad_i32_i16", "i32 = i16 i16 i32", lambda a, b, c: a * b + c)

for _suffix in ("i16", "u16"):
    _three = f"{_suffix} = {_suffix} {_suffix} {_suffix}"
    operation(f"v_max3_{_suffix}", _three, lambda a, b, c: np.maximum(np.maximum(a, b), c))
    operation(f"v_min3_{_suffix}", _three, lambda a, b, c: np.minimum(np.minimum(a, b), c))
    operation(
        f"v_med3_{_suffix}",
        _three,
        lambda a, b, c: np.maximum(np.minimum(np.maximum(a, b), c), np.minimum(a, b)),
    )

# Sums of differences, averages and saturation of bytes and halves


def _parts(value: Array, width: int) -> list[Array]:
    mask = U((1 << width) - 1)
    return [((value >> U(at)) & mask).astype(np.int64) for at in range(0, 32, width)]


def _differences(a: Array, b: Array, width: int) -> list[Array]:
    return [np.abs(x - y) for x, y in zip(_parts(a, width), _parts(b, width), strict=True)]


def _masked_differences(a: Array, b: Array, c: Array) -> Array:
    """Bytes of b that are zero do not count."""
    rows = zip(_differences(a, b, 8), _parts(b, 8), strict=True)
    total = c.astype(np.int64) + sum(np.where(y == 0, 0, size) for size, y in rows)
    return total.astype(np.uint64).astype(U)


def _sum_of_halves(a: Array, b: Array, c: Array) -> Array:
    total = c.astype(np.int64) + sum(_differences(a, b, 16))
    return total.astype(np.uint64).astype(U)


def _high_sum(a: Array, b: Array, c: Array) -> Array:
    total = np.asarray(sum(_differences(a, b, 8))).astype(U)
    result: Array = (total << U(16)) + c
    return result


def _average(a: Array, b: Array, c: Array) -> Array:
    """Mean of bytes; the lowest bit of each byte of c rounds it up."""
    result = np.zeros(np.broadcast(a, b, c).shape, np.int64)
    rows = zip(_parts(a, 8), _parts(b, 8), _parts(c, 8), strict=True)
    for at, (x, y, up) in enumerate(rows):
        result = result | ((x + y + (up & 1)) >> 1) << 8 * at
    return result.astype(U)


def _pack_saturated(a: Array) -> Array:
    low, high = (np.clip(x - ((x >> 15) << 16), 0, 255) for x in _parts(a, 16))
    result: Array = (low | high << 8).astype(U)
    return result


operation("v_msad_u8", "u32 = u32 u32 u32", _masked_differences)
operation("v_sad_u16", "u32 = u32 u32 u32", _sum_of_halves)
operation("v_sad_hi_u8", "u32 = u32 u32 u32", _high_sum)
operation("v_lerp_u8", "u32 = u32 u32 u32", _average)
operation("v_sat_pk_u8_i16", "u32 = u32", _pack_saturated)
