"""The attribute record of a dense operation and its expansion into tensors (both frontends)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json
from netra_build.formats.fields import Fields
from netra_build.formats.models.graph import Operation, Tensor
from netra_build.formats.vocabulary import DTYPE_BYTES

SHUFFLED = "aiter_shuffle_16x16_fp8_block128"
SCALE_DTYPES = ("bf16", "fp32")

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


class _Sources:
    """Values of a dense spec: its own keys, else the configuration, else a default."""

    def __init__(self, spec: Fields, configuration: Fields) -> None:
        self.spec = spec
        self.configuration = configuration

    def holder(self, *keys: str) -> tuple[Fields, str] | None:
        """Return the object and key that give the first of ``keys``, spec before configuration."""
        for fields in (self.spec, self.configuration):
            for key in keys:
                if fields.has(key):
                    return fields, key
        return None

    def text(self, key: str, default: str) -> str:
        found = self.holder(key)
        return found[0].text(found[1]) if found else default

    def size(self, key: str, default: int) -> int:
        found = self.holder(key)
        return found[0].integer(found[1], low=1) if found else default

    def flag(self, key: str, default: bool) -> bool:
        found = self.holder(key)
        return found[0].boolean(found[1]) if found else default


def dense_attributes(
    spec: Fields, configuration: Fields, defaults: DenseDefaults
) -> dict[str, Json]:
    """Return the attribute record of one dense spec; raise ``BadInput`` with its pointer."""
    sources = _Sources(spec, configuration)
    record: dict[str, Json] = {key: sources.text(key, text) for key, text in TEXT_DEFAULTS.items()}
    record["n"] = spec.integer("n", low=1)
    record["k"] = spec.integer("k", low=1)
    record["activation_scale_block"] = sources.size("activation_scale_block", 128)
    record["weight_scale_block"] = _scale_blocks(sources)
    record["weight_layout"] = _weight_layout(spec, configuration, defaults)
    record["checkpoint_layout"] = sources.text("checkpoint_layout", defaults.checkpoint_layout)
    record["fallback"] = sources.text("fallback", defaults.fallback)
    record["tensor_parallel"] = configuration.integer("tensor_parallel", 1, low=1)
    record["graph_capture"] = sources.flag("graph_capture", True)
    record["deterministic"] = sources.flag("deterministic", True)
    if spec.has("checkpoint_tensors"):
        record["checkpoint_tensors"] = list(_tensor_names(spec, "checkpoint_tensors"))
    if spec.has("checkpoint_scale_tensors"):
        names = _tensor_names(spec, "checkpoint_scale_tensors")
        record["checkpoint_scale_tensors"] = list(names)
        record["checkpoint_scale_dtype"] = sources.text("checkpoint_scale_dtype", "bf16")
        record["kernel_scale_dtype"] = sources.text("kernel_scale_dtype", "fp32")
    if spec.has("weight_binding"):
        record["weight_binding"] = spec.text("weight_binding")
    _check_divisible(spec, record)
    return record


def _tensor_names(spec: Fields, key: str) -> tuple[str, ...]:
    names = spec.texts(key, unique=True)
    if not names:
        spec.refuse("no checkpoint tensor is named", key)
    return names


def _weight_layout(spec: Fields, configuration: Fields, defaults: DenseDefaults) -> str:
    for fields, key in (
        (spec, "kernel_weight_layout"),
        (spec, "weight_layout"),
        (configuration, "kernel_weight_layout"),
    ):
        if fields.has(key):
            return fields.text(key)
    return defaults.weight_layout


def _scale_blocks(sources: _Sources) -> list[int]:
    found = sources.holder("weight_scale_block")
    if found is None:
        return [128, 128]
    fields, key = found
    blocks = fields.array(key)
    if len(blocks) != 2:
        fields.refuse("a weight scale block has two sizes", key, expected=2, got=len(blocks))
    return [fields.checked_integer(key, block, low=1) for block in blocks]


def _check_divisible(spec: Fields, record: Mapping[str, Json]) -> None:
    rows, columns = record["weight_scale_block"]
    block = record["activation_scale_block"]
    for size, part, word in (
        ("k", block, "activation"),
        ("n", rows, "weight"),
        ("k", columns, "weight"),
    ):
        if record[size] % part:
            spec.refuse(
                f"{size} = {record[size]} is not divisible by its {word} scale block {part}"
            )
    for key in ("input_dtype", "weight_dtype", "output_dtype"):
        if record[key] not in DTYPE_BYTES:
            spec.refuse(f'unknown data type "{record[key]}"', key)


@dataclass(frozen=True)
class DenseBoundary:
    """How a projection meets its neighbours: given activations and the role of its output."""

    inputs: tuple[str, str] | None = None
    output_role: str = "output"


def expand_dense(
    name: str,
    record: Mapping[str, Json],
    boundary: DenseBoundary | None = None,
) -> tuple[list[Tensor], Operation]:
    """Return the tensors (in their published order) and the operation of one projection."""
    boundary = boundary or DenseBoundary()
    block = record["activation_scale_block"]
    rows, columns = record["weight_scale_block"]
    n, k = record["n"], record["k"]
    weight = record.get("weight_binding", f"{name}.weight")
    tensors = []
    if boundary.inputs is None:
        activation = (f"{name}.input", f"{name}.input_scale")
        tensors = [
            Tensor(
                activation[0], ("M", k), record["input_dtype"], record["activation_layout"], "input"
            ),
            Tensor(
                activation[1],
                ("M", k // block),
                "fp32",
                record["activation_scale_layout"],
                "input",
            ),
        ]
    else:
        activation = boundary.inputs
    tensors += [
        Tensor(
            weight, (n, k), record["weight_dtype"], record["weight_layout"], "weight", None, True
        ),
        Tensor(
            f"{name}.weight_scale",
            (n // rows, k // columns),
            "fp32",
            record["weight_scale_layout"],
            "weight",
            None,
            True,
        ),
        Tensor(
            f"{name}.output",
            ("M", n),
            record["output_dtype"],
            record["output_layout"],
            boundary.output_role,
        ),
    ]
    operation = Operation(
        name=name,
        kind="dense",
        inputs=(*activation, weight, f"{name}.weight_scale"),
        outputs=(f"{name}.output",),
        attributes=record,
        numerical=dense_numerical(record),
    )
    return tensors, operation


def dense_numerical(record: Mapping[str, Json]) -> dict[str, Json]:
    """Return the numerical rules of a dense operation."""
    activation = record["activation_quantization"]
    weight = record["weight_quantization"]
    return {
        "accumulation_dtype": "fp32",
        "output_rounding": "fp32_accumulate_then_rne_bf16_store",
        "reduction_order": "k_block_ascending_fixed",
        "quantization_semantics": f"{activation}_weight_{weight}",
    }
