"""A build that is killed at any moment leaves nothing that the next one gets wrong."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from project import ENGINE, Project, tree_digests


def run_and_kill(project: Project, seconds: float) -> bool:
    """Start a build in its own process group, kill it after ``seconds``; tell if it still ran."""
    command = [sys.executable, "-P", "-m", "SCons", "-j2", f"engine={ENGINE}"]
    child = subprocess.Popen(
        command,
        cwd=project.folder,
        env=project.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        child.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return True


def duration_of_a_build(project: Project) -> float:
    """Return how long a whole build takes here, in seconds."""
    start = time.monotonic()
    assert project.scons("-j2", f"engine={ENGINE}").status == 0
    return time.monotonic() - start


@pytest.mark.parametrize("is_fresh", [True, False], ids=["first build", "rebuild"])
def test_a_killed_build_ends_with_the_same_bytes(
    built_once: Project, tmp_path: Path, rng: random.Random, is_full: bool, is_fresh: bool
) -> None:
    """Kill at seeded moments of a build; each next run must end with the bytes of a clean one."""
    expected = tree_digests(built_once.engine())
    whole = duration_of_a_build(Project.copy_to(tmp_path / "timing", built_once.folder))
    project = Project.copy_to(tmp_path / "project", built_once.folder)
    if not is_fresh:
        assert project.scons("-j2", f"engine={ENGINE}").status == 0
    moments = 20 if is_full else 3
    killed = 0
    for number in range(moments):
        waits = project.path("kernels/gfx950/templates/common/waits.inc")
        original = waits.read_text()
        if is_fresh:
            project.scons("-c", f"engine={ENGINE}")
        else:
            waits.write_text(f"{original}// remark {number}\n")
        killed += run_and_kill(project, whole * rng.uniform(0.3, 1.0))
        waits.write_text(original)
        done = project.scons("-j2", f"engine={ENGINE}")
        assert done.status == 0, done.errors
        assert tree_digests(project.engine()) == expected
    assert killed > 0


def test_an_unsealed_engine_shows_what_a_naive_copy_would_hide(
    built: Project,
) -> None:
    """The journal and the missing seal tell a half-made engine from a whole one."""
    engine = built.engine()
    (engine / "netra.json").unlink()
    (engine / ".netra-unfinished.json").write_text(
        '{"files": ["netra.json", "metadata/left.dis"], "format": "netra-journal-1"}'
    )
    (engine / "metadata" / "left.dis").write_text("left by a killed build")
    assert built.scons(f"engine={ENGINE}").status == 0
    found = tree_digests(engine)
    assert "netra.json" in found
    assert "metadata/left.dis" not in found
    assert ".netra-unfinished.json" not in found
