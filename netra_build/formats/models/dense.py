"""Dense operations: their attribute record and its expansion into tensors, for both frontends.

The Gemma frontend is here as well: one gated block of three projections, all of it from explicit
fields of the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.core.canonical_json import Json
from netra_build.formats.fields import Fields, quoted
from netra_build.formats.models.graph import Graph, Operation, Tensor
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

EXPLICIT_FIELDS = (
    *("hidden_size", "intermediate_size", "tensor_parallel"),
    *("input_dtype", "weight_dtype", "output_dtype"),
    *("activation", "activation_quantization", "weight_quantization"),
    *("activation_scale_block", "weight_scale_block", "activation_layout"),
    *("weight_layout", "kernel_weight_layout", "output_layout"),
)
BLOCK = "model.layers.shared"
HIDDEN = ("model.hidden_fp8", "model.hidden_scale")


def dense_attributes(
    spec: Fields,
    configuration: Fields,
    fallback: str = "framework.aiter",
    checkpoint_layout: str = SHUFFLED,
) -> dict[str, Json]:
    """Return the attribute record of one dense spec; raise ``BadInput`` with its pointer.

    ``fallback`` and ``checkpoint_layout`` hold where neither spec nor configuration has others.
    """

    def given(key: str) -> Fields:
        return spec if spec.has(key) else configuration

    texts = {**TEXT_DEFAULTS, "checkpoint_layout": checkpoint_layout, "fallback": fallback}
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
    record["weight_layout"] = _weight_layout(spec, configuration)
    record["tensor_parallel"] = configuration.integer("tensor_parallel", 1, low=1)
    for key in ("checkpoint_tensors", "checkpoint_scale_tensors"):
        if spec.has(key):
            record[key] = list(spec.texts(key, unique=True))
            if not record[key]:
                spec.refuse("no checkpoint tensor is named", key)
    if spec.has("weight_binding"):
        record["weight_binding"] = spec.text("weight_binding")
    _check_divisible(spec, record)
    return record


def _weight_layout(spec: Fields, configuration: Fields) -> str:
    for key in ("kernel_weight_layout", "weight_layout"):
        if spec.has(key):
            return spec.text(key)
    return configuration.text("kernel_weight_layout", SHUFFLED)


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


def expand_dense(
    name: str,
    record: dict[str, Json],
    inputs: tuple[str, str] | None = None,
    output_role: str = "output",
) -> tuple[list[Tensor], Operation]:
    """Return the tensors (in their published order) and the operation of one projection.

    Without ``inputs``, activations and their scales by name, it has tensors of its own for them.
    """
    n, k = record["n"], record["k"]
    rows, columns = record["weight_scale_block"]
    weight = record.get("weight_binding", f"{name}.weight")
    scale = f"{name}.weight_scale"
    weight_kind = (record["weight_dtype"], record["weight_layout"], "weight", None, True)
    scale_kind = ("fp32", record["weight_scale_layout"], "weight", None, True)
    output_kind = (record["output_dtype"], record["output_layout"], output_role)
    quantization = "_weight_".join(
        record[f"{key}_quantization"] for key in ("activation", "weight")
    )
    given = [] if inputs else _activations(name, record)
    tensors = [
        *given,
        Tensor(weight, (n, k), *weight_kind),
        Tensor(scale, (n // rows, k // columns), *scale_kind),
        Tensor(f"{name}.output", ("M", n), *output_kind),
    ]
    operation = Operation(
        name=name,
        kind="dense",
        inputs=(*(inputs or [tensor.name for tensor in given]), weight, scale),
        outputs=(f"{name}.output",),
        attributes=record,
        numerical={
            "accumulation_dtype": "fp32",
            "output_rounding": "fp32_accumulate_then_rne_bf16_store",
            "reduction_order": "k_block_ascending_fixed",
            "quantization_semantics": quantization,
        },
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


def gemma_graph(model: Fields) -> Graph:
    """Return the graph of five operations; raise ``BadInput`` for missing or unfit fields."""
    configuration = model.child("configuration")
    _check_configuration(configuration)
    hidden = configuration.integer("hidden_size", low=1)
    inter = configuration.integer("intermediate_size", low=1)
    block = configuration.integer("activation_scale_block", low=1)
    if hidden % block or inter % block:
        fact = f"activation scale block {block} does not divide both sizes"
        configuration.refuse(fact, expected=f"a divisor of {hidden} and {inter}", got=block)
    gate = _projection(configuration, "gate_proj", (inter, hidden), HIDDEN, "temporary")
    up = _projection(configuration, "up_proj", (inter, hidden), HIDDEN, "temporary")
    middle = _middle(configuration, inter, block)
    quantized = (f"{BLOCK}.gated_silu.fp8", f"{BLOCK}.gated_silu.scale")
    down = _projection(configuration, "down_proj", (hidden, inter), quantized, "output")
    given = (configuration.text("input_dtype"), configuration.text("activation_layout"))
    inputs = [
        Tensor(HIDDEN[0], ("M", hidden), *given, "input"),
        Tensor(HIDDEN[1], ("M", hidden // block), "fp32", "row_major", "input"),
    ]
    return Graph(
        name=model.text("name"),
        tensors=(*inputs, *gate[0], *up[0], *middle[0], *down[0]),
        operations=(gate[1], up[1], *middle[1], down[1]),
        inputs=HIDDEN,
        outputs=(f"{BLOCK}.down_proj.output",),
    )


def _check_configuration(configuration: Fields) -> None:
    missing = [key for key in EXPLICIT_FIELDS if not configuration.has(key)]
    if missing:
        configuration.refuse(f"the gemma family needs explicit fields: {quoted(missing)}")
    fact = "activation is not supported by the gemma family"
    configuration.hold_text("activation", "gated_silu", fact)


def _projection(
    configuration: Fields, word: str, sizes: tuple[int, int], inputs: tuple[str, str], role: str
) -> tuple[list[Tensor], Operation]:
    name = f"{BLOCK}.{word}"
    spec: dict[str, Json] = {"n": sizes[0], "k": sizes[1]}
    layout = configuration.text("weight_layout")
    fields = Fields(spec, configuration.location, configuration.pointer)
    record = dense_attributes(fields, configuration, "framework.gemma_dense", layout)
    return expand_dense(name, record, inputs, role)


def _middle(configuration: Fields, inter: int, block: int) -> tuple[list[Tensor], list[Operation]]:
    """Return the activation and the quantization between the projections."""
    name = f"{BLOCK}.gated_silu"
    made = (configuration.text("output_dtype"), configuration.text("output_layout"))
    quantized = (configuration.text("input_dtype"), configuration.text("activation_layout"))
    quantization = configuration.text("activation_quantization")
    tensors = [
        Tensor(f"{name}.output", ("M", inter), *made),
        Tensor(f"{name}.fp8", ("M", inter), *quantized),
        Tensor(f"{name}.scale", ("M", inter // block), "fp32", "row_major"),
    ]
    activation = Operation(
        name=name,
        kind="activation",
        inputs=(f"{BLOCK}.gate_proj.output", f"{BLOCK}.up_proj.output"),
        outputs=(f"{name}.output",),
        attributes={"activation": "gated_silu"},
        numerical={"compute_dtype": "fp32", "output_rounding": "rne_bf16"},
    )
    quantize = Operation(
        name=f"{name}.quantize",
        kind="quantize",
        inputs=(f"{name}.output",),
        outputs=(f"{name}.fp8", f"{name}.scale"),
        attributes={"quantization": quantization, "scale_block": block},
        numerical={"amax_order": "block_ascending_fixed", "rounding": "rne_fp8_e4m3"},
    )
    return tensors, [activation, quantize]
