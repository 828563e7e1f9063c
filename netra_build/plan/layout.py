"""How checkpoint weights and scales become what the kernels read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.formats.models.dense import SHUFFLED
from netra_build.formats.vocabulary import FORMAT_LAYOUT

SPLIT = "checkpoint_split_output_row_major_fp8_block128"
ROW_MAJOR = "checkpoint_row_major_fp8_block128"
ROW_LAYOUTS = (ROW_MAJOR, "row_major_fp8_block128", "row")
GRID = "row_major_block_grid"
SCALE_DTYPES = ("bf16", "fp32")


def weight_steps(source: str, target: str, shards: int, location: str) -> list[Json]:
    """Return the transforms from one weight layout to another; raise ``BadInput`` if none is."""
    if source == target:
        return []
    if target == SHUFFLED and source == SPLIT:
        if shards < 2:
            raise BadInput(
                f'split weight layout "{SPLIT}" needs several checkpoint tensors',
                location=location,
                expected="at least 2",
                got=shards,
            )
        join = _step(
            source,
            ROW_MAJOR,
            "concatenate_output_shards",
            {"axis": 0, "shards": shards},
            "real_checkpoint_recipe_unvalidated",
        )
        return [join, *weight_steps(ROW_MAJOR, target, 1, location)]
    if target == SHUFFLED and source in ROW_LAYOUTS:
        parameters = {"tile_m": 16, "tile_k": 16}
        scope = "real_checkpoint_hook_unvalidated"
        return [_step(source, target, "aiter_shuffle_16x16", parameters, scope)]
    raise BadInput(
        f'no transform from weight layout "{source}" to "{target}"',
        location=location,
        hint=f'known sources of "{SHUFFLED}": '
        + ", ".join(f'"{name}"' for name in (SPLIT, *ROW_LAYOUTS)),
    )


def _step(
    source: str, target: str, transform: str, parameters: Mapping[str, Json], scope: str
) -> Json:
    return {
        "source_layout": source,
        "target_layout": target,
        "transform": transform,
        "parameters": dict(parameters),
        "validated_scope": scope,
    }


def scale_record(tensor: str, record: Mapping[str, Json], location: str) -> Json:
    """Return the scale plan of a dense operation; raise ``BadInput`` for a narrowing."""
    source, target = record["checkpoint_scale_dtype"], record["kernel_scale_dtype"]
    for dtype in (source, target):
        if dtype not in SCALE_DTYPES:
            raise BadInput(f'scale data type "{dtype}" is not bf16 or fp32', location=location)
    if (source, target) == ("fp32", "bf16"):
        raise BadInput("scales cannot be narrowed from fp32 to bf16", location=location)
    names = record["checkpoint_scale_tensors"]
    steps = ["concatenate_output_scale_shards_axis0"] if len(names) > 1 else []
    steps += ["widen_bf16_to_fp32_exact"] if source != target else []
    return {
        "tensor": tensor,
        "checkpoint_tensors": list(names),
        "checkpoint_dtype": source,
        "kernel_dtype": target,
        "block": list(record["weight_scale_block"]),
        "checkpoint_layout": GRID,
        "kernel_layout": GRID,
        "steps": steps,
    }


def binding_record(
    weight: str, weight_scale: str | None, record: Mapping[str, Json], location: str
) -> Json:
    """Return the layout binding of one dense operation's weight."""
    names: Sequence[str] = record.get("checkpoint_tensors", ())
    binding: dict[str, Json] = {
        "tensor": weight,
        "checkpoint_layout": record["checkpoint_layout"],
        "kernel_layout": record["weight_layout"],
        "output_layout": None,
        "steps": weight_steps(
            record["checkpoint_layout"], record["weight_layout"], len(names), location
        ),
    }
    if names:
        binding["checkpoint_tensors"] = list(names)
    if record.get("checkpoint_scale_tensors"):
        if weight_scale is None:
            raise BadInput("dense operation has no weight scale tensor", location=location)
        binding["scale"] = scale_record(weight_scale, record, location)
    return binding


def layout_document(bindings: Sequence[Json]) -> dict[str, Json]:
    """Return layout_plan.json."""
    ordered = sorted(bindings, key=lambda binding: str(binding["tensor"]))
    return {"format": FORMAT_LAYOUT, "bindings": ordered}
