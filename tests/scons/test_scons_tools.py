"""The search for the tool chain that goes on while the rest is loaded: used, and the same."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from project import Project, Run

from netra_build.asm.tools.toolchain import Toolchain

RECIPE = """\
format: netra-recipe-1
kind: code_objects
deployment: one
checks: none
artifacts:
  - name: one
    members:
      - tactic: moe_silu_quant_decode_m1
        symbol: one
"""

if len(os.sched_getaffinity(0)) < 2:
    raise OSError("a search is begun early on two processors only")
ALONE = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
"""A process that has one processor, on which nothing is begun."""


def build(project: Project, *before: str, words: tuple[str, ...] = (), **environment: str) -> Run:
    """Build the code object of the recipe."""
    recipe = project.folder / "recipes/one.yaml"
    if not recipe.exists():
        recipe.write_text(RECIPE)
    command = [*before, sys.executable, "-P", "-m", "SCons", "recipe=one", *words]
    return project.run(*command, **environment)


def inputs(project: Project) -> dict[str, Any]:
    """Return what the manifest of the only request says about files, but for the time of day."""
    (path,) = (project.folder / "build/.netra-finished").glob("*.json")
    manifest = json.loads(path.read_bytes().partition(b"\n")[2])
    return {name: manifest[name] for name in ("inputs", "answers", "links", "environment")}


def answers(cache: Path) -> list[Any]:
    """Return what a store knows of the tools."""
    paths = (cache / "netra/records/answer").rglob("*")
    return sorted(path.read_bytes() for path in paths if path.is_file())


def test_a_search_begun_early_finds_and_notes_the_same(project: Project, tmp_path: Path) -> None:
    seen = []
    for name, before in (("early", ()), ("late", ALONE)):
        cache = tmp_path / name
        done = build(project, *before, XDG_CACHE_HOME=str(cache))
        assert done.status == 0, done.errors
        seen.append((inputs(project), answers(cache)))
        assert "nothing to do" in build(project, XDG_CACHE_HOME=str(cache)).output
        for folder in ("work", "recipes", ".netra-finished"):
            project.run("rm", "-r", f"build/{folder}")
    (early, known_early), (late, known_late) = seen
    assert early == late
    assert len(known_early) == 4  # that it assembles, and of three programs version and digests
    assert known_early == known_late


@pytest.fixture
def scripts(toolchain: Toolchain, tmp_path: Path) -> Path:
    """Return a folder of programs that write down who has started them."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("llvm-mc", "ld.lld"):
        real = toolchain.assembler.path.parent / name
        text = f'#!/bin/sh\necho "$PPID $1" >> "{folder}/log"\nexec "{real}" "$@"\n'
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def starters(folder: Path) -> tuple[set[str], set[str]]:
    """Return which processes have asked for a version, and which have started anything else."""
    lines = [line.split() for line in (folder / "log").read_text().splitlines()]
    asking = {process for process, word in lines if word == "--version"}
    return asking, {process for process, word in lines if word == "-shared"}


@pytest.mark.parametrize("is_alone", [False, True])
def test_a_copy_of_the_process_asks_the_programs(
    project: Project, scripts: Path, is_alone: bool
) -> None:
    words = (f"toolchain={scripts}",)
    done = build(project, *(ALONE if is_alone else ()), words=words)
    assert done.status == 0, done.errors
    asking, linking = starters(scripts)
    assert len(linking) == 1
    assert (asking == linking) == is_alone


def test_a_search_that_fails_is_reported_once(project: Project, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    done = build(project, words=(f"toolchain={tmp_path}/none",))
    assert done.status == 4
    assert done.errors.count("folder holds no assembler and linker") == 1


def test_a_build_that_is_refused_does_not_wait_for_the_search(
    project: Project, scripts: Path
) -> None:
    for name in ("llvm-mc", "ld.lld"):
        (scripts / name).write_text("#!/bin/sh\nexec sleep 3600\n")
    done = build(project, words=(f"toolchain={scripts}", "seeds=3"))
    assert (done.status, done.failure) == (
        2,
        "netra: scons: seeds= is used with check-numerics only",
    )
