"""The search for the tool chain: what it finds is kept, and a failure is reported once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from project import Project, Run

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


def build(project: Project, *, words: tuple[str, ...] = (), **environment: str) -> Run:
    """Build the code object of the recipe."""
    recipe = project.folder / "recipes/one.yaml"
    if not recipe.exists():
        recipe.write_text(RECIPE)
    command = [sys.executable, "-P", "-m", "SCons", "recipe=one", *words]
    return project.run(*command, **environment)


def answers(cache: Path) -> list[Any]:
    """Return what a store knows of the tools."""
    paths = (cache / "netra/records/answer").rglob("*")
    return sorted(path.read_bytes() for path in paths if path.is_file())


def test_what_is_found_out_of_the_tools_is_kept_in_the_store(
    project: Project, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    done = build(project, XDG_CACHE_HOME=str(cache))
    assert done.status == 0, done.errors
    assert len(answers(cache)) == 4  # that it assembles, and of three programs version and digests
    assert "nothing to do" in build(project, XDG_CACHE_HOME=str(cache)).output


def test_a_search_that_fails_is_reported_once(project: Project, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    done = build(project, words=(f"toolchain={tmp_path}/none",))
    assert done.status == 4
    assert done.errors.count("folder holds no assembler and linker") == 1


def test_a_build_that_is_refused_does_not_wait_for_the_search(
    project: Project, tmp_path: Path
) -> None:
    for name in ("llvm-mc", "ld.lld"):
        (tmp_path / name).write_text("#!/bin/sh\nexec sleep 3600\n")
        (tmp_path / name).chmod(0o755)
    done = build(project, words=(f"toolchain={tmp_path}", "seeds=3"))
    assert (done.status, done.failure) == (
        2,
        "netra: scons: seeds= is used with check-numerics only",
    )
