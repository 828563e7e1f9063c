"""Packed instructions (VOP3P): two results from halves or register pairs that op_sel names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arith import narrow, single
from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.isa.vector_float import _fma_16
from netra_build.checkasm.model.operands import Decoded, Operand, Unsupported
from netra_build.checkasm.model.sources import (
    Context,
    Get,
    bits_register,
    constant,
    is_vector,
    scalar_row,
    scalar_source,
    vector_dest,
    vector_source,
)

U = np.uint32
Fn = Callable[..., Array]
_FLAGS = ("op_sel", "op_sel_hi", "neg_lo", "neg_hi")


def _half_of_pair(operand: Operand, half: int, d: Decoded, context: Context) -> Get:
    """Return a reader of one register of a pair as uint32."""
    if is_vector(operand):
        return bits_register(context.row(operand, 2) + half, d)
    if operand.kind == "s":
        row = scalar_row(operand, 2) + half
        single_register = Operand("s", operand.text, row, 1)
        get = scalar_source(single_register, "b32", d)
        return lambda g: get(g)[:, None]
    if half == 1 and operand.text != "0":
        raise Unsupported(f'the high half of the constant "{operand.text}"')
    value = np.asarray(constant(operand, "b32"))
    return lambda g: value


def _single(d: Decoded, context: Context, operand: Operand, half: int, negate: int) -> Get:
    bits = _half_of_pair(operand, half, d, context)

    def get(g: Group) -> Array:
        value = np.asarray(bits(g)).view(np.float32)
        value = single.flush(value) if g.flush_in else value
        return np.negative(value) if negate else value

    return get


def _packed_single(name: str, fn: Fn, count: int) -> None:
    """v_pk_*_f32."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow(*_FLAGS)
        srcs = d.operands[1 : 1 + count]
        low_half, high_half = d.flag_list("op_sel", count, 0), d.flag_list("op_sel_hi", count, 1)
        low_neg, high_neg = d.flag_list("neg_lo", count, 0), d.flag_list("neg_hi", count, 0)
        lows = [_single(d, context, s, low_half[i], low_neg[i]) for i, s in enumerate(srcs)]
        highs = [_single(d, context, s, high_half[i], high_neg[i]) for i, s in enumerate(srcs)]
        row = context.row(d.operands[0], 2)
        kind, base = d.operands[0].kind, d.operands[0].index
        assert row >= 0
        puts = [
            vector_dest(Operand(kind, d.operands[0].text, base + i, 1), "f32", d, context)
            for i in (0, 1)
        ]

        def run(g: Group) -> None:
            low = fn(*[get(g) for get in lows])
            high = fn(*[get(g) for get in highs])
            if g.flush_out:
                low, high = single.flush(low), single.flush(high)
            puts[0](g, low)
            puts[1](g, high)

        return run

    register(name, build)


_packed_single("v_pk_add_f32", single.add, 2)
_packed_single("v_pk_mul_f32", single.multiply, 2)
_packed_single("v_pk_fma_f32", single.fma, 3)


def _build_packed_move(d: Decoded, context: Context) -> Run:
    """v_pk_mov_b32: the low result from source 0, the high one from source 1."""
    d.allow("op_sel", "op_sel_hi")
    halves = d.flag_list("op_sel", 2, 0)
    gets = [_half_of_pair(d.operands[1 + i], halves[i], d, context) for i in (0, 1)]
    base = d.operands[0].index
    context.row(d.operands[0], 2)
    puts = [
        vector_dest(Operand(d.operands[0].kind, d.operands[0].text, base + i, 1), "b32", d, context)
        for i in (0, 1)
    ]

    def run(g: Group) -> None:
        low, high = np.array(gets[0](g)), np.array(gets[1](g))
        puts[0](g, low)
        puts[1](g, high)

    return run


register("v_pk_mov_b32", _build_packed_move)

# Two 16-bit halves in one register


def _half(d: Decoded, context: Context, operand: Operand, half: int, kind: str) -> Get:
    if operand.kind in ("int", "float"):
        if half == 1 and operand.text != "0":
            raise Unsupported(f'the high half of the constant "{operand.text}"')
        bits = np.asarray(constant(operand, kind))
        return lambda g: bits
    get = vector_source(operand, "b32", d, context)
    if half:
        return lambda g: get(g) >> U(16)
    return lambda g: get(g) & U(0xFFFF)


