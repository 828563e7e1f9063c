"""Pausing the garbage collector: off inside, as before afterwards."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

from netra_build.cli.build import compile as compile_command
from netra_build.cli.main import main
from netra_build.core.processes import collector_paused

CONFORMANCE = Path(__file__).resolve().parent.parent / "data" / "conformance"


def test_the_collector_rests_inside_and_runs_afterwards():
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_runs_again_after_a_failure():
    with pytest.raises(ValueError, match="x"), collector_paused():
        raise ValueError("x")
    assert gc.isenabled()


def test_one_that_was_off_stays_off():
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_model_is_compiled_without_it(monkeypatch, tmp_path, capsys):
    seen = []
    plan_engine = compile_command.plan_engine

    def watched(*given: object) -> object:
        seen.append(gc.isenabled())
        return plan_engine(*given)

    monkeypatch.setattr(compile_command, "plan_engine", watched)
    words = ["--model", str(CONFORMANCE / "models" / "graph-min.json"), "--target", "gfx950"]
    words += ["--profile", "bounded_rows", "--library-root", str(CONFORMANCE / "library")]
    assert main(["compile", *words, "--output", str(tmp_path / "out")]) == 0
    assert json.loads(capsys.readouterr().out)["engine"] == str(tmp_path / "out")
    assert (seen, gc.isenabled()) == ([False], True)
