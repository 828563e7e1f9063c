"""One build at a time in a build folder: the second waits and says for whom.

The lock is the system's, so that of a killed build is free as soon as no process of it is left.
What stands in the file is only there to be shown.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from collections.abc import Callable

from netra_build.core.errors import BadInput

LOCK = ".netra-lock"
LONGEST_SHOWN = 200

_HELD: dict[tuple[int, int], int] = {}
"""Locks of this process by device and inode: two environments of one build share a folder, and
the system would make the second wait for the first for ever."""


def take_lock(build: str, command: str, say: Callable[[str], None]) -> None:
    """Take the lock of a build folder until the process ends, waiting for whoever has it.

    ``say`` gets one line when there is somebody to wait for. A folder that cannot be written to
    has no lock, and no build can change it. ``BadInput`` when something else than a regular file
    stands in the lock's place: without a lock, two builds would write into one another.
    """
    while True:
        _refuse_others(build)
        try:
            os.makedirs(build, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            handle = os.open(f"{build}/{LOCK}", flags, 0o644)
        except OSError:
            return
        if _take(handle, build, command, say):
            return


def _refuse_others(build: str) -> None:
    """Raise ``BadInput`` unless the lock's place is free or holds a file, in a folder."""
    if os.path.lexists(build) and not os.path.isdir(build):
        raise BadInput("the build folder is no folder", location=build, hint="move it away")
    path = f"{build}/{LOCK}"
    try:
        is_file = stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:  # not there, or the folder is none: what follows tells
        return
    if not is_file:
        raise BadInput(
            "the lock of this build folder is not a regular file",
            location=path,
            hint="remove it and build again",
        )


def _take(handle: int, build: str, command: str, say: Callable[[str], None]) -> bool:
    """Tell whether ``handle`` is the lock of the folder now; it is closed if it is not kept."""
    status = os.fstat(handle)
    identity = (status.st_dev, status.st_ino)
    if identity in _HELD:
        os.close(handle)
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say(f"waiting for {_holder(handle)} in {build}")
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:  # a file system without locks
        os.close(handle)
        return True
    if not _is_current(handle, build):
        os.close(handle)
        return False
    note = {"pid": os.getpid(), "command": command, "started": time.strftime("%F %T")}
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(note).encode("ascii"), 0)
    _HELD[identity] = handle
    return True


def _is_current(handle: int, build: str) -> bool:
    """Tell whether the folder still has this file: it may have been removed while we waited."""
    try:
        return os.path.samestat(os.stat(f"{build}/{LOCK}"), os.fstat(handle))
    except OSError:
        return False


def _holder(handle: int) -> str:
    """Return who has the lock, as far as the file says so."""
    try:
        note = json.loads(os.pread(handle, 65536, 0))
        pid, command, started = int(note["pid"]), str(note["command"]), str(note["started"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return "another build to finish"
    text = f"{command}, process {pid}, started {started}"
    shown = "".join(sign if sign.isprintable() else "?" for sign in text)
    quoted = f'"{shown[:LONGEST_SHOWN]}"'
    is_running = os.path.exists(f"/proc/{pid}")
    return f"{quoted} to finish" if is_running else f"what is left of {quoted} to end"
