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
    assert not OutputRecord(path, RealDisk()).is_altered([str(output)])


@pytest.mark.parametrize("text", ["mad3", "", "made "])
def test_other_bytes_are_altered(tmp_path: Path, text: str) -> None:
    output, path = recorded(tmp_path)
    output.write_text(text)
    assert OutputRecord(path, RealDisk()).is_altered([str(output)])


def test_an_unknown_file_is_altered_and_a_missing_one_is_not(tmp_path: Path) -> None:
    output, path = recorded(tmp_path)
    other = tmp_path / "other"
    record = OutputRecord(path, RealDisk())
    assert not record.is_altered([str(other)])
    other.write_text("x")
    assert record.is_altered([str(output), str(other)])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"blake3": 3}', '{"blake3": {"x": 1}}'])
def test_a_damaged_record_knows_nothing(tmp_path: Path, text: str) -> None:
    output, path = recorded(tmp_path)
    path.write_text(text)
    assert OutputRecord(path, RealDisk()).is_altered([str(output)])


def test_files_that_are_gone_leave_the_record(tmp_path: Path) -> None:
    output, path = recorded(tmp_path)
    record = OutputRecord(path, RealDisk())
    record.note({str(tmp_path / "absent"): "0"})
    record.save()
    assert "absent" not in path.read_text()
    assert str(output) in path.read_text()
