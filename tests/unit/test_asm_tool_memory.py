"""What is known of a program holds while its files are as they were, and is not kept too early."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from netra_build.asm.tool_identity import ProgramParts
from netra_build.asm.tool_memory import ToolMemory
from netra_build.core.canonical_json import canonical_text

OLD_NS = 1_700_000_000_000_000_001


class Notes:
    """A memory in a dictionary."""

    def __init__(self) -> None:
        self.known: dict[str, object] = {}

    def recall(self, question):
        return self.known.get(canonical_text(question))

    def keep(self, question, answer):
        self.known[canonical_text(question)] = answer


def parts(mtime_ns: int = OLD_NS, ctime_ns: int = OLD_NS, size: int = 7) -> ProgramParts:
    return (
        ("program", Path("/bin/as"), (size, mtime_ns, ctime_ns, 3, 4)),
        ("libx.so", Path("/lib/libx.so"), (8, OLD_NS, OLD_NS, 5, 4)),
        ("liby.so", None, ()),
    )


def test_an_answer_holds_while_every_file_is_as_it_was() -> None:
    notes = Notes()
    ToolMemory(notes).keep("version", parts(), "22.1.8")
    known = ToolMemory(notes)
    assert known.recall("version", parts()) == "22.1.8"
    assert known.recall("digest", parts()) is None
    for other in (parts(size=8), parts(mtime_ns=OLD_NS + 1), parts(ctime_ns=OLD_NS + 1)):
        assert known.recall("version", other) is None
    assert known.recall("version", parts()[:2]) is None
    assert known.recall("version", (*parts()[:1], ("libx.so", Path("/lib/other"), ()))) is None


@pytest.mark.parametrize("young", ["mtime_ns", "ctime_ns"])
def test_what_could_still_change_unseen_is_not_kept(young: str) -> None:
    notes = Notes()
    ToolMemory(notes).keep("version", parts(**{young: time.time_ns()}), "22.1.8")
    assert notes.known == {}


def test_a_file_that_is_gone_is_not_kept() -> None:
    notes = Notes()
    ToolMemory(notes).keep("version", (("program", Path("/bin/as"), ()),), "22.1.8")
    assert notes.known == {}


def test_without_a_memory_nothing_is_known() -> None:
    ToolMemory().keep("version", parts(), "22.1.8")
    assert ToolMemory().recall("version", parts()) is None
