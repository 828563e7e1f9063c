"""What a layout plan says about checkpoint tensors, read; nothing of it is applied here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from netra_build.core.canonical_json import Json
from netra_build.core.errors import nearest_hint
from netra_build.formats.fields import MAX_INTEGER, Fields, quoted
from netra_build.formats.vocabulary import DTYPE_BYTES, FORMAT_LAYOUT, SCALE_DTYPES

JOIN_WEIGHTS = "concatenate_output_shards"
JOIN_SCALES = "concatenate_output_scale_shards_axis0"
SHUFFLE = "aiter_shuffle_16x16"
WIDEN = "widen_bf16_to_fp32_exact"

PARAMETERS_BY_WEIGHT_STEP: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "identity": {},
    JOIN_WEIGHTS: {"axis": (0, 0), "shards": (2, MAX_INTEGER)},
    SHUFFLE: {"tile_m": (16, 16), "tile_k": (16, 16)},
}
"""Steps in the order in which they can be applied, with the bounds of their parameters."""
SCALE_STEPS = (JOIN_SCALES, WIDEN)

BINDING_KEYS = "tensor checkpoint_layout kernel_layout output_layout steps checkpoint_tensors scale"
STEP_KEYS = "source_layout target_layout transform parameters validated_scope"
SCALE_KEYS = (
    "tensor checkpoint_tensors checkpoint_dtype kernel_dtype block checkpoint_layout "
    "kernel_layout steps"
)


@dataclass(frozen=True)
class WeightLayout:
    """How the weight ``tensor`` comes from checkpoint tensors: the transforms, in order."""

    tensor: str
    sources: tuple[str, ...]
    checkpoint_layout: str
    kernel_layout: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class ScaleLayout:
    """How the block scales ``tensor`` of a weight come from checkpoint tensors.

    ``block`` is the rows and columns of the weight that one scale stands for.
    """

    tensor: str
    sources: tuple[str, ...]
    checkpoint_dtype: str
    kernel_dtype: str
    block: tuple[int, int]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class LayoutBinding:
    """One weight with its scales, and where the plan says so."""

    weight: WeightLayout
    scale: ScaleLayout | None
    location: str = field(compare=False)

    def tensors(self) -> tuple[str, ...]:
        """Return the names of the tensors that come of it."""
        return (self.weight.tensor, *([self.scale.tensor] if self.scale else []))


def read_layout_plan(document: Json, location: str) -> tuple[LayoutBinding, ...]:
    """Return the bindings of a layout plan; raise ``BadInput`` with the pointer of a fault."""
    fields = Fields(document, location)
    fields.close("format bindings")
    fields.hold_text("format", FORMAT_LAYOUT, "layout plan has an unknown format")
    made: dict[str, LayoutBinding] = {}
    result = []
    for item in fields.objects("bindings"):
        binding = _read_binding(item)
        repeated = [made[name] for name in binding.tensors() if name in made]
        # Operations that share a weight repeat its binding; what says something else is refused.
        if repeated and any(one != binding for one in repeated):
            item.refuse(f'another binding makes "{repeated[0].weight.tensor}" too', "tensor")
        made.update(dict.fromkeys(binding.tensors(), binding))
        if not repeated:
            result.append(binding)
    return tuple(result)


def read_graph_shapes(document: Json, location: str) -> dict[str, tuple[str, tuple[Json, ...]]]:
    """Return data type and shape of each tensor of graph.json, by name."""
    result = {}
    for tensor in Fields(document, location).objects("tensors"):
        shape = tuple(tensor.array("shape"))
        result[tensor.text("name")] = (tensor.word("dtype", DTYPE_BYTES), shape)
    return result


def _read_binding(fields: Fields) -> LayoutBinding:
    fields.close(BINDING_KEYS)
    tensor = fields.text("tensor")
    if fields.get("output_layout", None) is not None:
        fields.refuse("output layouts cannot be applied", "output_layout")
    weight = WeightLayout(
        tensor=tensor,
        sources=_sources(fields, [tensor]),
        checkpoint_layout=fields.text("checkpoint_layout"),
        kernel_layout=fields.text("kernel_layout"),
        steps=tuple(_read_step(step) for step in fields.objects("steps")),
    )
    _check_chain(fields, weight)
    scale = _read_scale(fields.child("scale")) if fields.has("scale") else None
    return LayoutBinding(weight, scale, fields.place())


def _sources(fields: Fields, *default: list[str]) -> tuple[str, ...]:
    """Return the checkpoint tensors; a binding of a weight that names none means its own name."""
    names = fields.texts("checkpoint_tensors", *default, unique=True)
    if not names:
        fields.refuse("no checkpoint tensor is named", "checkpoint_tensors")
    return names


def _read_step(fields: Fields) -> str:
    fields.close(STEP_KEYS)
    name = fields.text("transform")
    if name not in PARAMETERS_BY_WEIGHT_STEP:
        hint = nearest_hint(name, PARAMETERS_BY_WEIGHT_STEP)
        fields.refuse(f'unknown transform "{name}"', "transform", hint=hint)
    parameters = fields.child("parameters")
    bounds = PARAMETERS_BY_WEIGHT_STEP[name]
    parameters.close(bounds)
    for key, (low, high) in bounds.items():
        parameters.integer(key, low=low, high=high)
    return name


def _check_chain(fields: Fields, weight: WeightLayout) -> None:
    """Refuse steps that do not lead from the checkpoint's layout to the kernel's."""
    layout = weight.checkpoint_layout
    shards = []
    for step in fields.objects("steps"):
        step.hold_text("source_layout", layout, "step starts from another layout")
        layout = step.text("target_layout")
        if step.text("transform") == JOIN_WEIGHTS:
            shards.append(step.child("parameters").integer("shards"))
    if layout != weight.kernel_layout:
        wanted = f'"{weight.kernel_layout}"'
        fields.refuse("steps end in another layout", "steps", expected=wanted, got=f'"{layout}"')
    shards = shards or [1]
    if shards != [len(weight.sources)]:
        fields.refuse(
            "number of checkpoint tensors does not fit the steps",
            *(["checkpoint_tensors"] if fields.has("checkpoint_tensors") else []),
            expected=" and ".join(map(str, shards)),
            got=len(weight.sources),
        )
    order = list(weight.steps)
    if order != sorted(set(order), key=list(PARAMETERS_BY_WEIGHT_STEP).index):
        fields.refuse("steps stand in an order that cannot be applied", "steps")


def _read_scale(fields: Fields) -> ScaleLayout:
    fields.close(SCALE_KEYS)
    if fields.text("checkpoint_layout") != fields.text("kernel_layout"):
        fields.refuse("scale layouts cannot be changed", "kernel_layout")
    block = fields.sized("block", 2, "scale block has two sizes")
    rows, columns = (fields.checked_integer("block", size, low=1) for size in block)
    scale = ScaleLayout(
        tensor=fields.text("tensor"),
        sources=_sources(fields),
        checkpoint_dtype=fields.word("checkpoint_dtype", SCALE_DTYPES),
        kernel_dtype=fields.word("kernel_dtype", SCALE_DTYPES),
        block=(rows, columns),
        steps=fields.texts("steps"),
    )
    if (scale.checkpoint_dtype, scale.kernel_dtype) == ("fp32", "bf16"):
        fields.refuse("scales cannot be narrowed from fp32 to bf16", "kernel_dtype")
    wanted = _scale_steps(scale)
    if scale.steps != wanted:
        fact = "steps do not fit the checkpoint tensors and data types"
        fields.refuse(fact, "steps", expected=_listed(wanted), got=_listed(scale.steps))
    return scale


def _scale_steps(scale: ScaleLayout) -> tuple[str, ...]:
    """Return the only steps that lead from a scale's checkpoint tensors to the kernel's."""
    needed = (len(scale.sources) > 1, scale.checkpoint_dtype != scale.kernel_dtype)
    return tuple(step for step, is_needed in zip(SCALE_STEPS, needed, strict=True) if is_needed)


def _listed(names: tuple[str, ...]) -> str:
    return quoted(name[:80] for name in names) or "none"
