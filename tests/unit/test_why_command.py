"""``netra why`` and ``netra graph`` without a build, with a damaged record, for unknown names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netra_build.cli.main import main

REQUEST = {
    "graph": "thing",
    "what": "engine",
    "asked": "thing",
    "options": {},
    "folders": {"source": "library", "work": "build/work", "out": "build/engines/thing"},
    "build": "build",
    "toolchain": "",
}


def record(folder: Path, **requests: Any) -> Path:
    """Write a record of runs with these requests; return the build folder."""
    document = {
        "format": "netra-runs-3",
        "builds": 1,
        "codes": {},
        "tools": {},
        "requests": requests,
    }
    path = folder / "build/work/runs.json"
    path.parent.mkdir(parents=True)
    path.write_text(f"{json.dumps(document)}\n[]\n")
    return folder / "build"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Run the command; return its status and its error lines."""
    return main(list(words)), capsys.readouterr().err


@pytest.mark.parametrize("word", ["why", "graph"])
def test_a_folder_in_which_nothing_was_built(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, word, "engine.json", "--build", "other") == (
        2,
        "netra: other: no build is on record here\n"
        "hint: build something first, or name the build folder with --build\n",
    )


def test_a_name_that_was_not_built(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(here, thing=REQUEST)
    assert said(capsys, "graph", "thong") == (
        2,
        'netra: build: "thong" was not built here\nhint: did you mean "thing"?\n',
    )


DAMAGE = [
    3,
    {},
    {**REQUEST, "more": 1},
    {**REQUEST, "graph": 3},
    {**REQUEST, "options": []},
    {**REQUEST, "folders": {"source": "library"}},
    {**REQUEST, "folders": {**REQUEST["folders"], "elsewhere": "x"}},
    {**REQUEST, "folders": {**REQUEST["folders"], "out": 3}},
    {**REQUEST, "asked": 3},
]


@pytest.mark.parametrize("request_", DAMAGE)
def test_a_request_of_another_form_is_damage(
    here: Path, capsys: pytest.CaptureFixture[str], request_: Any
) -> None:
    record(here, thing=request_)
    assert said(capsys, "why", "engine.json") == (
        5,
        f"netra: {here}/build/work/runs.json: holds a request of another form\n"
        "hint: remove the file; the next build starts a new record\n",
    )


def test_a_library_that_is_gone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(here, thing=REQUEST)
    status, errors = said(capsys, "why", "engine.json")
    assert status == 2
    assert errors.startswith("netra: library: not a kernel library root: it lacks ")


def test_an_option_that_there_is_no_more(
    here: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = {**REQUEST["folders"], "source": str(root)}
    record(here, thing={**REQUEST, "folders": folders, "options": {"gone": 1}})
    assert said(capsys, "graph", "thing") == (
        5,
        f"netra: {here}/build/work/runs.json: holds a request of another form\n"
        "hint: remove the file; the next build starts a new record\n",
    )
