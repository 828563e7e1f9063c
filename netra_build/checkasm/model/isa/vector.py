"""Builds element-wise vector instructions from a table entry: operands, modifiers, result lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.model.arith import narrow, single
from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.lane_moves import (
    DPP_MODIFIERS,
    SDWA_MODIFIERS,
    Dpp,
    insert,
    move_source,
    select,
)
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.operands import VCC, Decoded, Operand, Unsupported
from netra_build.checkasm.model.sources import (
    DTYPE,
    NARROW,
    Context,
    Get,
    Put,
    PutLanes,
    bits_register,
    is_vector,
    mask_dest,
    mask_source,
    vector_dest,
    vector_dest_lanes,
    vector_source,
)

VCC_OPERAND = Operand("s", "vcc", VCC, 2)
_SIGN = np.uint32(0x80000000)
_WIDE = ("u64", "b64", "i64", "f64")
_SIZE = {"mask": 2, **dict.fromkeys(_WIDE, 2)}
_MODIFIERS = ("clamp", "mul", "div", "op_sel", *DPP_MODIFIERS, *SDWA_MODIFIERS)


@dataclass(frozen=True)
class Spec:
    """One element-wise operation: kinds of results and sources, and the function between them.

    ``fn`` takes one array per source and returns one array, or a tuple for several results.
    """

    dst: tuple[str, ...]
    src: tuple[str, ...]
    fn: Callable[..., object]
    reads_dst: bool = False
    """The first result register is also the last source (v_fmac)."""
    reads_vcc: bool = False
    """VCC is an unnamed last source (v_div_fmas)."""
    is_move: bool = False
    """Bits pass unchanged: no flushing of subnormals."""
    saturate: Callable[..., object] | None = None
    """What ``clamp`` computes instead, for integer operations."""
    keeps_high: bool = False
    """A 16-bit result leaves the other half of the register alone."""


def operation(names: str, kinds: str, fn: Callable[..., object], **options: object) -> None:
    """Enter element-wise operations; ``kinds`` is for example "f32 = f32 f32"."""
    left, _, right = kinds.partition("=")
    spec = Spec(tuple(left.split()), tuple(right.split()), fn, **options)  # type: ignore[arg-type]
    register(names, lambda d, context: build(spec, d, context))


def build(spec: Spec, d: Decoded, context: Context) -> Run:
    """Return what one element-wise instruction does."""
    d.allow(*_MODIFIERS)
    count = len(spec.dst)
    dsts, srcs = list(d.operands[:count]), list(d.operands[count:])
    if spec.reads_dst and len(srcs) < len(spec.src):
        srcs.append(dsts[0])
    if spec.reads_vcc:
        srcs.append(VCC_OPERAND)
    if len(srcs) != len(spec.src) or len(dsts) != count:
        raise Unsupported(f"{len(d.operands)} operands")
    fn = _finish(spec, d)
    if d.encoding == "dpp":
        return _with_dpp(spec, d, context, dsts, srcs, fn)
    gets = [_source(spec, d, context, at, srcs[at]) for at in range(len(srcs))]
    if d.encoding == "sdwa" and spec.dst != ("mask",):
        return _with_sdwa(spec, d, context, dsts[0], gets, fn)
    return _plain(gets, [_dest(spec, d, context, at, dsts[at]) for at in range(count)], fn)


# Sources


def _source(spec: Spec, d: Decoded, context: Context, at: int, operand: Operand) -> Get:
    kind = spec.src[at]
    if kind == "mask":
        return mask_source(operand, d)
    raw_kind = "b32" if kind in NARROW else kind
    if kind in NARROW and not is_vector(operand) and operand.kind != "s":
        raw_kind = kind
    selection = d.modifiers.get(f"src{at}_sel", "DWORD")
    if selection != "DWORD":
        raw_kind = "b32"
    get = vector_source(operand, raw_kind, d, context)
    if selection != "DWORD":
        get = _selected(get, selection, kind, operand)
    elif kind in NARROW:
        high = d.encoding != "sdwa" and d.flag_list("op_sel", len(spec.src) + 1, 0)[at] == 1
        get = half_register(get, high)
    if raw_kind != kind or kind in NARROW:
        get = _typed(get, kind)
    if kind == "f32" and not spec.is_move:
        get = _flushing(get)
    return modified(get, operand, kind)


def _selected(get: Get, selection: str, kind: str, operand: Operand) -> Get:
    if kind in _WIDE or (kind == "f32"):
        raise Unsupported(f'"{selection}" of a {kind} operand')
    signed = operand.sign_extend or kind in ("i16",)
    return lambda g: select(np.asarray(get(g)), selection, signed=signed)


def half_register(get: Get, high: bool) -> Get:
    """Return a reader of one half of a register, in the low 16 bits."""
    if high:
        return lambda g: get(g) >> np.uint32(16)
    return lambda g: get(g) & np.uint32(0xFFFF)


def _typed(get: Get, kind: str) -> Get:
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


def _flushing(get: Get) -> Get:
    def flushed(g: Group) -> Array:
        value = get(g)
        return single.flush(value) if g.flush_in else value

    return flushed


def modified(get: Get, operand: Operand, kind: str) -> Get:
    """Return a reader that applies the operand's absolute value and negation."""
    if not operand.negate and not operand.absolute:
        return get
    negate, absolute = operand.negate, operand.absolute
    if kind in ("b32", "u32"):

        def bits(g: Group) -> Array:
            value = get(g)
            value = value & ~_SIGN if absolute else value
            return value ^ _SIGN if negate else value

        return bits
    if kind not in ("f32", "f16", "bf16", "f64"):
        raise Unsupported(f'operand "{operand.text}"')

    def number(g: Group) -> Array:
        value = np.abs(get(g)) if absolute else get(g)
        return np.negative(value) if negate else value

    return number


