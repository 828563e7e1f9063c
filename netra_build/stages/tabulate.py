"""Tabulate: gather equivalence reports into one, for people and for gates."""

from __future__ import annotations

from typing import Any

from netra_build.core.canonical_json import Json, parse_object, pretty_bytes
from netra_build.core.graph import Inputs, Outputs, Parameters, Stage

FORMAT = "netra-equivalence-summary-1"


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the summary under the role ``summary``; inputs are reports by tactic and variant."""
    rows = [_row(name, parse_object(data, name)) for name, data in sorted(inputs.items())]
    differing = sum(row["verdict"] != "identical" for row in rows)
    summary = {"format": FORMAT, "compared": len(rows), "differing": differing, "tactics": rows}
    return {"summary": pretty_bytes(summary)}


def _row(name: str, report: dict[str, Json]) -> dict[str, Json]:
    return {
        "tactic": name,
        "verdict": report["verdict"],
        "text_sha256": report["generated_text_sha256"],
        "golden_text_sha256": report["golden_text_sha256"],
        "first_difference": report["first_difference"],
    }


STAGE = Stage("tabulate", "TABLE", __name__, run)
