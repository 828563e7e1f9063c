"""Evidence speaks of the bytes that it names, and carries a maturity only for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, EvidenceIncomplete, NetraError, Refused
from netra_build.formats.golden import Evidence, GoldenSource, read_evidence, require_evidence
from netra_build.formats.library import Library

TEXT, OTHER = "1" * 64, "2" * 64
GOLDEN = GoldenSource("t", "", "golden/gfx950/t", "s", {}, {"text_sha256": TEXT})
SIMULATED = {
    "format": "netra-evidence-1",
    "tactic": "t",
    "variant": "",
    "scope": "simulated",
    "text_sha256": TEXT,
    "launches": 3,
    "elements": 30,
    "mismatches": 0,
    "cases": ["random x20", "zeros x1"],
    "notes": "",
}
HARDWARE = SIMULATED | {
    "scope": "hardware",
    "device": "MI350X",
    "hsaco_sha256": OTHER,
    "replays": 20,
}
NUMERICS = {
    "format": "netra-numerics-1",
    "tactic": "t",
    "variant": "",
    "symbol": "s",
    "scope": "simulated",
    "verdict": "passed",
    "text_sha256": TEXT,
    "runs": [
        {"label": "t/random/1", "elements": 10, "differing": 0, "wave_instructions": 5},
        {"label": "t/random/2", "elements": 10, "differing": 0, "wave_instructions": 5},
        {"label": "t/zeros/1", "elements": 10, "differing": 0, "wave_instructions": 5},
    ],
}

WriteTree = Callable[[dict[str, str | bytes]], Path]


def library(write_tree: WriteTree, *records: dict) -> Library:
    """Return a library that keeps these records."""
    files = {f"evidence/gfx950/{r['tactic']}.{r['scope']}.json": json.dumps(r) for r in records}
    return Library(write_tree(files or {"empty": ""}), RealDisk())


def refusal(kind: type[NetraError], document: object) -> str:
    """Return the message of a refused record."""
    with pytest.raises(kind) as caught:
        read_evidence(json.dumps(document).encode(), "e.json")
    return str(caught.value)


def test_a_numeric_report_becomes_simulated_evidence() -> None:
    assert read_evidence(json.dumps(NUMERICS).encode(), "e.json") == Evidence(
        tactic="t",
        variant="",
        scope="simulated",
        text_sha256=TEXT,
        launches=3,
        elements=30,
        mismatches=0,
        cases=("random x2", "zeros x1"),
        notes="functional model; not run on hardware",
    )


def test_hardware_evidence_is_read_whole() -> None:
    evidence = read_evidence(json.dumps(HARDWARE).encode(), "e.json")
    assert (evidence.device, evidence.hsaco_sha256, evidence.replays) == ("MI350X", OTHER, 20)
    assert evidence.document() == HARDWARE


@pytest.mark.parametrize(
    ("document", "kind", "message"),
    [
        (
            SIMULATED | {"mismatches": 1},
            Refused,
            "e.json#/mismatches: evidence records mismatches; expected 0, got 1",
        ),
        (
            SIMULATED | {"device": "MI350X"},
            BadInput,
            'e.json: unknown key "device"\nhint: known names: $schema, cases, elements, format, '
            "launches, mismatches, notes, scope, tactic, text_sha256, variant",
        ),
        (
            {k: v for k, v in HARDWARE.items() if k != "device"},
            BadInput,
            'e.json: required key "device" is missing',
        ),
    ],
)
def test_refused_records(document: object, kind: type[NetraError], message: str) -> None:
    assert refusal(kind, document) == message


@pytest.mark.parametrize("maturity", ["verified", "accepted"])
def test_hardware_evidence_carries_every_maturity(write_tree: WriteTree, maturity: str) -> None:
    assert require_evidence(library(write_tree, HARDWARE), GOLDEN, maturity) is None


def test_simulated_evidence_carries_verified_only(write_tree: WriteTree) -> None:
    kept = library(write_tree, SIMULATED)
    assert require_evidence(kept, GOLDEN, "verified") is None
    with pytest.raises(EvidenceIncomplete) as caught:
        require_evidence(kept, GOLDEN, "accepted")
    assert str(caught.value) == (
        "evidence/gfx950: t cannot be accepted without hardware evidence of its .text\n"
        "hint: netra evidence add FILE brings it"
    )


def test_evidence_of_other_bytes_is_refused(write_tree: WriteTree) -> None:
    with pytest.raises(Refused) as caught:
        require_evidence(
            library(write_tree, SIMULATED | {"text_sha256": OTHER}), GOLDEN, "verified"
        )
    assert str(caught.value) == (
        "evidence/gfx950/t.simulated.json: evidence of t speaks of another .text; "
        f"expected {TEXT}, got {OTHER}\n"
        "hint: run the kernel again and netra evidence add the new report"
    )


def test_missing_evidence_is_incomplete(write_tree: WriteTree) -> None:
    with pytest.raises(EvidenceIncomplete) as caught:
        require_evidence(library(write_tree), GOLDEN, "verified")
    assert caught.value.fact == "t cannot be verified without evidence of its .text"


def test_simulated_evidence_of_few_seeds_is_incomplete(write_tree: WriteTree) -> None:
    few = library(write_tree, SIMULATED | {"cases": ["random x19"]})
    with pytest.raises(EvidenceIncomplete) as caught:
        require_evidence(few, GOLDEN, "verified")
    assert str(caught.value) == (
        "evidence/gfx950/t.simulated.json: simulated evidence has too few seeds; "
        "expected at least 20, got 19\nhint: scons check-numerics tactic=t makes a report of 50"
    )
