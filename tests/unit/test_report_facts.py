"""What the report reads from the files of a product, and what it takes from nobody's word."""

from __future__ import annotations

from typing import Any

import pytest
from report_samples import CHECKS, EQUIVALENCE, NUMERICS, OTHER_SHA256, UP_SCORED, documents, sealed

from netra_build.checkasm.mutate.document import KernelScore, Record
from netra_build.checkasm.mutate.mutant import CHECKS as CHECKS_OF_MUTANTS
from netra_build.core.errors import BadInput
from netra_build.inspect.report.facts import OPEN, PROVEN, REFUTED, Claim, SealFacts, verdict_of
from netra_build.inspect.report.page import read_scores
from netra_build.inspect.report.read_product import read_facts

OTHER = Claim(REFUTED, "of other code", "The report speaks of another .text than this one.")
NOT_BUILT = Claim(OPEN, "not built", "The code object is not here.")


def facts_with(**changed: Any):
    """Return the facts of the sample with files replaced; None takes one away."""
    files = documents() | {f"metadata/two.{key.replace('_', '.')}": v for key, v in changed.items()}
    return read_facts(sealed({name: v for name, v in files.items() if v is not None}), "here")


def test_kernels_are_read_from_the_code_object_and_its_listing():
    (code,) = read_facts(sealed(documents()), "here").objects
    first, second = code.kernels
    data = first.metadata
    assert (first.symbol, first.code_bytes, data.vgpr_count, data.sgpr_count) == (
        "sample_first",
        40,
        20,
        22,
    )
    assert (data.group_segment_fixed_size, data.kernarg_segment_size) == (512, 24)
    assert data.max_flat_workgroup_size == 256
    assert {name: n for name, n in first.mix.items() if n} == {
        "SMEM": 1,
        "VALU": 1,
        "waits": 1,
        "VMEM": 1,
        "SALU": 2,
        "MFMA": 1,
    }
    assert (first.waves, first.limit) == (8, "")
    data = second.metadata
    assert (data.vgpr_count, data.private_segment_fixed_size) == (100, 16)
    assert (second.waves, second.limit) == (4, "VGPRs")
    assert (second.instructions, second.label) == (2, "down/wide")
    assert code.templates == ("generated/includes/leaf.inc", "generated/includes/common.inc")
    assert code.goldens == ("generated/golden/two.s",)


def test_operations_say_what_runs_them_and_why():
    up, host = read_facts(sealed(documents()), "here").operations
    assert (up.symbol, up.grid, up.block, up.reasons) == ("sample_first", (4, 1, 1), (64, 1, 1), ())
    assert (host.symbol, host.fallback) == (None, "framework.host")
    assert host.reasons == ("gfx950.host: rows too many, no pin",)


def test_claims_are_those_of_the_reports():
    (code,) = read_facts(sealed(documents()), "here").objects
    said = ".text, kernel descriptor and metadata equal those of the golden source."
    assert code.equivalence == Claim(PROVEN, "identical", said)
    said = "Waits, hazards, registers and kernargs: 0 errors, 0 warnings."
    assert code.checks == Claim(PROVEN, "passed", said)
    said = "2 launches, 2,048 outputs compared, none differs."
    assert code.kernels[0].numerics == Claim(PROVEN, "simulated", said)


def differing(count: int) -> dict[str, Any]:
    row = {"label": "up/random/1", "elements": 5, "differing": count, "wave_instructions": 1}
    return {**NUMERICS, "runs": [row]}


@pytest.mark.parametrize(
    ("report", "claim"),
    [
        (None, Claim(OPEN, "not compared", "There is no golden source to compare with.")),
        (EQUIVALENCE | {"generated_text_sha256": OTHER_SHA256}, OTHER),
        (
            EQUIVALENCE | {"verdict": "descriptor_differs"},
            Claim(REFUTED, "descriptor differs", "It differs from the golden source."),
        ),
        (
            {"generated_text_sha256": EQUIVALENCE["generated_text_sha256"]}
            | {"text_byte_identical": False},
            Claim(REFUTED, "text differs", "It differs from the golden source."),
        ),
    ],
)
def test_equivalence_counts_for_the_text_that_it_names(report, claim):
    (code,) = facts_with(equivalence_json=report).objects
    assert code.equivalence == claim


