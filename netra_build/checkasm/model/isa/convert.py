"""Conversions between integers and floats, and to and from floats of at most eight bits.

A block-scaled conversion (scalef32) takes a scale whose exponent field e means the factor
2**(e - 127). To a narrow format values are divided by the factor and rounded once; from a narrow
format they are multiplied by it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from netra_build.checkasm.model.arith import ieee, narrow
from netra_build.checkasm.model.arith.narrow import E2M1, E2M3, E3M2, E4M3, E5M2, Minifloat
from netra_build.checkasm.model.arrays import LANES, U32, U64, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.matrix_tiles import codes_of
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.isa.vector import operation, plain_source
from netra_build.checkasm.model.operands import Decoded, Unsupported
from netra_build.checkasm.model.sources import (
    Context,
    Get,
    merging_dest,
    vector_dest,
    vector_dests,
    vector_registers,
    vector_source,
)

F32 = np.float32
F64 = np.float64
BYTE = U32(0xFF)

# Integers and halves


def _to_integer(value: Array, low: float, high: float) -> Array:
    """Clamp float64 without its fraction to [low, high]; NaN gives zero."""
    whole = np.trunc(value)
    return np.where(np.isnan(whole), 0.0, np.clip(whole, low, high))


def _unsigned(value: Array) -> Array:
    return _to_integer(value.astype(F64), 0.0, 2.0**32 - 1).astype(U64).astype(U32)


def _signed(value: Array) -> Array:
    cut = _to_integer(value.astype(F64), -(2.0**31), 2.0**31 - 1)
    return cut.astype(np.int64).astype(np.int32)


def _both(convert: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    """Return a function that packs two converted values, each of 16 bits, into uint32."""
    return lambda a, b: convert(np.asarray(a)) | (convert(np.asarray(b)) << U32(16))


def _saturated(value: Array) -> Array:
    return np.clip(value, -32768, 32767).astype(np.int32).view(U32) & U32(0xFFFF)


def _pack_nearest(a: Array, b: Array, saturates: Array) -> Array:
    """To nearest even; MODE decides what becomes of too large numbers."""
    return _both(partial(narrow.single_to_half, saturate=bool(saturates)))(a, b)


def _byte(at: int) -> Callable[[Array], Array]:
    return lambda bits: ((bits >> U32(8 * at)) & BYTE).astype(F32)


operation("v_cvt_u32_{f32,f64}", "u32 = T", _unsigned)
operation("v_cvt_i32_{f32,f64}", "i32 = T", _signed)
operation("v_cvt_flr_i32_f32", "i32 = f32", lambda a: _signed(np.floor(a.astype(F64))))
operation("v_cvt_rpi_i32_f32", "i32 = f32", lambda a: _signed(np.floor(a.astype(F64) + 0.5)))
operation("v_cvt_f32_{u32,i32,f64}", "f32 = T", lambda a: a.astype(F32))
operation("v_cvt_f64_{u32,i32}", "f64 = T", lambda a: a.astype(F64))
operation("v_cvt_f64_f32", "f64 = f32", lambda a: ieee.quiet(a).astype(F64))
operation("v_cvt_f16_{u16,i16}", "f16 = T", lambda a: a.astype(F32))
operation("v_cvt_u16_f16", "u16 = f16", lambda a: _to_integer(a, 0, 65535).astype(U32))
operation("v_cvt_i16_f16", "i16 = f16", lambda a: _to_integer(a, -32768, 32767).astype(np.int32))
operation("v_cvt_f32_{f16,bf16}", "f32 = T", ieee.quiet)
operation("v_cvt_f16_f32", "f16 = f32", lambda a: a)
for _at in range(4):
    operation(f"v_cvt_f32_ubyte{_at}", "f32 = b32", _byte(_at))
operation("v_pack_b32_f16", "b32 = b16 b16", lambda a, b: a | (b << U32(16)))
operation("v_cvt_pk_u16_u32", "u32 = u32 u32", _both(lambda a: np.minimum(a, U32(0xFFFF))))
operation("v_cvt_pk_i16_i32", "u32 = i32 i32", _both(_saturated))
operation("v_cvt_pkrtz_f16_f32", "b32 = f32 f32", _both(narrow.single_to_half_toward_zero))
operation("v_cvt_pk_bf16_f32", "b32 = f32 f32", _both(narrow.single_to_bf16))
operation("v_cvt_pk_f16_f32", "b32 = f32 f32 saturates", _pack_nearest, is_move=True, modifiers=())

# Narrow floats: scales, sources and results

_WIDEN: dict[str, Callable[[Array], Array]] = {
    "f16": narrow.half_to_single,
    "bf16": narrow.bf16_to_single,
}
Values = Callable[[Group], tuple[Array, ...]]
PutValues = Callable[[Group, list[Array]], object]


def _scale(d: Decoded, at: int, context: Context) -> Get:
    """Return a reader of the factor of a scale operand as float64; 1 without a scale."""
    if "_scalef32_" not in d.base:
        one = np.ones((1, 1))
        return lambda g: one
    get = plain_source(d.operands[at], "f32", d, context)
    return lambda g: narrow.scale_value((np.asarray(get(g)).view(U32) >> U32(23)) & BYTE)


def _pair_source(d: Decoded, context: Context, kind: str) -> Values:
    """Return a reader of the two values to convert, as float64."""
    if kind == "f32":
        gets = [plain_source(operand, kind, d, context) for operand in d.operands[1:3]]
        return lambda g: tuple(np.asarray(get(g), F64) for get in gets)
    get, widen = vector_source(d.operands[1], "b32", d, context), _WIDEN[kind]

    def halves(g: Group) -> tuple[Array, ...]:
        bits = np.asarray(get(g))
        return widen(bits & U32(0xFFFF)).astype(F64), widen(bits >> U32(16)).astype(F64)

    return halves


def _narrowed(value: Array, kind: str, saturates: bool) -> Array:
    """Return float64 as 16-bit codes (f16, bf16) or float32 bits."""
    if kind == "f16":
        return narrow.single_to_half(value, saturate=saturates)
    single = value.astype(F32)
    return single.view(U32) if kind == "f32" else narrow.single_to_bf16(single)


def _selected_part(d: Decoded, bits: int) -> int:
    """Return the first bit of the source that op_sel or SDWA names: a byte, or a half of two."""
    is_plain = "_scalef32_" not in d.base
    d.allow(*["src0_sel"] * is_plain, *["op_sel"] * (bits == 16 or not is_plain))
    flags = d.flag_list("op_sel", 4, 0)
    word, _, number = d.modifiers.get("src0_sel", "").partition("_")
    if word not in ("", "WORD" if bits == 16 else "BYTE"):
        raise Unsupported('modifier "src0_sel"')
    if number and int(number):
        return bits * int(number)
    return 16 * flags[0] if bits == 16 else 8 * (flags[0] + 2 * flags[1])


# From eight and four bits: one value or two


def _unpack(fmt: Minifloat, kind: str, bits: int, count: int, d: Decoded, context: Context) -> Run:
    shift = U32(_selected_part(d, count * bits))
    get, scale = vector_source(d.operands[1], "b32", d, context), _scale(d, 2, context)
    put = _unpacked_dest(d, kind, count, context)
    mask = U32((1 << bits) - 1)

    def run(g: Group) -> None:
        factor, packed = scale(g), np.asarray(get(g)) >> shift
        values = [
            _narrowed(fmt.decode((packed >> U32(at * bits)) & mask) * factor, kind, g.saturates)
            for at in range(count)
        ]
        put(g, values)

    return run


def _unpacked_dest(d: Decoded, kind: str, count: int, context: Context) -> PutValues:
    """Return a writer of one or two values; a single f16 goes to the half that op_sel names."""
    if kind == "f32":
        puts = vector_dests(d.operands[0], count, "b32", d, context)
        return lambda g, values: [put(g, bits) for put, bits in zip(puts, values, strict=True)]
    if count == 2:
        put = vector_dest(d.operands[0], "b32", d, context)
        return lambda g, values: put(g, values[0] | values[1] << U32(16))
    flags = d.flag_list("op_sel", 4, 0)
    merge = merging_dest(d.operands[0], 16 * (flags[2] | flags[3]), 16, d, context)
    return lambda g, values: merge(g, values[0])


# To eight and four bits


def _pack(fmt: Minifloat, kind: str, bits: int, d: Decoded, context: Context) -> Run:
    """Two values; op_sel's last entries pick the half or byte written."""
    d.allow("op_sel")
    values, count = _pair_source(d, context, kind), 2 if kind == "f32" else 1
    scale = _scale(d, 1 + count, context)
    is_scaled = "_scalef32_" in d.base
    # A byte is numbered by two entries, whatever the number of sources.
    flags = d.flag_list("op_sel", 4 if bits == 4 else 1 + count + is_scaled, 0)
    shift = 8 * (flags[2] + 2 * flags[3]) if bits == 4 else 16 * flags[-1]
    merge = merging_dest(d.operands[0], shift, 2 * bits, d, context)

    def run(g: Group) -> None:
        factor = scale(g)
        low, high = (
            fmt.encode(np.asarray(value / factor), saturate=g.saturates) for value in values(g)
        )
        merge(g, low | high << U32(bits))

    return run


