"""Conversions between integers and floats, and to and from floats of at most eight bits.

A block-scaled conversion (scalef32) takes a scale whose exponent field e means the factor
2**(e - 127). To a narrow format values are divided by the factor and rounded once; from a narrow
format they are multiplied by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np

from netra_build.checkasm.model.arith import ieee, narrow
from netra_build.checkasm.model.arith.narrow import E2M1, E2M3, E3M2, E4M3, E5M2, Minifloat
from netra_build.checkasm.model.arrays import U32, U64, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.isa.vector import operation, plain_source
from netra_build.checkasm.model.operands import Operand, Unsupported
from netra_build.checkasm.model.sources import Form, Get

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


def _scale(d: Form, at: int) -> Get:
    """Return a reader of the factor of a scale operand as float64; 1 without a scale."""
    if "_scalef32_" not in d.base:
        one = np.ones((1, 1))
        return lambda g: one
    get = plain_source(d.operands[at], "f32", d)
    return lambda g: narrow.scale_value((np.asarray(get(g)).view(U32) >> U32(23)) & BYTE)


def _sources(operand: Operand, count: int, kind: str, d: Form) -> list[Get]:
    """Return readers of the registers of an operand; one alone may be any source."""
    if count > 1:
        return d.registers(operand, count)
    return [plain_source(operand, kind, d) if kind == "f32" else d.vector(operand, kind)]


def _narrowed(value: Array, kind: str, saturates: bool) -> Array:
    """Return float64 as 16-bit codes (f16, bf16) or float32 bits."""
    if kind == "f16":
        return narrow.single_to_half(value, saturate=saturates)
    single = value.astype(F32)
    return single.view(U32) if kind == "f32" else narrow.single_to_bf16(single)


def _byte_shift(d: Form) -> int:
    """Return the first bit of the byte that the last two entries of op_sel name."""
    flags = d.flag_list("op_sel", 4, 0)
    return 8 * (flags[2] + 2 * flags[3])


# From eight, six and four bits: one value, two, or thirty-two in six registers


def _selected_part(d: Form, bits: int) -> int:
    """Return the first bit of the source: of the byte or half that op_sel or SDWA names."""
    if bits > 16:
        d.allow()
        return 0
    is_plain = "_scalef32_" not in d.base
    d.allow(*["src0_sel"] * is_plain, *["op_sel"] * (bits == 16 or not is_plain))
    flags = d.flag_list("op_sel", 4, 0)
    word, _, number = d.modifiers.get("src0_sel", "").partition("_")
    if word not in ("", "WORD" if bits == 16 else "BYTE"):
        raise Unsupported('modifier "src0_sel"')
    if number and int(number):
        return bits * int(number)
    return 16 * flags[0] if bits == 16 else 8 * (flags[0] + 2 * flags[1])


def _unpack(fmt: Minifloat, kind: str, bits: int, count: int, d: Form) -> Run:
    size = max(1, count * bits // 32)
    start = _selected_part(d, count * bits)
    gets, scale = _sources(d.operands[1], size, "b32", d), _scale(d, 2)
    put = _unpacked_dest(d, kind, count)

    def run(g: Group) -> None:
        factor, words = scale(g), [np.asarray(get(g)) for get in gets]
        codes = [_code_at(words, start + at * bits, bits) for at in range(count)]
        put(g, [_narrowed(fmt.decode(code) * factor, kind, g.saturates) for code in codes])

    return run


def _code_at(words: Sequence[Array], place: int, bits: int) -> Array:
    """Return the bits from ``place`` on; they may reach into the next word."""
    word, shift = divmod(place, 32)
    code = words[word] >> U32(shift)
    if shift + bits > 32:
        code = code | words[word + 1] << U32(32 - shift)
    return np.asarray(code & U32((1 << bits) - 1))


def _unpacked_dest(d: Form, kind: str, count: int) -> Callable[[Group, list[Array]], object]:
    """Return a writer of all values; a single one of 16 bits goes to the half that op_sel names."""
    if count == 1 and kind != "f32":
        flags = d.flag_list("op_sel", 4, 0)
        merge = d.merging(d.operands[0], 16 * (flags[2] | flags[3]), 16)
        return lambda g, values: merge(g, values[0])
    puts = d.dests(d.operands[0], count if kind == "f32" else count // 2, "b32")

    def put_all(g: Group, values: list[Array]) -> None:
        for put, bits in zip(puts, values if kind == "f32" else _words(values, 16), strict=True):
            put(g, bits)

    return put_all


def _words(codes: Sequence[Array], bits: int) -> list[Array]:
    """Pack codes into words of 32 bits, lowest first."""
    words = [codes[0] & U32(0)] * max(1, len(codes) * bits // 32)
    for at, code in enumerate(codes):
        word, shift = divmod(at * bits, 32)
        words[word] = words[word] | code << U32(shift)
        if shift + bits > 32:
            words[word + 1] = words[word + 1] | code >> U32(32 - shift)
    return words


# To eight, six and four bits


def _pack(fmt: Minifloat, kind: str, bits: int, count: int, d: Form) -> Run:
    """Two values, or 32: of two operands in turns, or the halves of one.

    Of two, op_sel's last entries pick the half or byte that is written.
    """
    d.allow(*["op_sel"] * (count == 2))
    sources = d.operands[1 : 3 if kind == "f32" else 2]
    raw = "f32" if kind == "f32" else "b32"
    lists = [_sources(each, count // 2, raw, d) for each in sources]
    gets = [get for row in zip(*lists, strict=True) for get in row]
    scale = _scale(d, 1 + len(sources))
    if count == 2:
        # A byte is numbered by two entries, whatever the number of sources.
        flags = d.flag_list("op_sel", 1 + len(sources) + ("_scalef32_" in d.base), 0)
        shift = _byte_shift(d) if bits == 4 else 16 * flags[-1]
        puts = [d.merging(d.operands[0], shift, 2 * bits)]
    else:
        puts = d.dests(d.operands[0], count * bits // 32, "b32")

    def run(g: Group) -> None:
        factor, words = scale(g), [np.asarray(get(g)) for get in gets]
        singles = [word.view(F32) for word in words] if kind == "f32" else _halves(words, kind)
        values = [np.asarray(one.astype(F64) / factor) for one in singles]
        codes = [fmt.encode(value, saturate=g.saturates or count > 2) for value in values]
        for put, word in zip(puts, _words(codes, bits), strict=True):
            put(g, word)

    return run


def _halves(words: Sequence[Array], kind: str) -> list[Array]:
    """Return the numbers in the low and the high half of each word."""
    return [_WIDEN[kind](half) for word in words for half in (word & U32(0xFFFF), word >> U32(16))]


def _stochastic(fmt: Minifloat, dropped: int, d: Form) -> Run:
    """v_cvt_sr_*: add random bits below the kept mantissa, then convert one byte."""
    d.allow("op_sel")
    value = plain_source(d.operands[1], "f32", d)
    noise = plain_source(d.operands[2], "b32", d)
    merge = d.merging(d.operands[0], _byte_shift(d), 8)

    def run(g: Group) -> None:
        bits = np.asarray(value(g)).view(U32)
        mantissa = (bits & U32(0x7FFFFF)) + (np.asarray(noise(g)) >> U32(dropped))
        moved = (bits & U32(0xFF800000)) | (mantissa & U32(0x7FFFFF))
        merge(g, fmt.encode(moved.view(F32), saturate=g.saturates))

    return run


_KINDS = ("f32", "f16", "bf16")
for _kind, (_name, _format, _bits) in product(
    _KINDS, (("fp8", E4M3, 8), ("bf8", E5M2, 8), ("fp4", E2M1, 4))
):
    register(f"v_cvt_scalef32_pk_{_kind}_{_name}", partial(_unpack, _format, _kind, _bits, 2))
    register(f"v_cvt_scalef32_pk_{_name}_{_kind}", partial(_pack, _format, _kind, _bits, 2))
for _name, _format, _dropped in (("fp8", E4M3, 12), ("bf8", E5M2, 11)):
    register(f"v_cvt_pk_{_name}_f32", partial(_pack, _format, "f32", 8, 2))
    register(f"v_cvt_pk_f32_{_name}", partial(_unpack, _format, "f32", 8, 2))
    register(f"v_cvt_sr_{_name}_f32", partial(_stochastic, _format, _dropped))
    for _word in ("f32", "scalef32_f32", "scalef32_f16"):
        _kind = _word.removeprefix("scalef32_")
        register(f"v_cvt_{_word}_{_name}", partial(_unpack, _format, _kind, 8, 1))
for _kind, (_name, _format) in product(_KINDS, (("fp6", E2M3), ("bf6", E3M2))):
    register(f"v_cvt_scalef32_pk32_{_kind}_{_name}", partial(_unpack, _format, _kind, 6, 32))
    _form = "2xpk16" if _kind == "f32" else "pk32"
    register(f"v_cvt_scalef32_{_form}_{_name}_{_kind}", partial(_pack, _format, _kind, 6, 32))
