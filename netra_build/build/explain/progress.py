"""One line that says how far a build is: done of all, running, restored, and how long it will take.

The time that is left is what is left times what an action took so far, on the average of those
that had something to do.
"""

from __future__ import annotations

from netra_build.build.record.tally import Ending, Tally

LONGEST_SUBJECT = 48


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