def _stochastic(fmt: Minifloat, dropped: int, d: Decoded, context: Context) -> Run:
    """v_cvt_sr_*: add random bits below the kept mantissa, then convert one byte."""
    d.allow("op_sel")
    value = plain_source(d.operands[1], "f32", d, context)
    noise = plain_source(d.operands[2], "b32", d, context)
    flags = d.flag_list("op_sel", 4, 0)
    merge = merging_dest(d.operands[0], 8 * (flags[2] + 2 * flags[3]), 8, d, context)

    def run(g: Group) -> None:
        bits = np.asarray(value(g)).view(U32)
        mantissa = (bits & U32(0x7FFFFF)) + (np.asarray(noise(g)) >> U32(dropped))
        moved = (bits & U32(0xFF800000)) | (mantissa & U32(0x7FFFFF))
        merge(g, fmt.encode(moved.view(F32), saturate=g.saturates))

    return run


for _name, _format, _bits in (("fp8", E4M3, 8), ("bf8", E5M2, 8), ("fp4", E2M1, 4)):
    for _kind in ("f32", "f16", "bf16"):
        register(f"v_cvt_scalef32_pk_{_kind}_{_name}", partial(_unpack, _format, _kind, _bits, 2))
        register(f"v_cvt_scalef32_pk_{_name}_{_kind}", partial(_pack, _format, _kind, _bits))