# Results


def _finish(spec: Spec, d: Decoded) -> Callable[..., object]:
    """Wrap the function in the output modifiers."""
    fn = spec.fn
    if "clamp" in d.modifiers and spec.saturate is not None:
        return spec.saturate
    is_float = spec.dst[0] in ("f32", "f16", "f64")
    if "clamp" in d.modifiers and not is_float:
        raise Unsupported('modifier "clamp"')
    if "mul" in d.modifiers or "div" in d.modifiers:
        # The hardware ignores them while subnormals are on, so their meaning depends on MODE.
        raise Unsupported("output multiplier")
    if "clamp" in d.modifiers:
        return lambda *values: single.clamp_unit(np.asarray(fn(*values)))
    return fn


def half_bits(value: Array, saturate: bool) -> Array:
    """Return a 16-bit result as uint32; floats are rounded to f16."""
    if value.dtype in (np.float32, np.float64):
        return narrow.single_to_half(value, saturate=saturate)
    if value.dtype == np.int32:
        return value.view(np.uint32) & np.uint32(0xFFFF)
    return value & np.uint32(0xFFFF)


def _dest(spec: Spec, d: Decoded, context: Context, at: int, operand: Operand) -> Put:
    kind = spec.dst[at]
    if kind == "mask":
        return mask_dest(operand, d)
    if kind in NARROW:
        return _half_dest(spec, d, context, operand)
    put = vector_dest(operand, kind, d, context)
    if kind == "f32" and not spec.is_move:
        return lambda g, value: put(g, single.flush(value) if g.flush_out else value)
    return put


def _half_dest(spec: Spec, d: Decoded, context: Context, operand: Operand) -> Put:
    put = vector_dest(operand, "b32", d, context)
    selections = d.flag_list("op_sel", len(spec.src) + 1, 0)
    high = selections[len(spec.src)] == 1
    if not high and not spec.keeps_high:
        return lambda g, value: put(g, half_bits(np.asarray(value), g.saturates))
    old = bits_register(context.row(operand), d)

    def merge(g: Group, value: Array) -> None:
        bits = half_bits(np.asarray(value), g.saturates)
        if high:
            put(g, (old(g) & np.uint32(0xFFFF)) | (bits << np.uint32(16)))
        else:
            put(g, (old(g) & np.uint32(0xFFFF0000)) | bits)

    return merge


