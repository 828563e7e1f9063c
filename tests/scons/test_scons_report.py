"""The report of a real engine: made by the graph, the same from the command."""

from __future__ import annotations

import pytest
from html_document import Element, faults, read_html
from project import ENGINE, Project

PAGE = f"build/reports/{ENGINE}.html"


@pytest.fixture(scope="module")
def document(reported: Project) -> Element:
    return read_html((reported.folder / PAGE).read_bytes())


def test_a_second_run_has_nothing_to_do(reported):
    done = reported.scons("report", f"engine={ENGINE}")
    assert (done.status, done.actions) == (0, [])


def test_the_command_makes_the_same_page(reported, tmp_path):
    done = reported.netra("report", f"build/engines/{ENGINE}", "--out", str(tmp_path / "page.html"))
    assert done.status == 0, done.errors
    page = (tmp_path / "page.html").read_bytes()
    assert page == (reported.folder / PAGE).read_bytes()
    assert str(reported.folder).encode() not in page


def test_the_page_says_what_the_engine_is(document):
    assert faults(document) == []
    assert document.all("h1")[0].text() == ENGINE
    verdict = next(d for d in document.all("div") if "verdict" in d.attributes.get("class", ""))
    assert verdict.text().startswith(
        "✓All 3 kernels are equal to the golden source, clean in the static checks and right in "
        "simulation.Nothing here was measured on a GPU."
    )
    proofs = document.all("table")[0].rows()
    assert [row[1:] for row in proofs] == [
        ["✓ identical", "✓ passed", "✓ simulated", "no score here", "○ not run"]
    ] * 3
    operations = document.all("table")[1].rows()
    assert [row[1] for row in operations][:3] == [
        "moe.gate_up",
        "moe.silu_quant",
        "moe.down_reduce",
    ]
    assert operations[0][3] == "576·1·1 × 64·1·1"
    assert operations[3][2] == "framework framework.moe_dispatch"
    assert operations[3][3] == "operation is outside dense vertical slice"


def test_the_command_shows_how_a_build_left_the_files(reported, tmp_path):
    words = ("report", f"build/engines/{ENGINE}", "--build", "build", "--out")
    done = reported.netra(*words, str(tmp_path / "page.html"))
    assert done.status == 0, done.errors
    page = read_html((tmp_path / "page.html").read_bytes())
    files = next(t.rows() for t in page.all("table") if t.rows()[0][0] == "contracts.json")
    assert {row[4].partition(",")[0] for row in files} == {"up to date"}


def test_a_page_of_code_objects(project, tmp_path):
    done = project.scons("report", "recipe=qwen36_moe_decode_objects", f"out={tmp_path}")
    assert done.status == 0, done.errors
    page = read_html((tmp_path / "qwen36_moe_decode_objects.html").read_bytes())
    assert page.all("h1")[0].text() == "qwen36-35b-moe-decode"
    assert faults(page) == []


def test_variables_that_mean_nothing_to_a_report_are_refused(project):
    done = project.scons("report", "tactic=moe_silu_quant_decode_m1")
    assert (done.status, done.failure) == (2, "netra: scons: tactic= is not used with report")
