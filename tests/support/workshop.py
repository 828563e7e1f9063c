"""A source, a graph of two actions and the record of their runs, built again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from netra_build.build.freshness.freshness import Freshness, OutputRecord
from netra_build.build.graph.actions import Action, Graph, Place, Root, Stage
from netra_build.build.record.run_file import Entry
from netra_build.build.record.run_record import RunRecord
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import run_action
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import Refused
from netra_build.inspect.upcoming import upcoming
from netra_build.inspect.why import answer, upcoming_lines

SOURCE, MIDDLE = Place(Root.SOURCE, "in"), Place(Root.WORK, "mid")
PRODUCT = Place(Root.OUT, "product")


class Tools:
    """A tool chain with a version."""

    version = "1"

    def identity(self) -> dict[str, str]:
        return {"assembler_version": self.version}


def clip(inputs: Any, parameters: Any, tools: Any) -> dict[str, bytes]:
    """Return what stands before the remark."""
    return {"made": inputs["text"].split(b"#")[0]}


def double(inputs: Any, parameters: Any, tools: Any) -> dict[str, bytes]:
    """Return the input twice, or refuse it."""
    if b"bad" in inputs["text"]:
        raise Refused("bad")
    return {"made": inputs["text"] * parameters.get("times", 2)}


def seal(inputs: Any, parameters: Any, tools: Any) -> dict[str, bytes]:
    """Return a seal that names the product."""
    return {"seal": b'{"files": {"product": 0}}'}


CLIP = Stage("clip", "CLIP", "netra_build.core.errors", clip)
DOUBLE = Stage("double", "DOUBLE", "netra_build.core.errors", double, uses_tools=True)
SEAL = Stage("seal", "SEAL", "netra_build.core.errors", seal)
SEAL_PLACE = Place(Root.OUT, "seal.json")


class Workshop:
    """A source, a graph of two actions and their record, built again and again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tools = Tools()
        self.middle, self.product, self.times = MIDDLE, PRODUCT, 2
        self.last: Action | None = None
        self.is_sealed = False
        self.sealed_inputs = {"product": PRODUCT}
        self.write("one # remark")

    def write(self, text: str) -> None:
        (self.folder / "in").write_text(text)

    def execution(self) -> Execution:
        record = RunRecord(self.folder / "work" / "runs.json", RealDisk(), clock=lambda: 0.0)
        roots = (Root.SOURCE, ""), (Root.WORK, "work"), (Root.OUT, "out")
        folders = Folders({root: self.folder / name for root, name in roots})
        graph = Graph("g", self.actions(), SEAL_PLACE if self.is_sealed else None)
        return Execution(graph, folders, RealDisk(), self.tools, runs=record)

    def actions(self) -> tuple[Action, ...]:
        """Return the two actions, the last one replaced if it is to be, and the seal's."""
        given, times = {"text": self.middle}, {"times": self.times}
        last = self.last or DOUBLE.apply("thing", given, {"made": self.product}, times)
        sealed = SEAL.apply("thing", self.sealed_inputs, {"seal": SEAL_PLACE})
        first = CLIP.apply("thing", {"text": SOURCE}, {"made": self.middle})
        return (first, last, sealed) if self.is_sealed else (first, last)

    def build(self) -> None:
        """Run what has to run, as a build tool would, and save the record."""
        execution = self.execution()
        verdicts = upcoming([execution])
        for action in execution.graph.actions:
            paths = execution.folders.names(action.outputs)
            is_whole = all(Path(path).is_file() for path in paths)
            if verdicts[paths[0]].state != "up to date" or not is_whole:
                run_action(action, execution)
        execution.runs.save()

    def stand(self, execution: Execution) -> None:
        """Put on record what lies there as made by the actions as they are now."""
        record = OutputRecord(self.folder / "work/outputs.json", RealDisk())
        freshness = Freshness(record, RealDisk(), self.tools.identity())
        for action in execution.graph.actions:
            made = execution.folders.names(action.outputs)
            decision = freshness.decision(action, execution.folders.names(action.inputs))
            assert decision is not None
            written = {path: blake3_hex(Path(path).read_bytes()) for path in made}
            freshness.note(written, made, decision.digest)
        record.save()

    def freshness(self, *, verify: bool = False) -> Freshness:
        """Return what a build would let stand by the record of outputs."""
        record = OutputRecord(self.folder / "work/outputs.json", RealDisk(), verify=verify)
        return Freshness(record, RealDisk(), self.tools.identity())

    def ahead(self, freshness: Freshness | None = None) -> list[str]:
        """Return what a build would do now, in words, without the folder."""
        lines = upcoming_lines(upcoming([self.execution()], freshness).values())
        return [line.replace(f"{self.folder}/", "") for line in lines]

    def why(self, place: Place | None = None, freshness: Freshness | None = None) -> list[str]:
        """Return why a file, the product, is as it is, in words, without the folder."""
        execution = self.execution()
        path = str(execution.folders.path(place or self.product))
        lines = answer(path, execution.runs, upcoming([execution], freshness)).lines()
        return [line.replace(f"{self.folder}/", "") for line in lines]


def entries(record: RunRecord) -> list[Entry]:
    """Return every entry of a record that can be read, in the order of their outputs."""
    found = [record.entry(line.outputs[0]) for line in record.lines()]
    return [entry for entry in found if entry is not None]


def b3(text: str) -> str:
    """Return how the digest of a text is shown."""
    return f"b3:{blake3_hex(text.encode())[:12]}"
