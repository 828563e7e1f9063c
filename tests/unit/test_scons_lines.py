"""The lines that SCons shows for our actions, whole whatever thread shows them."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from netra_build.scons.steps import show_line


class Pieces(io.StringIO):
    """A standard output that lets the other threads go on between two writes."""

    def __init__(self, parties: int) -> None:
        super().__init__()
        self.turn = threading.Barrier(parties)

    def write(self, text: str) -> int:
        self.turn.wait(timeout=10)
        return super().write(text)


def test_lines_of_several_threads_are_not_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    output = Pieces(4)
    monkeypatch.setattr(sys, "stdout", output)
    threads = [threading.Thread(target=show_line, args=(f"line {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(output.getvalue().splitlines()) == ["line 0", "line 1", "line 2", "line 3"]
