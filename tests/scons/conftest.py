"""Project copies for whole builds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from project import ENGINE, Project


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project whose engine and proofs are built; to be read only."""
    project = Project.copy_to(tmp_path_factory.mktemp("built") / "project")
    done = project.scons("-j2", "engine=qwen36_moe_m1", "asked", "check-equivalence")
    assert done.status == 0, done.errors
    return project


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
