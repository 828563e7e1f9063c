"""The published vectors: compile byte for byte, refuse what is bad, explain what is listed."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import os
import sys
from pathlib import Path

import pytest

from netra_build.choose.instances import Closing, close_contract, instantiate
from netra_build.commands.main import main
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import RealDisk
from netra_build.load.catalog import load_catalog
from netra_build.load.hf_config import read_hf_config
from netra_build.load.library import open_library

HERE = Path(__file__).resolve().parents[1] / "data" / "conformance"
CASES = json.loads((HERE / "cases.json").read_text())["compile"]
NEGATIVE = json.loads((HERE / "negative" / "expected.json").read_text())["cases"]
NO_TOOLS = [
    case
    for case in NEGATIVE
    if not any(s.get("tool") or "--build" in s.get("run", ()) for s in case["steps"])
]


def load_script(name: str):
    """Return one of the vectors' own scripts as a module."""
    spec = importlib.util.spec_from_file_location(f"conformance_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


with contextlib.ExitStack() as _stack:
    sys.path.insert(0, str(HERE))
    _stack.callback(sys.path.remove, str(HERE))
    COMPARE, RUN = load_script("compare"), load_script("run")


def run_command(command: str, words: list[str]) -> tuple[int, str, str]:
    """Run one command line in this process, in the vectors' folder."""
    output, errors = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    before = os.getcwd()
    os.chdir(HERE)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = main([*command.split(), *words])
    finally:
        os.chdir(before)
    output.flush()
    return code, output.buffer.getvalue().decode("utf-8"), errors.getvalue()


RUN.call = run_command


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


def judge(arguments: list[str], identity: str) -> dict[str, int]:
    """Run the vectors' own judgement of one negative case and return what must be zero."""
    parser = argparse.ArgumentParser()
    for option in ("--cli", "--recipe", "--prefix", "--only"):
        parser.add_argument(option, default="")
    options = parser.parse_args(arguments)
    everything = RUN.load
    chosen = [case for case in NEGATIVE if case["id"] == identity]
    RUN.load = lambda name: {"cases": chosen}
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            different = RUN.negative(options)
    finally:
        RUN.load = everything
    last = output.getvalue().strip().splitlines()[-1]
    print(output.getvalue())
    return {"DIFFERENT": different, "open holes": int(last.split(", ")[-1].split(" ")[0])}


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


@pytest.mark.parametrize("family", ["qwen", "gemma"])
def test_a_model_configuration_is_read(family):
    folder = HERE / "models" / f"hf-{family}"
    record = read_hf_config((folder / "config.json").read_bytes(), "config.json")
    assert record == json.loads((folder / "expected.json").read_text())


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
            closing = Closing(
                {**constants, **item["specialization"]}, tuple(item["grid"]), tactic.fallback
            )
            contract = close_contract(tactic, closing, "here")
            assert (contract.id, contract.symbol) == (item["contract_id"], item["symbol"])
            source = instantiate(tactic, contract, (), "here").source
            assert sha256_hex(source) == item["wrapper_sha256"]
