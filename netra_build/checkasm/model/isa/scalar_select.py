"""Scalar selection, comparison, immediate forms, EXEC saving and single bits."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.scalar_forms import (
    Binary,
    add_overflow,
    compare,
    dwords_of,
    set_scc,
)
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.operands import EXEC, Decoded, Operand
from netra_build.checkasm.model.sources import Context, scalar_dest, scalar_source

# Select, compare, immediate forms


def _select(name: str, kind: str) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        put = scalar_dest(d.operands[0], dwords_of(kind), d)
        get0 = scalar_source(d.operands[1], kind, d)
        get1 = scalar_source(d.operands[2], kind, d)
        return lambda g: put(g, np.where(g.scc, get0(g), get1(g)))

    register(name, build)


_select("s_cselect_b32", "b32")
_select("s_cselect_b64", "b64")


def _conditional_move(name: str, kind: str) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        put = scalar_dest(d.operands[0], dwords_of(kind), d)
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
        compare(f"s_cmp_{_relation}_{_kind}", _kind, _fn)
compare("s_cmp_eq_u64", "u64", np.equal)
compare("s_cmp_lg_u64", "u64", np.not_equal)


def _test_bit(a: Array, b: Array) -> Array:
    mask = 8 * a.dtype.itemsize - 1
    result: Array = ((a >> (b & b.dtype.type(mask)).astype(a.dtype)) & a.dtype.type(1)) != 0
    return result


def _bit_compare(name: str, kind: str, wanted: bool) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        get0 = scalar_source(d.operands[0], kind, d)
        get1 = scalar_source(d.operands[1], "u32", d)

        def run(g: Group) -> None:
            bit = _test_bit(np.asarray(get0(g)), np.asarray(get1(g)))
            set_scc(g, bit if wanted else ~bit)

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
                set_scc(g, add_overflow(result, a, value))
            put(g, result.view(np.uint32))

        return run

    register(name, build)


def _immediate_compare(name: str, kind: str, fn: Binary) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        get = scalar_source(d.operands[0], kind, d)
        value = _immediate(d, kind == "i32")
        return lambda g: set_scc(g, fn(get(g), value))

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
            set_scc(g, new != 0)

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


def _write_exec(name: str, fn: Binary) -> None:
    """EXEC and the result both become fn(S0, EXEC)."""
    exec_operand = Operand("s", "exec", EXEC, 2)

    def build(d: Decoded, _context: Context) -> Run:
        put = scalar_dest(d.operands[0], 2, d)
        get, read_exec = (scalar_source(o, "b64", d) for o in (d.operands[1], exec_operand))
        write_exec = scalar_dest(exec_operand, 2, d)

        def run(g: Group) -> None:
            new = np.broadcast_to(fn(get(g), read_exec(g)), (g.n,))
            put(g, new)
            write_exec(g, new)
            set_scc(g, new != 0)

        return run

    register(name, build)


_write_exec("s_andn1_wrexec_b64", lambda s, e: ~s & e)
_write_exec("s_andn2_wrexec_b64", lambda s, e: s & ~e)
