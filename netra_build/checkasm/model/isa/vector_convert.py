"""Conversions between integers and floats, and to and from eight-bit floats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arith import single
from netra_build.checkasm.model.arith.narrow import E4M3, E5M2, Minifloat
from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.isa.vector import modified, operation
from netra_build.checkasm.model.operands import Decoded, Unsupported
from netra_build.checkasm.model.sources import (
    Context,
    Get,
    vector_dest,
    vector_source,
)

F32 = np.float32
F64 = np.float64
U = np.uint32


# Integers


def _to_integer(value: Array, low: float, high: float) -> Array:
    """Clamp float64 to [low, high]; NaN gives zero."""
    return np.where(np.isnan(value), 0.0, np.clip(value, low, high))


def _unsigned(value: Array) -> Array:
    return _to_integer(np.trunc(value.astype(F64)), 0.0, 2.0**32 - 1).astype(np.uint64).astype(U)


def _signed(value: Array) -> Array:
    cut = _to_integer(np.trunc(value.astype(F64)), -(2.0**31), 2.0**31 - 1)
    return cut.astype(np.int64).astype(np.int32)


def _floor_signed(value: Array) -> Array:
    return _signed(np.floor(value.astype(F64)))


def _nearest_signed(value: Array) -> Array:
    return _signed(np.floor(value.astype(F64) + 0.5))


def _byte(at: int) -> Callable[[Array], Array]:
    return lambda bits: ((bits >> U(8 * at)) & U(0xFF)).astype(F32)


operation("v_cvt_u32_f32", "u32 = f32", _unsigned)
operation("v_cvt_i32_f32", "i32 = f32", _signed)
operation("v_cvt_flr_i32_f32", "i32 = f32", _floor_signed)
operation("v_cvt_rpi_i32_f32", "i32 = f32", _nearest_signed)
operation("v_cvt_f32_u32", "f32 = u32", lambda a: a.astype(F32))
operation("v_cvt_f32_i32", "f32 = i32", lambda a: a.astype(F32))
operation("v_cvt_f64_f32", "f64 = f32", lambda a: single.quiet(a).astype(F64))
operation("v_cvt_f32_f64", "f32 = f64", lambda a: a.astype(F32))
operation("v_cvt_f64_u32", "f64 = u32", lambda a: a.astype(F64))
operation("v_cvt_f64_i32", "f64 = i32", lambda a: a.astype(F64))
operation("v_cvt_u32_f64", "u32 = f64", _unsigned)
operation("v_cvt_i32_f64", "i32 = f64", _signed)
operation("v_cvt_f16_u16", "f16 = u16", lambda a: a.astype(F32))
operation("v_cvt_f16_i16", "f16 = i16", lambda a: a.astype(F32))
operation("v_cvt_u16_f16", "u16 = f16", lambda a: _to_integer(np.trunc(a), 0, 65535).astype(U))
operation(
    "v_cvt_i16_f16", "i16 = f16", lambda a: _to_integer(np.trunc(a), -32768, 32767).astype(np.int32)
)
for _at in range(4):
    operation(f"v_cvt_f32_ubyte{_at}", "f32 = b32", _byte(_at))
operation(
    "v_cvt_pk_u16_u32",
    "u32 = u32 u32",
    lambda a, b: np.minimum(a, U(0xFFFF)) | (np.minimum(b, U(0xFFFF)) << U(16)),
)


def _pack_signed(a: Array, b: Array) -> Array:
    low = np.clip(a, -32768, 32767).astype(np.int32).view(U) & U(0xFFFF)
    return low | (np.clip(b, -32768, 32767).astype(np.int32).view(U) << U(16))


operation("v_cvt_pk_i16_i32", "u32 = i32 i32", _pack_signed)

# Eight-bit floats


def _destination_half(d: Decoded, sources: int) -> int:
    """Return the half of the result register that op_sel names: its last entry."""
    flags = d.flag_list("op_sel", sources + 1, 0)
    return flags[-1]


def _merge_half(d: Decoded, context: Context, sources: int) -> Callable[[Group, Array], None]:
    """Return a writer of 16 bits that leaves the other half of the register alone.

    The untouched half counts as used only if it holds something: the first of two conversions
    may write into a register that was never written.
    """
    half = _destination_half(d, sources)
    row = context.row(d.operands[0])
    put = vector_dest(d.operands[0], "b32", d, context)
    shift = U(16 * half)
    keep = U(0xFFFF) if half else U(0xFFFF0000)

    def write(g: Group, bits: Array) -> None:
        put(g, (g.V[row] & keep) | (bits << shift))

    return write


def _float_sources(d: Decoded, context: Context, kinds: str) -> list[Get]:
    return [
        modified(vector_source(operand, kind, d, context), operand, kind)
        for operand, kind in zip(d.operands[1:], kinds.split(), strict=True)
    ]


def _pack_eight(name: str, fmt: Minifloat) -> None:
    """v_cvt_pk_fp8_f32: two float32 to two bytes of one half of the result."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow("op_sel")
        first, second = _float_sources(d, context, "f32 f32")
        write = _merge_half(d, context, 2)

        def run(g: Group) -> None:
            low = fmt.encode(np.asarray(first(g)), saturate=g.saturates)
            high = fmt.encode(np.asarray(second(g)), saturate=g.saturates)
            write(g, low | (high << U(8)))

        return run

    register(name, build)


