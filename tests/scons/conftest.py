"""Project copies for whole builds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from project import ENGINE, MadeOnce, Project


@pytest.fixture(scope="session")
def built_once(made_once: MadeOnce) -> Project:
    """Return a project whose engine and proofs are built; to be read only.

    It keeps the bytecode of its package, and so do its copies: none compiles the same anew.
    """

    def make(folder: Path) -> None:
        project = Project.copy_to(folder / "project")
        words = ("-j2", f"engine={ENGINE}", "asked", "check-equivalence")
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
