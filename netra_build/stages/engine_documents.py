"""Documents of an engine directory: as planned, or completed with results of the build.

The build adds the digest of every code object to the manifest and the results of all reports to
the validation plan. The last document, the seal ``netra.json``, states the digest of every file
and how the engine was made. Files of the library are copied as they are.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import (
    Json,
    canonical_bytes,
    parse_object,
    pretty_bytes,
    stable_hash,
)
from netra_build.core.digests import blake3_hex, sha256_hex
from netra_build.core.errors import EvidenceIncomplete

SEAL_FORMAT = "netra-engine-seal-1"
RAN = ("verdict", "scope", "text_sha256")
"""What the seal says of a simulation, with the digest of the ``.text`` that was run."""


def copy_files(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return every input unchanged, under the same role."""
    return dict(inputs)


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
    checks = [parse_object(d, role) for role, d in inputs.items() if role.startswith("checks:")]
    plan["static"] = static_status(checks)
    plan["cross_assembly"] = cross_assembly(plan["candidates"])
    return {"document": canonical_bytes(plan)}


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


def seal_engine(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``netra.json`` under the role ``seal``.

    Inputs: every other file of the engine directory by its name there, and reports that lie
    outside it as ``closure:SYMBOL``, ``conform:SYMBOL`` and ``golden:SYMBOL``. Parameters:
    ``recipe`` (as normalised), ``symbols``, ``not_pinned``.
    ``seal_sha256`` is the digest of everything else in the seal.
    """
    files = {name: data for name, data in inputs.items() if ":" not in name}
    engine = parse_object(inputs["engine.json"], "engine.json")
    seal = {
        "format": SEAL_FORMAT,
        "engine_id": engine["engine_id"],
        "recipe": parameters["recipe"],
        "toolchain": tools.identity(),
        "kernels": [_kernel(symbol, inputs) for symbol in parameters["symbols"]],
        "not_pinned": parameters["not_pinned"],
        "files": {name: _digests(data) for name, data in files.items()},
    }
    return {"seal": pretty_bytes({**seal, "seal_sha256": seal_digest(seal)})}


def seal_digest(seal: Mapping[str, Json]) -> str:
    """Return the SHA-256 of a seal's canonical JSON, its own digest left out."""
    return stable_hash({key: value for key, value in seal.items() if key != "seal_sha256"})


def _kernel(symbol: str, inputs: Inputs) -> dict[str, Json]:
    """Return code identities and verdicts of one kernel."""
    if f"conform:{symbol}" not in inputs:
        raise EvidenceIncomplete(f"{symbol} has no conform report")
    closure = parse_object(inputs[f"closure:{symbol}"], symbol)
    equivalence, checks, numerics = (
        parse_object(inputs[name], symbol) if name in inputs else None
        for kind in ("equivalence", "checks", "numerics")
        for name in [f"metadata/{symbol}.{kind}.json"]
    )
    row = {
        "symbol": symbol,
        "source_closure_sha256": closure["source_closure_sha256"],
        "computational_identity": closure["computational_identity"],
        "conformity": "passed",
        "equivalence": "not_run" if equivalence is None else equivalence["verdict"],
        "static_checks": _checks(checks),
        "numerics": {name: numerics[name] for name in RAN} if numerics else {"verdict": "not_run"},
    }
    golden = inputs.get(f"golden:{symbol}")
    return row if golden is None else {**row, "golden": parse_object(golden, symbol)}


def _checks(report: dict[str, Json] | None) -> str:
    if report is None:
        return "not_run"
    return "failed" if report["counts"]["error"] else "passed"


def _digests(data: bytes) -> dict[str, Json]:
    return {"sha256": sha256_hex(data), "blake3": blake3_hex(data), "size_bytes": len(data)}


COPY = Stage("copy", "COPY", __name__, copy_files, is_kept=False)
EMIT = Stage("emit", "EMIT", __name__, emit, is_kept=False)
MANIFEST = Stage("engine", "ENGINE", __name__, emit_manifest)
VALIDATION = Stage("validation", "VALID", __name__, emit_validation)
SEAL = Stage("engine_seal", "SEALED", __name__, seal_engine, uses_tools=True)
