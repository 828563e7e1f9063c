"""Rows: vector comparisons, all conditions, all types, with and without writing EXEC."""

from __future__ import annotations

from every_integer import signed
from every_numbers import F16, F32, F64, classes
from every_operands import row

INTEGER = {
    "f": lambda a, b: False,
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b,
    "t": lambda a, b: True,
}
ORDERED = {
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "lg": lambda a, b: a < b or a > b,
    "ge": lambda a, b: a >= b,
    "o": lambda a, b: a == a and b == b,
}
OPPOSITES = {
    "nlt": "lt",
    "neq": "eq",
    "nle": "le",
    "ngt": "gt",
    "nlg": "lg",
    "nge": "ge",
    "u": "o",
}
FLOAT = {"f": lambda a, b: False, "tru": lambda a, b: True} | ORDERED
FLOAT |= {name: lambda a, b, fn=ORDERED[plain]: not fn(a, b) for name, plain in OPPOSITES.items()}
ROWS = []


def compared(relation: str, kind: str, fn) -> None:
    """Lanes that are switched off give a zero bit; v_cmpx also keeps the result in EXEC."""
    name = f"{relation}_{kind}"
    ROWS.extend(
        (
            row(
                f"v_cmp_{name}",
                f"{kind} {kind} exec : mask",
                lambda a, b, e: bool(e and fn(a, b)),
            ),
            row(
                f"v_cmpx_{name}",
                f"{kind} {kind} exec : mask exec",
                lambda a, b, e: (bool(e and fn(a, b)),) * 2,
            ),
        )
    )


for _bits in (16, 32, 64):
    for _relation, _fn in INTEGER.items():
        compared(_relation, f"u{_bits}", _fn)
        compared(
            _relation,
            f"i{_bits}",
            lambda a, b, fn=_fn, bits=_bits: fn(signed(a, bits), signed(b, bits)),
        )
for _f in (F16, F32, F64):
    for _relation, _fn in FLOAT.items():
        compared(_relation, _f.name, lambda a, b, f=_f, fn=_fn: fn(f.value(a), f.value(b)))
    _test = lambda a, m, e, f=_f: bool(e and m >> classes(f, a) & 1)  # noqa: E731
    ROWS += [
        row(f"v_cmp_class_{_f.name}", f"{_f.name} u32 exec : mask", _test),
        row(
            f"v_cmpx_class_{_f.name}",
            f"{_f.name} u32 exec : mask exec",
            lambda a, m, e, test=_test: (test(a, m, e),) * 2,
        ),
    ]
# The short encoding writes VCC.
ROWS.append(
    row("v_cmp_gt_u32", "u32 u32 : vcc", lambda a, b: a > b, "v_cmp_gt_u32_e32 vcc, {a}, {b}")
)
