"""Findings as text, JSON and SARIF 2.1.0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from netra_build.checkasm.hazards.findings import RULES, SEVERITIES, Finding
from netra_build.core.canonical_json import Json

JSON_FORMAT = "netra-check-1"
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def text_report(findings: Sequence[Finding], label: str) -> str:
    """Return one line per finding, its hint below it, and a last line of counts."""
    lines = []
    for finding in findings:
        lines.append(f"{label}: {finding.line()}")
        if finding.hint:
            lines.append(f"hint: {finding.hint}")
    counts = count_by_severity(findings)
    total = ", ".join(f"{counts[severity]} {severity}s" for severity in SEVERITIES)
    return "\n".join([*lines, f"{label}: {total}"])


def count_by_severity(findings: Sequence[Finding]) -> dict[str, int]:
    """Return how many findings there are of each severity."""
    counts = Counter(finding.severity for finding in findings)
    return {severity: counts[severity] for severity in SEVERITIES}


def json_report(findings: Sequence[Finding], label: str) -> Json:
    """Return the findings as a JSON document of format ``netra-check-1``."""
    return {
        "format": JSON_FORMAT,
        "object": label,
        "counts": count_by_severity(findings),
        "findings": [asdict(finding) for finding in findings],
    }


def sarif_report(findings: Sequence[Finding], label: str, version: str) -> Json:
    """Return the findings as a SARIF 2.1.0 log; addresses are absolute in the code object."""
    rule_index = {rule.id: number for number, rule in enumerate(RULES)}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "netra check",
                        "version": version,
                        "rules": [_sarif_rule(number) for number in range(len(RULES))],
                    }
                },
                "artifacts": [{"location": {"uri": label}}],
                "results": [
                    _sarif_result(finding, rule_index[finding.rule], label) for finding in findings
                ],
            }
        ],
    }


def _sarif_rule(number: int) -> Json:
    rule = RULES[number]
    entry: dict[str, Json] = {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": rule.severity},
    }
    if rule.hint:
        entry["help"] = {"text": rule.hint}
    return entry


def _sarif_result(finding: Finding, rule_index: int, label: str) -> Json:
    physical: dict[str, Json] = {"artifactLocation": {"uri": label, "index": 0}}
    if finding.pc is not None:
        physical["address"] = {"absoluteAddress": finding.pc, "kind": "instruction"}
    message = finding.message
    if finding.instruction:
        message = f"{message} [{finding.instruction}]"
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": finding.severity,
        "message": {"text": message},
        "locations": [
            {
                "physicalLocation": physical,
                "logicalLocations": [{"name": finding.kernel, "kind": "function"}],
            }
        ],
    }
