"""A build that is killed at any moment leaves nothing that the next one gets wrong."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from project import ACTION_LINE, ENGINE, Project, tree_digests

KILLS = (os.killpg, os.kill)
"""A build is killed with all its processes, or alone: those that work for it end by themselves."""


def run_and_kill(project: Project, seconds: float, kill: Callable[[int, int], None]) -> bool:
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
        kill(child.pid, signal.SIGKILL)
        child.wait()
        return True


WAITS = "kernels/gfx950/templates/common/waits.inc"


def prepare(project: Project, is_fresh: bool, number: int) -> None:
    """Leave the project with a build to do: a whole one, or the one after a new remark."""
    if is_fresh:
        project.scons("-c", f"engine={ENGINE}")
        return
    with project.path(WAITS).open("a") as stream:
        stream.write(f"// remark {number}\n")


@pytest.mark.parametrize("is_fresh", [True, False], ids=["first build", "rebuild"])
def test_a_killed_build_ends_with_the_same_bytes(
    built: Project, rng: random.Random, is_full: bool, is_fresh: bool
) -> None:
    """Kill at seeded moments of a build; the next run must end with the bytes of a clean one."""
    expected, original = tree_digests(built.engine()), built.path(WAITS).read_text()
    prepare(built, is_fresh, 0)
    start = time.monotonic()
    assert built.scons("-j2", f"engine={ENGINE}").status == 0
    whole = time.monotonic() - start
    wanted, most, killed = (20, 20, 0) if is_full else (1, 3, 0)
    for number in range(most):
        if killed == wanted:
            break
        prepare(built, is_fresh, number + 1)
        killed += run_and_kill(built, whole * rng.uniform(0.2, 0.9), rng.choice(KILLS))
        built.path(WAITS).write_text(original)
        done = built.scons("-j2", f"engine={ENGINE}")
        assert done.status == 0, done.errors
        assert tree_digests(built.engine()) == expected
    assert killed > 0


@pytest.mark.parametrize("has_store", [False, True], ids=["no store", "store"])
def test_what_a_killed_build_finished_comes_from_the_store_alone(
    built: Project, tmp_path: Path, has_store: bool
) -> None:
    asked = f"engine={ENGINE}", f"store={tmp_path / 'store' if has_store else 0}"
    shutil.rmtree(built.path("build"))
    assert kill_after(built, 20, *asked) == 20
    done = built.scons("-j2", *asked)
    assert done.status == 0, done.errors
    said = re.search(r"^netra: ran \d+, .* restored (\d+), up to date (\d+) in", done.output, re.M)
    restored, up_to_date = map(int, said.groups())
    assert up_to_date == 0
    assert (restored >= 19) is has_store  # the line of the last one precedes it
    assert (restored == 0) is not has_store


def kill_after(project: Project, most: int, *asked: str) -> int:
    """Kill a build with all its processes when it has said so many actions; return how many."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "SCons", "-j1", *asked],
        cwd=project.folder,
        env=project.environment(PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    )
    shown = 0
    with child:
        for line in child.stdout:
            shown += ACTION_LINE.match(line) is not None
            if shown == most:
                os.killpg(child.pid, signal.SIGKILL)
                break
    return shown


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
