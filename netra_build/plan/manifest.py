"""engine.json of a published engine directory, from the plan of the engine."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build import __version__
from netra_build.core.canonical_json import Json, lower, stable_hash
from netra_build.formats.plan import EnginePlan, OperationPlan
from netra_build.formats.vocabulary import EXECUTE_KERNEL, FORMAT_ENGINE, TARGET, WAVE_SIZE

COMPILER_NAME = "netra-build"
ARTIFACT_FILES = (
    "contracts.json",
    "graph.json",
    "graph_recipe.json",
    "memory_plan.json",
    "layout_plan.json",
    "symbols.json",
    "validation_plan.json",
    "explain.json",
)
"""Documents beside engine.json, in the order of its list."""

GUARD_FIELDS = (
    "architecture",
    "model_type",
    "checkpoint",
    "checkpoint_repository",
    "checkpoint_revision",
    "checkpoint_config_sha256",
    "hidden_size",
    "intermediate_size",
    "layers",
    "layer_types",
    "full_attention_interval",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "linear_num_key_heads",
    "linear_key_head_dim",
    "linear_num_value_heads",
    "linear_value_head_dim",
    "linear_conv_kernel_dim",
    "vocab_size",
    "max_position_embeddings",
    "attention_output_gate",
    "mtp_layers",
    "quantization_method",
    "quantization_format",
    "activation_quantization",
    "checkpoint_activation_scheme",
    "weight_scale_block",
    "checkpoint_scale_dtype",
    "kernel_scale_dtype",
    "tensor_parallel",
    "data_parallel_workers",
    "deployment_graph_mode",
    "cuda_graph_batch_sizes",
    "piecewise_cuda_graph_tokens",
    "speculative_algorithm",
    "speculative_num_steps",
    "speculative_eagle_topk",
    "speculative_num_draft_tokens",
    "dflash_enabled",
    "dflash_block_size",
    "dflash_checkpoint",
    "dflash_checkpoint_repository",
    "dflash_checkpoint_revision",
    "dflash_checkpoint_config_sha256",
    "dflash_checkpoint_weights_sha256",
    "dflash_draft_window_size",
    "dflash_mamba_cache_steps",
    "mamba_ssm_dtype",
    "required_environment",
)
"""Configuration keys that engine.json repeats when the model has them."""


def source_hash(digest_by_name: Mapping[str, str]) -> str:
    """Return the digest that binds engine.json to every compiled file of its directory.

    ``digest_by_name`` holds the SHA-256 of each generated source, include copy and document but
    engine.json and validation_plan.json, which the build rewrites.
    """
    return stable_hash({"compiler_version": __version__, "files": dict(digest_by_name)})


def with_engine_id(engine: Mapping[str, Json]) -> dict[str, Json]:
    """Return the engine manifest with its id recomputed from everything else."""
    rest = {key: value for key, value in engine.items() if key != "engine_id"}
    return {**rest, "engine_id": f"ne_{stable_hash(rest)[:24]}"}


def engine_document(plan: EnginePlan, source_digest: str) -> dict[str, Json]:
    """Return engine.json without its id."""
    model, operations = plan.model, plan.operations
    tactics = {p.selection.tactic for p in operations if p.selection.tactic is not None}
    return {
        "format_version": FORMAT_ENGINE,
        "target": TARGET,
        "wave_size": WAVE_SIZE,
        "required_rocm": {"minimum": "7.0", "code_object_version": 6},
        "model_configuration_hash": model.configuration_hash,
        "checkpoint_hash": plan.checkpoint_hash,
        "deployment_guards": {
            key: model.configuration[key] for key in GUARD_FIELDS if key in model.configuration
        },
        "tensor_parallel": model.tensor_parallel,
        "profiles": [plan.profile.document()],
        "operations": [operation_document(p) for p in operations],
        "selected_tactics": sorted(tactics),
        "kernel_symbols": kernel_symbols(plan),
        "workspace_bytes": plan.memory.workspace_bytes,
        "fallbacks": {
            p.operation.name: p.selection.fallback
            for p in operations
            if p.selection.execution != EXECUTE_KERNEL
        },
        "layout_plan": "layout_plan.json",
        "graph_recipe": "graph_recipe.json",
        "memory_plan": "memory_plan.json",
        "validation_status": "static_only_not_promoted",
        "compiler": {
            "name": COMPILER_NAME,
            "version": __version__,
            "source_hash": source_digest,
        },
        "golden_artifacts": [artifact.document() for artifact in plan.golden],
        "artifact_files": list(ARTIFACT_FILES),
    }


def operation_document(plan: OperationPlan) -> dict[str, Json]:
    """Return one operation record of engine.json."""
    selection = plan.selection
    record: dict[str, Json] = {
        "index": plan.index,
        "name": plan.operation.name,
        "kind": plan.operation.kind,
        "contract_id": selection.contract.id if selection.contract else None,
        "tactic": selection.tactic,
        "maturity": selection.maturity,
        "artifact_kind": selection.artifact_kind,
        "execution": selection.execution,
        "kernel_symbol": selection.symbol,
        "launch": launch_document(plan),
        "workspace_offset": plan.workspace_offset,
        "fallback": selection.fallback,
        "bindings": bindings_document(plan),
    }
    if plan.hsaco is not None:
        record["hsaco"] = plan.hsaco
        record["kernarg_size"] = plan.kernarg_size
        record["arguments"] = [dict(argument) for argument in plan.arguments]
    if plan.hsaco_sha256 is not None:
        record["hsaco_sha256"] = plan.hsaco_sha256
    if plan.operation.kind == "server_fallback":
        record["external_contract"] = lower(plan.operation.attributes)
    return record


def kernel_symbols(plan: EnginePlan) -> list[str]:
    """Return the sorted symbols of every kernel operation."""
    return sorted({p.selection.symbol for p in plan.operations if p.selection.symbol is not None})


def launch_document(plan: OperationPlan) -> Json:
    """Return the launch object of an operation, or None."""
    launch = plan.selection.launch
    return launch.document() if launch else None


def bindings_document(plan: OperationPlan) -> Json:
    """Return the tensor names of an operation."""
    operation = plan.operation
    return {"inputs": list(operation.inputs), "outputs": list(operation.outputs)}
