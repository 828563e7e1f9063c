"""``netra build`` is answered at the door, with little loaded."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from netra_build.commands import build
from netra_build.core.front_door import FOLDER, builds_in

ROOT = Path(__file__).resolve().parent.parent.parent
HEAVY = {"jsonschema", "yaml", "rich", "elftools", "numpy", "msgpack", "dataclasses"}


def test_the_door_loads_little() -> None:
    script = (
        "import sys, netra_build.commands.build\n"
        "print(*sorted({n.split('.')[0] for n in sys.modules}))\n"
        "print(*sorted(n for n in sys.modules if n.startswith('netra_build.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tops, ours = (line.split() for line in done.stdout.splitlines())
    assert set(tops) & HEAVY == set()
    assert ours == [
        "netra_build.commands",
        "netra_build.commands.build",
        "netra_build.commands.place_options",
        "netra_build.commands.waiting",
        "netra_build.core",
        "netra_build.core.build_lock",
        "netra_build.core.distributions",
        "netra_build.core.errors",
        "netra_build.core.folder_names",
        "netra_build.core.front_door",
        "netra_build.core.stamps",
    ]


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
