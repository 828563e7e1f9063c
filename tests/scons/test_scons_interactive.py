"""Several builds in one process: ``--interactive`` decides each of them anew."""

from __future__ import annotations

import subprocess
import sys

import pytest
from project import ENGINE, Project, Run, tree_digests

SILU = "kernels/gfx950/templates/moe/silu_quant.inc"


def interactive(project: Project, *commands: str) -> Run:
    """Give SCons commands and return how it ended."""
    words = ["-P", "-m", "SCons", "-j2", "--interactive", f"engine={ENGINE}"]
    done = subprocess.run(
        [sys.executable, *words],
        cwd=project.folder,
        env=project.environment(),
        input="".join(f"{command}\n" for command in [*commands, "exit"]),
        capture_output=True,
        text=True,
    )
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("lost", ["hsaco/*.hsaco", "netra.json"])
def test_a_second_build_sees_what_is_gone(built: Project, lost: str) -> None:
    expected = tree_digests(built.engine())
    done = interactive(built, "build product", f"shell rm {built.engine()}/{lost}", "build product")
    assert done.status == 0, done.errors
    assert tree_digests(built.engine()) == expected


def test_a_source_that_decided_the_plan_is_refused_when_it_has_changed(built: Project) -> None:
    remark = f"shell sh -c 'echo // a remark >> {SILU}'"
    done = interactive(built, "build product", remark, "build product")
    assert done.status == 2
    fact = f"{SILU}: file has changed since the build was planned"
    assert done.failure.endswith(f"{fact}\nhint: build again")


def test_a_second_build_of_the_same_does_nothing(built: Project) -> None:
    done = interactive(built, "build product", "build product")
    assert done.output.count("is up to date") == 2
