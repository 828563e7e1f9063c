"""The attribute record of a dense operation and its expansion into tensors (both frontends)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json
from netra_build.formats.fields import Fields
from netra_build.formats.models.graph import Operation, Tensor
from netra_build.formats.vocabulary import DTYPE_BYTES

SHUFFLED = "aiter_shuffle_16x16_fp8_block128"

TEXT_DEFAULTS = {
    "input_dtype": "fp8_e4m3",
    "weight_dtype": "fp8_e4m3",
    "output_dtype": "bf16",
    "activation_quantization": "e4m3_per_128",
    "weight_quantization": "e4m3_128x128",
    "activation_layout": "row_major_fp8_block128",
    "activation_scale_layout": "row_major",
    "output_layout": "row_major_bf16",
    "weight_scale_layout": "row_major",
    "epilogue": "identity",
}
"""Default of each text attribute that a spec or the configuration may set."""


@dataclass(frozen=True)
class DenseDefaults:
    """What a frontend puts where neither the spec nor the configuration says anything."""

    fallback: str
    checkpoint_layout: str = SHUFFLED
    weight_layout: str = SHUFFLED


def dense_attributes(
    spec: Fields, configuration: Fields, defaults: DenseDefaults
) -> dict[str, Json]:
    """Return the attribute record of one dense spec; raise ``BadInput`` with its pointer."""

    def given(key: str) -> Fields:
        return spec if spec.has(key) else configuration

    texts = {
        **TEXT_DEFAULTS,
        "checkpoint_layout": defaults.checkpoint_layout,
        "fallback": defaults.fallback,
    }
    if spec.has("checkpoint_scale_tensors"):
        texts |= {"checkpoint_scale_dtype": "bf16", "kernel_scale_dtype": "fp32"}
    record: dict[str, Json] = {key: given(key).text(key, default) for key, default in texts.items()}
    for key in ("n", "k"):
        record[key] = spec.integer(key, low=1)
    for key in ("graph_capture", "deterministic"):
        record[key] = given(key).boolean(key, True)
    key = "activation_scale_block"
    record[key] = given(key).integer(key, 128, low=1)
    record["weight_scale_block"] = _scale_blocks(given("weight_scale_block"))
    record["weight_layout"] = _weight_layout(spec, configuration, defaults)
    record["tensor_parallel"] = configuration.integer("tensor_parallel", 1, low=1)
    for key in ("checkpoint_tensors", "checkpoint_scale_tensors"):
        if spec.has(key):
            record[key] = _tensor_names(spec, key)
    if spec.has("weight_binding"):
        record["weight_binding"] = spec.text("weight_binding")
    _check_divisible(spec, record)
    return record


def _tensor_names(spec: Fields, key: str) -> list[str]:
    names = spec.texts(key, unique=True)
    if not names:
        spec.refuse("no checkpoint tensor is named", key)
    return list(names)


def _weight_layout(spec: Fields, configuration: Fields, defaults: DenseDefaults) -> str:
    for key in ("kernel_weight_layout", "weight_layout"):
        if spec.has(key):
            return spec.text(key)
    return configuration.text("kernel_weight_layout", defaults.weight_layout)


def _scale_blocks(fields: Fields) -> list[int]:
    key = "weight_scale_block"
    if not fields.has(key):
        return [128, 128]
    blocks = fields.sized(key, 2, "a weight scale block has two sizes")
    return [fields.checked_integer(key, block, low=1) for block in blocks]


def _check_divisible(spec: Fields, record: Mapping[str, Json]) -> None:
    rows, columns = record["weight_scale_block"]
    block = record["activation_scale_block"]
    sizes = (("k", block, "activation"), ("n", rows, "weight"), ("k", columns, "weight"))
    for size, part, word in sizes:
        if record[size] % part:
            fact = f"{size} = {record[size]} is not divisible by its {word} scale block {part}"
            spec.refuse(fact)
    for key in ("input_dtype", "weight_dtype", "output_dtype"):
        if record[key] not in DTYPE_BYTES:
            spec.refuse(f'unknown data type "{record[key]}"', key)


@dataclass(frozen=True)
class DenseBoundary:
    """How a projection meets its neighbours: given activations and the role of its output."""

    inputs: tuple[str, str] | None = None
    output_role: str = "output"


def expand_dense(
    name: str, record: Mapping[str, Json], boundary: DenseBoundary | None = None
) -> tuple[list[Tensor], Operation]:
    """Return the tensors (in their published order) and the operation of one projection."""
    boundary = boundary or DenseBoundary()
    n, k = record["n"], record["k"]
    rows, columns = record["weight_scale_block"]
    weight = record.get("weight_binding", f"{name}.weight")
    scale = f"{name}.weight_scale"
    weight_kind = (record["weight_dtype"], record["weight_layout"], "weight", None, True)
    scale_kind = ("fp32", record["weight_scale_layout"], "weight", None, True)
    output_kind = (record["output_dtype"], record["output_layout"], boundary.output_role)
    given = [] if boundary.inputs else _activations(name, record)
    tensors = [
        *given,
        Tensor(weight, (n, k), *weight_kind),
        Tensor(scale, (n // rows, k // columns), *scale_kind),
        Tensor(f"{name}.output", ("M", n), *output_kind),
    ]
    operation = Operation(
        name=name,
        kind="dense",
        inputs=(*(boundary.inputs or [tensor.name for tensor in given]), weight, scale),
        outputs=(f"{name}.output",),
        attributes=record,
        numerical=_numerical(record),
    )
    return tensors, operation


def _activations(name: str, record: Mapping[str, Json]) -> list[Tensor]:
    """Return the activations of a projection that has its own, with their scales."""
    k, block = record["k"], record["activation_scale_block"]
    kind = (record["input_dtype"], record["activation_layout"], "input")
    scale_kind = ("fp32", record["activation_scale_layout"], "input")
    return [
        Tensor(f"{name}.input", ("M", k), *kind),
        Tensor(f"{name}.input_scale", ("M", k // block), *scale_kind),
    ]


def _numerical(record: Mapping[str, Json]) -> dict[str, Json]:
    """Return the numerical rules of a dense operation."""
    activation = record["activation_quantization"]
    weight = record["weight_quantization"]
    return {
        "accumulation_dtype": "fp32",
        "output_rounding": "fp32_accumulate_then_rne_bf16_store",
        "reduction_order": "k_block_ascending_fixed",
        "quantization_semantics": f"{activation}_weight_{weight}",
    }
