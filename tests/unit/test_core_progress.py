"""The live line: its exact text, where it is drawn, and that it gets out of the way."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from netra_build.build.record.reasons import Ending
from netra_build.build.run.execution import Tally
from netra_build.core.terminal import ClearingStream, LiveLine
from netra_build.core.texts import duration_text
from netra_build.scons import front
from netra_build.scons.front import progress_line


def tally_of(ran: int = 0, restored: int = 0, running: tuple[str, ...] = ()) -> Tally:
    """Return a tally with so many actions in each state."""
    tally = Tally()
    endings = [Ending.RAN] * ran + [Ending.RESTORED] * restored
    for number, ending in enumerate(endings):
        tally.end((f"output {number}",), ending)
    for line in running:
        tally.begin((line,), line)
    return tally


def test_the_line_before_anything_has_ended():
    tally = tally_of(running=("ASM      moe_gate_up -> x/y.o",))
    assert progress_line(tally, 40, 77, 0.0, 79) == "[40/77]  ASM moe_gate_up"


def test_the_line_says_done_running_restored_and_what_is_left():
    tally = tally_of(8, 2, ("NUMER    moe_silu -> a.json", "ASM      moe_down -> b.o"))
    assert progress_line(tally, 7, 77, 5.0, 79) == (
        "[17/77]  NUMER moe_silu and 1 more  restored 2  about 30 s left"
    )


def test_the_line_at_the_end_leaves_nothing():
    assert progress_line(tally_of(7), 70, 77, 5.0, 79) == "[77/77]"


def test_the_line_fits():
    subject = "a" * 60
    tally = tally_of(running=(f"LINK     {subject} -> x",))
    assert progress_line(tally, 0, 9, 0.0, 79) == f"[0/9]  LINK {'a' * 40}..."
    assert progress_line(tally, 0, 9, 0.0, 10) == "[0/9]  LIN"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (59.4, "59 s"), (59.6, "1 min"), (125.0, "2 min 5 s"), (3600.0, "60 min")],
)
def test_a_duration_in_words(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "term", "is_live"),
    [
        (Terminal(), "xterm", True),
        (Terminal(), "dumb", False),
        (Terminal(), "", False),
        (io.StringIO(), "xterm", False),
    ],
)
def test_a_line_is_live_on_a_terminal_alone(monkeypatch, stream, term, is_live):
    started = []
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setattr(LiveLine, "start", lambda line: started.append(line))
    env = {"NETRA_CONTEXT": SimpleNamespace(tally=Tally(), steps=[])}
    front._show_progress(env, term)
    assert [line.text(80) for line in started] == ([""] if is_live else [])
    assert ("PRINT_CMD_LINE_FUNC" in env) is is_live


def test_what_is_printed_stands_above_the_line():
    tally, screen = tally_of(running=("ASM      a -> b",)), Terminal()
    line = LiveLine(screen, lambda width: progress_line(tally, 1, 3, 0.0, width), lambda: 80)
    printed = ClearingStream(screen, line)
    printed.write("one\n")
    line.draw()
    line.draw()  # it says nothing new
    printed.write("two\n")
    line.draw()
    line.stop()
    line.draw()
    assert screen.getvalue() == (
        "one\n\r\x1b[K[1/3]  ASM a\r\x1b[Ktwo\n\r\x1b[K[1/3]  ASM a\r\x1b[K"
    )


def test_nothing_is_drawn_while_nothing_runs():
    screen = Terminal()
    LiveLine(screen, lambda _: "", lambda: 80).draw()
    assert screen.getvalue() == ""
