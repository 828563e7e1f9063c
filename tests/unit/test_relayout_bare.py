"""``netra repack --transform``: files of bare bytes, and options that do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from netra_build.cli.main import main


class Project:
    """A folder; ``run`` runs a command there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture) -> None:
        self.folder, self.capsys = folder, capsys

    def run(self, *words: str) -> tuple[int, str, str]:
        status = main(list(words))
        captured = self.capsys.readouterr()
        return status, captured.out, captured.err


@pytest.fixture
def project(tmp_path, monkeypatch, capsys) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)


def bare(project: Project, *words: str) -> tuple[int, str, str]:
    return project.run("repack", "--input", "a", "--output", "b", *words)


def test_bare_bytes_are_transformed(project):
    data = np.arange(16 * 64, dtype=np.uint16).astype(np.uint8).reshape(16, 64)
    tiles = data.reshape(1, 16, 2, 2, 16)
    for transform, expected, shape in (
        ("identity", data.tobytes(), "16 x 64"),
        ("transpose_bytes", data.T.tobytes(), "64 x 16"),
        ("aiter_shuffle_16x16", tiles.transpose(0, 2, 3, 1, 4).tobytes(), "16 x 64"),
    ):
        (project.folder / "a").write_bytes(data.tobytes())
        words = ("--rows", "16", "--columns", "64", "--transform", transform)
        assert bare(project, *words) == (0, f"b: 1024 bytes, {shape}\n", "")
        assert (project.folder / "b").read_bytes() == expected


def test_bare_bytes_of_experts_and_wider_elements(project):
    scales = np.random.default_rng(3).standard_normal((2, 6, 5)).astype(np.float32)
    (project.folder / "a").write_bytes(scales.tobytes())
    words = ("--rows", "6", "--columns", "5", "--experts", "2", "--json")
    status, printed, _ = bare(project, *words, "--transform", "scales_to_group_major")
    assert (status, json.loads(printed)) == (
        0,
        {
            "output": "b",
            "transform": "scales_to_group_major",
            "experts": 2,
            "rows": 5,
            "columns": 6,
            "size_bytes": 240,
        },
    )
    assert (project.folder / "b").read_bytes() == scales.transpose(0, 2, 1).tobytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--transform", "identity", "--rows", "2", "--columns", "3"],
            "a: data has the wrong size for its shape; expected 2 x 3 x 1 = 6 bytes, got 5",
        ),
        (
            ["--transform", "identity", "--rows", "2"],
            "netra repack: --transform needs --columns",
        ),
        (
            ["--transform", "identity", "--input", "a"],
            "netra repack: --transform takes one --input",
        ),
        (["--plan", "p", "--rows", "2"], "netra repack: --rows needs --transform"),
        (["--plan", "p"], "p: file is missing"),
        (["--engine", "p"], "p/layout_plan.json: file is missing"),
        (
            ["--transform", "identity", "--rows", "0"],
            'netra repack: argument --rows: "0" is no number from 1 on\n'
            "hint: netra repack -h shows the options",
        ),
        (["--transform", "identity", "--output", "a"], "a: output is also an input"),
    ],
)
def test_options_that_do_not_fit_are_refused(project, words, message):
    (project.folder / "a").write_bytes(b"abcde")
    assert bare(project, *words) == (2, "", f"netra: {message}\n")
    assert not (project.folder / "b").exists()
