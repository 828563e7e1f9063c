"""The page itself: whole, alone, the same each time, and harmless with hostile names."""

from __future__ import annotations

import pytest
from html_document import faults, read_html
from report_samples import EQUIVALENCE, NUMERICS, UP_SCORED, documents, encoded, sealed

from netra_build.checkasm.mutate.document import Record
from netra_build.cli.main import main
from netra_build.inspect.report.page import STAGE, report_page
from netra_build.inspect.report.read_product import read_facts

SCORES = UP_SCORED.data()


def page_of(files, scores: bytes | None = None) -> bytes:
    inputs = files if scores is None else {**files, "mutation:scores": scores}
    return STAGE.run(inputs, {"location": "here"}, None)["page"]


@pytest.fixture(scope="module")
def page() -> bytes:
    return page_of(sealed(documents()), SCORES)


def test_the_page_is_whole_and_needs_nothing_else(page):
    document = read_html(page)
    assert faults(document) == []
    assert page.startswith(b"<!DOCTYPE html>\n<html")
    metas = [meta.attributes for meta in document.all("meta")]
    assert {"charset": "utf-8"} in metas
    policy = next(m["content"] for m in metas if "http-equiv" in m)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_equal_files_give_equal_bytes_in_whatever_order(page):
    files = sealed(documents())
    assert page_of(dict(reversed(files.items())), SCORES) == page


def test_the_head_says_what_it_is_and_what_is_proven(page):
    document = read_html(page)
    assert [h.text() for h in document.all("h1")] == ["sample"]
    assert [h.text() for h in document.all("h2")] == [
        "Proofs",
        "Operations",
        "Kernels",
        "Artifacts",
        "Sizes",
        "Identity",
    ]
    verdict = next(d for d in document.all("div") if "verdict" in d.attributes.get("class", ""))
    assert verdict.attributes["class"] == "verdict proven"
    assert "Nothing here was measured on a GPU." in verdict.text()
    tiles = [d.text() for d in document.all("div") if d.attributes.get("class") == "tile"]
    assert tiles == [
        "2kernels",
        "1 of 2operations run by our kernels",
        "2.9 KiBcode objects",
        f"{tiles[3]}",
        "holdsseal",
    ]
    assert tiles[3].endswith("14 files")


def test_every_kernel_has_its_row_of_proofs(page):
    tables = [t.rows() for t in read_html(page).all("table")]
    assert tables[0] == [
        [
            "sample_first",
            "✓ identical",
            "✓ passed",
            "✓ simulated",
            "100.0 % ordering, 98.0 % value",
            "○ not run",
        ],
        ["sample_second", "✓ identical", "✓ passed", "✓ simulated", "no score here", "○ not run"],
    ]
    assert tables[1] == [
        ["0", "up", "kernel sample_first", "4·1·1 × 64·1·1"],
        ["1", "host", "framework framework.host", "gfx950.host: rows too many, no pin"],
    ]


def test_sizes_are_those_of_the_files():
    files = {
        "engine.json": documents()["engine.json"] | {"operations": []},
        "hsaco/a.hsaco": b"1" * 300,
        "generated/includes/x": b"2" * 100,
        "metadata/y": b"3" * 200,
    }
    made = encoded(files)
    size = len(made["engine.json"])
    rows = [table.rows() for table in read_html(page_of(made)).all("table")]
    whole = size + 600
    sizes = next(r for r in rows if r[0][0] == "code objects")
    assert [row[:2] for row in sizes] == [
        ["code objects", "1"],
        ["golden sources", "0"],
        ["included templates", "1"],
        ["units", "0"],
        ["listings, metadata and reports", "1"],
        ["documents", "1"],
        ["all", "4"],
    ]
    assert sizes[0][2] == "300 (300 B)"
    assert sizes[-1][2].startswith(f"{whole:,} (")


def test_the_graph_leads_to_the_files(page):
    document = read_html(page)
    graph = next(d for d in document.all("div") if d.attributes.get("class") == "graph card")
    texts = [text.text() for text in graph.all("text")]
    for wanted in ("two", "leaf.inc", "golden source", "unit", "code object", "netra.json"):
        assert wanted in texts
    links = [link.attributes["href"][1:] for link in graph.all("a")]
    row = {e.attributes["id"]: e.text() for e in document.all("code") if "id" in e.attributes}
    assert {row[link] for link in links} == {
        "generated/includes/leaf.inc",
        "generated/golden/two.s",
        "generated/two.s",
        "hsaco/two.hsaco",
        "metadata/two.0.numerics.json",
        "metadata/two.checks.json",
        "metadata/two.equivalence.json",
        "validation_plan.json",
        "engine.json",
        "netra.json",
    }


HOSTILE = '"><script>alert(1)</script>\u202e<img src=x onerror=alert(2)>'