for _name, _format in (("fp8", E4M3), ("bf8", E5M2)):
    _pack_eight(f"v_cvt_pk_{_name}_f32", _format)


def _unpack_two(name: str, fmt: Minifloat) -> None:
    """v_cvt_pk_f32_fp8: two bytes of one half of the source to two registers."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow("op_sel", "src0_sel")
        high = d.flag_list("op_sel", 2, 0)[0] == 1 or d.modifiers.get("src0_sel") == "WORD_1"
        if d.modifiers.get("src0_sel", "WORD_0") not in ("WORD_0", "WORD_1"):
            raise Unsupported('modifier "src0_sel"')
        get = vector_source(d.operands[1], "b32", d, context)
        put = vector_dest(d.operands[0], "b64", d, context)

        def run(g: Group) -> None:
            bits = np.asarray(get(g)) >> U(16 if high else 0)
            low = fmt.decode(bits & U(0xFF)).astype(F32).view(U)
            top = fmt.decode((bits >> U(8)) & U(0xFF)).astype(F32).view(U)
            put(g, (top.astype(np.uint64) << np.uint64(32)) | low)

        return run

    register(name, build)


def _unpack_one(name: str, fmt: Minifloat) -> None:
    """v_cvt_f32_fp8: one byte of the source, chosen by SDWA."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow("src0_sel")
        byte = int(d.modifiers.get("src0_sel", "BYTE_0").removeprefix("BYTE_"))
        get = vector_source(d.operands[1], "b32", d, context)
        put = vector_dest(d.operands[0], "f32", d, context)

        def run(g: Group) -> None:
            bits = (np.asarray(get(g)) >> U(8 * byte)) & U(0xFF)
            put(g, fmt.decode(bits).astype(F32))

        return run

    register(name, build)


_unpack_two("v_cvt_pk_f32_fp8", E4M3)
_unpack_two("v_cvt_pk_f32_bf8", E5M2)
_unpack_one("v_cvt_f32_fp8", E4M3)
_unpack_one("v_cvt_f32_bf8", E5M2)


def _stochastic(name: str, fmt: Minifloat, dropped: int) -> None:
    """v_cvt_sr_*: add random bits below the kept mantissa, then convert one byte."""

    def build(d: Decoded, context: Context) -> Run:
        d.allow("op_sel")
        value, noise = _float_sources(d, context, "f32 b32")
        flags = d.flag_list("op_sel", 4, 0)
        byte = flags[2] + 2 * flags[3]
        put = vector_dest(d.operands[0], "b32", d, context)
        row = context.row(d.operands[0])
        keep = U(~(0xFF << 8 * byte) & 0xFFFFFFFF)

        def run(g: Group) -> None:
            bits = np.asarray(value(g)).view(U)
            mantissa = (bits & U(0x7FFFFF)) + (np.asarray(noise(g)) >> U(dropped))
            moved = (bits & U(0xFF800000)) | (mantissa & U(0x7FFFFF))
            code = fmt.encode(moved.view(F32), saturate=g.saturates)
            put(g, (g.V[row] & keep) | (code << U(8 * byte)))

        return run

    register(name, build)


_stochastic("v_cvt_sr_fp8_f32", E4M3, 12)
_stochastic("v_cvt_sr_bf8_f32", E5M2, 11)
