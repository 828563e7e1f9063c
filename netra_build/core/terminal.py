"""One live line of a terminal, drawn again and again while others print above it."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

ERASE = "\r\x1b[K"
REDRAW_SECONDS = 0.2
NARROWEST = 20


def terminal_width() -> int:
    """Return the columns of the terminal."""
    from rich.console import Console

    return Console().width


@dataclass(eq=False)
class LiveLine:
    """Draws what ``text`` says on ``stream``, by a thread of its own while something runs."""

    stream: TextIO
    text: Callable[[int], str]
    """Returns the line, cut to a number of columns; empty when there is nothing to draw."""
    columns: Callable[[], int] = terminal_width

    def __post_init__(self) -> None:
        self._shown = ""
        self._lock = threading.RLock()
        self._is_over = threading.Event()

    def start(self) -> None:
        """Draw again and again until ``stop``; what others print stands above the line."""
        sys.stdout = ClearingStream(sys.stdout, self)
        sys.stderr = ClearingStream(sys.stderr, self)
        atexit.register(self.stop)
        with suppress(RuntimeError):  # no further thread: nothing is drawn
            threading.Thread(target=self._redraw, daemon=True).start()

    def stop(self) -> None:
        """Take the line away for good."""
        self._is_over.set()
        self.clear()

    def draw(self) -> None:
        """Draw the line if it says something new."""
        with self._lock:
            text = self.text(max(NARROWEST, self.columns() - 1))
            if text and not self._is_over.is_set():
                self._show(text)

    def clear(self) -> None:
        """Take the line away until it is drawn again."""
        self._show("")

    def _show(self, text: str) -> None:
        with self._lock:
            if text != self._shown:
                self._shown = text
                self.stream.write(ERASE + text)
                self.stream.flush()

    def _redraw(self) -> None:
        while not self._is_over.wait(REDRAW_SECONDS):
            self.draw()


class ClearingStream:
    """A stream before whose every text the live line is taken away."""

    def __init__(self, stream: TextIO, line: LiveLine) -> None:
        self._stream = stream
        self._line = line

    def write(self, text: str) -> int:
        """Write to the stream behind, on a line of its own."""
        if text:
            self._line.clear()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
