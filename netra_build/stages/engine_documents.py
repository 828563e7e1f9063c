"""Documents of an engine directory: as planned, or completed with results of the build.

The build adds the digest of every code object to the manifest, and the results of all reports to
the validation plan.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import canonical_bytes, parse_object, stable_hash
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import EvidenceIncomplete


def emit(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the parameter ``document`` under the role ``document``."""
    return {"document": canonical_bytes(parameters["document"])}


def emit_manifest(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``engine.json`` under the role ``document``.

    Inputs are the code objects by their name inside the engine directory. Every kernel
    operation gains ``hsaco_sha256``, and the id is recomputed (published format, section 9.2).
    """
    engine = copy.deepcopy(parameters["document"])
    for operation in engine["operations"]:
        if operation.get("hsaco") in inputs:
            operation["hsaco_sha256"] = sha256_hex(inputs[operation["hsaco"]])
    engine.pop("engine_id", None)
    engine["engine_id"] = "ne_" + stable_hash(engine)[:24]
    return {"document": canonical_bytes(engine)}


def emit_validation(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``validation_plan.json`` under the role ``document``.

    Inputs: ``conform:``, ``checks:`` and, with a golden source, ``equivalence:SYMBOL``
    reports. ``cross_assembly`` is ``passed`` only when every candidate has an identical
    verdict; with no candidate it is ``not_applicable``, and candidates without a golden source
    leave it ``not_run``. ``static`` stays ``pending`` where the static checks find errors.
    """
    plan = copy.deepcopy(parameters["document"])
    for candidate in plan["candidates"]:
        symbol = candidate["symbol"]
        for kind in ("conform", "checks"):
            if f"{kind}:{symbol}" not in inputs:
                raise EvidenceIncomplete(f"{symbol} has no {kind} report")
        report = inputs.get(f"equivalence:{symbol}")
        if report is not None:
            verdict = parse_object(report, symbol)["verdict"]
            candidate["equivalence_status"] = equivalence_status(verdict)
            candidate["equivalence_report"] = f"metadata/{symbol}.equivalence.json"
    plan["static"] = static_status([parse_object(d, r) for r, d in inputs.items() if _is_checks(r)])
    plan["cross_assembly"] = cross_assembly(plan["candidates"])
    return {"document": canonical_bytes(plan)}


def _is_checks(role: str) -> bool:
    return role.startswith("checks:")


def equivalence_status(verdict: str) -> str:
    """Return the published word for a verdict of the equivalence stage."""
    return "text_byte_identical" if verdict == "identical" else verdict


def static_status(reports: Sequence[dict[str, Any]]) -> str:
    """Return the ``static`` status that follows from the reports of the static checks."""
    if not reports:
        return "not_applicable"
    return "pending" if any(report["counts"]["error"] for report in reports) else "passed"


def cross_assembly(candidates: Sequence[dict[str, Any]]) -> str:
    """Return the ``cross_assembly`` status that follows from the candidates' equivalence."""
    if not candidates:
        return "not_applicable"
    proven = [c.get("equivalence_status") == "text_byte_identical" for c in candidates]
    return "passed" if all(proven) else "not_run"


EMIT = Stage("emit", "EMIT", __name__, emit, is_kept=False)
MANIFEST = Stage("engine", "ENGINE", __name__, emit_manifest)
VALIDATION = Stage("validation", "VALID", __name__, emit_validation)
