"""Project copies for whole builds."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from foreign import SCONSTRUCT
from project import ENGINE, ROOT, MadeOnce, Project


@pytest.fixture(scope="session")
def built_once(made_once: MadeOnce) -> Project:
    """Return a project whose engine and proofs are built; to be read only.

    It keeps the bytecode of its package, and so do its copies: none compiles the same anew.
    """

    def make(folder: Path) -> None:
        project = Project.copy_to(folder / "project")
        words = ("-j2", f"engine={ENGINE}", "product", "check-equivalence")
        done = project.scons(*words, PYTHONDONTWRITEBYTECODE="")
        assert done.status == 0, done.errors

    return Project(made_once("built", make) / "project")


@pytest.fixture(scope="session")
def built_whole(made_once: MadeOnce) -> Project:
    """Return a copy of the whole library in which every specialization is built and compared.

    It is to be read only.
    """

    def make(folder: Path) -> None:
        project = Project.copy_to(folder / "project", whole=True)
        done = project.scons("-j2", "check-equivalence", PYTHONDONTWRITEBYTECODE="")
        assert done.status == 0, done.errors

    return Project(made_once("whole", make) / "project")


@pytest.fixture
def project(built_once: Project, tmp_path: Path) -> Project:
    """Return a copy of the same sources in which nothing was built."""
    return Project.copy_to(tmp_path / "project", built_once.folder)


@pytest.fixture
def built(built_once: Project, tmp_path: Path) -> Project:
    """Return a private copy of the built project, time stamps kept."""
    folder = tmp_path / "built"
    shutil.copytree(built_once.folder, folder, copy_function=shutil.copy2, symlinks=True)
    return Project(folder)


@pytest.fixture(scope="session")
def reported(built_once: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project whose engine has its page; to be read only."""
    folder = tmp_path_factory.mktemp("reported") / "project"
    shutil.copytree(built_once.folder, folder, copy_function=shutil.copy2, symlinks=True)
    project = Project(folder)
    done = project.scons("report", f"engine={ENGINE}")
    assert done.status == 0, done.errors
    assert done.actions == ["REPORT"]
    return project


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which pip installed the package, as a user would."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, source / name)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "netra_build", source / "netra_build", ignore=ignored)
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--target", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a two-tactic kernel library of its own."""
    data = ROOT / "tests" / "data" / "plugin"
    folder = tmp_path / "repository"
    shutil.copytree(data, folder)
    (folder / "SConstruct").write_text(SCONSTRUCT)
    for name in ("netra-model", "netra-engine", "netra-kernel-contract"):
        target = folder / "library" / "schemas" / f"{name}.schema.json"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / "schemas" / target.name, target)
    return folder
