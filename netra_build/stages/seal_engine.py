"""Seal of the engine: ``netra.json``, the digest of every file and how the engine was made."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import Json, parse_object, pretty_bytes, stable_hash
from netra_build.core.digests import content_digest
from netra_build.core.errors import EvidenceIncomplete

FORMAT = "netra-engine-seal-1"
REPORTS = ("equivalence", "checks", "numerics")


def run(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
    """Return ``netra.json`` under the role ``seal``.

    Inputs: every other file of the engine directory by its name there, and reports that lie
    outside it as ``closure:SYMBOL``, ``conform:SYMBOL`` and ``golden:SYMBOL``. Parameters:
    ``recipe`` (as normalised), ``symbols``, ``not_pinned``.
    ``seal_sha256`` is the digest of everything else in the seal.
    """
    files = {name: data for name, data in inputs.items() if ":" not in name}
    engine = parse_object(inputs["engine.json"], "engine.json")
    seal = {
        "format": FORMAT,
        "engine_id": engine["engine_id"],
        "recipe": parameters["recipe"],
        "toolchain": tools.identity(),
        "kernels": [_kernel(symbol, inputs) for symbol in parameters["symbols"]],
        "not_pinned": parameters["not_pinned"],
        "files": {name: _digest(data) for name, data in files.items()},
    }
    return {"seal": pretty_bytes({**seal, "seal_sha256": seal_digest(seal)})}


def seal_digest(seal: Mapping[str, Json]) -> str:
    """Return the SHA-256 of a seal's canonical JSON, its own digest left out."""
    return stable_hash({key: value for key, value in seal.items() if key != "seal_sha256"})


def _kernel(symbol: str, inputs: Inputs) -> dict[str, Json]:
    closure = parse_object(inputs[f"closure:{symbol}"], symbol)
    digests = {key: closure[key] for key in ("source_closure_sha256", "computational_identity")}
    reports = {
        name: parse_object(inputs[name], symbol)
        for name in (f"metadata/{symbol}.{kind}.json" for kind in REPORTS)
        if name in inputs
    }
    if f"conform:{symbol}" not in inputs:
        raise EvidenceIncomplete(f"{symbol} has no conform report")
    row = _kernel_row(symbol, digests, reports)
    golden = inputs.get(f"golden:{symbol}")
    if golden is not None:
        row["golden"] = parse_object(golden, symbol)
    return row


def _kernel_row(
    symbol: str, digests: Mapping[str, Json], reports: Mapping[str, dict[str, Json]]
) -> dict[str, Json]:
    """Return code identities and verdicts of one kernel; ``reports`` by name in the engine."""
    equivalence, checks, numerics = (
        reports.get(f"metadata/{symbol}.{kind}.json") for kind in REPORTS
    )
    return {
        "symbol": symbol,
        **digests,
        "conformity": "passed",
        "equivalence": "not_run" if equivalence is None else equivalence["verdict"],
        "static_checks": _checks(checks),
        "numerics": _numerics(numerics),
    }


def _checks(report: dict[str, Json] | None) -> str:
    if report is None:
        return "not_run"
    return "failed" if report["counts"]["error"] else "passed"


def _numerics(report: dict[str, Json] | None) -> dict[str, Json]:
    """Return verdict, scope and the digest of the ``.text`` that was run."""
    if report is None:
        return {"verdict": "not_run"}
    return {name: report[name] for name in ("verdict", "scope", "text_sha256")}


def _digest(data: bytes) -> dict[str, object]:
    digest = content_digest(data)
    return {"sha256": digest.sha256, "blake3": digest.blake3, "size_bytes": digest.size_bytes}


STAGE = Stage("engine_seal", "SEALED", __name__, run, uses_tools=True)
