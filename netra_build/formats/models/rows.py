"""Expand fixed operation templates: one operation per row count."""

from __future__ import annotations

from itertools import pairwise

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields
from netra_build.formats.records.ir import Operation

TEMPLATE_KEYS = (
    "name",
    "family",
    "operation",
    "rows",
    "constants",
    "semantics",
    "launch_grid",
    "launch_grid_rows_divisor",
    "dynamic_lds_bytes",
    "binding_scope",
    "graph_capture",
    "deterministic",
    "fallback",
    "profile_names",
    "arguments",
    "numerical",
)
ROWS_CONSTANT = "NETRA_ROWS"
ROW_WORDS = ("rows", "rows_div_48")


def expand_template(template: Fields) -> list[Operation]:
    """Return the operations of one template in ascending row order; raise ``BadInput``."""
    template.close(TEMPLATE_KEYS)
    if "{rows}" not in template.text("name"):
        template.refuse('template name lacks "{rows}"', "name")
    constants = template.child("constants")
    if constants.has(ROWS_CONSTANT):
        constants.refuse(f'"{ROWS_CONSTANT}" is set by the expansion of rows', ROWS_CONSTANT)
    return [_operation(template, rows) for rows in _row_counts(template)]


def _row_counts(template: Fields) -> list[int]:
    counts = [
        template.checked_integer("rows", value, low=1, high=2**31 - 1)
        for value in template.array("rows")
    ]
    if not counts or any(low >= high for low, high in pairwise(counts)):
        template.refuse("row counts are not a sorted list without repetition", "rows")
    return counts


def _operation(template: Fields, rows: int) -> Operation:
    return Operation(
        name=template.text("name").replace("{rows}", str(rows)),
        kind="fixed_kernel",
        inputs=(),
        outputs=(),
        attributes={
            "family": template.text("family"),
            "operation": template.text("operation"),
            "constants": {**template.child("constants").value, ROWS_CONSTANT: rows},
            "semantics": template.child("semantics").value,
            "launch_grid": _grid(template, rows),
            "dynamic_lds_bytes": template.integer("dynamic_lds_bytes", 0),
            "graph_capture": template.boolean("graph_capture", True),
            "deterministic": template.boolean("deterministic", True),
            "fallback": template.text("fallback"),
            "binding_scope": template.text("binding_scope", "per_layer"),
            "profile_names": list(template.texts("profile_names", unique=True)),
            "arguments": [_argument(item, rows) for item in template.objects("arguments")],
        },
        numerical=template.child("numerical", {}).value,
    )


def _grid(template: Fields, rows: int) -> list[int]:
    divisor = template.integer("launch_grid_rows_divisor", 1, low=1)
    if rows % divisor:
        template.refuse(f"row count {rows} is not divisible by {divisor}", "rows")
    sizes = template.array("launch_grid")
    if len(sizes) != 3:
        template.refuse(
            "launch extent has the wrong number of dimensions",
            "launch_grid",
            expected=3,
            got=len(sizes),
        )
    grid = []
    for index, size in enumerate(sizes):
        if isinstance(size, str) and size != "rows":
            raise BadInput(
                f'unknown word "{size}"',
                location=f"{template.place('launch_grid')}/{index}",
                hint='a grid element is a number or "rows"',
            )
        whole = rows // divisor if size == "rows" else size
        grid.append(template.checked_integer("launch_grid", whole, low=1, high=2**31 - 1))
    return grid


def _argument(item: Fields, rows: int) -> dict[str, Json]:
    argument = dict(item.value)
    value = argument.get("value")
    if isinstance(value, str):
        if value not in ROW_WORDS:
            item.refuse(
                f'unknown word "{value}"',
                "value",
                hint='a value is a number, "rows" or "rows_div_48"',
            )
        if value == "rows_div_48" and rows % 48:
            item.refuse(f"row count {rows} is not divisible by 48", "value")
        argument["value"] = rows if value == "rows" else rows // 48
    return argument
