"""How far a validation plan has come, derived from the reports that lie beside it."""

from __future__ import annotations

from netra_build.core.canonical_json import Json
from netra_build.formats.fields import Fields
from netra_build.inspect.validate.engine_folder import SEAL, EngineFolder
from netra_build.stages.engine_documents import (
    cross_assembly,
    equivalence_status,
    static_status,
)

PLAN = "validation_plan.json"
NOT_RUN = "not_run_for_generated_symbol"


def check_progress(engine: EngineFolder, plan: Fields, *, is_built: bool) -> None:
    """Raise ``BadInput`` for a status that the reports of the engine do not carry."""
    candidates = list(plan.objects("candidates"))
    stems = [f"metadata/{item.text('symbol')}" for item in candidates]
    for candidate, stem in zip(candidates, stems, strict=True):
        _check_candidate(engine, candidate, f"{stem}.equivalence.json")
    checks = [f"{stem}.checks.json" for stem in stems if engine.has(f"{stem}.checks.json")]
    is_ours = engine.has(SEAL) or bool(checks)
    static = static_status([engine.document(name) for name in checks]) if is_ours else "pending"
    _hold(plan, "static", [static])
    if is_ours:
        crossed = [cross_assembly([item.value for item in candidates])]
    elif candidates:
        crossed = ["passed" if is_built else "not_run"]
    else:
        crossed = ["not_run", "not_applicable"]
    _hold(plan, "cross_assembly", crossed)


def _check_candidate(engine: EngineFolder, candidate: Fields, name: str) -> None:
    if engine.has(name):
        verdict = str(engine.document(name)["verdict"])
        _hold(candidate, "equivalence_status", [equivalence_status(verdict)])
        _hold(candidate, "equivalence_report", [name])
    else:
        _hold(candidate, "equivalence_status", [NOT_RUN])
        if "equivalence_report" in candidate.value:
            candidate.refuse(f'report "{name}" is missing', "equivalence_report")


def _hold(fields: Fields, key: str, expected: list[Json]) -> None:
    if fields.get(key) not in expected:
        fields.refuse(
            f'"{key}" differs from the reports', key, expected=expected[0], got=fields.get(key)
        )
