"""Vector comparisons: one bit per active lane in VCC or a pair of scalar registers."""

from __future__ import annotations

from functools import partial

import numpy as np

from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.isa.table import Function
from netra_build.checkasm.model.isa.vector import operation


def _unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


def _constant(value: bool) -> Function:
    return lambda a, b: np.full(np.broadcast(a, b).shape, value)


_ORDERED: dict[str, Function] = {
    "f": _constant(False),
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
INTEGER: dict[str, Function] = {**_ORDERED, "ne": np.not_equal, "t": _constant(True)}
FLOAT: dict[str, Function] = {
    **_ORDERED,
    "lg": lambda a, b: np.less(a, b) | np.greater(a, b),
    "o": lambda a, b: ~_unordered(a, b),
    "u": _unordered,
    "nge": lambda a, b: ~np.greater_equal(a, b),
    "nlg": lambda a, b: ~(np.less(a, b) | np.greater(a, b)),
    "ngt": lambda a, b: ~np.greater(a, b),
    "nle": lambda a, b: ~np.less_equal(a, b),
    "neq": np.not_equal,
    "nlt": lambda a, b: ~np.less(a, b),
    "tru": _constant(True),
}


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


def _classify(value: Array, mask: Array, *, quiet_bit: int, smallest: float) -> Array:
    """Test which of ten classes a number belongs to; ``mask`` has one bit per class."""
    size_bits = np.uint32 if value.dtype == np.float32 else np.uint64
    bits = np.ascontiguousarray(value).view(size_bits).astype(np.uint64)
    nan = np.isnan(value)
    is_quiet = (bits >> np.uint64(quiet_bit)) & np.uint64(1) == 1
    negative = np.signbit(value)
    infinite, zero = np.isinf(value), value == 0
    tiny = (np.abs(value) < smallest) & ~zero
    normal = np.isfinite(value) & ~tiny & ~zero
    signs = [kind & negative for kind in (infinite, normal, tiny, zero)]
    signs += [kind & ~negative for kind in (zero, tiny, normal, infinite)]
    result = np.zeros(np.broadcast(value, mask).shape, np.bool_)
    for at, member in enumerate((nan & ~is_quiet, nan & is_quiet, *signs)):
        result |= member & ((mask >> np.uint32(at)) & np.uint32(1) == 1)
    return result


for _kind, _quiet, _smallest in (("f16", 22, -14), ("f32", 22, -126), ("f64", 51, -1022)):
    _class = partial(_classify, quiet_bit=_quiet, smallest=2.0**_smallest)
    comparison(f"class_{_kind}", f"{_kind} u32", _class)
