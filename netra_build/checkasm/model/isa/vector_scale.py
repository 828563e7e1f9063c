"""Block-scaled conversions: the scale operand's exponent field e means the factor 2**(e - 127).

To a narrow format values are divided by the factor and rounded once; from a narrow format they
are multiplied by it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arith import narrow
from netra_build.checkasm.model.arith.narrow import E2M1, E2M3, E3M2, E4M3, E5M2, Minifloat
from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.matrix_tiles import codes_of
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.isa.vector import modified
from netra_build.checkasm.model.operands import Decoded, Operand
from netra_build.checkasm.model.sources import (
    Context,
    Get,
    Put,
    bits_register,
    vector_dest,
    vector_source,
)

F64 = np.float64
U = np.uint32
BYTE = U(0xFF)
Widen = Callable[[Array], Array]

WIDEN: dict[str, Widen] = {"f16": narrow.half_to_single, "bf16": narrow.bf16_to_single}
FORMATS = {"fp8": E4M3, "bf8": E5M2, "fp4": E2M1}
SIX_BITS = {"fp6": E2M3, "bf6": E3M2}


def scale_factor(value: Array) -> Array:
    """Return the factor of a float32 scale operand as float64."""
    field = (np.asarray(value).view(U) >> U(23)) & BYTE
    return narrow.scale_value(field)


def _scale_get(d: Decoded, at: int, context: Context) -> Get:
    operand = d.operands[at]
    return modified(vector_source(operand, "f32", d, context), operand, "f32")


def _narrowed(value: Array, kind: str, saturates: bool) -> Array:
    """Return float64 as 16-bit codes (f16, bf16) or float32 bits."""
    if kind == "f16":
        return narrow.single_to_half(value, saturate=saturates)
    single = value.astype(np.float32)
    return single.view(U) if kind == "f32" else narrow.single_to_bf16(single)


def merge(d: Decoded, context: Context, shift: int, width: int) -> Put:
    """Return a writer of ``width`` bits at ``shift``; the other bits keep what they held."""
    row = context.row(d.operands[0])
    put = vector_dest(d.operands[0], "b32", d, context)
    keep = U(~(((1 << width) - 1) << shift) & 0xFFFFFFFF)
    return lambda g, bits: put(g, (g.V[row] & keep) | (bits << U(shift)))


def _registers(operand: Operand, count: int, d: Decoded, context: Context) -> list[Get]:
    first = context.row(operand, count)
    return [bits_register(first + at, d) for at in range(count)]


def _put_pair(d: Decoded, context: Context) -> Put:
    return vector_dest(d.operands[0], "b64", d, context)


# Two or one value from eight and four bits


def _unpack_pair(name: str, fmt: Minifloat, kind: str, bits: int) -> None:
    """v_cvt_scalef32_pk_{f32,f16,bf16}_{fp8,bf8,fp4}: op_sel picks the half or byte."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow("op_sel")
        flags = d.flag_list("op_sel", 2, 0)
        shift = U(16 * flags[0] if bits == 8 else 8 * (flags[0] + 2 * flags[1]))
        get, scale = bits_register(context.row(d.operands[1]), d), _scale_get(d, 2, context)
        put = (
            _put_pair(d, context)
            if kind == "f32"
            else vector_dest(d.operands[0], "b32", d, context)
        )
        mask = U((1 << bits) - 1)

        def run(g: Group) -> None:
            factor = scale_factor(scale(g))
            packed = get(g) >> shift
            low, high = (
                _narrowed(fmt.decode(codes & mask) * factor, kind, g.saturates)
                for codes in (packed, packed >> U(bits))
            )
            if kind == "f32":
                put(g, high.astype(np.uint64) << np.uint64(32) | low)
            else:
                put(g, low | high << U(16))

        return run

    register(name, build)


def _unpack_single(name: str, fmt: Minifloat, kind: str) -> None:
    """v_cvt_scalef32_{f32,f16}_{fp8,bf8}: op_sel picks the byte, and the half of an f16 result."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow("op_sel")
        flags = d.flag_list("op_sel", 4, 0)
        shift = U(8 * (flags[0] + 2 * flags[1]))
        get, scale = bits_register(context.row(d.operands[1]), d), _scale_get(d, 2, context)
        half = flags[2] | flags[3]
        if kind == "f32":
            put = vector_dest(d.operands[0], "b32", d, context)
        else:
            put = merge(d, context, 16 * half, 16)

        def run(g: Group) -> None:
            value = fmt.decode((get(g) >> shift) & BYTE) * scale_factor(scale(g))
            put(g, _narrowed(value, kind, g.saturates))

        return run

    register(name, build)


# To eight and four bits


def pair_source(
    d: Decoded, context: Context, kind: str
) -> tuple[Callable[[Group], tuple[Array, Array]], int]:
    """Return a reader of the two values to convert, as float64, and the number of its operands."""
    if kind == "f32":
        gets = [
            modified(vector_source(operand, "f32", d, context), operand, "f32")
            for operand in d.operands[1:3]
        ]
        return lambda g: (np.asarray(gets[0](g), F64), np.asarray(gets[1](g), F64)), 2
    get, widen = vector_source(d.operands[1], "b32", d, context), WIDEN[kind]

    def halves(g: Group) -> tuple[Array, Array]:
        bits = np.asarray(get(g))
        return widen(bits & U(0xFFFF)).astype(F64), widen(bits >> U(16)).astype(F64)

    return halves, 1


def _pack_pair(name: str, fmt: Minifloat, kind: str, bits: int) -> None:
    """v_cvt_scalef32_pk_{fp8,bf8,fp4}_*: op_sel's last entries pick the half or byte written."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow("op_sel")
        values, count = pair_source(d, context, kind)
        scale = _scale_get(d, 1 + count, context)
        if bits == 8:
            flags = d.flag_list("op_sel", count + 2, 0)
            write = merge(d, context, 16 * flags[-1], 16)
        else:
            # Two entries number the byte, whatever the number of sources.
            flags = d.flag_list("op_sel", 4, 0)
            write = merge(d, context, 8 * (flags[2] + 2 * flags[3]), 8)

        def run(g: Group) -> None:
            factor = scale_factor(scale(g))
            low, high = (
                fmt.encode(np.asarray(value / factor), saturate=g.saturates) for value in values(g)
            )
            write(g, low | high << U(bits))

        return run

    register(name, build)


