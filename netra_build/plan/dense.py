"""Dense operations: the request, the registered tactic or the fallback, the layout of weights.

A layout binding states how checkpoint weights and scales are laid out for the kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.formats.contracts import Contract, KernelContract
from netra_build.formats.fields import Fields
from netra_build.formats.launch import Launch, Workspace
from netra_build.formats.models.dense import SHUFFLED, dense_attributes
from netra_build.formats.plan import Candidate, Selection
from netra_build.formats.profiles import Profile
from netra_build.formats.vocabulary import (
    EXECUTE_FALLBACK,
    EXECUTE_FRAMEWORK,
    KIND_FALLBACK,
    KIND_FRAMEWORK,
    SCALE_DTYPES,
    TARGET,
    WAVE_SIZE,
)
from netra_build.plan.fixed import maturity_reasons

TACTIC = "gfx950.aiter_blockscale_dense_m1.compat"
"""The only entry of the dense registry: a kernel of the framework."""
MATURITY = "accepted"
LAUNCH, WORKSPACE = Launch((1, 1, 1), (1, 1, 1)), Workspace()
EVIDENCE = ("deployed Netra SGLang AITER path; retained as compatibility baseline",)
UNSET = "source symbol rejection_note source_template source_revision source_sha256"

NUMERICAL = {
    "accumulation_dtype": "fp32",
    "output_rounding": "fp32_accumulate_then_rne_bf16_store",
    "reduction_order": "k_block_ascending_fixed",
    "nan_behavior": "ieee_preserve",
    "deterministic": True,
}
SHAPE_KEYS = (
    "n k input_dtype weight_dtype output_dtype activation_quantization weight_quantization "
    "activation_scale_block weight_scale_block activation_layout weight_layout output_layout "
    "epilogue graph_capture deterministic activation_scale_layout weight_scale_layout"
)
"""Attributes that a kernel has to meet, beside the rows ``m`` of the profile."""

SPLIT = "checkpoint_split_output_row_major_fp8_block128"
ROW_MAJOR = "checkpoint_row_major_fp8_block128"
ROW_LAYOUTS = (ROW_MAJOR, "row_major_fp8_block128", "row")
GRID = "row_major_block_grid"


Shape = Mapping[str, Json]
"""What a dense operation asks for: ``m`` and the attributes that ``SHAPE_KEYS`` names."""


def dense_tactic_document() -> dict[str, Json]:
    """Return the record of list-tactics, unset fields as null."""
    return {
        **dict.fromkeys(UNSET.split()),
        "name": TACTIC,
        "maturity": MATURITY,
        "artifact_kind": KIND_FRAMEWORK,
        "launch": LAUNCH.document(),
        "workspace": WORKSPACE.document(),
        "graph_capture": True,
        "deterministic": True,
        "rank": 1000,
        "evidence_refs": list(EVIDENCE),
        "compile_parameters": {},
    }


def _shape_identity(shape: Shape) -> dict[str, Json]:
    """Return the part of the identity that both dense contracts share."""
    dtypes = [shape[f"{operand}_dtype"] for operand in ("input", "weight", "output")]
    return {
        "target": TARGET,
        "wave_size": WAVE_SIZE,
        "operation": "dense",
        "shape": [shape[key] for key in ("m", "n", "k")],
        "dtypes": [*dtypes[:2], "fp32", dtypes[2]],
        "quantization": {
            **{key: shape[f"{key}_quantization"] for key in ("activation", "weight")},
            **{
                f"{key}_scale_block": shape[f"{key}_scale_block"]
                for key in ("activation", "weight")
            },
        },
        "layouts": [shape[f"{operand}_layout"] for operand in ("activation", "weight", "output")],
        **{key: shape[key] for key in ("epilogue", "graph_capture", "deterministic")},
        "numerical": dict(NUMERICAL),
    }


def scale_layouts(shape: Shape) -> dict[str, str]:
    """Return the scale layouts that differ from row-major, by operand."""
    layouts = {key: str(shape[f"{key}_scale_layout"]) for key in ("activation", "weight")}
    return {key: layout for key, layout in layouts.items() if layout != "row_major"}


@dataclass(frozen=True, kw_only=True)
class DenseContract(KernelContract):
    """Contract of a dense operation that the registered dense tactic meets."""

    shape: Shape
    tactic: str

    artifact_kind = KIND_FRAMEWORK

    def identity(self) -> dict[str, Json]:
        """Return the object whose digest is the contract id."""
        stated = super().identity()
        del stated["shape"]
        return {**_shape_identity(self.shape), **stated}


@dataclass(frozen=True)
class DenseFallbackContract(Contract):
    """Contract of a dense operation that the framework runs."""

    prefix: ClassVar[str] = "nkf_"

    shape: Shape
    fallback: str
    launch: None = None
    workspace: Workspace = WORKSPACE
    maturity: None = None

    def identity(self) -> dict[str, Json]:
        """Return the object whose digest is the contract id."""
        scales = scale_layouts(self.shape)
        return {**_shape_identity(self.shape), **({"scale_layouts": scales} if scales else {})}

    def document(self) -> dict[str, Json]:
        """Return the record of contracts.json."""
        kind = {"artifact_kind": KIND_FALLBACK, "fallback": self.fallback}
        return {**self.identity(), "id": self.id, **kind}


def read_dense(
    attributes: Fields, profile: Profile, location: str
) -> tuple[Shape, dict[str, Json]]:
    """Return the request and the full attribute record; raise ``BadInput`` without an exact m."""
    record = dense_attributes(attributes, Fields({}, attributes.location))
    m = profile.exact_by_dimension.get("m")
    if m is None:
        raise BadInput(
            f'profile "{profile.name}" does not fix m, which a dense operation needs',
            location=location,
            hint="use a profile whose m guard has equal bounds",
        )
    return {"m": m, **{key: record[key] for key in SHAPE_KEYS.split()}}, record


def select_dense(
    shape: Shape, fallback: str, *, allow_experimental: bool, strict: bool
) -> Selection:
    """Return the registered tactic's selection, or the fallback contract with the reasons.

    With ``strict`` scale layouts and quantization names count as well.
    """
    reasons = dense_reasons(shape, allow_experimental, strict=strict)
    candidates = (Candidate(TACTIC, not reasons, reasons),)
    if reasons:
        contract: Contract = DenseFallbackContract(shape, fallback)
        return Selection(EXECUTE_FALLBACK, fallback, candidates, contract)
    contract = DenseContract(
        shape=shape,
        tactic=TACTIC,
        launch=LAUNCH,
        workspace=WORKSPACE,
        graph_capture=True,
        deterministic=True,
        fallback=fallback,
        maturity=MATURITY,
        source_refs=(),
        evidence_refs=EVIDENCE,
    )
    return Selection(EXECUTE_FRAMEWORK, fallback, candidates, contract, TACTIC)


def dense_reasons(shape: Shape, allow_experimental: bool, *, strict: bool) -> tuple[str, ...]:
    """Return the published reasons against the dense tactic, in their order."""
    met = [
        ("m", 1, "M"),
        ("n", 2048, "N"),
        ("k", 4096, "K"),
        ("input_dtype", "fp8_e4m3", "input dtype"),
        ("weight_dtype", "fp8_e4m3", "weight dtype"),
        ("output_dtype", "bf16", "output dtype"),
        ("activation_scale_block", 128, "activation scale"),
        ("weight_scale_block", [128, 128], "weight scale"),
        ("activation_layout", "row_major_fp8_block128", "activation layout"),
        ("weight_layout", SHUFFLED, "weight layout"),
        ("output_layout", "row_major_bf16", "output layout"),
        ("epilogue", "identity", "epilogue"),
    ]
    words = [word for key, value, word in met if shape[key] != value]
    if strict:
        words += ["scale layout"] if scale_layouts(shape) else []
        for key, value in (("activation", "e4m3_per_128"), ("weight", "e4m3_128x128")):
            words += [f"{key} quantization"] if shape[f"{key}_quantization"] != value else []
    return (*(f"{w} mismatch" for w in words), *maturity_reasons(MATURITY, allow_experimental))


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
        join = _step(source, ROW_MAJOR, "concatenate_output_shards", axis=0, shards=shards)
        join["validated_scope"] = "real_checkpoint_recipe_unvalidated"
        return [join, *weight_steps(ROW_MAJOR, target, 1, location)]
    if target == SHUFFLED and source in ROW_LAYOUTS:
        return [_step(source, target, "aiter_shuffle_16x16", tile_m=16, tile_k=16)]
    raise BadInput(
        f'no transform from weight layout "{source}" to "{target}"',
        location=location,
        hint=f'known sources of "{SHUFFLED}": '
        + ", ".join(f'"{name}"' for name in (SPLIT, *ROW_LAYOUTS)),
    )


def _step(source: str, target: str, transform: str, **parameters: int) -> dict[str, Json]:
    return {
        "source_layout": source,
        "target_layout": target,
        "transform": transform,
        "parameters": parameters,
        "validated_scope": "real_checkpoint_hook_unvalidated",
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
