"""The live line of a build on a terminal: redrawn in place, out of the way of everything else."""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO

from netra_build.build.record.tally import Tally, progress_line

ERASE = "\r\x1b[K"
REDRAW_SECONDS = 0.2
NARROWEST = 20


def terminal_width() -> int:
    """Return the columns of the terminal."""
    from rich.console import Console  # late: a build without a terminal needs none of it

    return Console().width


class LiveLine:
    """Draws progress on ``stream``, by a thread of its own while a build runs."""

    def __init__(
        self,
        stream: TextIO,
        tally: Tally,
        settled: Callable[[], int],
        total: int,
        clock: Callable[[], float] = time.monotonic,
        columns: Callable[[], int] = terminal_width,
    ) -> None:
        self.stream = stream
        self.tally = tally
        self.settled = settled
        self.total = total
        self.clock = clock
        self.columns = columns
        self._began = clock()
        self._shown = ""
        self._lock = threading.RLock()
        self._is_over = threading.Event()

    def start(self) -> None:
        """Draw again and again until ``stop``; what others print stands above the line."""
        sys.stdout = ClearingStream(sys.stdout, self)
        sys.stderr = ClearingStream(sys.stderr, self)
        atexit.register(self.stop)
        threading.Thread(target=self._redraw, daemon=True).start()

    def stop(self) -> None:
        """Take the line away for good."""
        self._is_over.set()
        self.clear()

    def draw(self) -> None:
        """Draw the line if something runs and it says something new."""
        with self._lock:
            if self._is_over.is_set() or not self.tally.running():
                return
            seconds, width = self.clock() - self._began, max(NARROWEST, self.columns() - 1)
            text = progress_line(self.tally, self.settled(), self.total, seconds, width)
            if text != self._shown:
                self._shown = text
                self.stream.write(ERASE + text)
                self.stream.flush()

    def clear(self) -> None:
        """Take the line away until it is drawn again."""
        with self._lock:
            if self._shown:
                self._shown = ""
                self.stream.write(ERASE)
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


def can_be_redrawn(stream: TextIO, term: str) -> bool:
    """Tell whether a line can be redrawn on ``stream``."""
    return stream.isatty() and term not in ("", "dumb")