@pytest.mark.parametrize(
    ("report", "claim"),
    [
        (None, Claim(OPEN, "not run", "The static checks have not been run.")),
        (
            CHECKS | {"counts": {"error": 2, "warning": 1}},
            Claim(REFUTED, "2 errors", "2 errors, 1 warning."),
        ),
        (
            CHECKS | {"counts": {"error": 0, "warning": 1}},
            Claim(
                PROVEN,
                "passed, 1 warning",
                "Waits, hazards, registers and kernargs: 0 errors, 1 warning.",
            ),
        ),
    ],
)
def test_static_checks_pass_without_an_error(report, claim):
    (code,) = facts_with(checks_json=report).objects
    assert code.checks == claim


@pytest.mark.parametrize(
    ("report", "claim"),
    [
        (None, Claim(OPEN, "not run", "It has not been run against a numeric contract.")),
        (NUMERICS | {"text_sha256": OTHER_SHA256}, OTHER),
        (NUMERICS | {"runs": []}, Claim(OPEN, "nothing run", "The report holds no launch.")),
        (differing(3), Claim(REFUTED, "differs", "1 launch, 5 outputs compared, 3 differ.")),
        (
            differing(0) | {"verdict": "failed"},
            Claim(REFUTED, "differs", "1 launch, 5 outputs compared, 0 differ."),
        ),
    ],
)
def test_numerics_count_for_the_text_that_they_name(report, claim):
    (code,) = facts_with(**{"0_numerics_json": report}).objects
    assert code.kernels[0].numerics == claim


def test_a_code_object_that_is_not_here_is_not_proven_by_its_reports():
    files = {name: item for name, item in documents().items() if name != "hsaco/two.hsaco"}
    facts = read_facts(sealed(files), "here")
    (code,) = facts.objects
    assert (code.equivalence, code.checks, code.kernels) == (NOT_BUILT, NOT_BUILT, ())
    assert verdict_of(facts).state == OPEN


@pytest.mark.parametrize(
    ("name", "key", "most"),
    [("engine.json", "operations", 65536), ("validation_plan.json", "candidates", 4096)],
)
def test_a_list_that_no_product_has_is_refused(name, key, most):
    files = documents()
    files[name][key] = files[name][key] * (most + 1)
    count = len(files[name][key])
    with pytest.raises(BadInput) as caught:
        read_facts(sealed(files), "here")
    assert str(caught.value) == (
        f"{name}#/{key}: list is too long for a page; expected at most {most}, got {count}"
    )


def test_the_seal_is_held_against_the_files():
    files = sealed(documents())
    assert read_facts(files, "here").seal == SealFacts("netra.json", (), (), ())
    files["generated/two.s"] = b"other\n"
    files["extra"] = b""
    del files["metadata/two.dis"]
    wanted = SealFacts("netra.json", ("generated/two.s",), ("metadata/two.dis",), ("extra",))
    facts = read_facts(files, "here")
    assert facts.seal == wanted
    assert not facts.seal.holds
    assert verdict_of(facts).wrong == (
        "generated/two.s is not what the seal says.",
        "metadata/two.dis is named by the seal and not here.",
        "extra is not named by the seal.",
    )


def test_an_edited_seal_does_not_hold():
    files = sealed(documents())
    files["netra.json"] = files["netra.json"].replace(b'"required"', b'"optional"')
    assert read_facts(files, "here").seal.altered == ("netra.json",)


def test_the_page_in_a_package_is_not_of_the_product():
    files = sealed(documents()) | {"report.html": b"<p>"}
    facts = read_facts(files, "here")
    assert facts.seal.holds
    assert "report.html" not in {file.name for file in facts.files}


