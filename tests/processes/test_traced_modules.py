"""The tracer behind the path of an edit misses no module, in whatever process or thread it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import traced_modules
from traced_modules import modules, traced

SCRIPT = """\
import subprocess
import sys
import threading

import netra_build.imported

from netra_build import called

thread = threading.Thread(target=lambda: __import__("netra_build.threaded"))
thread.start()
thread.join()
subprocess.run([sys.executable, "-c", "import netra_build.below.child"], check=True)
subprocess.run([sys.executable, "-c", "import netra_build.imported"], check=True)
called.answer()
"""
MODULES = {
    "imported.py": "VALUE = 1\n",
    "called.py": "def answer():\n    return 1\n",
    "threaded.py": "VALUE = 2\n",
    "below/child.py": "VALUE = 3\n",
    "never.py": "VALUE = 4\n",
}
RAN = MODULES.keys() - {"never.py"}


def run_traced(folder: Path) -> list[str]:
    """Run the script under the tracer, a package in the place of ours; return the notes."""
    package = folder / "code" / "netra_build"
    for name, text in MODULES.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
        (package / name).with_name("__init__.py").write_text("")
    (folder / "trace").mkdir()
    environment = traced(folder / "trace", {**os.environ, "PYTHONPATH": str(package.parent)})
    command = [sys.executable, "-c", SCRIPT]
    subprocess.run(command, check=True, env=environment, cwd=folder)
    return (folder / "trace" / "notes").read_text().splitlines()


def test_every_module_that_runs_counts_be_it_only_imported(tmp_path: Path) -> None:
    notes = run_traced(tmp_path)
    assert modules(tmp_path / "trace") == RAN
    assert sorted(notes) == sorted([*RAN, "imported.py"]), "once in each process"


@pytest.mark.parametrize(
    ("line", "missed"),
    [
        ("\nthreading.setprofile(note)", {"threaded.py"}),
        ("\nsys.setprofile(note)", RAN - {"threaded.py"}),
    ],
)
def test_a_tracer_that_lacks_a_line_misses_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, missed: set[str]
) -> None:
    assert line in traced_modules.HOOK
    monkeypatch.setattr(traced_modules, "HOOK", traced_modules.HOOK.replace(line, ""))
    run_traced(tmp_path)
    assert RAN - modules(tmp_path / "trace") == missed
