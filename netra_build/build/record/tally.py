"""How the actions of one build ended: counted as they end, summed up in one closing line.

While it runs, another line says how far it is. The time that is left is what is left times what an
action took so far, on the average of those that had something to do.

An action *ran*, was *restored* from a store, was *cut off* (something before it was made anew, but
with the same bytes as before, so that it had nothing to do), or was *up to date* from the start.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

Paths = tuple[str, ...]
"""The files of one action, in the order of its roles; its outputs name it."""

LONGEST_SUBJECT = 48


class Ending(StrEnum):
    """How an action ended that had something to do."""

    RAN = "ran"
    RESTORED = "restored"
    FAILED = "failed"


@dataclass(frozen=True)
class Counts:
    """How many actions ended in which way."""

    ran: int = 0
    cut_off: int = 0
    restored: int = 0
    up_to_date: int = 0

    def line(self, seconds: float) -> str:
        """Return the closing line of a build that took ``seconds``."""
        return (
            f"netra: ran {self.ran}, cut off {self.cut_off}, restored {self.restored}, "
            f"up to date {self.up_to_date} in {seconds:.1f} s"
        )


class Tally:
    """Counts the actions of one build; safe to use from several threads.

    Whoever executes an action calls ``begin`` and, whatever happens, ``end``.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Paths, str] = {}
        self._endings: dict[Paths, Ending] = {}

    def begin(self, outputs: Paths, line: str) -> None:
        """Note that the action that makes ``outputs`` is being executed; ``line`` describes it."""
        with self._lock:
            self._running[outputs] = line

    def end(self, outputs: Paths, ending: Ending | None) -> None:
        """Note how the action that makes ``outputs`` ended; None if it was not carried out."""
        with self._lock:
            self._running.pop(outputs, None)
            if ending is not None:
                self._endings[outputs] = ending

    def running(self) -> tuple[str, ...]:
        """Return what is being executed now, in the order in which it was begun."""
        with self._lock:
            return tuple(self._running.values())

    def count(self, ending: Ending) -> int:
        """Return how many actions have ended so."""
        with self._lock:
            return sum(one is ending for one in self._endings.values())

    def counts(self, settled: Iterable[tuple[Paths, Paths]]) -> Counts:
        """Sum up. ``settled`` are the outputs and inputs of what was found to have nothing to do.

        They stand in an order in which each comes after what it needs.
        """
        with self._lock:
            renewed = {path for outputs in self._endings for path in outputs}
        up_to_date = cut_off = 0
        for outputs, inputs in settled:
            if renewed.isdisjoint(inputs):
                up_to_date += 1
            else:
                cut_off += 1
                renewed.update(outputs)
        return Counts(self.count(Ending.RAN), cut_off, self.count(Ending.RESTORED), up_to_date)


def progress_line(tally: Tally, settled: int, total: int, seconds: float, width: int) -> str:
    """Return the line, cut to ``width`` characters.

    ``settled`` actions of ``total`` had nothing to do; the build has taken ``seconds`` so far.
    """
    ran, restored = tally.count(Ending.RAN), tally.count(Ending.RESTORED)
    worked = ran + restored
    done = min(worked + settled, total)
    parts = [f"[{done}/{total}]"]
    running = tally.running()
    if running:
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        parts.append(f"{_shortened(running[0])}{more}")
    if restored:
        parts.append(f"restored {restored}")
    if worked and done < total:
        parts.append(f"about {duration_text(seconds / worked * (total - done))} left")
    return "  ".join(parts)[:width]


def duration_text(seconds: float) -> str:
    """Return a duration in words of one size, for example ``4 s``, ``2 min 5 s``."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def _shortened(line: str) -> str:
    """Return label and subject of a build line; what it makes would not fit."""
    text = " ".join(line.split(" -> ")[0].split())
    return text if len(text) <= LONGEST_SUBJECT else text[: LONGEST_SUBJECT - 3] + "..."