def test_the_verdict_over_a_whole_product():
    verdict = verdict_of(read_facts(sealed(documents()), "here"))
    assert (verdict.state, verdict.wrong) == (PROVEN, ())
    assert verdict.sentence == (
        "All 2 kernels are equal to the golden source, clean in the static checks and right in "
        "simulation."
    )
    assert verdict.shown == (
        "All 1 code object: byte-identical to the golden source, descriptor included.",
        "All 1 code object: without an error in the static checks.",
        "All 1 code object: right in the functional model.",
        "4 simulated launches, 4,096 outputs compared with the numeric contracts.",
        "Every file has the digest that netra.json names.",
        "Every tactic is pinned by the digests of its sources.",
    )
    assert verdict.missing == (
        "1 operation run by the framework, which is not examined here.",
        "Replay of a captured graph: not run.",
        "Results with a real checkpoint: not compared.",
        "Comparison inside a server: not run.",
        "Hardware: nothing here has run on a GPU.",
    )


def test_one_refuted_claim_makes_the_whole_wrong():
    verdict = verdict_of(facts_with(**{"0_numerics_json": differing(3)}))
    assert verdict.state == REFUTED
    assert verdict.sentence == "Something here is wrong: see below before you use it."
    assert verdict.wrong == ("two: differs. 1 launch, 5 outputs compared, 3 differ.",)


def test_one_open_claim_keeps_the_whole_open():
    verdict = verdict_of(facts_with(equivalence_json=None))
    assert verdict.state == OPEN
    assert verdict.sentence == "Not everything that can be shown without a GPU has been shown."
    assert verdict.missing[0] == "two is not compared with a golden source."


def test_candidates_do_not_count():
    files = documents()
    files["validation_plan.json"]["candidates"][0]["selected"] = False
    verdict = verdict_of(read_facts(sealed(files), "here"))
    assert verdict.state == OPEN
    assert verdict.sentence == (
        "No kernel of ours runs in it: the framework runs all 2 operations."
    )


def test_without_a_seal_nothing_says_which_bytes_belong_here():
    files = {name: data for name, data in sealed(documents()).items() if name != "netra.json"}
    verdict = verdict_of(read_facts(files, "here"))
    assert verdict.state == OPEN
    assert "There is no seal: nothing says which bytes belong here." in verdict.missing


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"a": b""},
            'here: no engine directory and no code objects of a recipe; expected "engine.json" or '
            '"build-result.json", got neither\n'
            "hint: name a folder that scons engine= or recipe= has built",
        ),
        ({"engine.json": b"[]"}, "engine.json: document is not an object"),
        (
            {"engine.json": b"{}"},
            'engine.json: required key "operations" is missing',
        ),
        (
            sealed(documents()) | {"hsaco/two.hsaco": b"MZ"},
            "hsaco/two.hsaco: not a 64-bit little-endian ELF file",
        ),
        (
            sealed(documents()) | {"metadata/two.dis": b"\tnonsense\n"},
            "metadata/two.dis:1: line is no instruction",
        ),
        (
            sealed(documents()) | {"metadata/two.checks.json": b'{"counts":{"error":"2"}}'},
            "metadata/two.checks.json#/counts/error: value has the wrong type; expected integer, "
            "got string",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named(files, message):
    with pytest.raises(BadInput) as caught:
        read_facts(files, "here")
    assert str(caught.value) == message


def test_scores_are_rows_of_the_record_by_specialization():
    down = KernelScore(4, 3, 20, 30, 1, {"static": 17}, ())
    rows = read_scores(Record({**UP_SCORED.kernels, "down/wide": down}, ()).data(), "r")
    assert list(rows) == ["down/wide", "up"]
    assert dict(rows["down/wide"])["ordering score"] == "75.0 %"
    assert rows["up"] == (
        *(("ordering mutants", "8"), ("ordering caught", "8"), ("ordering score", "100.0 %")),
        *(("value mutants", "51"), ("of possible", "60"), ("equivalent", "1")),
        *((check, "49" if check == "numerics" else "0") for check in CHECKS_OF_MUTANTS),
        *(("value caught", "49"), ("value score", "98.0 %")),
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"| kernel | value score |\n|---|---|\n", "r:1:1: not valid JSON"),
        (b"\xff", "r: not valid UTF-8"),
        (b"{}", "r: required key"),
    ],
)
def test_what_is_no_record_of_scores_is_refused(data, why):
    with pytest.raises(BadInput) as refused:
        read_scores(data, "r")
    assert refused.value.line() == "r: file is no record of mutation scores"
    assert refused.value.detail.startswith(why)
