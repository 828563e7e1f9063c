"""Element-wise vector instructions on floating-point numbers, and comparisons of all numbers.

Operands of 16 bits arrive as float32; their results are rounded to f16 once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from netra_build.checkasm.model.arith import division, ieee
from netra_build.checkasm.model.arith import transcendental as special
from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.group import Run
from netra_build.checkasm.model.isa.table import Function, Spec, instruction
from netra_build.checkasm.model.isa.vector import build, operation
from netra_build.checkasm.model.sources import Form

F32 = np.float32
F64 = np.float64

# Arithmetic


@operation("v_mul_legacy_f32", "f32 = f32 f32")
def _multiply_legacy(a: Array, b: Array) -> Array:
    """Zero times anything is zero."""
    return np.where((a == 0) | (b == 0), F32(0), ieee.multiply(a, b)).astype(F32, copy=False)


def fma_half(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c of f16 in float64, rounded to odd."""
    product = a.astype(F64) * b
    return ieee.sum_to_odd(*np.broadcast_arrays(product, c.astype(F64)))


operation("v_add_{f32,f64}", "T = T T", ieee.add)
operation("v_sub_f32", "f32 = f32 f32", ieee.subtract)
operation("v_subrev_f32", "f32 = f32 f32", ieee.settled(lambda a, b: b - a))
operation("v_mul_{f32,f64}", "T = T T", ieee.multiply)
operation("v_fma_f32 v_fmaak_f32 v_fmamk_f32", "f32 = f32 f32 f32", ieee.fma)
operation("v_fmac_f32", "f32 = f32 f32 f32!", ieee.fma)

operation("v_fma_f64", "f64 = f64 f64 f64", ieee.fma_double)
operation("v_fmac_f64", "f64 = f64 f64 f64!", ieee.fma_double)
operation("v_add_f16", "f16 = f16 f16", np.add)
operation("v_sub_f16", "f16 = f16 f16", np.subtract)
operation("v_subrev_f16", "f16 = f16 f16", lambda a, b: b - a)
operation("v_mul_f16", "f16 = f16 f16", np.multiply)
operation("v_fma_f16", "f16 = f16 f16 f16", fma_half, keeps_high=True)


@instruction("v_fma_mix_f32 v_fma_mix{lo,hi}_f16")
def _build_mixed(d: Form) -> Run:
    """v_fma_mix: each source is a float32, or the f16 half that op_sel names."""
    d.allow("op_sel", "op_sel_hi", "neg_lo", "neg_hi", "clamp")
    kinds = tuple("f16" if flag else "f32" for flag in d.flag_list("op_sel_hi", 3, 0))
    half = d.base != "v_fma_mix_f32"
    flags = [*d.flag_list("op_sel", 3, 0), int(d.base == "v_fma_mixhi_f16")]
    modifiers = {name: text for name, text in d.modifiers.items() if name == "clamp"}
    inner = replace(d, modifiers={**modifiers, "op_sel": str(flags)})
    fn = fma_half if half else ieee.fma
    return build(Spec(("f16" if half else "f32",), kinds, fn, keeps_high=half), inner)


# Extremes


def _any_nan_wins(pick: Function) -> Function:
    """IEEE 754-2019 maximum/minimum: any NaN wins."""

    def run(*values: Array) -> Array:
        result = pick(*values)
        for source in reversed(values):
            result = np.where(np.isnan(source), ieee.quiet(np.asarray(source)), result)
        return np.asarray(result, F32)

    return run


operation("v_max_{f16,f32,f64}", "T = T T", ieee.maximum)
operation("v_min_{f16,f32,f64}", "T = T T", ieee.minimum)
operation("v_max3_{f16,f32}", "T = T T T", ieee.maximum3)
operation("v_min3_{f16,f32}", "T = T T T", ieee.minimum3)
operation("v_med3_{f16,f32}", "T = T T T", ieee.median3)
operation("v_maximum3_f32", "f32 = f32 f32 f32", _any_nan_wins(ieee.maximum3))
operation("v_minimum3_f32", "f32 = f32 f32 f32", _any_nan_wins(ieee.minimum3))

# Reciprocals, roots, powers, circles


def _wide(fn: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda a: fn(a.astype(F64))


operation("v_rcp_f32 v_rcp_iflag_f32", "f32 = f32", special.reciprocal, is_approximate=True)
operation("v_sqrt_f32", "f32 = f32", special.square_root, is_approximate=True)
operation("v_rsq_f32", "f32 = f32", special.reciprocal_root, is_approximate=True)
operation("v_exp_f32", "f32 = f32", special.exp2, is_approximate=True)
operation("v_log_f32", "f32 = f32", special.log2, is_approximate=True)
operation("v_sin_f32", "f32 = f32", special.sine)
operation("v_cos_f32", "f32 = f32", special.cosine)
operation("v_rcp_f64", "f64 = f64", ieee.settled(lambda a: 1.0 / a))
operation("v_rsq_f64", "f64 = f64", ieee.reciprocal_root_double)
operation("v_sqrt_f64", "f64 = f64", ieee.settled(np.sqrt))
operation("v_rcp_f16", "f16 = f16", _wide(lambda a: 1.0 / a))
operation("v_sqrt_f16", "f16 = f16", _wide(np.sqrt))
operation("v_rsq_f16", "f16 = f16", _wide(lambda a: 1.0 / np.sqrt(a)))
operation("v_exp_f16", "f16 = f16", _wide(np.exp2))
operation("v_log_f16", "f16 = f16", _wide(np.log2))

# Rounding and parts of numbers


def _quieted(fn: Function) -> Function:
    return lambda a: ieee.quiet(fn(a))


_ROUNDINGS: dict[str, Function] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rndne": np.rint,
}
for _name, _fn in _ROUNDINGS.items():
    operation(f"v_{_name}_{{f32,f64}}", "T = T", _quieted(_fn))
    operation(f"v_{_name}_f16", "f16 = f16", _fn)
