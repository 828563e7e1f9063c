"""Builds element-wise vector instructions from a row: operands, modifiers, result lanes.

Kinds beside those of ``sources``: ``mask`` (bool[n, 64] in a pair of scalar registers), and without
an operand ``vcc`` and ``exec`` (masks), ``saturates`` (a bit of MODE) and ``bitop3`` (a modifier).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from netra_build.checkasm.model.arith import ieee, narrow
from netra_build.checkasm.model.arrays import U32, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.lane_moves import (
    DPP_MODIFIERS,
    SDWA_MODIFIERS,
    Dpp,
    insert,
    select,
)
from netra_build.checkasm.model.isa.table import (
    MEANINGS,
    Function,
    Spec,
    apply,
    register,
    sides,
    spellings,
)
from netra_build.checkasm.model.operands import (
    DTYPE,
    EXEC,
    NARROW,
    VCC,
    WIDE,
    Operand,
    Unsupported,
    is_vector,
)
from netra_build.checkasm.model.sources import Form, Get, Put

_SIGN = U32(0x80000000)
_UNNAMED = {
    "vcc": Operand("s", "vcc", VCC, 2),
    "exec": Operand("s", "exec", EXEC, 2),
    "saturates": Operand("word", "MODE"),
    "bitop3": Operand("word", "bitop3"),
}
_MODIFIERS = ("clamp", "mul", "div", "op_sel", *DPP_MODIFIERS, *SDWA_MODIFIERS)


Convert = Callable[[Group, Array], Array] | None


def operation(names: str, kinds: str, fn: Function | None = None, **options: Any) -> Function:
    """Enter element-wise operations, or decorate their function; see ``table`` for the kinds."""
    if fn is None:
        return partial(operation, names, kinds, **options)
    for name, of in spellings(names):
        spec = MEANINGS[name] = Spec(*sides(kinds, of), fn, **options)
        register(name, partial(build, spec))
    return fn


def build(spec: Spec, d: Form) -> Run:
    """Return what one element-wise instruction does."""
    d.allow(*(_MODIFIERS if spec.modifiers is None else spec.modifiers))
    dsts, srcs = _assigned(spec, d)
    fn = _finish(spec, d)
    if d.encoding == "dpp":
        return _with_dpp(spec, d, dsts, srcs, fn)
    gets = [_source(spec, d, at, operand) for at, operand in enumerate(srcs)]
    if d.encoding == "sdwa" and spec.dst[0] != "mask":
        return _with_sdwa(spec, d, dsts[0], gets, fn)
    return apply(gets, [_dest(spec, d, at, dst) for at, dst in enumerate(dsts)], fn)


def _assigned(spec: Spec, d: Form) -> tuple[list[Operand], list[Operand]]:
    named = iter(d.operands)
    assigned = []
    for kind in (*spec.dst, *spec.src):
        tied = d.operands[0] if kind.endswith("!") else None
        operand = tied or _UNNAMED.get(kind) or next(named, None)
        if operand is None:
            raise Unsupported(f"{len(d.operands)} operands")
        assigned.append(operand)
    if next(named, None) is not None:
        raise Unsupported(f"{len(d.operands)} operands")
    return assigned[: len(spec.dst)], assigned[len(spec.dst) :]


# Sources


def _source(spec: Spec, d: Form, at: int, operand: Operand) -> Get:
    kind = spec.src[at].removesuffix("!")
    if kind in ("mask", "vcc"):
        return d.mask(operand)
    if kind == "saturates":
        return lambda g: np.asarray(g.saturates)
    if kind == "bitop3":
        table = np.asarray(d.number(kind))
        return lambda g: table
    raw_kind = "b32" if kind in NARROW else kind
    if kind in NARROW and not is_vector(operand) and operand.kind != "s":
        raw_kind = kind
    selection = d.modifiers.get(f"src{at}_sel", "DWORD")
    if selection != "DWORD":
        raw_kind = "b32"
    get = d.vector(operand, raw_kind)
    if selection != "DWORD":
        get = _selected(get, selection, kind, operand)
    elif kind in NARROW:
        high = d.encoding != "sdwa" and d.flag_list("op_sel", len(spec.src) + 1, 0)[at] == 1
        get = half_register(get, high)
    if raw_kind != kind or kind in NARROW:
        get = typed(get, kind)
    if kind == "f32" and not spec.is_move:
        get = flushing(get)
    return modified(get, operand, kind)


def _selected(get: Get, selection: str, kind: str, operand: Operand) -> Get:
    if kind in WIDE or kind == "f32":
        raise Unsupported(f'"{selection}" of a {kind} operand')
    signed = operand.sign_extend or kind == "i16"
    return lambda g: select(np.asarray(get(g)), selection, signed=signed)


def half_register(get: Get, high: bool) -> Get:
    """Return a reader of one half of a register, in the low 16 bits."""
    if high:
        return lambda g: get(g) >> U32(16)
    return lambda g: get(g) & U32(0xFFFF)


def typed(get: Get, kind: str) -> Get:
    """Turn the raw bits of a narrow or reinterpreted operand into what the function expects."""
    if kind == "f16":
        return lambda g: narrow.half_to_single(np.asarray(get(g)))
    if kind == "bf16":
        return lambda g: narrow.bf16_to_single(np.asarray(get(g)))
    if kind == "i16":
        return lambda g: np.asarray(get(g)).astype(np.uint16).view(np.int16).astype(np.int32)
    if kind in ("u16", "b16"):
        return get
    dtype = DTYPE[kind]
    return lambda g: value if (value := get(g)).dtype == dtype else value.view(dtype)


def flushing(get: Get) -> Get:
    """Return a reader that flushes subnormals when MODE says so."""

    def flushed(g: Group) -> Array:
        value = get(g)
        return ieee.flush(value) if g.flush_in else value

    return flushed


def modified(get: Get, operand: Operand, kind: str) -> Get:
    """Return a reader that applies the operand's absolute value and negation."""
    if not operand.negate and not operand.absolute:
        return get
    negate, absolute = operand.negate, operand.absolute
    if kind in ("b32", "u32"):
        kept, flipped = ~_SIGN if absolute else ~U32(0), _SIGN if negate else U32(0)
        return lambda g: (get(g) & kept) ^ flipped
    if kind not in ("f32", "f16", "bf16", "f64"):
        raise Unsupported(f'operand "{operand.text}"')

    def number(g: Group) -> Array:
        value = np.abs(get(g)) if absolute else get(g)
        return np.negative(value) if negate else value

    return number


