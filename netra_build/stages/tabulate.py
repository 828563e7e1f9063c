"""Tabulate: join equivalence reports into one, for readers and for later checks."""

from __future__ import annotations

from typing import Any

from netra_build.asm.objects.listings import difference_lines
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.canonical_json import Json, parse_object, pretty_bytes
from netra_build.core.texts import table_text

FORMAT = "netra-equivalence-summary-1"


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the summary under the role ``summary``; inputs are reports by tactic and variant.

    The parameter ``files`` names the other files of the product that the summary seals. They are
    inputs as well, so that all of them exist before it.
    """
    names = sorted(parameters.get("files", []))
    reports = {name: data for name, data in inputs.items() if name not in names}
    rows = [_row(name, parse_object(data, name)) for name, data in sorted(reports.items())]
    differing = sum(row["verdict"] != "identical" for row in rows)
    summary = {
        "format": FORMAT,
        "compared": len(rows),
        "differing": differing,
        "tactics": rows,
        "files": names,
    }
    return {"summary": pretty_bytes(summary)}


def _row(name: str, report: dict[str, Json]) -> dict[str, Json]:
    return {
        "tactic": name,
        "verdict": report["verdict"],
        "text_sha256": report["generated_text_sha256"],
        "golden_text_sha256": report["golden_text_sha256"],
        "first_difference": report["first_difference"],
    }


def summary_text(summary: dict[str, Json]) -> str:
    """Return the summary as a table, each difference below it with both sides decoded."""
    rows = [(row["tactic"], row["verdict"], row["text_sha256"][:16]) for row in summary["tactics"]]
    lines = [table_text(("tactic", "verdict", ".text sha256"), rows)]
    for row in summary["tactics"]:
        if row["verdict"] != "identical":
            lines += [f"{row['tactic']}: {row['verdict']}", *difference_lines(row)]
    lines.append(f"{summary['compared']} compared, {summary['differing']} differing")
    return "\n".join(lines)


STAGE = Stage("tabulate", "TABLE", __name__, run)
