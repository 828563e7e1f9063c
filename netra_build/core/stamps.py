"""What a file system says about a file, and whether that alone may be trusted."""

from __future__ import annotations

import os
import time

Stamp = tuple[int, int, int, int, int]
"""Size in bytes, mtime and ctime in nanoseconds, inode, device."""

FileState = tuple[int, ...]
"""What changes when the bytes of a file do; nothing for no file."""

FINE_MARGIN_NS = 50_000_000
COARSE_MARGIN_NS = 2_100_000_000
SECOND_NS = 1_000_000_000
REGULAR, KIND_OF_FILE = 0o100000, 0o170000


def stamp_of(path: str) -> Stamp | None:
    """Return the stamp of the regular file that ``path`` leads to, None when there is none."""
    try:
        return status_stamp(os.stat(path))
    except (OSError, ValueError):
        return None


def own_stamp_of(path: str) -> Stamp | None:
    """Return the stamp of the regular file at ``path`` itself, None for a link to one."""
    try:
        return status_stamp(os.lstat(path))
    except (OSError, ValueError):
        return None


def status_stamp(status: os.stat_result) -> Stamp | None:
    """Return the stamp in a status, None unless it is of a regular file."""
    if status.st_mode & KIND_OF_FILE != REGULAR:
        return None
    return status_state(status)


def status_state(status: os.stat_result) -> Stamp:
    """Return the state of whatever a status is of."""
    return (
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_dev,
    )


def is_recent(mtime_ns: int, ctime_ns: int, moment_ns: int) -> bool:
    """Tell whether a change after ``moment_ns`` could have left these very times.

    A file system notes times in steps of milliseconds, some in whole seconds. A file whose times
    are not older than the moment by such a step may change once more without a new stamp.
    """
    margin_ns = FINE_MARGIN_NS if ctime_ns % SECOND_NS else COARSE_MARGIN_NS
    return max(mtime_ns, ctime_ns) >= moment_ns - margin_ns


def process_start_ns() -> int:
    """Return when this process was started, in nanoseconds of the clock that files use."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as stream:
            ticks = int(stream.read().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        age = time.process_time() + 1.0
    return time.time_ns() - int((max(age, 0.0) + 0.02) * SECOND_NS)