# Whole instructions


def _plain(gets: list[Get], puts: list[Put], fn: Callable[..., object]) -> Run:
    if len(puts) > 1:

        def run_several(g: Group) -> None:
            results = fn(*[get(g) for get in gets])
            for put, value in zip(puts, results, strict=True):  # type: ignore[call-overload]
                put(g, value)

        return run_several
    put = puts[0]
    if len(gets) == 1:
        get0 = gets[0]
        return lambda g: put(g, fn(get0(g)))  # type: ignore[arg-type]
    if len(gets) == 2:
        get0, get1 = gets
        return lambda g: put(g, fn(get0(g), get1(g)))  # type: ignore[arg-type]
    if len(gets) == 3:
        get0, get1, get2 = gets
        return lambda g: put(g, fn(get0(g), get1(g), get2(g)))  # type: ignore[arg-type]
    return lambda g: put(g, fn(*[get(g) for get in gets]))  # type: ignore[arg-type]


def _with_dpp(
    spec: Spec,
    d: Decoded,
    context: Context,
    dsts: list[Operand],
    srcs: list[Operand],
    fn: Callable[..., object],
) -> Run:
    kind = spec.src[0]
    if len(dsts) > 1 or spec.dst[0] in _WIDE or spec.dst[0] == "mask" or kind in _WIDE:
        raise Unsupported("DPP")
    dpp = Dpp.read(d)
    raw = move_source(context.row(srcs[0]), d, dpp)
    moved: list[Array] = []

    def first(_g: Group) -> Array:
        return moved[0]

    base = half_register(first, False) if kind in NARROW else first
    typed = _typed(base, kind)
    if kind == "f32" and not spec.is_move:
        typed = _flushing(typed)
    gets = [modified(typed, srcs[0], kind)]
    gets += [_source(spec, d, context, at, srcs[at]) for at in range(1, len(srcs))]
    put = _lanes_dest(spec, d, context, dsts[0])

    def run(g: Group) -> None:
        value, lanes = dpp.apply(g, raw(g))
        moved[:] = [value]
        put(g, np.asarray(fn(*[get(g) for get in gets])), lanes)

    return run


def _lanes_dest(spec: Spec, d: Decoded, context: Context, operand: Operand) -> PutLanes:
    kind = spec.dst[0]
    if kind in NARROW:
        put = vector_dest_lanes(operand, "b32", d, context)
        return lambda g, value, lanes: put(g, half_bits(value, g.saturates), lanes)
    put = vector_dest_lanes(operand, kind, d, context)
    if kind == "f32" and not spec.is_move:
        return lambda g, value, lanes: put(g, single.flush(value) if g.flush_out else value, lanes)
    return put


def _with_sdwa(
    spec: Spec,
    d: Decoded,
    context: Context,
    dst: Operand,
    gets: list[Get],
    fn: Callable[..., object],
) -> Run:
    if len(spec.dst) > 1 or spec.dst[0] in _WIDE:
        raise Unsupported("SDWA")
    put = vector_dest(dst, "b32", d, context)
    selection = d.modifiers.get("dst_sel", "DWORD")
    unused = d.modifiers.get("dst_unused", "UNUSED_PAD")
    old = bits_register(context.row(dst), d)
    narrow_result = spec.dst[0] in NARROW
    keeps = selection != "DWORD" and unused == "UNUSED_PRESERVE"

    def run(g: Group) -> None:
        value = np.asarray(fn(*[get(g) for get in gets]))
        bits = half_bits(value, g.saturates) if narrow_result else value.view(np.uint32)
        before = old(g) if keeps else bits
        put(g, insert(bits, before, selection, unused))

    return run
