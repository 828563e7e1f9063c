"""Dense operations: the request, the registered tactic or the fallback, the layout of weights.

A layout binding states how checkpoint weights and scales are laid out for the kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.tactic import DenseTactic
from netra_build.formats.contracts import DenseContract, DenseFallbackContract, DenseShape
from netra_build.formats.fields import Fields
from netra_build.formats.launch import Launch, Workspace
from netra_build.formats.models.dense import SHUFFLED, DenseDefaults, dense_attributes
from netra_build.formats.plan import Candidate, Selection
from netra_build.formats.profiles import Profile
from netra_build.formats.vocabulary import (
    EXECUTE_FALLBACK,
    EXECUTE_FRAMEWORK,
    FORMAT_LAYOUT,
    KIND_FRAMEWORK,
    SCALE_DTYPES,
)
from netra_build.plan.fixed import maturity_reasons

DENSE_TACTIC = DenseTactic(
    name="gfx950.aiter_blockscale_dense_m1.compat",
    maturity="accepted",
    artifact_kind=KIND_FRAMEWORK,
    launch=Launch((1, 1, 1), (1, 1, 1)),
    workspace=Workspace(),
    graph_capture=True,
    deterministic=True,
    rank=1000,
    evidence_refs=("deployed Netra SGLang AITER path; retained as compatibility baseline",),
)
"""The only entry of the dense registry: a kernel of the framework."""

DEFAULTS = DenseDefaults(fallback="framework.aiter")
_ROW_MAJOR = "row_major"

SPLIT = "checkpoint_split_output_row_major_fp8_block128"
ROW_MAJOR = "checkpoint_row_major_fp8_block128"
ROW_LAYOUTS = (ROW_MAJOR, "row_major_fp8_block128", "row")
GRID = "row_major_block_grid"


def read_dense_shape(
    attributes: Fields, profile: Profile, location: str
) -> tuple[DenseShape, dict[str, object]]:
    """Return the request and the full attribute record; raise ``BadInput`` without an exact m."""
    nothing = Fields({}, attributes.location)
    record = dense_attributes(attributes, nothing, DEFAULTS)
    m = profile.exact_by_dimension.get("m")
    if m is None:
        raise BadInput(
            f'profile "{profile.name}" does not fix m, which a dense operation needs',
            location=location,
            hint="use a profile whose m guard has equal bounds",
        )
    rows, columns = record["weight_scale_block"]
    resolved = {
        **record,
        "m": m,
        "weight_scale_block": (rows, columns),
        "activation_scale_layout": _unless_row_major(record["activation_scale_layout"]),
        "weight_scale_layout": _unless_row_major(record["weight_scale_layout"]),
    }
    return DenseShape(**{field.name: resolved[field.name] for field in fields(DenseShape)}), record


def _unless_row_major(layout: str) -> str | None:
    return None if layout == _ROW_MAJOR else layout


def select_dense(
    shape: DenseShape, fallback: str, *, allow_experimental: bool, strict: bool
) -> Selection:
    """Return the registered tactic's selection, or the fallback contract with the reasons.

    With ``strict`` scale layouts and quantization names count as well.
    """
    tactic = DENSE_TACTIC
    reasons = dense_reasons(shape, allow_experimental, strict=strict)
    if reasons:
        return Selection(
            EXECUTE_FALLBACK,
            fallback,
            contract=DenseFallbackContract(shape, fallback),
            candidates=(Candidate(tactic.name, False, reasons),),
        )
    contract = DenseContract(
        shape=shape,
        tactic=tactic.name,
        launch=tactic.launch,
        workspace=tactic.workspace,
        graph_capture=tactic.graph_capture,
        deterministic=tactic.deterministic,
        fallback=fallback,
        maturity=tactic.maturity,
        source_refs=(),
        evidence_refs=tactic.evidence_refs,
    )
    return Selection(
        EXECUTE_FRAMEWORK,
        fallback,
        contract=contract,
        tactic=tactic.name,
        maturity=tactic.maturity,
        artifact_kind=tactic.artifact_kind,
        candidates=(Candidate(tactic.name, True, ()),),
    )


def dense_reasons(shape: DenseShape, allow_experimental: bool, *, strict: bool) -> tuple[str, ...]:
    """Return the published reasons against the dense tactic, in their order."""
    checks = [
        ("M", shape.m == 1),
        ("N", shape.n == 2048),
        ("K", shape.k == 4096),
        ("input dtype", shape.input_dtype == "fp8_e4m3"),
        ("weight dtype", shape.weight_dtype == "fp8_e4m3"),
        ("output dtype", shape.output_dtype == "bf16"),
        ("activation scale", shape.activation_scale_block == 128),
        ("weight scale", shape.weight_scale_block == (128, 128)),
        ("activation layout", shape.activation_layout == "row_major_fp8_block128"),
        ("weight layout", shape.weight_layout == "aiter_shuffle_16x16_fp8_block128"),
        ("output layout", shape.output_layout == "row_major_bf16"),
        ("epilogue", shape.epilogue == "identity"),
    ]
    if strict:
        checks += [
            ("scale layout", not shape.scale_layouts()),
            ("activation quantization", shape.activation_quantization == "e4m3_per_128"),
            ("weight quantization", shape.weight_quantization == "e4m3_128x128"),
        ]
    reasons = [f"{word} mismatch" for word, fits in checks if not fits]
    return (*reasons, *maturity_reasons(DENSE_TACTIC.maturity, allow_experimental))


def weight_steps(source: str, target: str, shards: int, location: str) -> list[Json]:
    """Return the transforms from one weight layout to another; ``BadInput`` if there are none."""
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
    """Return the scale plan of a dense operation; ``BadInput`` for a narrowing conversion."""
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
