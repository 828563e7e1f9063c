"""Packed instructions (VOP3P): two results from halves or register pairs that op_sel names.

Each does twice what the instruction without ``pk_`` does once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arith import ieee
from netra_build.checkasm.model.arrays import U32, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import MEANINGS, Spec, instruction, register
from netra_build.checkasm.model.isa.vector import half_bits, half_register, typed
from netra_build.checkasm.model.operands import Operand, Unsupported
from netra_build.checkasm.model.sources import Form, Get, constant, is_vector, scalar_row

Part = Callable[[Operand, int, bool, str], Get]
"""Returns a reader of one half of an operand: which one, whether negated, and its kind."""


def _meaning(d: Form) -> Spec:
    return MEANINGS[d.base.replace("pk_", "")]


def _sides(d: Form, spec: Spec, part: Part) -> list[list[Get]]:
    """Return the readers for the low and the high result."""
    count = len(spec.src)
    sides = []
    for select, default, sign in (("op_sel", 0, "neg_lo"), ("op_sel_hi", 1, "neg_hi")):
        halves, negate = d.flag_list(select, count, default), d.flag_list(sign, count, 0)
        operands = d.operands[1 : 1 + count]
        columns = zip(operands, halves, negate, spec.src, strict=True)
        sides.append([part(s, half, bool(minus), kind) for s, half, minus, kind in columns])
    return sides


def _refuse_high_constant(operand: Operand, half: int) -> None:
    if half == 1 and operand.text != "0":
        raise Unsupported(f'the high half of the constant "{operand.text}"')


# Pairs of registers


def _register_of_pair(operand: Operand, half: int, d: Form) -> Get:
    """Return a reader of one register of a pair as uint32."""
    if is_vector(operand):
        return d.registers(operand, 2)[half]
    if operand.kind == "s":
        row = scalar_row(operand, 2) + half
        get = d.scalar(Operand("s", operand.text, row, 1), "b32")
        return lambda g: get(g)[:, None]
    _refuse_high_constant(operand, half)
    value = np.asarray(constant(operand, "b32"))
    return lambda g: value


@instruction("v_pk_{add,mul,fma}_f32")
def _build_singles(d: Form) -> Run:
    """v_pk_*_f32."""
    d.allow("op_sel", "op_sel_hi", "neg_lo", "neg_hi")

    def part(operand: Operand, half: int, negate: bool, _kind: str) -> Get:
        bits = _register_of_pair(operand, half, d)

        def get(g: Group) -> Array:
            value = np.asarray(bits(g)).view(np.float32)
            value = ieee.flush(value) if g.flush_in else value
            return np.negative(value) if negate else value

        return get

    spec = _meaning(d)
    sides = _sides(d, spec, part)
    puts = d.dests(d.operands[0], 2, "f32")

    def run(g: Group) -> None:
        results = [spec.fn(*[get(g) for get in side]) for side in sides]
        for put, value in zip(puts, results, strict=True):
            put(g, ieee.flush(value) if g.flush_out else value)

    return run


@instruction("v_pk_mov_b32")
def _build_move(d: Form) -> Run:
    """v_pk_mov_b32: the low result from source 0, the high one from source 1."""
    d.allow("op_sel", "op_sel_hi")
    halves = d.flag_list("op_sel", 2, 0)
    gets = [_register_of_pair(d.operands[1 + i], halves[i], d) for i in (0, 1)]
    puts = d.dests(d.operands[0], 2, "b32")

    def run(g: Group) -> None:
        # Copies, so that the first result cannot disturb the second source.
        values = [np.array(get(g)) for get in gets]
        for put, value in zip(puts, values, strict=True):
            put(g, value)

    return run


# Two 16-bit halves in one register


def _build_halves(d: Form) -> Run:
    """v_pk_*_{f16,i16,u16,b16}."""
    d.allow("op_sel", "op_sel_hi", "neg_lo", "neg_hi")

    def part(operand: Operand, half: int, negate: bool, kind: str) -> Get:
        if operand.kind in ("int", "float"):
            _refuse_high_constant(operand, half)
            bits = np.asarray(constant(operand, kind))
            get = typed(lambda g: bits, kind)
        else:
            whole = d.vector(operand, "b32")
            get = typed(half_register(whole, half == 1), kind)
        if negate and kind != "f16":
            raise Unsupported("negation of an integer half")
        return (lambda g: np.negative(get(g))) if negate else get

    spec = _meaning(d)
    sides = _sides(d, spec, part)
    put = d.dest(d.operands[0], "b32")

    def run(g: Group) -> None:
        low, high = (half_bits(spec.fn(*[get(g) for get in side]), g.saturates) for side in sides)
        put(g, low | (high << U32(16)))

    return run


register("v_pk_{add,mul,fma,max,min}_f16 v_pk_{add,sub,max,min,mad}_{u16,i16}", _build_halves)
register("v_pk_mul_lo_u16 v_pk_{lshlrev,lshrrev}_b16 v_pk_ashrrev_i16", _build_halves)