def _packed_half(name: str, kind: str, fn: Fn, count: int) -> None:
    """v_pk_*_{f16,i16,u16,b16}."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow(*_FLAGS)
        srcs = d.operands[1 : 1 + count]
        sides = []
        for select, default, sign in (("op_sel", 0, "neg_lo"), ("op_sel_hi", 1, "neg_hi")):
            halves, negate = d.flag_list(select, count, default), d.flag_list(sign, count, 0)
            sides.append(
                [
                    _typed_half(_half(d, context, s, halves[i], kind), kind, negate[i])
                    for i, s in enumerate(srcs)
                ]
            )
        put = vector_dest(d.operands[0], "b32", d, context)

        def run(g: Group) -> None:
            low, high = (_narrow(fn(*[get(g) for get in side]), g.saturates) for side in sides)
            put(g, low | (high << U(16)))

        return run

    register(name, build)


def _typed_half(get: Get, kind: str, negate: int) -> Get:
    if kind == "f16":
        if negate:
            return lambda g: np.negative(narrow.half_to_single(np.asarray(get(g))))
        return lambda g: narrow.half_to_single(np.asarray(get(g)))
    if negate:
        raise Unsupported("negation of an integer half")
    if kind == "i16":
        return lambda g: np.asarray(get(g)).astype(np.uint16).view(np.int16).astype(np.int32)
    return get


def _narrow(value: Array, saturate: bool) -> Array:
    if value.dtype in (np.float32, np.float64):
        return narrow.single_to_half(value, saturate=saturate)
    return value.astype(np.int64).astype(np.uint16).astype(U)


_packed_half("v_pk_add_f16", "f16", np.add, 2)
_packed_half("v_pk_mul_f16", "f16", np.multiply, 2)
_packed_half("v_pk_fma_f16", "f16", _fma_16, 3)
_packed_half("v_pk_max_f16", "f16", single.maximum, 2)
_packed_half("v_pk_min_f16", "f16", single.minimum, 2)
_packed_half("v_pk_add_u16", "u16", np.add, 2)
_packed_half("v_pk_sub_u16", "u16", np.subtract, 2)
_packed_half("v_pk_mul_lo_u16", "u16", np.multiply, 2)
_packed_half("v_pk_mad_u16", "u16", lambda a, b, c: a * b + c, 3)
_packed_half("v_pk_max_u16", "u16", np.maximum, 2)
_packed_half("v_pk_min_u16", "u16", np.minimum, 2)
_packed_half("v_pk_add_i16", "i16", np.add, 2)
_packed_half("v_pk_sub_i16", "i16", np.subtract, 2)
_packed_half("v_pk_mad_i16", "i16", lambda a, b, c: a * b + c, 3)
_packed_half("v_pk_max_i16", "i16", np.maximum, 2)
_packed_half("v_pk_min_i16", "i16", np.minimum, 2)
_packed_half("v_pk_lshlrev_b16", "u16", lambda n, a: a << (n & U(15)), 2)
_packed_half("v_pk_lshrrev_b16", "u16", lambda n, a: a >> (n & U(15)), 2)
_packed_half("v_pk_ashrrev_i16", "i16", lambda n, a: a >> (n & np.int32(15)), 2)

# Integer dot products


def _parts(value: Array, width: int, signed: bool) -> list[Array]:
    up = np.int32(32 - width)
    result = []
    for at in range(0, 32, width):
        bits = (value >> U(at)) & U((1 << width) - 1)
        part = ((bits.view(np.int32) << up) >> up) if signed else bits
        result.append(part.astype(np.int64))
    return result


def _dot(name: str, width: int, signed: bool, *, accumulates: bool = False) -> None:
    def build(d: Decoded, context: Context) -> Run:
        d.allow()
        operands = d.operands[1:4]
        if accumulates:
            operands = (*d.operands[1:3], d.operands[0])
        gets = [vector_source(operand, "b32", d, context) for operand in operands]
        put = vector_dest(d.operands[0], "b32", d, context)

        def run(g: Group) -> None:
            a, b, c = (np.asarray(get(g)) for get in gets)
            pairs = zip(_parts(a, width, signed), _parts(b, width, signed), strict=True)
            total = c.astype(np.int64) + sum(x * y for x, y in pairs)
            put(g, (total & np.int64(0xFFFFFFFF)).astype(U))

        return run

    register(name, build)


_dot("v_dot2_i32_i16", 16, True)
_dot("v_dot2_u32_u16", 16, False)
_dot("v_dot4_i32_i8", 8, True)
_dot("v_dot4_u32_u8", 8, False)
_dot("v_dot8_i32_i4", 4, True)
_dot("v_dot8_u32_u4", 4, False)
_dot("v_dot2c_i32_i16", 16, True, accumulates=True)
_dot("v_dot4c_i32_i8", 8, True, accumulates=True)
_dot("v_dot8c_i32_i4", 4, True, accumulates=True)