for _name, _format in FORMATS.items():
    _bits = 4 if _name == "fp4" else 8
    for _kind in ("f32", "f16", "bf16"):
        _unpack_pair(f"v_cvt_scalef32_pk_{_kind}_{_name}", _format, _kind, _bits)
        _pack_pair(f"v_cvt_scalef32_pk_{_name}_{_kind}", _format, _kind, _bits)
    if _bits == 8:
        for _kind in ("f32", "f16"):
            _unpack_single(f"v_cvt_scalef32_{_kind}_{_name}", _format, _kind)

# Thirty-two values of six bits in six registers


def _write_registers(d: Decoded, context: Context, count: int) -> Callable[[Group, Array], None]:
    """Return a writer of uint32[n, 64, count]."""
    context.row(d.operands[0], count)
    kind, base = d.operands[0].kind, d.operands[0].index
    puts = [
        vector_dest(Operand(kind, d.operands[0].text, base + at, 1), "b32", d, context)
        for at in range(count)
    ]

    def write(g: Group, words: Array) -> None:
        for at, put in enumerate(puts):
            put(g, words[..., at])

    return write


def pack_six_bits(codes: Array) -> Array:
    """Pack uint8[n, 64, 32] codes of six bits into uint32[n, 64, 6], lowest first."""
    digits = (codes[..., None] >> np.arange(6, dtype=np.uint8)) & np.uint8(1)
    octets = np.packbits(digits.reshape(*codes.shape[:2], -1), axis=-1, bitorder="little")
    return np.ascontiguousarray(octets).view(np.dtype("<u4"))


def _unpack_many(name: str, fmt: Minifloat, kind: str) -> None:
    def build(d: Decoded, context: Context) -> Run:
        d.allow()
        gets, scale = _registers(d.operands[1], 6, d, context), _scale_get(d, 2, context)
        count = 32 if kind == "f32" else 16
        write = _write_registers(d, context, count)

        def run(g: Group) -> None:
            codes = codes_of(np.stack([get(g) for get in gets]), 6)
            factor = np.broadcast_to(scale_factor(scale(g)), (g.n, 64))[..., None]
            bits = _narrowed(fmt.decode(codes) * factor, kind, g.saturates)
            if kind != "f32":
                bits = bits[..., ::2] | bits[..., 1::2] << U(16)
            write(g, bits)

        return run

    register(name, build)


def _pack_many(name: str, fmt: Minifloat, kind: str) -> None:
    def build(d: Decoded, context: Context) -> Run:
        d.allow()
        widen = WIDEN[kind]
        gets, scale = _registers(d.operands[1], 16, d, context), _scale_get(d, 2, context)
        write = _write_registers(d, context, 6)

        def run(g: Group) -> None:
            halves = codes_of(np.stack([get(g) for get in gets]), 16).astype(U)
            factor = np.broadcast_to(scale_factor(scale(g)), (g.n, 64))[..., None]
            codes = fmt.encode(widen(halves).astype(F64) / factor, saturate=True)
            write(g, pack_six_bits(codes.astype(np.uint8)))

        return run

    register(name, build)


def _pack_two_lists(name: str, fmt: Minifloat) -> None:
    """v_cvt_scalef32_2xpk16_*: the values of the two operands take turns in the result."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow()
        lists = [_registers(operand, 16, d, context) for operand in d.operands[1:3]]
        scale = _scale_get(d, 3, context)
        write = _write_registers(d, context, 6)

        def run(g: Group) -> None:
            factor = np.broadcast_to(scale_factor(scale(g)), (g.n, 64))
            values = [
                get(g).view(np.float32).astype(F64)
                for pair in zip(*lists, strict=True)
                for get in pair
            ]
            stacked = np.stack([value / factor for value in values], axis=-1)
            write(g, pack_six_bits(fmt.encode(stacked, saturate=True).astype(np.uint8)))

        return run

    register(name, build)


for _name, _format in SIX_BITS.items():
    for _kind in ("f32", "f16", "bf16"):
        _unpack_many(f"v_cvt_scalef32_pk32_{_kind}_{_name}", _format, _kind)
    for _kind in ("f16", "bf16"):
        _pack_many(f"v_cvt_scalef32_pk32_{_name}_{_kind}", _format, _kind)
    _pack_two_lists(f"v_cvt_scalef32_2xpk16_{_name}_f32", _format)
