"""Outputs that read otherwise than they were written are known; nothing is trusted by default."""

from __future__ import annotations

from pathlib import Path

import pytest

from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.output_record import OutputRecord


def recorded(tmp_path: Path, text: str = "made") -> tuple[Path, Path]:
    """Write one output and its record; return both paths."""
    output, path = tmp_path / "output", tmp_path / "work" / "outputs.json"
    output.write_text(text)
    record = OutputRecord(path, RealDisk())
    record.note({str(output): blake3_hex(text.encode())})
    record.save()
    return output, path


def test_an_output_as_it_was_written_is_not_altered(tmp_path: Path) -> None:
    output, path = recorded(tmp_path)
    assert OutputRecord(path, RealDisk()).confirmed(str(output)) is not None


@pytest.mark.parametrize("text", ["mad3", "", "made "])
def test_other_bytes_are_altered(tmp_path: Path, text: str) -> None:
    output, path = recorded(tmp_path)
    output.write_text(text)
    assert OutputRecord(path, RealDisk()).confirmed(str(output)) is None


def test_an_unknown_or_missing_file_is_not_confirmed(tmp_path: Path) -> None:
    output, path = recorded(tmp_path)
    other = tmp_path / "other"
    other.write_text("x")
    output.unlink()
    record = OutputRecord(path, RealDisk())
    assert record.confirmed(str(other)) is None
    assert record.confirmed(str(output)) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"blake3": 3}', '{"blake3": {"x": 1}}'])
def test_a_damaged_record_knows_nothing(tmp_path: Path, text: str) -> None:
    output, path = recorded(tmp_path)
    path.write_text(text)
    assert OutputRecord(path, RealDisk()).confirmed(str(output)) is None


def test_files_that_are_gone_leave_the_record(tmp_path: Path) -> None:
    output, path = recorded(tmp_path)
    record = OutputRecord(path, RealDisk())
    record.note({str(tmp_path / "absent"): "0"})
    record.save()
    assert "absent" not in path.read_text()
    assert str(output) in path.read_text()


def noted(tmp_path: Path) -> tuple[OutputRecord, str, str]:
    """Return the record of one action that made two files, which lie there, and their paths."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("1")
    second.write_text("2")
    record = OutputRecord(tmp_path / "outputs.json", RealDisk())
    record.note({str(first): blake3_hex(b"1"), str(second): blake3_hex(b"2")})
    record.note_action((str(first), str(second)), "d1")
    return record, str(first), str(second)


def again(record: OutputRecord) -> OutputRecord:
    """Save a record and return it as it is read."""
    record.save()
    return OutputRecord(record.path, record.disk)


def test_the_action_digest_of_outputs_is_remembered(tmp_path: Path) -> None:
    record, first, second = noted(tmp_path)
    for one in (record, again(record)):
        assert one.action_digest((first, second)) == "d1"


def test_an_action_of_other_outputs_is_another_one(tmp_path: Path) -> None:
    record, first, second = noted(tmp_path)
    others = [(first,), (second,), (second, first), (first, second, "third"), ("third",)]
    assert [record.action_digest(paths) for paths in others] == [None] * 5


def test_what_else_writes_an_output_ends_what_is_known_of_its_action(tmp_path: Path) -> None:
    record, first, second = noted(tmp_path)
    record.note({second: blake3_hex(b"2")})
    assert record.action_digest((first, second)) is None
    record.note_action((first, second), "d1")
    record.note_action((second,), "d2")
    assert record.action_digest((first, second)) is None
    assert again(record).action_digest((second,)) == "d2"


def test_an_action_without_one_of_its_files_leaves_the_record(tmp_path: Path) -> None:
    record, first, second = noted(tmp_path)
    Path(second).unlink()
    assert again(record).action_digest((first, second)) is None


@pytest.mark.parametrize("actions", ["3", "[[]]", '[["d"]]', '["ab"]', '[["d", 3]]', "{}"])
def test_a_record_of_damaged_actions_knows_nothing(tmp_path: Path, actions: str) -> None:
    record, first, _ = noted(tmp_path)
    record.save()
    text = record.path.read_text()
    start, end = text.index("[[", text.index('"actions"')), text.rindex("]]") + 2
    record.path.write_text(text[:start] + actions + text[end:])
    read = OutputRecord(record.path, RealDisk())
    assert read.knows(first) == (actions == "{}")
    assert read.action_digest((first,)) is None
