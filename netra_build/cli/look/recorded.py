"""The recorded requests of a build folder, planned again; and ``netra why``, which uses them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netra_build.build.freshness.freshness import FILE_NAME as OUTPUTS_NAME
from netra_build.build.freshness.freshness import Freshness, OutputRecord
from netra_build.build.graph.actions import Root
from netra_build.build.record.run_record import FILE_NAME, RunRecord
from netra_build.build.run.execution import Execution, Folders
from netra_build.cli.options import JSON, command, option
from netra_build.cli.places import toolchain_at
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.disk import RealDisk, work_in
from netra_build.core.errors import BadInput, DamagedStore, NetraError, nearest_hint
from netra_build.formats.library import open_library
from netra_build.inspect.upcoming import GraphView, graph_view, upcoming
from netra_build.inspect.why import answers, why_document
from netra_build.releasing import planned

WORK = "work"
NEEDED = {Root.SOURCE, Root.WORK, Root.OUT}
KINDS: dict[str, Any] = dict.fromkeys(("graph", "what", "build", "toolchain"), str)
KINDS |= {"asked": str | None, "options": dict, "folders": dict}
"""The fields of a recorded request, with their types."""


BUILD = option("--build", metavar="DIR", default="build", help="default: build")


@dataclass(frozen=True)
class Asked:
    """One recorded request, with the name of its graph."""

    graph: str
    what: str
    asked: str | None
    options: dict[str, Any]
    folders: dict[str, str]
    build: str
    toolchain: str

    def execution(self, record: RunRecord) -> Execution:
        """Plan the request again; raises what planning raises."""
        paths = {Root(r): Path(p) for r, p in self.folders.items()}
        library = open_library(RealDisk(), paths[Root.SOURCE], ())
        tools = toolchain_at(self.toolchain)
        try:
            graph = planned(library, self.what, self.asked, self.options)
        except TypeError:  # an option that no longer exists
            raise _of_another_form(record.path) from None
        return Execution(graph, Folders(paths), RealDisk(), tools, runs=record)


class Recorded:
    """A build folder: its record and its requests.

    Paths are relative to the folder in which SCons ran, which becomes the working folder.
    """

    def __init__(self, build: Path) -> None:
        """Read the record; raises ``BadInput`` when nothing was built in ``build``."""
        folder = build.absolute()
        record = RunRecord(folder / WORK / FILE_NAME, RealDisk())
        requests = record.requests().values()
        if not requests:
            raise BadInput(
                "no build is on record here",
                location=str(build),
                hint="build something first, or name the build folder with --build",
            )
        self.record = record
        self._outputs = OutputRecord(folder / WORK / OUTPUTS_NAME, RealDisk())
        self.asked = [_asked(one, record.path) for one in requests]
        self.base = _base(folder, Path(self.asked[0].build))
        work_in(self.base)

    def executions(self, is_wanted: Callable[[Asked], bool]) -> Iterator[Execution]:
        """Yield the plans of the wanted requests.

        A request that can no longer be planned is left out, unless it is the only one.
        """
        wanted = [one for one in self.asked if is_wanted(one)]
        for one in wanted:
            try:
                yield one.execution(self.record)
            except NetraError:
                if len(wanted) == 1:
                    raise

    def freshness(self, executions: Sequence[Execution]) -> Freshness:
        """Return the freshness of outputs under the tools of these plans, which share them."""
        identity = executions[0].tools.identity() if executions else {}
        return Freshness(self._outputs, RealDisk(), identity)


def recorded_view(build: Path, product: str) -> GraphView:
    """Return the states of the actions of one product; ``BadInput`` when it was not built here.

    ``product`` is its name or its folder.
    """
    recorded = Recorded(build)
    name = Path(product).name
    known = {one.graph for one in recorded.asked}
    if name not in known:
        raise BadInput(
            f'"{product}" was not built here', location=str(build), hint=nearest_hint(name, known)
        )
    executions = list(recorded.executions(lambda one: one.graph == name))[:1]
    return graph_view(name, upcoming(executions, recorded.freshness(executions)).values())


def _asked(document: Any, path: Path) -> Asked:
    """Return a request from its recorded form; ``DamagedStore`` for any other form."""
    if not (
        isinstance(document, Mapping)
        and set(document) == set(KINDS)
        and all(isinstance(document[name], kind) for name, kind in KINDS.items())
        and NEEDED <= set(document["folders"]) <= set(Root)
        and all(isinstance(folder, str) for folder in document["folders"].values())
    ):
        raise _of_another_form(path)
    return Asked(**document)


def _of_another_form(path: Path) -> DamagedStore:
    hint = "remove the file; the next build starts a new record"
    return DamagedStore("holds a request of another form", location=str(path), hint=hint)


def _base(build: Path, name: Path) -> Path:
    """Return the folder relative to which ``build`` was called ``name``."""
    if name.is_absolute() or build.parts[-len(name.parts) :] != name.parts:
        return Path.cwd()
    return Path(*build.parts[: -len(name.parts)])


@command(
    "say why a file was last made, back to the edit that started it, and whether it stays",
    option(
        "target", metavar="TARGET", help="output, file of an engine, tactic, operation or symbol"
    ),
    JSON,
    BUILD,
)
def why_command(options: argparse.Namespace) -> int:
    """Print the chain of reasons; nothing is built."""
    here = Path.cwd()
    recorded = Recorded(Path(options.build))
    target = _from_base(options.target, here, recorded.base)
    executions = _executions(recorded, target)
    found = answers(target, executions, recorded.record, recorded.freshness(executions))
    if options.json:
        print(pretty_bytes(why_document(target, found)).decode(), end="")
    else:
        print("\n".join(line for one in found for line in one.lines()))
    return 0


def _from_base(target: str, here: Path, base: Path) -> str:
    """Return a path that was written relative to ``here``, relative to ``base``; words as is."""
    if "/" not in target or here == base:
        return target
    path = os.path.relpath(here / target, base)
    return target if path.startswith("..") else path


def _executions(recorded: Recorded, target: str) -> list[Execution]:
    """Return the plans that may contain the target; all of them if no recorded path matches."""
    graphs = {
        line.graph
        for line in recorded.record.lines()
        if any(path == target or path.endswith(f"/{target}") for path in line.outputs)
    }
    return list(recorded.executions(lambda one: not graphs or one.graph in graphs))
