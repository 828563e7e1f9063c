"""Vector comparisons: one bit per active lane in VCC or a pair of scalar registers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.isa.vector import Spec, build
from netra_build.checkasm.model.operands import EXEC, Decoded
from netra_build.checkasm.model.sources import Context

Relation = Callable[[Array, Array], Array]

INTEGER: dict[str, Relation] = {
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ne": np.not_equal,
    "ge": np.greater_equal,
}


def _unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


FLOAT: dict[str, Relation] = {
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "lg": lambda a, b: np.less(a, b) | np.greater(a, b),
    "ge": np.greater_equal,
    "o": lambda a, b: ~_unordered(a, b),
    "u": _unordered,
    "nge": lambda a, b: ~np.greater_equal(a, b),
    "nlg": lambda a, b: ~(np.less(a, b) | np.greater(a, b)),
    "ngt": lambda a, b: ~np.greater(a, b),
    "nle": lambda a, b: ~np.less_equal(a, b),
    "neq": np.not_equal,
    "nlt": lambda a, b: ~np.less(a, b),
}


def _always(value: bool) -> Relation:
    return lambda a, b: np.full(np.broadcast(a, b).shape, value)


def _enter(name: str, kinds: tuple[str, ...], fn: Callable[..., Array]) -> None:
    spec = Spec(("mask",), kinds, _spread(fn))
    register(f"v_cmp_{name}", lambda d, context: build(spec, d, context))
    register(f"v_cmpx_{name}", lambda d, context: _build_to_exec(spec, d, context))


def _spread(fn: Callable[..., Array]) -> Callable[..., Array]:
    """Give the result one column per lane, also when all operands are scalar."""

    def spread(*values: Array) -> Array:
        result = np.asarray(fn(*values))
        if result.ndim == 2 and result.shape[1] == 64:
            return result
        shape = (result.shape[0] if result.ndim else 1, 64)
        return np.broadcast_to(result, shape)

    return spread


def _build_to_exec(spec: Spec, d: Decoded, context: Context) -> Run:
    """v_cmpx writes EXEC besides the named mask."""
    compare = build(spec, d, context)
    row = d.operands[0].index

    def run(g: Group) -> None:
        compare(g)
        if row != EXEC:
            g.S[EXEC], g.S[EXEC + 1] = g.S[row], g.S[row + 1]
            g.exec_changed()

    return run


for _kind in ("i16", "u16", "i32", "u32", "i64", "u64"):
    for _name, _fn in INTEGER.items():
        _enter(f"{_name}_{_kind}", (_kind, _kind), _fn)
    _enter(f"f_{_kind}", (_kind, _kind), _always(False))
    _enter(f"t_{_kind}", (_kind, _kind), _always(True))
for _kind in ("f16", "f32", "f64"):
    for _name, _fn in FLOAT.items():
        _enter(f"{_name}_{_kind}", (_kind, _kind), _fn)
    _enter(f"f_{_kind}", (_kind, _kind), _always(False))
    _enter(f"tru_{_kind}", (_kind, _kind), _always(True))


def classify(value: Array, mask: Array, *, quiet_bit: int, smallest: float) -> Array:
    """Test which of ten classes a number belongs to; ``mask`` has one bit per class."""
    size_bits = np.uint32 if value.dtype == np.float32 else np.uint64
    bits = np.ascontiguousarray(value).view(size_bits).astype(np.uint64)
    nan = np.isnan(value)
    is_quiet = (bits >> np.uint64(quiet_bit)) & np.uint64(1) == 1
    negative = np.signbit(value)
    size = np.abs(value)
    infinite, zero = np.isinf(value), value == 0
    tiny = (size < smallest) & ~zero
    normal = np.isfinite(value) & ~tiny & ~zero
    classes = (
        nan & ~is_quiet,
        nan & is_quiet,
        infinite & negative,
        normal & negative,
        tiny & negative,
        zero & negative,
        zero & ~negative,
        tiny & ~negative,
        normal & ~negative,
        infinite & ~negative,
    )
    result = np.zeros(np.broadcast(value, mask).shape, np.bool_)
    for at, member in enumerate(classes):
        result |= member & ((mask >> np.uint32(at)) & np.uint32(1) == 1)
    return result


def _class_32(value: Array, mask: Array) -> Array:
    return classify(value, mask, quiet_bit=22, smallest=2.0**-126)


def _class_16(value: Array, mask: Array) -> Array:
    return classify(value, mask, quiet_bit=22, smallest=2.0**-14)


def _class_64(value: Array, mask: Array) -> Array:
    return classify(value, mask, quiet_bit=51, smallest=2.0**-1022)


_enter("class_f32", ("f32", "u32"), _class_32)
_enter("class_f16", ("f16", "u32"), _class_16)
_enter("class_f64", ("f64", "u32"), _class_64)