def test_hostile_names_stay_text():
    files = documents()
    files["engine.json"]["operations"][0]["name"] = HOSTILE
    files["engine.json"]["operations"][1]["fallback"] = HOSTILE
    files["explain.json"]["operations"][1]["candidates"][1]["reasons"] = [HOSTILE]
    candidate = files["validation_plan.json"]["candidates"][0]
    candidate |= {"tactic": HOSTILE, "maturity": HOSTILE, "source": HOSTILE, "template": HOSTILE}
    files["metadata/two.equivalence.json"] = EQUIVALENCE | {"verdict": HOSTILE}
    run = NUMERICS["runs"][0] | {"label": HOSTILE}
    files["metadata/two.0.numerics.json"] = NUMERICS | {"tactic": HOSTILE, "runs": [run]}
    finding = dict.fromkeys(("severity", "rule", "kernel", "instruction", "message"), HOSTILE)
    files["metadata/two.checks.json"] = {
        "counts": {"error": 1, "warning": 0},
        "findings": [finding],
    }
    files[f"metadata/{HOSTILE}"] = b""
    scores = Record({HOSTILE: UP_SCORED.kernels["up"]}, ())
    page = page_of(sealed(files, name=HOSTILE), scores.data())
    document = read_html(page)
    assert faults(document) == []
    assert document.all("h1")[0].text() == HOSTILE.replace("\u202e", "\\u{202e}")
    assert "\u202e".encode() not in page


def test_states_of_a_build_are_shown_when_they_are_given():
    facts = read_facts(sealed(documents()), "here")
    plain = report_page(facts)
    shown = read_html(report_page(facts, None, {"hsaco/two.hsaco": "would run, 3.0 ms"}))
    assert b"would run" not in plain
    files = next(t for t in shown.all("table") if t.rows()[0][0] == "engine.json")
    assert {row[0]: row[4] for row in files.rows() if row[4]} == {
        "hsaco/two.hsaco": "would run, 3.0 ms"
    }
    graph = next(d for d in shown.all("div") if d.attributes.get("class") == "graph card")
    assert any(t.text().endswith(" · would run") for t in graph.all("text"))


def test_long_lists_are_cut_and_it_is_said():
    files = documents()
    finding = dict.fromkeys(("severity", "rule", "kernel", "instruction", "message"), "x")
    files["metadata/two.checks.json"] = {
        "counts": {"error": 0, "warning": 203},
        "findings": [finding] * 203,
    }
    page = page_of(sealed(files))
    assert page.count(b"<td>x</td><td>x</td><td>x</td>") == 200
    assert b"3 more are not shown." in page


def write_engine(folder, files) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def test_the_command_writes_the_page(tmp_path, monkeypatch, capsys, page):
    monkeypatch.chdir(tmp_path)
    write_engine(tmp_path / "engine", sealed(documents()))
    (tmp_path / "scores.json").write_bytes(SCORES)
    assert main(["report", "engine", "--mutation", "scores.json"]) == 0
    assert capsys.readouterr().out == "build/reports/engine.html written\n"
    assert (tmp_path / "build/reports/engine.html").read_bytes() == page
    assert main(["report", "engine", "--out", "x.html"]) == 0
    assert b"98.0" not in (tmp_path / "x.html").read_bytes()


def test_the_command_names_what_is_no_product(tmp_path, capsys):
    assert main(["report", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"netra: {tmp_path}/none: file is missing\n"


def test_parts_of_a_package_are_shown_when_they_are_given():
    facts = read_facts(sealed(documents()), "here")
    page = read_html(report_page(facts, package={"engine/": 2048, "<b>": 1}))
    rows = next(t.rows() for t in page.all("table") if t.rows()[0][0] == "engine/")
    assert rows == [["engine/", "2,048 (2.0 KiB)"], ["<b>", "1 (1 B)"]]


RESULT = {
    "format": "netra-recipe-result-1",
    "deployment": "some objects",
    "toolchain": {},
    "artifacts": [
        {
            "name": "two",
            "members": [
                {
                    "tactic": "up",
                    "maturity": "verified",
                    "source": "generated/two.s",
                    "source_closure_sha256": "7" * 64,
                    "computational_identity": "9" * 64,
                }
            ],
        }
    ],
    "files": {},
}


@pytest.mark.parametrize(
    ("files", "title"),
    [
        (sealed(documents()), f"include closure {'0' * 64}: 2 files"),
        (encoded(documents()), "include closure: 2 files"),
        (encoded({"build-result.json": RESULT}), f"include closure {'7' * 64}"),
    ],
    ids=["sealed engine", "no seal", "code objects"],
)
def test_a_closure_has_the_number_of_its_files_only_where_it_is_known(files, title):
    titles = [element.text() for element in read_html(page_of(files)).all("title")]
    assert [text for text in titles if text.startswith("include closure")] == [title]
