"""Answers are found by their whole question, and outlive the process that gave them."""

from __future__ import annotations

from pathlib import Path

from netra_build.build.cache.contents import ANSWER
from netra_build.build.cache.store import open_store


def test_an_answer_is_found_by_its_question(tmp_path: Path) -> None:
    open_store(tmp_path / "store").keep({"about": "x", "files": [[1]]}, ["1.2", "d"])
    memory = open_store(tmp_path / "store")
    assert memory.recall({"about": "x", "files": [[1]]}) == ["1.2", "d"]
    assert memory.recall({"about": "x", "files": [[2]]}) is None
    assert memory.recall({"about": "y", "files": [[1]]}) is None


def test_an_answer_to_another_question_under_the_same_key_is_none(tmp_path: Path) -> None:
    memory = open_store(tmp_path / "store")
    memory.keep("asked", "answer")
    [path] = [
        p for p in (tmp_path / "store").rglob("*") if p.is_file() and b"asked" in p.read_bytes()
    ]
    path.write_bytes(path.read_bytes().replace(b"answer", b"answes"))
    assert memory.recall("asked") is None
    assert ANSWER == "answer"
