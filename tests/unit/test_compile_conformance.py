"""The published vectors: compile byte for byte, refuse what is bad, explain what is listed."""

from __future__ import annotations

import json

import pytest
from conformance_vectors import CASES, COMPARE, HERE, NO_TOOLS, RUN, judge, run_command

from netra_build.core.digests import sha256_hex
from netra_build.core.disk import RealDisk
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.library import open_library
from netra_build.plan.instances import close_contract, instantiate, unit_source


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_model_compiles_to_the_published_bytes(case, tmp_path):
    code, _, error = run_command("", RUN.compile_arguments(case, str(tmp_path / "engine")))
    assert (code, error) == (0, "")
    expected = str(HERE / "expected" / case["name"])
    assert COMPARE.compare(expected, str(tmp_path / "engine")) == []


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_published_engine_directory_is_valid(case):
    words = ["validate", "--library-root", "library", "--static"]
    code, output, error = run_command("", [*words, "--engine", f"expected/{case['name']}"])
    listed = json.loads((HERE / "expected" / "validate.json").read_text())[case["name"]]
    assert (code, error) == (0, "")
    assert json.loads(output) == listed["validate_static_stdout"]


@pytest.mark.parametrize("case", NO_TOOLS, ids=[case["id"] for case in NO_TOOLS])
def test_a_bad_input_is_answered_as_it_should_be(case, capsys):
    arguments = ["--cli", "", "--prefix", "netra: ", "--only", case["id"]]
    count = judge(arguments, case["id"])
    assert "Traceback" not in capsys.readouterr().out
    assert count == {"DIFFERENT": 0, "open holes": 0}


def test_the_judgement_notices_a_command_that_accepts_everything(monkeypatch):
    monkeypatch.setattr(RUN, "call", lambda command, words: (0, "", ""))
    assert judge(["--cli", ""], "model-not-json")["DIFFERENT"] == 1


def test_list_tactics_prints_the_published_bytes():
    words = ["list-tactics", "--target", "gfx950", "--library-root", "library"]
    code, output, error = run_command("", words)
    assert (code, error) == (0, "")
    assert output == (HERE / "expected" / "list-tactics.json").read_text()


@pytest.mark.parametrize(
    ("word", "name"), [("inspect", "engine.json"), ("explain", "explain.json")]
)
def test_inspect_and_explain_print_a_file(word, name):
    engine = "expected/graph-min__bounded_rows"
    code, output, _ = run_command("", [word, "--engine", engine])
    assert code == 0
    assert output == (HERE / engine / name).read_text()


def test_every_specialization_has_the_listed_digests():
    catalog = load_catalog(open_library(RealDisk(), HERE / "library", ()))
    listed = json.loads((HERE / "expected" / "digests.json").read_text())["tactics"]
    assert {f"gfx950.{name}" for name in listed} == set(catalog.tactic_by_name)
    for name, wanted in listed.items():
        tactic = catalog.tactic_by_name[f"gfx950.{name}"]
        assert tactic.stable_id == wanted["tactic_id"]
        assert tactic.computational_sha256 == wanted["computational_sha256"]
        assert [file for file, _ in tactic.closure] == wanted["source_closure"]
        for item in wanted["specializations"]:
            constants = {key: values[0] for key, values in tactic.contract_constants}
            constants |= item["specialization"]
            grid = tuple(item["grid"])
            contract = close_contract(tactic, constants, grid, tactic.fallback, "here")
            assert (contract.id, contract.symbol) == (item["contract_id"], item["symbol"])
            source = unit_source(instantiate(tactic, contract, (), "here"))
            assert sha256_hex(source) == item["wrapper_sha256"]
