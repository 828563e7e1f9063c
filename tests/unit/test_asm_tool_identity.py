"""What is known of a program holds while its files are as they were, and is not kept too early."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from blake3 import blake3

from netra_build.asm.tools.tool_identity import ProgramParts, ToolMemory
from netra_build.core.canonical_json import canonical_text
from netra_build.core.streams import file_digest, file_state

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


@pytest.fixture
def program(tmp_path: Path) -> ProgramParts:
    """A program with one library that is there and one that is not."""
    found = []
    for name, content in (("program", b"\x7fELFone"), ("libx.so", b"two")):
        path = tmp_path / name
        path.write_bytes(content)
        found.append((name, path, file_state(path)))
    return (*found, ("liby.so", None, ()))


def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ten seconds have passed."""
    later = time.time_ns() + 10 * 10**9
    monkeypatch.setattr("netra_build.asm.tools.tool_identity.time.time_ns", lambda: later)


def refused() -> str:
    raise AssertionError("asked a program that is known")


def test_a_program_is_asked_once_and_its_files_are_known_by_what_was_kept(
    program: ProgramParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(monkeypatch)
    notes = Notes()
    found = ToolMemory(notes).version_and_digest("as", program, lambda: "22.1.8")
    assert found[0] == "22.1.8"
    ((_, (version, kept)),) = [(about, answer) for about, answer in notes.known.items()]
    assert version == "22.1.8"
    assert kept == [
        blake3(b"\x7fELFone").hexdigest(),
        blake3(b"two").hexdigest(),
        "not found",
    ]
    assert ToolMemory(notes).version_and_digest("as", program, refused) == found
    other = ToolMemory(notes).version_and_digest("as clang", program, lambda: "23")
    assert other == ("23", found[1])
    kept[1] = "f" * 64
    altered = ToolMemory(notes).version_and_digest("as", program, refused)
    assert altered[1] != found[1]
    assert file_digest(program[1][1]) == "f" * 64, "what was kept is not hashed again"


@pytest.mark.parametrize("damaged", ["22.1.8", [], ["22.1.8"], ["22.1.8", ["f"]], [1, ["f"] * 3]])
def test_an_answer_of_another_shape_is_no_answer(
    program: ProgramParts, monkeypatch: pytest.MonkeyPatch, damaged: object
) -> None:
    settled(monkeypatch)
    notes = Notes()
    found = ToolMemory(notes).version_and_digest("as", program, lambda: "22.1.8")
    (question,) = notes.known
    notes.known[question] = damaged
    assert ToolMemory(notes).version_and_digest("as", program, lambda: "22.1.8") == found
