"""Outputs that read otherwise than they were written are known; nothing is trusted by default."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from netra_build.build.freshness.freshness import OutputRecord
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.stamps import own_stamp_of

DAY_NS = 86_400 * 10**9


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


ODD: tuple[tuple[str, object], ...] = (
    ("format", "netra-outputs-3"),
    ("files", None),
    ("files.names", "ab"),
    ("files.names", [1, 2]),
    ("files.names", ["a"]),
    ("files.names", ["a", "a"]),
    ("files.stamps", [0] * 9),
    ("files.stamps", [0] * 15),
    ("files.stamps", [0] * 9 + [0.5]),
    ("files.stamps", [0] * 9 + [True]),
    ("files.stamps", "0000000000"),
    ("files.digests", ["d"]),
    ("files.digests", ["d", 1]),
    ("files.digests", {}),
    ("actions", 3),
    ("actions", "d"),
    ("actions", [3]),
    ("actions", []),
    ("actions", ["d", "e"]),
    ("counts", 2),
    ("counts", [3]),
    ("counts", [-1]),
    ("counts", [2, 0]),
    ("counts", ["2"]),
    ("counts", [True]),
    ("counts", []),
)


@pytest.mark.parametrize(("key", "value"), ODD)
def test_a_record_of_another_form_knows_nothing(tmp_path: Path, key: str, value: object) -> None:
    record, first, second = noted(tmp_path)
    record.save()
    document = json.loads(record.path.read_text())
    assert OutputRecord(record.path, RealDisk()).knows(first)
    part = document["files"] if "." in key else document
    part[key.rpartition(".")[2]] = value
    record.path.write_text(json.dumps(document))
    read = OutputRecord(record.path, RealDisk())
    assert (read.knows(first), read.knows(second)) == (False, False)
    assert read.action_digest((first, second)) is None


def test_actions_come_back_with_their_own_outputs(tmp_path: Path) -> None:
    record, first, second = noted(tmp_path)
    others = [tmp_path / name for name in ("0-alone", "third", "fourth")]
    for path in others:
        path.write_text(path.name)
    alone, third, fourth = map(str, others)
    record.note({str(path): blake3_hex(path.name.encode()) for path in others})
    record.note_action((fourth, third), "d2")
    read = again(record)
    assert read.action_digest((first, second)) == "d1"
    assert read.action_digest((fourth, third)) == "d2"
    assert read.action_digest((alone,)) is None
    for path in others:
        assert read.confirmed(str(path)) == (
            own_stamp_of(str(path)),
            blake3_hex(path.name.encode()),
        )


def aged(tmp_path: Path) -> tuple[OutputRecord, str]:
    """Return a record that has seen its one output at rest, and the output's path."""
    output, path = recorded(tmp_path)
    document = json.loads(path.read_text())
    stamp = own_stamp_of(str(output))
    assert stamp is not None
    document["files"]["stamps"] = [*stamp]  # as it is noted once the file is not young any more
    path.write_text(json.dumps(document))
    return OutputRecord(path, RealDisk()), str(output)


def test_what_was_written_since_is_looked_at_anew(tmp_path: Path) -> None:
    record, output = aged(tmp_path)
    first = record.confirmed(output)
    Path(output).write_text("new")
    record.note({output: blake3_hex(b"new")})
    assert record.confirmed(output) == (own_stamp_of(output), blake3_hex(b"new"))
    assert record.confirmed(output) != first


def test_a_file_whose_stamp_says_nothing_is_looked_at_each_time(tmp_path: Path) -> None:
    """One that was written just now may change again without a new stamp."""
    output, path = recorded(tmp_path)
    os.utime(output, ns=(time.time_ns() + DAY_NS, time.time_ns() + DAY_NS))
    record = OutputRecord(path, RealDisk())
    assert record.confirmed(str(output)) is not None
    output.write_text("mad3")
    assert record.confirmed(str(output)) is None


def test_verify_trusts_no_stamp(tmp_path: Path) -> None:
    aged(tmp_path)
    output, path = tmp_path / "output", tmp_path / "work" / "outputs.json"
    document = json.loads(path.read_text())
    document["files"]["digests"] = ["0" * 64]
    path.write_text(json.dumps(document))
    assert OutputRecord(path, RealDisk()).confirmed(str(output)) is not None
    assert OutputRecord(path, RealDisk(), verify=True).confirmed(str(output)) is None
