"""The script ``./netra``, run with a stand-in for Python, so that nothing is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ("netra", "requirements.lock", "requirements-toolchain.lock")

# Notes how it was called. As "python3 -m venv" it copies itself into the new environment.
STAND_IN = """#!/bin/sh
printf '%s\\n' "$*" >>"$NOTES"
case "$1 ${2-}" in
"-m venv")
    [ ! -e "$NOTES.fail" ] || exit 1
    mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && cp "$0" "$4/bin/ruff" ;;
"-m pip")
    [ ! -e "$NOTES.fail-pip" ] || exit 1
    [ ! -e "$NOTES.slow" ] || while [ -e "$NOTES.slow" ]; do :; done ;;
esac
[ "$1" != exit ] || exit "$2"
[ "$1" != where ] || pwd
exit 0
"""


@dataclass
class Tree:
    """A copy of the script and its lock files, with the stand-in first on the path."""

    folder: Path
    notes: Path

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.notes.parent / 'bin'}:/usr/bin:/bin"
        return {"PATH": path, "NOTES": str(self.notes), "HOME": str(self.folder)}

    def start(self, *words: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.folder / "netra", *words],
            cwd=cwd or self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, cwd: Path | None = None) -> tuple[int, str, str]:
        process = self.start(*words, cwd=cwd)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def calls(self) -> list[str]:
        """Return how the stand-in was called since the last time, without its own probes."""
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        self.notes.unlink(missing_ok=True)
        return [line for line in lines if line.startswith(("-m", "exit", "where", "run"))]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    folder = tmp_path / "a folder with blanks"
    (tmp_path / "bin").mkdir()
    folder.mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    python = tmp_path / "bin/python3"
    python.write_text(STAND_IN)
    python.chmod(0o755)
    return Tree(folder, tmp_path / "notes")


def set_up_calls(tree: Tree) -> list[str]:
    pip = "-m pip install --quiet --disable-pip-version-check --no-input --no-user"
    lock = f"--require-hashes -r {tree.folder}/requirements.lock"
    return [f"-m venv --clear {tree.folder}/.netra-setup/venv", f"{pip} {lock}"]


def test_the_first_run_sets_up_and_the_second_one_does_not(tree):
    code, out, err = tree.run("python", "run", "a b")
    assert (code, out, err) == (0, "", "netra: setting up .venv with python3\n")
    assert tree.calls() == [*set_up_calls(tree), "run a b"]
    assert tree.run("python", "run") == (0, "", "")
    assert tree.calls() == ["run"]


def test_the_exit_code_is_that_of_the_program(tree):
    assert tree.run("python", "exit", "7")[0] == 7
    assert tree.run("ruff", "exit", "3")[0] == 3


def test_programs_run_in_the_project_root_and_python_where_you_are(tree, tmp_path):
    tree.run("python", "run")
    assert tree.run("ruff", "where", cwd=tmp_path)[1] == f"{tree.folder}\n"
    assert tree.run("python", "where", cwd=tmp_path)[1] == f"{tmp_path}\n"


def test_the_script_works_through_a_link(tree, tmp_path):
    link = tmp_path / "linked"
    link.symlink_to(tree.folder / "netra")
    done = subprocess.run(
        [link, "ruff", "where"], env=tree.environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{tree.folder}\n"


def test_another_lock_file_is_set_up_anew(tree):
    tree.run("python", "run")
    tree.calls()
    with (tree.folder / "requirements.lock").open("a") as stream:
        stream.write("# changed\n")
    tree.run("python", "run")
    assert tree.calls() == [*set_up_calls(tree), "run"]


def test_another_script_keeps_the_packages(tree):
    tree.run("python", "run")
    tree.calls()
    with (tree.folder / "netra").open("a") as stream:
        stream.write("# changed\n")
    assert tree.run("python", "run") == (0, "", "")
    assert tree.calls() == ["run"]


@pytest.mark.parametrize("lost", [".venv/bin/python", ".venv/.netra/python"])
def test_a_set_up_that_lost_a_piece_is_done_again(tree, lost):
    tree.run("python", "run")
    tree.calls()
    (tree.folder / lost).unlink()
    tree.run("python", "run")
    assert tree.calls() == [*set_up_calls(tree), "run"]


def test_a_failed_set_up_says_so_and_is_done_again(tree, tmp_path):
    (tmp_path / "notes.fail").touch()
    code, out, err = tree.run("python", "run")
    assert (code, out) == (4, "")
    assert err == (
        "netra: setting up .venv with python3\n"
        f"netra: cannot make {tree.folder}/.venv\n"
        "hint: make the project folder writable\n"
    )
    (tmp_path / "notes.fail").unlink()
    tree.calls()
    assert tree.run("python", "run")[0] == 0
    assert tree.calls() == [*set_up_calls(tree), "run"]


def test_no_usable_python_is_one_line_and_a_remedy(tree, tmp_path):
    (tmp_path / "bin/python3").write_text("#!/bin/sh\nexit 1\n")
    for name in ("python3.11", "python3.12", "python3.13", "python3.14", "id"):
        shutil.copy(tmp_path / "bin/python3", tmp_path / "bin" / name)
    assert tree.run("python", "run") == (
        4,
        "",
        "netra: no usable Python; expected 3.11 or newer with venv, got none\n"
        "hint: install python3 and python3-venv\n",
    )


def test_two_first_runs_set_up_once(tree, tmp_path):
    slow = tmp_path / "notes.slow"
    slow.touch()
    first = tree.start("python", "run", "first")
    while not (tree.notes.exists() and "-m pip" in tree.notes.read_text()):
        assert first.poll() is None
    second = tree.start("python", "run", "second")
    assert second.stderr.readline() == (
        "netra: another set-up of this folder is running, waiting for it\n"
    )
    slow.unlink()
    first.communicate(timeout=60)
    second.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 0)
    calls = tree.calls()
    assert calls[:2] == set_up_calls(tree)
    assert sorted(calls[2:]) == ["run first", "run second"]


def test_a_killed_set_up_is_done_again_when_its_last_program_ended(tree, tmp_path):
    slow = tmp_path / "notes.slow"
    slow.touch()
    first = tree.start("python", "run")
    while not (tree.notes.exists() and "-m pip" in tree.notes.read_text()):
        assert first.poll() is None
    first.kill()
    first.wait()
    tree.calls()
    second = tree.start("python", "run")
    assert second.stderr.readline() == (
        "netra: another set-up of this folder is running, waiting for it\n"
    )
    slow.unlink()
    second.communicate(timeout=60)
    assert second.returncode == 0
    assert tree.calls() == [*set_up_calls(tree), "run"]


def test_the_environment_does_not_reach_the_imports(tree):
    tree.run("python", "run")
    python = tree.folder / ".venv/bin/python"
    python.write_text('#!/bin/sh\necho "${PYTHONPATH-none} ${PYTHONHOME-none}"\n')
    done = subprocess.run(
        [tree.folder / "netra", "python"],
        env=tree.environment | {"PYTHONPATH": "/x", "PYTHONHOME": "/x", "CDPATH": os.sep},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "none none\n"


def a_program(tree: Tree, name: str, body: str) -> None:
    """Put a stand-in for a program of the system first on the path."""
    path = tree.notes.parent / "bin" / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_checksums_that_cannot_be_had_leave_what_works(tree):
    tree.run("python", "run")
    tree.calls()
    a_program(tree, "cksum", "exit 139")
    assert tree.run("python", "run") == (
        4,
        "",
        "netra: cannot take the checksums of netra and requirements*.lock\n"
        "hint: make them readable, and see the limits of the shell (ulimit -a)\n",
    )
    assert tree.calls() == []
    (tree.notes.parent / "bin/cksum").unlink()
    assert tree.run("python", "run") == (0, "", "")
    assert tree.calls() == ["run"]


@pytest.mark.parametrize("step", ["fail", "fail-pip"])
def test_a_failed_set_up_leaves_the_environment_that_works(tree, tmp_path, step):
    tree.run("python", "run")
    with (tree.folder / "requirements.lock").open("a") as stream:
        stream.write("# changed\n")
    before = (tree.folder / ".venv/bin/python").stat()
    (tmp_path / f"notes.{step}").touch()
    assert tree.run("python", "run")[0] == 4
    assert os.path.samestat((tree.folder / ".venv/bin/python").stat(), before)
    (tree.folder / "requirements.lock").write_bytes((ROOT / "requirements.lock").read_bytes())
    tree.calls()
    assert tree.run("python", "run") == (0, "", "")
    assert tree.calls() == ["run"]


def test_an_environment_behind_a_link_is_not_replaced(tree, tmp_path):
    tree.run("python", "run")
    shared = tmp_path / "shared"
    (tree.folder / ".venv").rename(shared)
    (tree.folder / ".venv").symlink_to(shared)
    with (tree.folder / "requirements.lock").open("a") as stream:
        stream.write("# changed\n")
    before = sorted(shared.rglob("*"))
    assert tree.run("python", "run")[0] == 0
    assert not (tree.folder / ".venv").is_symlink()
    assert (tree.folder / ".venv/bin/ruff").is_file()
    assert sorted(shared.rglob("*")) == before
    assert (tmp_path / ".netra-setup/lock").is_file()


@pytest.mark.parametrize("forbidden", ["", "1"])
def test_what_is_installed_in_the_system_is_said_or_forbidden(tree, tmp_path, forbidden):
    for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
        a_program(tree, name, "exit 1")
    a_program(tree, "id", "echo 0")
    for name in ("apt-cache", "dpkg-deb"):
        a_program(tree, name, "exit 1")
    a_program(tree, "apt-get", f'echo "$*" >>"{tmp_path}/installed"; exit 1')
    done = subprocess.run(
        [tree.folder / "netra", "python"],
        env=tree.environment | {"NETRA_NO_INSTALL": forbidden},
        capture_output=True,
        text=True,
    )
    said = (
        "netra: installing python3 python3-venv in the system, to run the build "
        "(NETRA_NO_INSTALL=1 forbids it)\nnetra: refreshing the package lists\n"
    )
    assert (done.returncode, done.stderr) == (
        4,
        ("" if forbidden else said)
        + "netra: no usable Python; expected 3.11 or newer with venv, got none\n"
        "hint: install python3 and python3-venv\n",
    )
    assert (tmp_path / "installed").exists() == (not forbidden)