operation("v_ldexp_{f32,f64}", "T = T i32", ieee.load_exponent)
operation("v_ldexp_f16", "f16 = f16 i16", lambda a, n: np.ldexp(a.astype(F64), n))
operation("v_fract_{f32,f64}", "T = T", ieee.fraction)
operation("v_fract_f16", "f16 = f16", lambda a: np.minimum(a - np.floor(a), F32(1 - 2.0**-11)))
operation("v_frexp_mant_{f16,f32,f64}", "T = T", ieee.mantissa)
operation("v_frexp_exp_i32_{f32,f64}", "i32 = T", ieee.exponent)
operation("v_frexp_exp_i16_f16", "i16 = f16", ieee.exponent)

# Steps of a division

operation("v_div_scale_{f32,f64}", "T mask = T T T", division.div_scale)
operation("v_div_fmas_{f32,f64}", "T = T T T vcc", division.div_fmas)
operation("v_div_fixup_{f32,f64}", "T = T T T", division.div_fixup)


@operation("v_div_fixup_f16", "f16 = f16 f16 f16", keeps_high=True)
def _div_fixup_half(quotient: Array, denominator: Array, numerator: Array) -> Array:
    """Signs, zeros, infinities and NaNs; there is no underflow case in half precision."""
    sign = np.where(np.signbit(denominator) ^ np.signbit(numerator), F32(-1), F32(1))
    to_infinity = (denominator == 0) | np.isinf(numerator)
    to_zero = np.isinf(denominator) | (numerator == 0)
    size = np.select([to_infinity, to_zero], [F32(np.inf), F32(0)], np.abs(quotient))
    # Zero over zero and infinity over infinity meet both conditions.
    result = np.where(to_infinity & to_zero, F32(-np.nan), size * sign)
    result = np.where(np.isnan(denominator), denominator, result)
    return np.where(np.isnan(numerator), numerator, result).astype(F32, copy=False)


# Comparisons: one bit per active lane in VCC or a pair of scalar registers


def _constant(value: bool) -> Function:
    return lambda a, b: np.full(np.broadcast(a, b).shape, value)


def _not(fn: Function) -> Function:
    return lambda a, b: np.logical_not(fn(a, b))


_ORDERED: dict[str, Function] = {
    "f": _constant(False),
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
INTEGER: dict[str, Function] = {**_ORDERED, "ne": np.not_equal, "t": _constant(True)}
_POSITIVE: dict[str, Function] = {
    **_ORDERED,
    "lg": lambda a, b: np.less(a, b) | np.greater(a, b),
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
}
_NEGATED = {"nge": "ge", "nlg": "lg", "ngt": "gt", "nle": "le", "neq": "eq", "nlt": "lt", "u": "o"}
FLOAT: dict[str, Function] = {
    **_POSITIVE,
    **{name: _not(_POSITIVE[of]) for name, of in _NEGATED.items()},
}
FLOAT["tru"] = _constant(True)


def comparison(name: str, sources: str, fn: Function) -> None:
    """Enter v_cmp, and v_cmpx, which writes EXEC besides the named mask."""

    def spread(*values: Array) -> Array:
        """Give the result one column per lane, also when all operands are scalar."""
        result = np.asarray(fn(*values))
        if result.ndim == 2 and result.shape[1] == LANES:
            return result
        return np.broadcast_to(result, (result.shape[0] if result.ndim else 1, LANES))

    operation(f"v_cmp_{name}", f"mask = {sources}", spread)
    operation(f"v_cmpx_{name}", f"mask exec = {sources}", lambda *values: (spread(*values),) * 2)


for _name, _fn in INTEGER.items():
    comparison(f"{_name}_{{i16,u16,i32,u32,i64,u64}}", "T T", _fn)
for _name, _fn in FLOAT.items():
    comparison(f"{_name}_{{f16,f32,f64}}", "T T", _fn)


def _classify(smallest: float, value: Array, mask: Array) -> Array:
    """Test which of ten classes a number belongs to; ``mask`` has one bit per class."""
    kind = ieee.PRECISION[value.dtype]
    is_quiet = np.ascontiguousarray(value).view(kind.bits) & kind.quiet != 0
    nan, negative = np.isnan(value), np.signbit(value)
    infinite, zero = np.isinf(value), value == 0
    tiny = (np.abs(value) < smallest) & ~zero
    normal = np.isfinite(value) & ~tiny & ~zero
    signs = [kind & negative for kind in (infinite, normal, tiny, zero)]
    signs += [kind & ~negative for kind in (zero, tiny, normal, infinite)]
    result = np.zeros(np.broadcast(value, mask).shape, np.bool_)
    for at, member in enumerate((nan & ~is_quiet, nan & is_quiet, *signs)):
        result |= member & ((mask >> np.uint32(at)) & np.uint32(1) == 1)
    return result


for _kind, _smallest in (("f16", -14), ("f32", -126), ("f64", -1022)):
    comparison(f"class_{_kind}", f"{_kind} u32", partial(_classify, 2.0**_smallest))
