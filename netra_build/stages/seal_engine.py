"""Seal of the engine: ``netra.json``, the digest of every file and how the engine was made."""

from __future__ import annotations

from netra_build.asm.toolchain import Toolchain
from netra_build.core.canonical_json import parse_object, pretty_bytes
from netra_build.core.digests import content_digest
from netra_build.core.graph import Inputs, Outputs, Parameters, Stage

FORMAT = "netra-engine-seal-1"


def run(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
    """Return ``netra.json`` under the role ``seal``.

    Inputs: every other file of the engine directory by its name there, and reports that lie
    outside it as ``closure:SYMBOL``, ``conform:SYMBOL`` and ``golden:SYMBOL``. Parameters:
    ``recipe`` (as normalised), ``symbols``, ``not_pinned``.
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
    return {"seal": pretty_bytes(seal)}


def _kernel(symbol: str, inputs: Inputs) -> dict[str, object]:
    """Return code identities and verdicts of one kernel."""
    closure = parse_object(inputs[f"closure:{symbol}"], symbol)
    row: dict[str, object] = {
        "symbol": symbol,
        "source_closure_sha256": closure["source_closure_sha256"],
        "computational_identity": closure["computational_identity"],
        "conformity": "passed" if f"conform:{symbol}" in inputs else "not_run",
        "equivalence": "not_run",
    }
    report = inputs.get(f"metadata/{symbol}.equivalence.json")
    if report is not None:
        row["equivalence"] = parse_object(report, symbol)["verdict"]
    row["static_checks"] = _checks(inputs.get(f"metadata/{symbol}.checks.json"), symbol)
    row["numerics"] = _numerics(inputs.get(f"metadata/{symbol}.numerics.json"), symbol)
    golden = inputs.get(f"golden:{symbol}")
    if golden is not None:
        row["golden"] = parse_object(golden, symbol)
    return row


def _checks(report: bytes | None, symbol: str) -> str:
    if report is None:
        return "not_run"
    return "failed" if parse_object(report, symbol)["counts"]["error"] else "passed"


def _numerics(report: bytes | None, symbol: str) -> dict[str, object]:
    """Return verdict, scope and the digest of the ``.text`` that was run."""
    if report is None:
        return {"verdict": "not_run"}
    found = parse_object(report, symbol)
    return {name: found[name] for name in ("verdict", "scope", "text_sha256")}


def _digest(data: bytes) -> dict[str, object]:
    digest = content_digest(data)
    return {"sha256": digest.sha256, "blake3": digest.blake3, "size_bytes": digest.size_bytes}


STAGE = Stage("engine_seal", "SEALED", __name__, run, uses_tools=True)
