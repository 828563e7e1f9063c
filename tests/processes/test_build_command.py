"""``netra build`` is answered by the up-to-date check, with little loaded."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest
from up_to_date_modules import HEAVY, UP_TO_DATE

from netra_build.build.freshness.up_to_date import FOLDER, builds_in
from netra_build.cli.build import build

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_check_loads_little() -> None:
    script = (
        "import sys, netra_build.cli.build.build\n"
        "print(*sorted({n.split('.')[0] for n in sys.modules}))\n"
        "print(*sorted(n for n in sys.modules if n.startswith('netra_build.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tops, ours = (line.split() for line in done.stdout.splitlines())
    assert not set(tops) & (HEAVY | {"dataclasses"})
    commands = {"", ".build", ".build.build", ".options"}
    assert set(ours) == UP_TO_DATE | {f"netra_build.cli{name}" for name in commands}


def test_builds_are_looked_for_where_a_request_was_finished(tmp_path: Path) -> None:
    (tmp_path / "a/build" / FOLDER).mkdir(parents=True)
    (tmp_path / "b/build").mkdir(parents=True)
    found = builds_in([f"{tmp_path}/b", f"{tmp_path}/a/", f"{tmp_path}/c"])
    assert found == [f"{tmp_path}/a/build"]


def test_every_option_and_the_folder_are_of_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Namespace(engine="x", locked=False)
    first = build.request_of(options)
    assert build.request_of(Namespace(engine="x", locked=True)) != first
    monkeypatch.chdir(tmp_path)
    assert build.request_of(options) != first
