"""Vector floating-point instructions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arith import division, double, narrow, single
from netra_build.checkasm.model.arith import transcendental as special
from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.isa.vector import Spec, build, modified, operation
from netra_build.checkasm.model.operands import Decoded, Operand
from netra_build.checkasm.model.sources import Context, vector_dest, vector_source

F32 = np.float32
F64 = np.float64

# Single precision

operation("v_add_f32", "f32 = f32 f32", single.add)
operation("v_sub_f32", "f32 = f32 f32", single.subtract)
operation("v_subrev_f32", "f32 = f32 f32", single.subtract_reversed)
operation("v_mul_f32", "f32 = f32 f32", single.multiply)
operation("v_mul_legacy_f32", "f32 = f32 f32", single.multiply_legacy)
operation("v_max_f32", "f32 = f32 f32", single.maximum)
operation("v_min_f32", "f32 = f32 f32", single.minimum)
operation("v_max3_f32", "f32 = f32 f32 f32", single.maximum3)
operation("v_min3_f32", "f32 = f32 f32 f32", single.minimum3)
operation("v_med3_f32", "f32 = f32 f32 f32", single.median3)
operation("v_fma_f32", "f32 = f32 f32 f32", single.fma)
operation("v_fmac_f32", "f32 = f32 f32 f32", single.fma, reads_dst=True)
operation("v_ldexp_f32", "f32 = f32 i32", single.load_exponent)
operation("v_div_scale_f32", "f32 mask = f32 f32 f32", division.div_scale(division.SINGLE))
operation(
    "v_div_fmas_f32", "f32 = f32 f32 f32 mask", division.div_fmas(division.SINGLE), reads_vcc=True
)
operation("v_div_fixup_f32", "f32 = f32 f32 f32", division.div_fixup(division.SINGLE))
operation("v_fmaak_f32", "f32 = f32 f32 f32", single.fma)
operation("v_fmamk_f32", "f32 = f32 f32 f32", single.fma)


def _ieee_extreme3(pick: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    """IEEE 754-2019 maximum/minimum: any NaN wins."""

    def run(a: Array, b: Array, c: Array) -> Array:
        result = pick(pick(a, b), c)
        for source in (c, b, a):
            result = np.where(np.isnan(source), single.quiet(np.asarray(source)), result)
        return result.astype(F32, copy=False)

    return run


operation("v_maximum3_f32", "f32 = f32 f32 f32", _ieee_extreme3(single.maximum))
operation("v_minimum3_f32", "f32 = f32 f32 f32", _ieee_extreme3(single.minimum))


def _rounding(fn: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda a: single.quiet(fn(a))


def _approximate(names: str, fn: Callable[[Array, str], Array]) -> None:
    """Enter instructions that the ISA allows an error of one unit in the last place."""

    def build_chosen(d: Decoded, context: Context) -> Run:
        def chosen(a: Array) -> Array:
            return fn(a, context.approximation)

        return build(Spec(("f32",), ("f32",), chosen), d, context)

    register(names, build_chosen)


_approximate("v_rcp_f32 v_rcp_iflag_f32", special.reciprocal)
_approximate("v_sqrt_f32", special.square_root)
_approximate("v_rsq_f32", special.reciprocal_root)
_approximate("v_exp_f32", special.exp2)
_approximate("v_log_f32", special.log2)
operation("v_sin_f32", "f32 = f32", special.sine)
operation("v_cos_f32", "f32 = f32", special.cosine)
operation("v_floor_f32", "f32 = f32", _rounding(np.floor))
operation("v_ceil_f32", "f32 = f32", _rounding(np.ceil))
operation("v_trunc_f32", "f32 = f32", _rounding(np.trunc))
operation("v_rndne_f32", "f32 = f32", _rounding(np.rint))
operation("v_fract_f32", "f32 = f32", single.fraction)
operation("v_frexp_mant_f32", "f32 = f32", single.mantissa)
operation("v_frexp_exp_i32_f32", "i32 = f32", single.exponent)

# Double precision

operation("v_add_f64", "f64 = f64 f64", lambda a, b: double.settle(a + b, a, b))
operation("v_mul_f64", "f64 = f64 f64", lambda a, b: double.settle(a * b, a, b))
operation("v_max_f64", "f64 = f64 f64", double.maximum)
operation("v_min_f64", "f64 = f64 f64", double.minimum)
operation("v_fma_f64", "f64 = f64 f64 f64", double.fma)
operation("v_fmac_f64", "f64 = f64 f64 f64", double.fma, reads_dst=True)
operation("v_rcp_f64", "f64 = f64", lambda a: double.settle(1.0 / a, a))
operation("v_rsq_f64", "f64 = f64", double.reciprocal_root)
operation("v_sqrt_f64", "f64 = f64", lambda a: double.settle(np.sqrt(a), a))
operation("v_floor_f64", "f64 = f64", lambda a: double.quiet(np.floor(a)))
operation("v_ceil_f64", "f64 = f64", lambda a: double.quiet(np.ceil(a)))
operation("v_trunc_f64", "f64 = f64", lambda a: double.quiet(np.trunc(a)))
operation("v_rndne_f64", "f64 = f64", lambda a: double.quiet(np.rint(a)))
operation("v_ldexp_f64", "f64 = f64 i32", lambda a, n: double.quiet(_ldexp_64(a, n)))
operation("v_frexp_mant_f64", "f64 = f64", lambda a: np.where(np.isfinite(a), np.frexp(a)[0], a))
operation("v_frexp_exp_i32_f64", "i32 = f64", single.exponent)
operation("v_fract_f64", "f64 = f64", lambda a: np.minimum(a - np.floor(a), 1.0 - 2.0**-53))
operation("v_div_scale_f64", "f64 mask = f64 f64 f64", division.div_scale(division.DOUBLE))
operation(
    "v_div_fmas_f64", "f64 = f64 f64 f64 mask", division.div_fmas(division.DOUBLE), reads_vcc=True
)
operation("v_div_fixup_f64", "f64 = f64 f64 f64", division.div_fixup(division.DOUBLE))


def _ldexp_64(a: Array, n: Array) -> Array:
    result: Array = np.ldexp(a, np.clip(n, -2200, 2200))
    return result


# Half precision: operands arrive as float32, results are rounded to f16 once


def _fma_16(a: Array, b: Array, c: Array) -> Array:
    product = a.astype(F64) * b
    return single.sum_to_odd(*np.broadcast_arrays(product, c.astype(F64)))


operation("v_add_f16", "f16 = f16 f16", np.add)
operation("v_sub_f16", "f16 = f16 f16", np.subtract)
operation("v_subrev_f16", "f16 = f16 f16", lambda a, b: b - a)
operation("v_mul_f16", "f16 = f16 f16", np.multiply)
operation("v_max_f16", "f16 = f16 f16", single.maximum)
operation("v_min_f16", "f16 = f16 f16", single.minimum)
operation("v_max3_f16", "f16 = f16 f16 f16", single.maximum3)
operation("v_min3_f16", "f16 = f16 f16 f16", single.minimum3)
operation("v_med3_f16", "f16 = f16 f16 f16", single.median3)
operation("v_fma_f16", "f16 = f16 f16 f16", _fma_16, keeps_high=True)
operation("v_rcp_f16", "f16 = f16", lambda a: 1.0 / a.astype(F64))
operation("v_sqrt_f16", "f16 = f16", lambda a: np.sqrt(a.astype(F64)))
operation("v_rsq_f16", "f16 = f16", lambda a: 1.0 / np.sqrt(a.astype(F64)))
operation("v_exp_f16", "f16 = f16", lambda a: np.exp2(a.astype(F64)))
operation("v_log_f16", "f16 = f16", lambda a: np.log2(a.astype(F64)))
operation("v_floor_f16", "f16 = f16", np.floor)
operation("v_ceil_f16", "f16 = f16", np.ceil)
operation("v_trunc_f16", "f16 = f16", np.trunc)
operation("v_rndne_f16", "f16 = f16", np.rint)
operation("v_ldexp_f16", "f16 = f16 i16", lambda a, n: np.ldexp(a.astype(F64), n))

operation("v_fract_f16", "f16 = f16", lambda a: np.minimum(a - np.floor(a), F32(1 - 2.0**-11)))
operation("v_frexp_mant_f16", "f16 = f16", single.mantissa)
operation("v_frexp_exp_i16_f16", "i16 = f16", single.exponent)


def _div_fixup_16(quotient: Array, denominator: Array, numerator: Array) -> Array:
    """Signs, zeros, infinities and NaNs; there is no underflow case in half precision."""
    sign = np.where(np.signbit(denominator) ^ np.signbit(numerator), F32(-1), F32(1))
    to_infinity = (denominator == 0) | np.isinf(numerator)
    to_zero = np.isinf(denominator) | (numerator == 0)
    size = np.select([to_infinity, to_zero], [F32(np.inf), F32(0)], np.abs(quotient))
    result = size * sign
    invalid = ((denominator == 0) & (numerator == 0)) | (
        np.isinf(denominator) & np.isinf(numerator)
    )
    result = np.where(invalid, F32(-np.nan), result)
    result = np.where(np.isnan(denominator), denominator, result)
    return np.where(np.isnan(numerator), numerator, result).astype(F32, copy=False)


operation("v_div_fixup_f16", "f16 = f16 f16 f16", _div_fixup_16, keeps_high=True)


def _mixed(name: str, half: str) -> None:
    """v_fma_mix: each source is a float32, or the f16 half that op_sel names."""

    def build_mixed(d: Decoded, context: Context) -> Run:
        d.allow("op_sel", "op_sel_hi", "neg_lo", "neg_hi", "clamp")
        is_half = d.flag_list("op_sel_hi", 3, 0)
        kinds = tuple("f16" if flag else "f32" for flag in is_half)
        high = d.flag_list("op_sel", 3, 0)
        merge = "1" if half == "hi" else "0"
        chosen = ",".join([*(str(x) for x in high), merge])
        modifiers = {k: v for k, v in d.modifiers.items() if k == "clamp"}
        operands: tuple[Operand, ...] = d.operands
        inner = Decoded(
            d.source, d.base, d.encoding, operands, {**modifiers, "op_sel": f"[{chosen}]"}
        )
        dst = "f16" if half else "f32"
        fn = _fma_16 if half else single.fma
        spec = Spec((dst,), kinds, fn, keeps_high=bool(half))
        return build(spec, inner, context)

    register(name, build_mixed)


_mixed("v_fma_mix_f32", "")
_mixed("v_fma_mixlo_f16", "lo")
_mixed("v_fma_mixhi_f16", "hi")


def _pack_halves(a: Array, b: Array) -> Array:
    result: Array = a | (b << np.uint32(16))
    return result


operation("v_pack_b32_f16", "b32 = b16 b16", _pack_halves)
operation("v_cvt_f32_f16", "f32 = f16", single.quiet)
operation("v_cvt_f16_f32", "f16 = f32", lambda a: a)


def _pack_toward_zero(a: Array, b: Array) -> Array:
    low = narrow.single_to_half_toward_zero(np.asarray(a))
    result: Array = low | (narrow.single_to_half_toward_zero(np.asarray(b)) << np.uint32(16))
    return result


def _pack_bf16(a: Array, b: Array) -> Array:
    low = narrow.single_to_bf16(np.asarray(a))
    result: Array = low | (narrow.single_to_bf16(np.asarray(b)) << np.uint32(16))
    return result


operation("v_cvt_pkrtz_f16_f32", "b32 = f32 f32", _pack_toward_zero)
operation("v_cvt_pk_bf16_f32", "b32 = f32 f32", _pack_bf16)
operation("v_cvt_f32_bf16", "f32 = bf16", single.quiet)


def _build_pack_nearest(d: Decoded, context: Context) -> Run:
    """v_cvt_pk_f16_f32: to nearest even; MODE decides what becomes of too large numbers."""
    d.allow()
    gets = [
        modified(vector_source(operand, "f32", d, context), operand, "f32")
        for operand in d.operands[1:3]
    ]
    put = vector_dest(d.operands[0], "b32", d, context)

    def run(g: Group) -> None:
        low, high = (
            narrow.single_to_half(np.asarray(get(g)), saturate=g.saturates) for get in gets
        )
        put(g, low | (high << np.uint32(16)))

    return run


register("v_cvt_pk_f16_f32", _build_pack_nearest)
