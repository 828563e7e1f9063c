"""The real recipe of 18 code objects: our build of it against its tool commands one by one."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measured import Cost, measure

from netra_build.asm.tools.toolchain import Toolchain, find_toolchain
from netra_build.build.graph.actions import Graph, Root
from netra_build.build.run.execution import Folders
from netra_build.core.disk import RealDisk
from netra_build.formats.library import open_library
from netra_build.requests import objects_graph

NAME = "qwen36_35b_current_best"
BARE, STATIC = "bench_objects", "bench_static"
LINKED = ("SConstruct", "site_scons", "netra_build", ".toolchain")
COPIED = ("kernels", "manifests", "golden", "evidence", "statements", "schemas")
STEPS = ("assemble", "link", "disassemble")


@dataclass(frozen=True)
class RecipeCost:
    """What our build of a recipe took, what its tool commands took, and how many those are."""

    title: str
    ours: Cost
    commands: Cost
    count: int


def measure_recipe(root: Path, folder: Path, *, brief: bool) -> list[RecipeCost]:
    """Measure the code objects of the recipe alone, and it as it is unless ``brief``."""
    folder.mkdir()
    for part in LINKED:
        if (root / part).exists():
            (folder / part).symlink_to((root / part).resolve())
    for part in COPIED:
        shutil.copytree(root / part, folder / part)
    (folder / "recipes").mkdir()
    text = (root / f"recipes/{NAME}.yaml").read_text()
    (folder / f"recipes/{NAME}.yaml").write_text(text)
    for name, checks in ((BARE, "none"), (STATIC, "static")):
        (folder / f"recipes/{name}.yaml").write_text(f"{text}checks: {checks}\n")
    tools = find_toolchain(path=os.environ.get("PATH", ""), local=root / ".toolchain")
    titles = (
        (BARE, "18 code objects"),
        (STATIC, "with golden sources, listings and static checks"),
        (NAME, "with golden sources, checks and simulations"),
    )
    return [_measure(folder, name, title, tools) for name, title in titles[: 2 if brief else 3]]


def _measure(folder: Path, name: str, title: str, tools: Toolchain) -> RecipeCost:
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "XDG_CACHE_HOME": str(folder / f"cache-{name}"),
    }
    command = [sys.executable, "-P", "-m", "SCons", "-j2", f"recipe={name}"]
    ours = measure(command, folder, {**environment, "PYTHONPATH": str(folder)})
    graph = objects_graph(open_library(RealDisk(), folder, ()), name)
    lines = list(_commands(graph, tools, folder, name))
    (folder / f"{name}.sh").write_text("\n".join(["set -e", *lines, ""]))
    commands = measure(["sh", f"{name}.sh"], folder, environment)
    return RecipeCost(title, ours, commands, len(lines))


def _commands(graph: Graph, tools: Toolchain, folder: Path, name: str) -> Iterator[str]:
    """Yield the command of every action that uses a tool, on the files of our build."""
    build = folder / "build"
    folders = Folders({Root.WORK: build / "work", Root.OUT: build / "recipes" / name})
    for action in graph.actions:
        if action.stage.name not in STEPS:
            continue
        words = tools.command(action.stage.name).split()
        inputs = [str(folders.path(place)) for _, place in action.inputs]
        names = ("unit.s", "0.o", "object.hsaco")
        whole = [word for word in words if word not in names] + inputs
        given = [
            str(folder / "made") if word in ("unit.o", "linked.hsaco") else word for word in whole
        ]
        yield f"{shlex.join(given)} > /dev/null"
