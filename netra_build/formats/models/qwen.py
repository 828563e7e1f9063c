"""The Qwen frontend: operation lists of a model description become one graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields
from netra_build.formats.models.dense import DenseDefaults, dense_attributes, expand_dense
from netra_build.formats.models.golden_operation import golden_tensors, read_golden_contract
from netra_build.formats.models.rows import expand_template
from netra_build.formats.records.ir import Graph, Operation, Tensor
from netra_build.formats.records.vocabulary import EXTERNAL_STATUSES

LAYER_TYPES = ("linear_attention", "full_attention")
LISTS = (
    "dense_operations",
    "layer_dense_operations",
    "golden_operations",
    "fixed_operation_templates",
    "fallback_operations",
)
FALLBACK_KEYS = (
    "name",
    "operation",
    "fallback",
    "external_status",
    "profile_constraints",
    "evidence_refs",
    "numerical",
)
DEFAULTS = DenseDefaults(fallback="framework.aiter")
LAYER_TEXTS = ("name", "weight_binding")
LAYER_LISTS = ("checkpoint_tensors", "checkpoint_scale_tensors")


def qwen_graph(model: Fields) -> Graph:
    """Return the graph of a Qwen description; raise ``BadInput`` with the list's pointer."""
    if not any(model.value.get(key) for key in LISTS):
        names = ", ".join(f'"{key}"' for key in LISTS)
        model.refuse(f"the qwen family needs at least one operation in: {names}")
    builder = _Builder()
    configuration = model.child("configuration")
    for spec in model.objects("dense_operations", []):
        builder.add_dense(spec, configuration)
    for spec in _layer_specs(model, configuration):
        builder.add_dense(spec, configuration)
    for spec in model.objects("golden_operations", []):
        builder.add_golden(spec)
    for template in model.objects("fixed_operation_templates", []):
        builder.operations += expand_template(template)
    for spec in model.objects("fallback_operations", []):
        builder.operations.append(_fallback_operation(spec))
    return builder.graph(model.text("name", "qwen-dense"))


class _Builder:
    """Collects tensors, operations and the boundary in their published order."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.golden: dict[str, Tensor] = {}
        self.operations: list[Operation] = []

    def graph(self, name: str) -> Graph:
        """Return the collected graph."""
        return Graph(
            name=name,
            tensors=tuple(self.tensors),
            operations=tuple(self.operations),
            inputs=self._boundary("input"),
            outputs=self._boundary("output"),
        )

    def _boundary(self, role: str) -> tuple[str, ...]:
        names = (tensor.name for tensor in self.tensors if tensor.role == role)
        return tuple(dict.fromkeys(names))

    def add_dense(self, spec: Fields, configuration: Fields) -> None:
        """Add one dense projection with its own activations."""
        record = dense_attributes(spec, configuration, DEFAULTS)
        tensors, operation = expand_dense(spec.text("name"), record)
        self.tensors += tensors
        self.operations.append(operation)

    def add_golden(self, spec: Fields) -> None:
        """Add one golden operation; the first use of a tensor name declares the tensor."""
        spec.close(("name", "golden_artifact", "numerical"))
        artifact = spec.child("golden_artifact")
        read_golden_contract(artifact)
        pairs = golden_tensors(artifact)
        for tensor, _ in pairs:
            self._declare(tensor, artifact)
        self.operations.append(
            Operation(
                name=spec.text("name"),
                kind="golden_kernel",
                inputs=_with_access(pairs, ("read", "read_write")),
                outputs=_with_access(pairs, ("write", "read_write")),
                attributes={"golden_artifact": artifact.value},
                numerical=_numerical(spec),
            )
        )

    def _declare(self, tensor: Tensor, artifact: Fields) -> None:
        first = self.golden.setdefault(tensor.name, tensor)
        if first is tensor:
            self.tensors.append(tensor)
        elif first != tensor:
            artifact.refuse(
                f'tensor "{tensor.name}" differs from its first declaration', "arguments"
            )


def _with_access(pairs: Iterable[tuple[Tensor, str]], words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(tensor.name for tensor, access in pairs if access in words)


def _numerical(spec: Fields) -> Mapping[str, Json]:
    return spec.child("numerical", {}).value


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
        configuration.refuse(
            "layer operations need a list of layer types",
            "layer_types",
            expected=" or ".join(f'"{word}"' for word in LAYER_TYPES),
            got="another value",
        )
    key = "layers" if configuration.has("layers") else "num_hidden_layers"
    count = configuration.integer(key)
    if count != len(kinds):
        configuration.refuse(
            "layer count differs from the layer types", key, expected=len(kinds), got=count
        )
    return kinds


def _check_placeholders(template: Fields) -> None:
    for key in LAYER_TEXTS:
        if template.has(key) and "{layer}" not in template.text(key):
            template.refuse('layer template lacks "{layer}"', key)
    for key in LAYER_LISTS:
        for index, name in enumerate(template.texts(key, [])):
            if "{layer}" not in name:
                raise BadInput(
                    'layer template lacks "{layer}"', location=f"{template.place(key)}/{index}"
                )


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
                "external_status", EXTERNAL_STATUSES, "accepted_external_dispatch"
            ),
            "profile_constraints": spec.child("profile_constraints", {}).value,
            "evidence_refs": list(spec.texts("evidence_refs", [])),
        },
        numerical=_numerical(spec),
    )
