"""What is edited while a build runs is not taken for what the build was made with."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from project import ENGINE, Project

ASKED = f"engine={ENGINE}"
WAITS = "kernels/gfx950/templates/common/waits.inc"


def edit_package(project: Project) -> None:
    """Change the code of a stage, without a consequence."""
    project.edit(
        "netra_build/stages/engine_documents.py", '"""Documents of', '"""Documents (as ever) of'
    )


def edit_script(project: Project) -> None:
    """Change the SConstruct, without a consequence."""
    with project.path("SConstruct").open("a") as stream:
        stream.write("# a remark\n")


def build_and(project: Project, edit: Callable[[Project], object]) -> None:
    """Build after an edit of a source, and call ``edit`` once the first action has begun."""
    with project.path(WAITS).open("a") as stream:
        stream.write("// a remark\n")
    command = [sys.executable, "-P", "-m", "SCons", ASKED]
    environment = project.environment(PYTHONUNBUFFERED="1")
    with subprocess.Popen(
        command, cwd=project.folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith("scons: Building targets"):
                edit(project)
                break
        running.stdout.read()
        assert running.wait() == 0


@pytest.mark.parametrize("edit", [None, edit_package, edit_script])
def test_code_that_is_edited_meanwhile_is_seen_by_the_next_build(
    built: Project, edit: Callable[[Project], object] | None
) -> None:
    build_and(built, edit or (lambda project: None))
    is_answered = "netra: nothing to do" in built.scons(ASKED).output
    assert is_answered is (edit is None)
