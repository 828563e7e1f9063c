"""The files of a published engine directory, from its plan; engine.json is in ``manifest``."""

from __future__ import annotations

from netra_build.core.canonical_json import Json, lower, plain_canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.formats.plan import Candidate, EnginePlan, KernelInstance
from netra_build.formats.vocabulary import (
    FORMAT_CONTRACTS,
    FORMAT_GRAPH_RECIPE,
    FORMAT_VALIDATION,
    KIND_TEMPLATE,
)
from netra_build.plan.instances import INCLUDES, unit_source
from netra_build.plan.manifest import (
    ARTIFACT_FILES,
    bindings_document,
    engine_document,
    kernel_symbols,
    launch_document,
    source_hash,
    with_engine_id,
)

VALIDATION_PLAN = "validation_plan.json"
SOURCE_DOCUMENTS = tuple(name for name in ARTIFACT_FILES if name != VALIDATION_PLAN)
COMMANDS = (
    "bash tools/compiler/build_engine_gfx950.sh ENGINE_DIR",
    "python3 -m netra_compiler.cli validate --engine ENGINE_DIR --static"
    " --library-root LIBRARY_ROOT",
)


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
    manifest = with_engine_id(engine_document(plan, source_hash(digests)))
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
        VALIDATION_PLAN: validation_document(plan),
        "explain.json": explain_document(plan),
    }


def contracts_document(plan: EnginePlan) -> dict[str, Json]:
    """Return contracts.json: one record per id, the later operation's where they share one."""
    contracts = (p.selection.contract for p in plan.operations)
    records = {contract.id: contract for contract in contracts if contract is not None}
    return {
        "format": FORMAT_CONTRACTS,
        "contracts": [records[key].document() for key in sorted(records)],
    }


def explain_document(plan: EnginePlan) -> dict[str, Json]:
    """Return explain.json; equal requests share their list of candidates."""
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


def validation_document(plan: EnginePlan) -> dict[str, Json]:
    """Return validation_plan.json as planned, without any evidence."""
    not_run = ("cross_assembly", "hardware", "real_checkpoint_correctness")
    later = ("graph_replay", "matched_server_ab")
    return {
        "format": FORMAT_VALIDATION,
        "static": "pending",
        **dict.fromkeys(not_run + later, "not_run"),
        "promotion_eligible": False,
        "candidates": [
            *(candidate_document(kernel) for kernel in plan.kernels),
            *({**candidate_document(kernel), "selected": False} for kernel in plan.candidates),
        ],
        "golden_artifacts": [artifact.document() for artifact in plan.golden],
        "commands": list(COMMANDS),
    }


def candidate_document(kernel: KernelInstance) -> dict[str, Json]:
    """Return the candidate record of one kernel in validation_plan.json."""
    tactic, contract = kernel.tactic, kernel.contract
    return {
        "tactic": tactic.name,
        "tactic_id": tactic.stable_id,
        "contract_id": contract.id,
        "maturity": tactic.maturity,
        "selected": True,
        "artifact_kind": KIND_TEMPLATE,
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
                "kernel_symbol": p.selection.symbol,
                "launch": launch_document(p),
                "bindings": bindings_document(p),
                "workspace_offset": p.workspace_offset,
            }
            for p, waits in zip(plan.operations, plan.depends_on, strict=True)
        ],
    }