for _name, _format, _dropped in (("fp8", E4M3, 12), ("bf8", E5M2, 11)):
    register(f"v_cvt_pk_{_name}_f32", partial(_pack, _format, "f32", 8))
    register(f"v_cvt_pk_f32_{_name}", partial(_unpack, _format, "f32", 8, 2))
    register(f"v_cvt_f32_{_name}", partial(_unpack, _format, "f32", 8, 1))
    register(f"v_cvt_sr_{_name}_f32", partial(_stochastic, _format, _dropped))
    for _kind in ("f32", "f16"):
        register(f"v_cvt_scalef32_{_kind}_{_name}", partial(_unpack, _format, _kind, 8, 1))

# Thirty-two values of six bits in six registers


def _pack_six_bits(codes: Array) -> Array:
    """Pack uint8[n, 64, 32] codes of six bits into uint32[n, 64, 6], lowest first."""
    digits = (codes[..., None] >> np.arange(6, dtype=np.uint8)) & np.uint8(1)
    octets = np.packbits(digits.reshape(*codes.shape[:2], -1), axis=-1, bitorder="little")
    return np.ascontiguousarray(octets).view(np.dtype("<u4"))


def _unpack_many(fmt: Minifloat, kind: str, d: Decoded, context: Context) -> Run:
    d.allow()
    gets, scale = vector_registers(d.operands[1], 6, d, context), _scale(d, 2, context)
    puts = vector_dests(d.operands[0], 32 if kind == "f32" else 16, "b32", d, context)

    def run(g: Group) -> None:
        codes = codes_of(np.stack([get(g) for get in gets]), 6)
        factor = np.broadcast_to(scale(g), (g.n, LANES))[..., None]
        bits = _narrowed(fmt.decode(codes) * factor, kind, g.saturates)
        if kind != "f32":
            bits = bits[..., ::2] | bits[..., 1::2] << U32(16)
        for at, put in enumerate(puts):
            put(g, bits[..., at])

    return run


def _pack_many(fmt: Minifloat, kind: str, d: Decoded, context: Context) -> Run:
    """From halves of 16 registers, or from 16 registers of each of two operands in turns."""
    d.allow()
    lists = [vector_registers(one, 16, d, context) for one in d.operands[1 : 3 - (kind != "f32")]]
    gets = [get for row in zip(*lists, strict=True) for get in row]
    scale = _scale(d, 1 + len(lists), context)
    puts = vector_dests(d.operands[0], 6, "b32", d, context)

    def run(g: Group) -> None:
        codes = codes_of(np.stack([get(g) for get in gets]), 32 if kind == "f32" else 16)
        numbers = codes.view(F32) if kind == "f32" else _WIDEN[kind](codes.astype(U32))
        factor = np.broadcast_to(scale(g), (g.n, LANES))[..., None]
        packed = fmt.encode(numbers.astype(F64) / factor, saturate=True).astype(np.uint8)
        words = _pack_six_bits(packed)
        for at, put in enumerate(puts):
            put(g, words[..., at])

    return run


for _name, _format in (("fp6", E2M3), ("bf6", E3M2)):
    for _kind in ("f32", "f16", "bf16"):
        register(f"v_cvt_scalef32_pk32_{_kind}_{_name}", partial(_unpack_many, _format, _kind))
    for _kind in ("f16", "bf16"):
        register(f"v_cvt_scalef32_pk32_{_name}_{_kind}", partial(_pack_many, _format, _kind))
    register(f"v_cvt_scalef32_2xpk16_{_name}_f32", partial(_pack_many, _format, "f32"))
