"""Dense operations: the request, the registered dense tactic and the fallback contract."""

from __future__ import annotations

from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.tactic import DenseTactic
from netra_build.formats.contracts import DenseContract, DenseFallbackContract, DenseShape
from netra_build.formats.fields import Fields
from netra_build.formats.launch import Launch, Workspace
from netra_build.formats.models.dense import DenseDefaults, dense_attributes
from netra_build.formats.plan import Candidate, Selection
from netra_build.formats.profiles import Profile
from netra_build.formats.vocabulary import (
    EXECUTE_FALLBACK,
    EXECUTE_FRAMEWORK,
    KIND_FRAMEWORK,
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
"""The only entry of the dense registry: a kernel that the framework brings."""

DEFAULTS = DenseDefaults(fallback="framework.aiter")
_ROW_MAJOR = "row_major"


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
    keys = (
        "n",
        "k",
        "input_dtype",
        "weight_dtype",
        "output_dtype",
        "activation_quantization",
        "weight_quantization",
        "activation_scale_block",
        "activation_layout",
        "weight_layout",
        "output_layout",
        "epilogue",
        "graph_capture",
        "deterministic",
    )
    shape = DenseShape(
        m=m,
        weight_scale_block=(rows, columns),
        activation_scale_layout=_unless_row_major(record["activation_scale_layout"]),
        weight_scale_layout=_unless_row_major(record["weight_scale_layout"]),
        **{key: record[key] for key in keys},
    )
    return shape, record


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
