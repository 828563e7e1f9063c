"""Scalar arithmetic, logic, comparison and selection (SOP1, SOP2, SOPC, SOPK): one row each.

Kinds without an operand: ``scc`` (bool[n]), ``exec`` (uint64[n]), ``simm`` and ``uimm`` (the 16
bits of the encoding, extended to 32).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from netra_build.checkasm.model.arith import integer
from netra_build.checkasm.model.arith.integer import bits_of, count_ones, first_one
from netra_build.checkasm.model.arrays import U32, U64, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import Function, apply, register, sides, spellings
from netra_build.checkasm.model.operands import EXEC, WIDE, Operand
from netra_build.checkasm.model.sources import Form, Get, Put

_EXEC_OPERAND = Operand("s", "exec", EXEC, 2)


def scalar(names: str, kinds: str, fn: Function) -> None:
    """Enter scalar operations; see ``table`` for the kinds."""
    for name, of in spellings(names):
        register(name, partial(_build, *sides(kinds, of), fn))


def _build(dst: tuple[str, ...], src: tuple[str, ...], fn: Function, d: Form) -> Run:
    d.allow()
    operands = list(d.operands)
    puts = [_dest(kind, operands, d) for kind in dst]
    return apply([_source(kind, operands, d) for kind in src], puts, fn)


def _dest(kind: str, operands: list[Operand], d: Form) -> Put:
    if kind == "scc":
        return _set_scc
    operand = _EXEC_OPERAND if kind == "exec" else operands.pop(0)
    put = d.scalar_dest(operand, operand.dwords if kind == "exec" else 1 + (kind in WIDE))
    return lambda g, value: put(g, bits_of(value))


def _set_scc(g: Group, value: Array) -> None:
    """Set SCC of every wavefront from bool[n] or one bool."""
    g.scc = value if value.shape == g.scc.shape else np.full(g.n, value)


def _source(kind: str, operands: list[Operand], d: Form) -> Get:
    if kind == "scc":
        return lambda g: g.scc
    if kind == "exec":
        return d.scalar(_EXEC_OPERAND, "b64")
    if kind in ("simm", "uimm"):
        value = _immediate(d, signed=kind == "simm")
        return lambda g: value
    operand = d.operands[0] if kind.endswith("!") else operands.pop(0)
    return d.scalar(operand, kind.removesuffix("!"))


def _immediate(d: Form, *, signed: bool) -> Array:
    bits = np.asarray(np.uint16(d.source.words[0] & 0xFFFF))
    return bits.view(np.int16).astype(np.int32) if signed else bits.astype(U32)


# Arithmetic


def _flagged(fn: Function, scc: Function) -> Function:
    """Return the function with SCC as a second result; ``scc`` takes the result, S0 and S1."""

    def both(*values: Array) -> tuple[Array, Array]:
        result = fn(*values)
        return result, scc(result, *values)

    return both


def _nonzero(fn: Function) -> Function:
    """Return the function with SCC as a second result: the first one is not zero."""
    return _flagged(fn, lambda result, *_: result != 0)


def _same(a: Array) -> Array:
    return a


_ADD = _flagged(np.add, lambda r, a, b: ((a ^ r) & (b ^ r)) < 0)
scalar("s_add_u32", "u32 scc = u32 u32", _flagged(np.add, lambda r, a, b: r < a))
scalar("s_sub_u32", "u32 scc = u32 u32", _flagged(np.subtract, lambda r, a, b: a < b))
scalar("s_add_i32", "i32 scc = i32 i32", _ADD)
scalar("s_addk_i32", "i32 scc = i32! simm", _ADD)
scalar(
    "s_sub_i32", "i32 scc = i32 i32", _flagged(np.subtract, lambda r, a, b: ((a ^ b) & (a ^ r)) < 0)
)
scalar("s_addc_u32", "u32 scc = u32 u32 scc", integer.add_carry)
scalar("s_subb_u32", "u32 scc = u32 u32 scc", integer.subtract_borrow)
scalar("s_mul_i32", "i32 = i32 i32", np.multiply)
scalar("s_mulk_i32", "i32 = i32! simm", np.multiply)
scalar("s_mul_hi_{u32,i32}", "T = T T", integer.high_product)
scalar("s_min_{u32,i32}", "T scc = T T", _flagged(np.minimum, lambda r, a, b: a < b))
scalar("s_max_{u32,i32}", "T scc = T T", _flagged(np.maximum, lambda r, a, b: a >= b))
scalar("s_absdiff_i32", "i32 scc = i32 i32", _nonzero(lambda a, b: np.abs(a - b)))
scalar("s_abs_i32", "i32 scc = i32", _nonzero(np.abs))


def _shifted_add(amount: int) -> Function:
    def run(a: Array, b: Array) -> tuple[Array, Array]:
        wide = (a.astype(U64) << U64(amount)) + b.astype(U64)
        return wide.astype(U32), (wide >> U64(32)) != 0

    return run


for _amount in (1, 2, 3, 4):
    scalar(f"s_lshl{_amount}_add_u32", "u32 scc = u32 u32", _shifted_add(_amount))

# Logic; the same functions change EXEC


def _changing(fn: Function, *, saves: bool) -> Function:
    """Return the old EXEC if it is saved, else the new one; the new one; SCC."""

    def run(mask: Array, old: Array) -> tuple[Array, Array, Array]:
        new = fn(mask, old)
        return old if saves else new, new, new != 0

    return run


_LOGIC: dict[str, Function] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}
_OF_EXEC: dict[str, Function] = {"andn1": lambda a, b: ~a & b, "orn1": lambda a, b: ~a | b}
for _name, _fn in _LOGIC.items():
    scalar(f"s_{_name}_{{b32,b64}}", "T scc = T T", _nonzero(_fn))
for _name, _fn in (_LOGIC | _OF_EXEC).items():
    scalar(f"s_{_name}_saveexec_b64", "b64 exec scc = b64 exec", _changing(_fn, saves=True))
    if _name in ("andn1", "andn2"):
        scalar(f"s_{_name}_wrexec_b64", "b64 exec scc = b64 exec", _changing(_fn, saves=False))

# Shifts, fields and single bits


def _packed_field(a: Array, b: Array) -> Array:
    """Offset and width of the field lie in the two halves of the second operand."""
    offset = b & U32(8 * a.dtype.itemsize - 1)
    return integer.field(a, offset, (b >> U32(16)) & U32(0x7F))


def _test_bit(a: Array, b: Array) -> Array:
    return np.asarray(integer.shift_right(a, b) & a.dtype.type(1) != 0)


def _bit_at(old: Array, place: Array) -> Array:
    return integer.shift_left(old.dtype.type(1), place)


_HALF, _TOP = U32(0xFFFF), U32(16)
scalar("s_lshl_{b32,b64}", "T scc = T u32", _nonzero(integer.shift_left))
scalar("s_lshr_{b32,b64}", "T scc = T u32", _nonzero(integer.shift_right))
scalar("s_ashr_{i32,i64}", "T scc = T u32", _nonzero(integer.shift_right))
scalar("s_bfe_{u32,i32,u64,i64}", "T scc = T u32", _nonzero(_packed_field))
scalar("s_bfm_b32", "b32 = u32 u32", integer.mask_bits)
scalar("s_bfm_b64", "b64 = u32 u32", lambda a, b: integer.mask_bits(a.astype(U64), b.astype(U64)))
scalar("s_pack_ll_b32_b16", "b32 = b32 b32", lambda a, b: (a & _HALF) | (b << _TOP))
scalar("s_pack_lh_b32_b16", "b32 = b32 b32", lambda a, b: (a & _HALF) | (b & ~_HALF))
scalar("s_pack_hh_b32_b16", "b32 = b32 b32", lambda a, b: (a >> _TOP) | (b & ~_HALF))
scalar("s_bitset1_{b32,b64}", "T = T! u32", lambda old, at: old | _bit_at(old, at))
scalar("s_bitset0_{b32,b64}", "T = T! u32", lambda old, at: old & ~_bit_at(old, at))
scalar("s_bitcmp1_{b32,b64}", "scc = T u32", _test_bit)
scalar("s_bitcmp0_{b32,b64}", "scc = T u32", lambda a, b: ~_test_bit(a, b))

# One operand

scalar("s_mov_{b32,b64}", "T = T", _same)
scalar("s_movk_i32", "i32 = simm", _same)
scalar("s_not_{b32,b64}", "T scc = T", _nonzero(np.invert))
scalar("s_brev_{b32,b64}", "T = T", integer.reverse_bits)
scalar("s_bcnt1_i32_{b32,b64}", "u32 scc = T", _nonzero(count_ones))
scalar("s_bcnt0_i32_{b32,b64}", "u32 scc = T", _nonzero(lambda a: count_ones(~a)))
scalar("s_ff1_i32_{b32,b64}", "i32 = T", first_one)
scalar("s_ff0_i32_{b32,b64}", "i32 = T", lambda a: first_one(~a))
scalar("s_flbit_i32_{b32,b64}", "i32 = T", integer.leading_zeros)
scalar("s_flbit_i32", "i32 = i32", integer.leading_signs)
scalar("s_flbit_i32_i64", "i32 = i64", integer.leading_signs)
scalar("s_sext_i32_i8", "i32 = i32", lambda a: a.astype(np.int8).astype(np.int32))
scalar("s_sext_i32_i16", "i32 = i32", lambda a: a.astype(np.int16).astype(np.int32))
scalar("s_quadmask_{b32,b64}", "T scc = T", _nonzero(integer.quad_mask))
scalar("s_wqm_b64", "b64 scc = b64", _nonzero(lambda a: integer.quad_any(a) * U64(15)))

# Comparison and selection

_RELATIONS: dict[str, Function] = {
    "eq": np.equal,
    "lg": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}
for _name, _fn in _RELATIONS.items():
    scalar(f"s_cmp_{_name}_{{i32,u32}}", "scc = T T", _fn)
    scalar(f"s_cmpk_{_name}_i32", "scc = i32 simm", _fn)
    scalar(f"s_cmpk_{_name}_u32", "scc = u32 uimm", _fn)
scalar("s_cmp_eq_u64", "scc = u64 u64", np.equal)
scalar("s_cmp_lg_u64", "scc = u64 u64", np.not_equal)
scalar("s_cselect_{b32,b64}", "T = T T scc", lambda a, b, scc: np.where(scc, a, b))


def _conditional_move(kind: str, value: str, d: Form) -> Run:
    """Where SCC is clear nothing is read or written: the register may hold no value yet."""
    operands = list(d.operands)
    put = _dest(kind, operands, d)
    get, old = _source(value, operands, d), d.scalar(d.operands[0], kind)

    def run(g: Group) -> None:
        if g.scc.all():
            put(g, get(g))
        elif g.scc.any():
            put(g, np.where(g.scc, get(g), old(g)))

    return run


register("s_cmov_b32", partial(_conditional_move, "b32", "b32"))
register("s_cmov_b64", partial(_conditional_move, "b64", "b64"))
register("s_cmovk_i32", partial(_conditional_move, "i32", "simm"))
