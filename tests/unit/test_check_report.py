"""Findings as text, JSON and SARIF."""

from __future__ import annotations

from pathlib import Path

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.hazards.findings import (
    RULE_BY_ID,
    RULES,
    SEVERITIES,
    json_report,
    make_finding,
    sarif_report,
    sort_findings,
    text_report,
)
from netra_build.checkasm.hazards.hazard_table import ROWS, SOURCES

LOAD = Instruction(0x1604, "s_mov_b32", "s5, s4", (0,), 4, "s_mov_b32 s5, s4")
FINDINGS = sort_findings(
    [
        make_finding("kernarg-unread", "k", "kernarg at offset 8 is never read"),
        make_finding("missing-wait", "k", "reads s4", LOAD),
        make_finding("missing-wait", "k", "reads s4", LOAD),
        make_finding("lds-size", "a", "static LDS is too large"),
    ]
)


def test_text_has_one_line_per_finding_hints_and_counts() -> None:
    """Sorted by kernel and place, without repetition."""
    assert text_report(FINDINGS, "x.hsaco").split("\n") == [
        "x.hsaco: a: error: static LDS is too large (lds-size)",
        "x.hsaco: k: note: kernarg at offset 8 is never read (kernarg-unread)",
        "x.hsaco: k at 0x1604: error: reads s4 (missing-wait) [s_mov_b32 s5, s4]",
        "hint: wait for the load first",
        "x.hsaco: 2 errors, 0 warnings, 1 notes",
    ]


def test_json_holds_every_field() -> None:
    """One record per finding, counts by severity."""
    document = json_report(FINDINGS, "x.hsaco")
    assert document["format"] == "netra-check-1"
    assert document["object"] == "x.hsaco"
    assert document["counts"] == {"error": 2, "warning": 0, "note": 1}
    assert document["findings"][2] == {
        "rule": "missing-wait",
        "severity": "error",
        "kernel": "k",
        "pc": 0x1604,
        "instruction": "s_mov_b32 s5, s4",
        "message": "reads s4",
        "hint": "wait for the load first",
    }


def test_sarif_names_rules_places_and_levels() -> None:
    """What a SARIF 2.1.0 reader looks for."""
    document = sarif_report(FINDINGS, "x.hsaco", "1.2")
    assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("netra check", "1.2")
    assert [rule["id"] for rule in driver["rules"]] == [rule.id for rule in RULES]
    result = run["results"][2]
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "missing-wait"
    assert (result["level"], result["message"]) == (
        "error",
        {"text": "reads s4 [s_mov_b32 s5, s4]"},
    )
    (location,) = result["locations"]
    assert location["logicalLocations"] == [{"name": "k", "kind": "function"}]
    physical = location["physicalLocation"]
    assert physical["address"] == {"absoluteAddress": 0x1604, "kind": "instruction"}
    assert physical["artifactLocation"] == {"uri": "x.hsaco", "index": 0}
    assert "address" not in run["results"][0]["locations"][0]["physicalLocation"]


def test_rules_are_well_formed() -> None:
    """Ids are unique; texts are lower case without a full stop."""
    assert len(RULE_BY_ID) == len(RULES)
    for rule in RULES:
        assert rule.severity in SEVERITIES
        assert rule.summary
        assert not rule.summary.endswith(".")
        assert not rule.hint.endswith(".")


def test_document_lists_the_rules_of_the_program(root: Path) -> None:
    """The table in docs/checks.md is the one that the rules give."""
    text = (root / "docs/checks.md").read_text(encoding="utf-8")
    rows = [f"| `{rule.id}` | {rule.severity} | {rule.summary} |" for rule in RULES]
    table = "\n".join(["| rule | severity | what it says |", "|---|---|---|", *rows])
    assert text.partition("<!-- rules -->\n")[2].partition("\n<!-- end -->")[0] == table


def test_documentation_says_where_every_hazard_row_comes_from(root: Path) -> None:
    """Source, first version and states of each row stand in the documentation."""
    lines = ["| source | since | rows: wait states |", "|---|---|---|"]
    for name, (where, since) in SOURCES.items():
        rows = ", ".join(f"`{row.id}`: {row.states}" for row in ROWS if row.source == name)
        lines.append(f"| {where} | {since} | {rows} |")
    text = (root / "docs/checks.md").read_text(encoding="utf-8")
    table = text.partition("<!-- hazard rows -->\n")[2].partition("\n<!-- end -->")[0]
    assert table == "\n".join(lines)
