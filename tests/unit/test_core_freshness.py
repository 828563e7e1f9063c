"""An action stands while its digest and the bytes of its outputs are those of its last run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from netra_build.build.freshness.freshness import Freshness, OutputRecord
from netra_build.build.graph.actions import Action, Place, Root, Stage
from netra_build.core.digests import blake3_hex, sha256_hex
from netra_build.core.disk import RealDisk

MODULE = "netra_build.stages.engine_documents"
STAGE = Stage("copy", "COPY", MODULE, lambda inputs, parameters, tools: dict(inputs))
ACTION = STAGE.apply(
    "x",
    {"in": Place(Root.SOURCE, "in")},
    {"out": Place(Root.WORK, "out")},
    {"width": 1},
)


class Build:
    """One action's files in a folder, and what a build finds there."""

    def __init__(self, folder: Path, tools: dict[str, str] | None = None) -> None:
        self.given, self.made = folder / "in", folder / "out"
        self.record = OutputRecord(folder / "outputs.json", RealDisk())
        self.freshness = Freshness(self.record, RealDisk(), tools or {})

    def is_fresh(self, action: Action = ACTION) -> bool:
        decision = self.freshness.decision(action, (str(self.given),))
        return decision is not None and self.freshness.is_fresh((str(self.made),), decision.digest)

    def run(self, action: Action = ACTION) -> None:
        decision = self.freshness.decision(action, (str(self.given),))
        assert decision is not None
        self.made.write_bytes(self.given.read_bytes())
        written = {str(self.made): blake3_hex(self.made.read_bytes())}
        self.freshness.note(written, (str(self.made),), decision.digest)
        self.record.save()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").write_text("given")
    Build(tmp_path).run()
    return tmp_path


def test_what_ran_stands(folder: Path) -> None:
    assert Build(folder).is_fresh()


def test_nothing_stands_before_it_ran(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("given")
    (tmp_path / "out").write_text("given")
    assert not Build(tmp_path).is_fresh()


def test_an_input_of_other_bytes(folder: Path) -> None:
    (folder / "in").write_text("other")
    assert not Build(folder).is_fresh()
    (folder / "in").write_text("given")
    assert Build(folder).is_fresh()


@pytest.mark.parametrize("text", ["Given", ""])
def test_an_altered_output(folder: Path, text: str) -> None:
    (folder / "out").write_text(text)
    assert not Build(folder).is_fresh()


def test_a_missing_input_or_output(folder: Path) -> None:
    (folder / "out").unlink()
    assert not Build(folder).is_fresh()
    Build(folder).run()
    (folder / "in").unlink()
    assert not Build(folder).is_fresh()


def test_other_parameters_roles_and_tools(folder: Path) -> None:
    assert not Build(folder).is_fresh(replace(ACTION, parameters=(("width", 2),)))
    assert not Build(folder).is_fresh(replace(ACTION, inputs=(("of", ACTION.inputs[0][1]),)))
    assert not Build(folder).is_fresh(replace(ACTION, stage=replace(STAGE, name="move")))
    using = replace(ACTION, stage=replace(STAGE, uses_tools=True))
    Build(folder, {"assembler": "1"}).run(using)
    assert Build(folder, {"assembler": "1"}).is_fresh(using)
    assert not Build(folder, {"assembler": "2"}).is_fresh(using)


def test_what_ran_on_other_bytes_than_were_decided_on(folder: Path) -> None:
    """The digest that is noted is that of what was read: an edit taken back runs it again."""
    build = Build(folder)
    (folder / "in").write_text("edited meanwhile")
    build.run()
    (folder / "in").write_text("given")
    assert not Build(folder).is_fresh()


def test_the_digest_of_what_a_run_wrote_is_known_at_once(folder: Path) -> None:
    build = Build(folder)
    build.freshness.note({str(folder / "out"): "digest"}, (str(folder / "out"),), "action")
    assert build.freshness.file_digest(str(folder / "out")) == "digest"
    build.freshness.mark_unknown([str(folder / "out")])
    assert build.freshness.file_digest(str(folder / "out")) is None


def test_a_file_is_read_once(folder: Path) -> None:
    build = Build(folder)
    first = build.freshness.file_digest(str(folder / "in"))
    (folder / "in").write_text("other")
    assert build.freshness.file_digest(str(folder / "in")) == first == blake3_hex(b"given")


def test_on_a_source_that_was_not_planned_with_nothing_is_decided(folder: Path) -> None:
    build = Build(folder)
    build.freshness.expect({str(folder / "in"): sha256_hex(b"given")})
    assert build.is_fresh()
    build = Build(folder)
    build.freshness.expect({str(folder / "in"): sha256_hex(b"planned")})
    assert not build.is_fresh()
