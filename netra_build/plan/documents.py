"""The files of a published engine directory, from the plan of the engine."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build import __version__
from netra_build.core.canonical_json import Json, lower, plain_canonical_bytes, stable_hash
from netra_build.core.digests import sha256_hex
from netra_build.formats.contracts import GoldenContract
from netra_build.formats.plan import Candidate, EnginePlan, KernelInstance, OperationPlan
from netra_build.formats.vocabulary import (
    EXECUTE_KERNEL,
    FORMAT_CONTRACTS,
    FORMAT_ENGINE,
    FORMAT_GRAPH_RECIPE,
    FORMAT_VALIDATION,
    TARGET,
    WAVE_SIZE,
)
from netra_build.plan.instances import INCLUDES, unit_source

COMPILER_NAME = "netra-build"
VALIDATION_PLAN = "validation_plan.json"
ARTIFACT_FILES = (
    *("contracts.json", "graph.json", "graph_recipe.json", "memory_plan.json"),
    *("layout_plan.json", "symbols.json", VALIDATION_PLAN, "explain.json"),
)
"""Documents beside engine.json, in the order of its list."""
SOURCE_DOCUMENTS = tuple(name for name in ARTIFACT_FILES if name != VALIDATION_PLAN)
COMMANDS = (
    "bash tools/compiler/build_engine_gfx950.sh ENGINE_DIR",
    "python3 -m netra_compiler.cli validate --engine ENGINE_DIR --static"
    " --library-root LIBRARY_ROOT",
)

GUARD_FIELDS = (
    "architecture model_type checkpoint checkpoint_repository checkpoint_revision "
    "checkpoint_config_sha256 hidden_size intermediate_size layers layer_types "
    "full_attention_interval num_attention_heads num_key_value_heads head_dim "
    "linear_num_key_heads linear_key_head_dim linear_num_value_heads linear_value_head_dim "
    "linear_conv_kernel_dim vocab_size max_position_embeddings attention_output_gate "
    "mtp_layers quantization_method quantization_format activation_quantization "
    "checkpoint_activation_scheme weight_scale_block checkpoint_scale_dtype "
    "kernel_scale_dtype tensor_parallel data_parallel_workers deployment_graph_mode "
    "cuda_graph_batch_sizes piecewise_cuda_graph_tokens speculative_algorithm "
    "speculative_num_steps speculative_eagle_topk speculative_num_draft_tokens "
    "dflash_enabled dflash_block_size dflash_checkpoint dflash_checkpoint_repository "
    "dflash_checkpoint_revision dflash_checkpoint_config_sha256 "
    "dflash_checkpoint_weights_sha256 dflash_draft_window_size dflash_mamba_cache_steps "
    "mamba_ssm_dtype required_environment"
)
"""Configuration keys that engine.json repeats when the model has them."""


def engine_sources(plan: EnginePlan) -> dict[str, bytes]:
    """Return the generated units and include copies by path in the engine directory."""
    kernels = (*plan.kernels, *plan.candidates)
    files = {kernel.source_name: unit_source(kernel) for kernel in kernels}
    files.update({f"{INCLUDES}/{name}": data for name, data in plan.include_by_name.items()})
    return files


def engine_documents(plan: EnginePlan) -> dict[str, Json]:
    """Return every JSON document of the engine directory by file name, engine.json last."""
    return _written(plan)[0]


def engine_files(plan: EnginePlan) -> dict[str, bytes]:
    """Return every file of the published engine directory, engine.json last."""
    golden = {item.path: item.data for item in plan.golden if item.data is not None}
    return {**engine_sources(plan), **golden, **_written(plan)[1]}


def _written(plan: EnginePlan) -> tuple[dict[str, Json], dict[str, bytes]]:
    """Return the documents and their bytes; engine.json names the digest over all others."""
    documents = _sibling_documents(plan)
    data = {name: plain_canonical_bytes(document) for name, document in documents.items()}
    compiled = engine_sources(plan) | {name: data[name] for name in SOURCE_DOCUMENTS}
    digests = {name: sha256_hex(content) for name, content in compiled.items()}
    manifest = with_engine_id(_engine_document(plan, source_hash(digests)))
    documents["engine.json"] = manifest
    data["engine.json"] = plain_canonical_bytes(manifest)
    return documents, data


def _sibling_documents(plan: EnginePlan) -> dict[str, Json]:
    """Return the documents beside engine.json by file name."""
    return {
        "contracts.json": contracts_document(plan),
        "graph.json": plan.model.graph.document(),
        "graph_recipe.json": graph_recipe_document(plan),
        "memory_plan.json": plan.memory.document(),
        "layout_plan.json": lower(plan.layout),
        "symbols.json": {
            "selected": kernel_symbols(plan),
            "candidates": sorted(kernel.symbol for kernel in plan.candidates),
        },
        VALIDATION_PLAN: _validation_document(plan),
        "explain.json": _explain_document(plan),
    }


def contracts_document(plan: EnginePlan) -> dict[str, Json]:
    """Return contracts.json: one record per id, the later operation's where they share one."""
    contracts = (p.selection.contract for p in plan.operations)
    records = {contract.id: contract for contract in contracts if contract is not None}
    return {
        "format": FORMAT_CONTRACTS,
        "contracts": [records[key].document() for key in sorted(records)],
    }


