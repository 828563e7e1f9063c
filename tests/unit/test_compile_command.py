"""The compile command line: its result, its warnings and what it leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netra_build.cli.main import main

DATA = Path(__file__).resolve().parents[1] / "data" / "conformance"
SMALL = ["--target", "gfx950", "--profile", "p1", "--library-root", str(DATA / "negative/library")]
MODEL = DATA / "negative/one-model.json"
OVERLAP = DATA / "negative/fixed-kernarg-overlap.json"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Run ``netra`` and return its exit code and both outputs."""
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_result_is_one_json_line(capsys, tmp_path):
    out = str(tmp_path / "engine")
    code, output, error = run(capsys, "compile", "--model", str(MODEL), *SMALL, "--output", out)
    engine = json.loads((tmp_path / "engine/engine.json").read_text())
    assert (code, error) == (0, "")
    assert json.loads(output) == {
        "engine": out,
        "engine_id": engine["engine_id"],
        "validation_status": "static_only_not_promoted",
    }
    assert engine["compiler"]["name"] == "netra-build"


def test_what_the_validator_will_refuse_is_a_warning(capsys, tmp_path):
    words = ["compile", "--model", str(OVERLAP), *SMALL, "--output", str(tmp_path / "engine")]
    place = f"{OVERLAP}#/graph/operations/0/attributes/arguments/1/offset"
    code, _, error = run(capsys, *words)
    assert (code, error) == (0, f'netra: warning: {place}: kernarg overlaps "out"\n')
    library = ["--library-root", str(DATA / "negative/library")]
    code, _, error = run(capsys, "validate", "--engine", str(tmp_path / "engine"), *library)
    place = f"{tmp_path}/engine/graph.json#/operations/0/attributes/arguments/1/offset"
    assert (code, error) == (2, f'netra: {place}: kernarg overlaps "out"\n')


def test_a_strict_compilation_refuses_and_writes_nothing(capsys, tmp_path):
    out = tmp_path / "engine"
    words = ["compile", "--model", str(OVERLAP), *SMALL, "--output", str(out), "--strict"]
    code, output, _ = run(capsys, *words)
    assert (code, output) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_compilation_keeps_the_former_engine(capsys, tmp_path):
    out = tmp_path / "engine"
    words = ["compile", *SMALL, "--output", str(out), "--model"]
    assert run(capsys, *words, str(MODEL))[0] == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert run(capsys, *words, str(tmp_path / "none.json"))[0] == 2
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_folder_of_something_else_is_refused(capsys, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    words = ["compile", "--model", str(MODEL), *SMALL, "--output", str(tmp_path)]
    code, _, error = run(capsys, *words)
    assert code == 2
    assert error.startswith(f'netra: {tmp_path}: output folder holds the foreign file "notes.txt"')


@pytest.mark.parametrize("word", ["compile", "list-tactics"])
def test_there_is_one_target(capsys, tmp_path, word):
    words = [word, "--target", "gfx942"]
    if word == "compile":
        words += ["--model", "m", "--profile", "p", "--output", str(tmp_path / "x")]
    code, _, error = run(capsys, *words)
    assert (code, error) == (
        2,
        'netra: --target: unknown target; expected "gfx950", got "gfx942"\n',
    )


def test_a_golden_object_of_other_bytes_is_refused(capsys, tmp_path):
    (tmp_path / "conf_stage_a.hsaco").write_bytes(b"other")
    words = ["compile", "--target", "gfx950", "--profile", "verify_rows8"]
    words += ["--library-root", str(DATA / "library"), "--output", str(tmp_path / "out")]
    words += ["--model", str(DATA / "models/qwen-synthetic.json")]
    code, _, error = run(capsys, *words, "--golden-artifact-root", str(tmp_path))
    assert code == 2
    assert error == (
        f"netra: {tmp_path}/conf_stage_a.hsaco: golden code object has another digest; expected"
        " 4628e032b8c6513fcc3496c6d4957fb58cab28354d8bfff7080519a2832a3cf3,"
        " got d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa\n"
    )
