"""A repository of somebody else's, with a kernel library of its own, and SCons run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from project import Run

SCONSTRUCT = """\
from SCons.Script import Environment, PyPackageDir

env = Environment(tools=["netra"], toolpath=[PyPackageDir("netra_build.scons")],
                  NETRA_LIBRARY_ROOT="library")
engine = env.NetraEngine("pair", out="out/engine")
objects = env.NetraRecipe("objects", out="out/objects")
clone = env.Clone()
again = clone.NetraEngine("pair", out="out/engine")
assert [str(n) for n in again] == [str(n) for n in engine]
env.Default(engine, objects)
"""


def scons(folder: Path, installed: Path, *words: str, **more: str) -> Run:
    """Run SCons there; the package comes from the installed copy, not from this tree."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), **more}
    command = [sys.executable, "-P", "-m", "SCons", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


def with_nodes(repository: Path, text: str) -> None:
    """Let the SConstruct declare nodes of its own beside ours."""
    imports = SCONSTRUCT.replace("import Environment,", "import Copy, Environment,")
    (repository / "SConstruct").write_text(f"{imports}{text}")


def edit_kernel(repository: Path) -> None:
    """Change an instruction of the second kernel."""
    template = repository / "library/kernels/gfx950/templates/own/fill_b.inc"
    template.write_text(template.read_text().replace("v_mov_b32_e32 v1", "v_not_b32_e32 v1"))
