"""Packed instructions (VOP3P): two results from halves or register pairs that op_sel names.

Each does twice what the instruction without ``pk_`` does once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from netra_build.checkasm.model.arith import ieee
from netra_build.checkasm.model.arrays import U32, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import MEANINGS, instruction
from netra_build.checkasm.model.isa.vector import (
    flushing,
    half_bits,
    half_register,
    modified,
    typed,
)
from netra_build.checkasm.model.operands import (
    Operand,
    Unsupported,
    constant,
    is_vector,
    scalar_row,
)
from netra_build.checkasm.model.sources import Form, Get

_MODIFIERS = ("op_sel", "op_sel_hi", "neg_lo", "neg_hi")

Part = Callable[[Form, Operand, int, str], Get]
"""Returns a reader of one half of an operand, of a kind."""


def _results(part: Part, d: Form) -> Callable[[Group], list[Array]]:
    """Return what computes the low and the high result."""
    d.allow(*_MODIFIERS)
    spec = MEANINGS[d.base.replace("pk_", "")]
    count = len(spec.src)
    sides = []
    for select, default, sign in (("op_sel", 0, "neg_lo"), ("op_sel_hi", 1, "neg_hi")):
        halves, negate = d.flag_list(select, count, default), d.flag_list(sign, count, 0)
        gets = []
        for operand, half, is_negated, kind in zip(
            d.operands[1 : 1 + count], halves, negate, spec.src, strict=True
        ):
            if is_negated and kind not in ("f16", "f32"):
                raise Unsupported("negation of an integer half")
            get = part(d, operand, half, kind)
            gets.append(modified(get, replace(operand, negate=bool(is_negated)), kind))
        sides.append(gets)
    return lambda g: [spec.fn(*[get(g) for get in side]) for side in sides]


def _constant(operand: Operand, half: int, kind: str) -> Get:
    if half == 1 and operand.text != "0":
        raise Unsupported(f'the high half of the constant "{operand.text}"')
    value = np.asarray(constant(operand, kind))
    return lambda g: value


def _register_of_pair(d: Form, operand: Operand, half: int, kind: str = "b32") -> Get:
    """Return a reader of one register of a pair."""
    if is_vector(operand):
        get = d.registers(operand, 2)[half]
    elif operand.kind == "s":
        get = d.vector(Operand("s", operand.text, scalar_row(operand, 2) + half), "b32")
    else:
        get = _constant(operand, half, "b32")
    return get if kind == "b32" else flushing(typed(get, kind))


@instruction("v_pk_{add,mul,fma}_f32")
def _build_singles(d: Form) -> Run:
    results = _results(_register_of_pair, d)
    puts = d.dests(d.operands[0], 2, "f32")

    def run(g: Group) -> None:
        for put, value in zip(puts, results(g), strict=True):
            put(g, ieee.flush(value) if g.flush_out else value)

    return run


@instruction("v_pk_mov_b32")
def _build_move(d: Form) -> Run:
    """The low result comes from source 0, the high one from source 1."""
    d.allow("op_sel", "op_sel_hi")
    halves = d.flag_list("op_sel", 2, 0)
    gets = [_register_of_pair(d, d.operands[1 + i], halves[i]) for i in (0, 1)]
    puts = d.dests(d.operands[0], 2, "b32")

    def run(g: Group) -> None:
        # Copies, so that the first result cannot disturb the second source.
        values = [np.array(get(g)) for get in gets]
        for put, value in zip(puts, values, strict=True):
            put(g, value)

    return run


def _half(d: Form, operand: Operand, half: int, kind: str) -> Get:
    if operand.kind in ("int", "float"):
        return typed(_constant(operand, half, kind), kind)
    return typed(half_register(d.vector(operand, "b32"), half == 1), kind)


@instruction(
    "v_pk_{add,mul,fma,max,min}_f16 v_pk_{add,sub,max,min,mad}_{u16,i16}"
    " v_pk_mul_lo_u16 v_pk_{lshlrev,lshrrev}_b16 v_pk_ashrrev_i16"
)
def _build_halves(d: Form) -> Run:
    results = _results(_half, d)
    put = d.dest(d.operands[0], "b32")

    def run(g: Group) -> None:
        low, high = (half_bits(value, g.saturates) for value in results(g))
        put(g, low | (high << U32(16)))

    return run
