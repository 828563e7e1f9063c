"""The Gemma frontend: one shared gated projection block from explicit configuration fields."""

from __future__ import annotations

from netra_build.core.canonical_json import Json
from netra_build.formats.fields import Fields, quoted
from netra_build.formats.models.dense import (
    DenseBoundary,
    DenseDefaults,
    dense_attributes,
    expand_dense,
)
from netra_build.formats.models.graph import Graph, Operation, Tensor

EXPLICIT_FIELDS = (
    *("hidden_size", "intermediate_size", "tensor_parallel"),
    *("input_dtype", "weight_dtype", "output_dtype"),
    *("activation", "activation_quantization", "weight_quantization"),
    *("activation_scale_block", "weight_scale_block", "activation_layout"),
    *("weight_layout", "kernel_weight_layout", "output_layout"),
)
BLOCK = "model.layers.shared"
HIDDEN = ("model.hidden_fp8", "model.hidden_scale")


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
    defaults = DenseDefaults("framework.gemma_dense", configuration.text("weight_layout"))
    fields = Fields(spec, configuration.location, configuration.pointer)
    record = dense_attributes(fields, configuration, defaults)
    return expand_dense(name, record, DenseBoundary(inputs, role))


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