def _explain_document(plan: EnginePlan) -> dict[str, Json]:
    written: dict[int, list[Json]] = {}
    return {
        "profile": plan.profile.document(),
        "operations": [
            {
                "name": p.operation.name,
                "selected": p.selection.tactic,
                "execution": p.selection.execution,
                "fallback": p.selection.fallback,
                "candidates": _candidates(p.selection.candidates, written),
            }
            for p in plan.operations
        ],
    }


def _candidates(candidates: tuple[Candidate, ...], written: dict[int, list[Json]]) -> list[Json]:
    """Return the candidates' objects, built once for each tuple (the plan keeps them alive)."""
    key = id(candidates)
    if key not in written:
        written[key] = [candidate.document() for candidate in candidates]
    return written[key]


def _validation_document(plan: EnginePlan) -> dict[str, Json]:
    not_run = ("cross_assembly", "hardware", "real_checkpoint_correctness")
    later = ("graph_replay", "matched_server_ab")
    return {
        "format": FORMAT_VALIDATION,
        "static": "pending",
        **dict.fromkeys(not_run + later, "not_run"),
        "promotion_eligible": False,
        "candidates": [
            *(_candidate_document(kernel) for kernel in plan.kernels),
            *({**_candidate_document(kernel), "selected": False} for kernel in plan.candidates),
        ],
        "golden_artifacts": [artifact.document() for artifact in plan.golden],
        "commands": list(COMMANDS),
    }


def _candidate_document(kernel: KernelInstance) -> dict[str, Json]:
    tactic, contract = kernel.tactic, kernel.contract
    return {
        "tactic": tactic.name,
        "tactic_id": tactic.stable_id,
        "contract_id": contract.id,
        "maturity": tactic.maturity,
        "selected": True,
        "artifact_kind": contract.artifact_kind,
        "source": kernel.source_name,
        "source_sha256": sha256_hex(unit_source(kernel)),
        "generated_from_template": True,
        "template": f"{INCLUDES}/{tactic.template}",
        "template_files": {f"{INCLUDES}/{name}": digest for name, digest in tactic.closure},
        "equivalence_status": "not_run_for_generated_symbol",
        "symbol": kernel.symbol,
        "symbols": [kernel.symbol],
        "kernarg_size": contract.kernarg_size,
        "launch": contract.launch.document(),
    }


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


def _engine_document(plan: EnginePlan, source_digest: str) -> dict[str, Json]:
    model, operations, guards = plan.model, plan.operations, plan.model.configuration
    tactics = {p.selection.tactic for p in operations if p.selection.tactic is not None}
    return {
        "format_version": FORMAT_ENGINE,
        "target": TARGET,
        "wave_size": WAVE_SIZE,
        "required_rocm": {"minimum": "7.0", "code_object_version": 6},
        "model_configuration_hash": model.configuration_hash,
        "checkpoint_hash": plan.checkpoint_hash,
        "deployment_guards": {key: guards[key] for key in GUARD_FIELDS.split() if key in guards},
        "tensor_parallel": model.tensor_parallel,
        "profiles": [plan.profile.document()],
        "operations": [_operation_document(p) for p in operations],
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
        "compiler": {"name": COMPILER_NAME, "version": __version__, "source_hash": source_digest},
        "golden_artifacts": [artifact.document() for artifact in plan.golden],
        "artifact_files": list(ARTIFACT_FILES),
    }


def _operation_document(plan: OperationPlan) -> dict[str, Json]:
    selection, contract, kernel = plan.selection, plan.selection.contract, plan.selection.kernel
    record: dict[str, Json] = {
        "index": plan.index,
        "name": plan.operation.name,
        "kind": plan.operation.kind,
        "contract_id": contract.id if contract else None,
        "tactic": selection.tactic,
        "maturity": contract.maturity if contract else None,
        "artifact_kind": contract.artifact_kind if contract else None,
        "execution": selection.execution,
        "fallback": selection.fallback,
        **_launch(plan),
    }
    if kernel is not None:
        record["hsaco"] = kernel.hsaco_path
        record["kernarg_size"] = kernel.kernarg_size
        record["arguments"] = [dict(argument) for argument in plan.arguments]
    if isinstance(kernel, GoldenContract):
        record["hsaco_sha256"] = kernel.hsaco_sha256
    if plan.operation.kind == "server_fallback":
        record["external_contract"] = lower(plan.operation.attributes)
    return record


def _launch(plan: OperationPlan) -> dict[str, Json]:
    """Return what engine.json and graph_recipe.json both say of an operation."""
    operation, contract = plan.operation, plan.selection.contract
    launch = contract.launch if contract else None
    return {
        "kernel_symbol": plan.selection.symbol,
        "launch": launch.document() if launch else None,
        "bindings": {"inputs": list(operation.inputs), "outputs": list(operation.outputs)},
        "workspace_offset": plan.workspace_offset,
    }


def kernel_symbols(plan: EnginePlan) -> list[str]:
    """Return the sorted symbols of every kernel operation."""
    return sorted({p.selection.symbol for p in plan.operations if p.selection.symbol is not None})


def graph_recipe_document(plan: EnginePlan) -> dict[str, Json]:
    """Return graph_recipe.json: the launch order that a graph capture has to keep."""
    return {
        "format": FORMAT_GRAPH_RECIPE,
        "profile": plan.profile.name,
        "capture_at_initialization": True,
        "portable_serialized_hip_graph": False,
        "operations": [
            {
                "index": p.index,
                "depends_on": list(waits),
                "execution": p.selection.execution,
                **_launch(p),
            }
            for p, waits in zip(plan.operations, plan.depends_on, strict=True)
        ],
    }
