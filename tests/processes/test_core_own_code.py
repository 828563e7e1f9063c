"""What a module is executed from is what is said of it, whatever lies on disk before and after."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netra_build.core import own_code

LOADER = ("__init__.py", "core/__init__.py", "core/own_code.py")
SHOW = "import netra_build.part as part; print(part.VALUE)"
EDITED_MEANWHILE = """\
import pathlib, netra_build.part as part
from netra_build.core.own_code import own_bytes
path = pathlib.Path(part.__file__)
later = path.with_name("later.py")
digested = own_bytes(str(later))
path.write_text("VALUE = 'c'\\n")
later.write_text("VALUE = 'c'\\n")
import netra_build.later
print(part.VALUE, own_bytes(str(path)), netra_build.later.VALUE, digested)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a package of our name that holds the loader and a module."""
    for name in LOADER:
        path = tmp_path / "netra_build" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(own_code.PACKAGE) / name, path)
    write(tmp_path / "netra_build/part.py", "a")
    return tmp_path / "netra_build"


def write(path: Path, value: str) -> None:
    """Write a module; each has the same size and time stamp."""
    path.write_text(f"VALUE = '{value}'\n")
    os.utime(path, (1, 1))


def shown(package: Path, script: str = SHOW) -> str:
    """Return what a process prints that may keep bytecode."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=package.parent,
        env={**kept, "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def bytecode(package: Path) -> Path:
    (path,) = (package / "__pycache__").glob("part.*.pyc")
    return path


def test_bytecode_of_another_source_of_the_same_size_and_time_is_not_taken(package: Path) -> None:
    assert shown(package) == "a\n"
    write(package / "part.py", "b")
    assert shown(package) == "b\n"


def test_bytecode_is_kept_and_taken_again(package: Path) -> None:
    shown(package)
    before = bytecode(package).stat().st_mtime_ns
    assert shown(package) == "a\n"
    assert bytecode(package).stat().st_mtime_ns == before


def test_bytecode_that_is_damaged_is_not_taken(package: Path) -> None:
    shown(package)
    data = bytecode(package).read_bytes()
    assert data.count(b"\x01a") == 1
    bytecode(package).write_bytes(data.replace(b"\x01a", b"\x01x"))
    assert shown(package) == "a\n"


def test_bytecode_that_python_trusts_by_the_time_is_not_taken(package: Path) -> None:
    command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "timestamp"]
    subprocess.run([*command, str(package)], check=True)
    write(package / "part.py", "b")
    assert shown(package) == "b\n"


def test_what_was_read_first_is_executed_and_spoken_of(package: Path) -> None:
    write(package / "later.py", "a")
    expected = "b\"VALUE = 'a'\\n\""
    assert shown(package, EDITED_MEANWHILE) == f"a {expected} a {expected}\n"
