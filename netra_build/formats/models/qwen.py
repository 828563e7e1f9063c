"""The Qwen frontend: operation lists of a model description become one graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise

from netra_build.core.canonical_json import Json
from netra_build.formats.fields import Fields, quoted
from netra_build.formats.models.dense import dense_attributes, expand_dense
from netra_build.formats.models.golden_operation import golden_tensors, read_golden_contract
from netra_build.formats.models.graph import Graph, Operation, Tensor
from netra_build.formats.vocabulary import EXTERNAL_STATUSES, MODEL_LISTS

LAYER_TYPES = ("linear_attention", "full_attention")
FALLBACK_KEYS = (
    "name operation fallback external_status profile_constraints evidence_refs numerical"
)
TEMPLATE_KEYS = (
    "name family operation rows constants semantics launch_grid launch_grid_rows_divisor "
    "dynamic_lds_bytes binding_scope graph_capture deterministic fallback profile_names "
    "arguments numerical"
)
ROWS_CONSTANT = "NETRA_ROWS"
ROW_WORDS = ("rows", "rows_div_48")
LAYER_TEXTS = ("name", "weight_binding")
LAYER_LISTS = ("checkpoint_tensors", "checkpoint_scale_tensors")


def qwen_graph(model: Fields) -> Graph:
    """Return the graph of a Qwen description; raise ``BadInput`` with the list's pointer."""
    if not any(model.value.get(key) for key in MODEL_LISTS):
        model.refuse(f"the qwen family needs at least one operation in: {quoted(MODEL_LISTS)}")
    configuration = model.child("configuration")
    tensors: list[Tensor] = []
    operations: list[Operation] = []
    layers = _layer_specs(model, configuration)
    for spec in chain(model.objects("dense_operations", []), layers):
        record = dense_attributes(spec, configuration)
        made, operation = expand_dense(spec.text("name"), record)
        tensors += made
        operations.append(operation)
    golden: dict[str, Tensor] = {}
    for spec in model.objects("golden_operations", []):
        operations.append(_golden_operation(spec, golden))
    tensors += golden.values()
    for template in model.objects("fixed_operation_templates", []):
        operations += expand_template(template)
    for spec in model.objects("fallback_operations", []):
        operations.append(_fallback_operation(spec))
    return Graph(
        name=model.text("name", "qwen-dense"),
        tensors=tuple(tensors),
        operations=tuple(operations),
        inputs=_of_role(tensors, "input"),
        outputs=_of_role(tensors, "output"),
    )


def _of_role(tensors: Iterable[Tensor], role: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tensor.name for tensor in tensors if tensor.role == role))


def _golden_operation(spec: Fields, tensors: dict[str, Tensor]) -> Operation:
    """Return one golden operation; the first use of a tensor name declares it in ``tensors``."""
    spec.close("name golden_artifact numerical")
    artifact = spec.child("golden_artifact")
    read_golden_contract(artifact)
    pairs = golden_tensors(artifact)
    for tensor, _ in pairs:
        if tensors.setdefault(tensor.name, tensor) != tensor:
            fact = f'tensor "{tensor.name}" differs from its first declaration'
            artifact.refuse(fact, "arguments")
    return Operation(
        name=spec.text("name"),
        kind="golden_kernel",
        inputs=tuple(tensor.name for tensor, access in pairs if "read" in access),
        outputs=tuple(tensor.name for tensor, access in pairs if "write" in access),
        attributes={"golden_artifact": artifact.value},
        numerical=spec.child("numerical", {}).value,
    )


def _layer_specs(model: Fields, configuration: Fields) -> Iterator[Fields]:
    """Yield one dense spec per layer and matching template, layers outermost."""
    templates = list(model.objects("layer_dense_operations", []))
    if not templates:
        return
    for template in templates:
        template.word("layers", ("all", *LAYER_TYPES))
        _check_placeholders(template)
    for layer, kind in enumerate(_layer_types(configuration)):
        for template in templates:
            if template.value["layers"] in ("all", kind):
                value = _substituted(template.value, str(layer))
                yield Fields(value, template.location, template.pointer)


def _layer_types(configuration: Fields) -> list[str]:
    kinds = configuration.value.get("layer_types")
    if not isinstance(kinds, list) or not kinds or any(k not in LAYER_TYPES for k in kinds):
        fact, wanted = "layer operations need a list of layer types", '"{}" or "{}"'
        wanted = wanted.format(*LAYER_TYPES)
        configuration.refuse(fact, "layer_types", expected=wanted, got="another value")
    key = "layers" if configuration.has("layers") else "num_hidden_layers"
    count = configuration.integer(key)
    fact = "layer count differs from the layer types"
    configuration.equal(fact, key, expected=len(kinds), got=count)
    return kinds


def _check_placeholders(template: Fields) -> None:
    for key in LAYER_TEXTS:
        if template.has(key) and "{layer}" not in template.text(key):
            template.refuse('layer template lacks "{layer}"', key)
    for key in LAYER_LISTS:
        for index, name in enumerate(template.texts(key, [])):
            if "{layer}" not in name:
                template.refuse('layer template lacks "{layer}"', key, index)


def _substituted(spec: Mapping[str, Json], layer: str) -> dict[str, Json]:
    value = {key: item for key, item in spec.items() if key != "layers"}
    for key in LAYER_TEXTS:
        if key in value:
            value[key] = value[key].replace("{layer}", layer)
    for key in LAYER_LISTS:
        if key in value:
            value[key] = [name.replace("{layer}", layer) for name in value[key]]
    return value


def _fallback_operation(spec: Fields) -> Operation:
    spec.close(FALLBACK_KEYS)
    return Operation(
        name=spec.text("name"),
        kind="server_fallback",
        inputs=(),
        outputs=(),
        attributes={
            "operation": spec.text("operation"),
            "fallback": spec.text("fallback"),
            "external_status": spec.word(
                "external_status", EXTERNAL_STATUSES, EXTERNAL_STATUSES[0]
            ),
            "profile_constraints": spec.child("profile_constraints", {}).value,
            "evidence_refs": list(spec.texts("evidence_refs", [])),
        },
        numerical=spec.child("numerical", {}).value,
    )


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
    given = template.array("rows")
    counts = [template.checked_integer("rows", rows, low=1, high=2**31 - 1) for rows in given]
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
    fact = "launch extent has the wrong number of dimensions"
    grid = []
    for index, size in enumerate(template.sized("launch_grid", 3, fact)):
        if isinstance(size, str) and size != "rows":
            hint = 'a grid element is a number or "rows"'
            template.refuse(f'unknown word "{size}"', "launch_grid", index, hint=hint)
        whole = rows // divisor if size == "rows" else size
        grid.append(template.checked_integer("launch_grid", whole, low=1, high=2**31 - 1))
    return grid


def _argument(item: Fields, rows: int) -> dict[str, Json]:
    argument = dict(item.value)
    value = argument.get("value")
    if isinstance(value, str):
        if value not in ROW_WORDS:
            hint = 'a value is a number, "rows" or "rows_div_48"'
            item.refuse(f'unknown word "{value}"', "value", hint=hint)
        if value == "rows_div_48" and rows % 48:
            item.refuse(f"row count {rows} is not divisible by 48", "value")
        argument["value"] = rows if value == "rows" else rows // 48
    return argument