def plain_source(operand: Operand, kind: str, d: Form) -> Get:
    """Return a reader of an operand with its negation, subnormals kept."""
    return modified(d.vector(operand, kind), operand, kind)


# Results


def _finish(spec: Spec, d: Form) -> Function:
    """Wrap the function in the output modifiers."""
    fn = spec.fn
    if spec.is_approximate:
        fn = partial(fn, approximation=d.context.approximation)
    is_clamped = "clamp" in d.modifiers
    if is_clamped and spec.saturate is not None:
        return spec.saturate
    if is_clamped and spec.dst[0] not in ("f32", "f16", "f64"):
        raise Unsupported('modifier "clamp"')
    if "mul" in d.modifiers or "div" in d.modifiers:
        # The hardware ignores them while subnormals are on, so their meaning depends on MODE.
        raise Unsupported("output multiplier")
    if is_clamped:
        return lambda *values: ieee.clamp_unit(np.asarray(fn(*values)))
    return fn


def half_bits(value: Array, saturate: bool) -> Array:
    """Return a 16-bit result as uint32; floats are rounded to f16."""
    if value.dtype in (np.float32, np.float64):
        return narrow.single_to_half(value, saturate=saturate)
    bits = value.view(U32) if value.dtype == np.int32 else value
    return bits & U32(0xFFFF)


def _stored(spec: Spec) -> tuple[str, Convert]:
    """Return the kind of register of the first result, and what turns the result into it."""
    kind = spec.dst[0]
    if kind in NARROW:
        return "b32", lambda g, value: half_bits(np.asarray(value), g.saturates)
    if kind == "f32" and not spec.is_move:
        return kind, lambda g, value: ieee.flush(value) if g.flush_out else value
    return kind, None


def _dest(spec: Spec, d: Form, at: int, operand: Operand) -> Put:
    if spec.dst[at] in ("mask", "exec"):
        return d.mask_dest(operand)
    kind, convert = _stored(spec)
    put = d.dest(operand, kind)
    if spec.dst[at] in NARROW:
        high = d.flag_list("op_sel", len(spec.src) + 1, 0)[len(spec.src)]
        if high or spec.keeps_high:
            (old,) = d.registers(operand, 1)
            put = d.merging(operand, 16 * high, 16, old)
    return put if convert is None else lambda g, value: put(g, convert(g, value))


# Operands of other lanes and parts of registers


def _with_dpp(
    spec: Spec, d: Form, dsts: Sequence[Operand], srcs: Sequence[Operand], fn: Function
) -> Run:
    kind = spec.src[0]
    if len(dsts) > 1 or spec.dst[0] in (*WIDE, "mask") or kind in WIDE:
        raise Unsupported("DPP")
    dpp = Dpp.read(d)
    row = d.row(srcs[0])
    moved: list[Array] = []

    def first(_g: Group) -> Array:
        return moved[0]

    get = typed(half_register(first, False) if kind in NARROW else first, kind)
    if kind == "f32" and not spec.is_move:
        get = flushing(get)
    gets = [modified(get, srcs[0], kind)]
    gets += [_source(spec, d, at, srcs[at]) for at in range(1, len(srcs))]
    stored, convert = _stored(spec)
    put = d.dest_lanes(dsts[0], stored)

    def run(g: Group) -> None:
        value, lanes = dpp.apply(g, row, d)
        moved[:] = [value]
        result = np.asarray(fn(*[get(g) for get in gets]))
        put(g, convert(g, result) if convert else result, lanes)

    return run


def _with_sdwa(spec: Spec, d: Form, dst: Operand, gets: list[Get], fn: Function) -> Run:
    if len(spec.dst) > 1 or spec.dst[0] in WIDE:
        raise Unsupported("SDWA")
    put = d.dest(dst, "b32")
    selection = d.modifiers.get("dst_sel", "DWORD")
    unused = d.modifiers.get("dst_unused", "UNUSED_PAD")
    (old,) = d.registers(dst, 1)
    narrow_result = spec.dst[0] in NARROW
    keeps = selection != "DWORD" and unused == "UNUSED_PRESERVE"

    def run(g: Group) -> None:
        value = np.asarray(fn(*[get(g) for get in gets]))
        bits = half_bits(value, g.saturates) if narrow_result else value.view(np.uint32)
        before = old(g) if keeps else bits
        put(g, insert(bits, before, selection, unused))

    return run
