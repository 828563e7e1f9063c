"""Waiting for child processes, and a pause of the garbage collector."""

from __future__ import annotations

import gc
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager


def status_of(process: int, *, is_killed: bool = False) -> int | None:
    """Wait for the end of a child process and return its status, as ``os.waitpid`` gives it.

    With ``is_killed`` one that still runs is killed. None where SIGCHLD is ignored, or somebody
    else in this process has waited for it: no status is left then.
    """
    try:
        found, status = os.waitpid(process, os.WNOHANG)
        if not found:
            if is_killed:
                os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
    except (ChildProcessError, ProcessLookupError):
        return None
    return status


def waited_for(process: int, seconds: float) -> bool:
    """Wait until a child process has ended, or for so long; then return True.

    ``Popen.wait`` with a limit sleeps for growing intervals, half of the time for nothing. False at
    once where the system cannot wait for a process as for a file.
    """
    try:
        handle = os.pidfd_open(process)
    except (AttributeError, OSError):  # not Linux, or an old one
        return False
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(seconds * 1000)
    finally:
        os.close(handle)
    return True


@contextmanager
def collector_paused() -> Iterator[None]:
    """Run a block without the collector, which would walk all living objects again and again.

    Those walks alone make the compilation of a large model grow faster than the model. What no
    cycle holds is freed as ever. A collector that was off before stays off.
    """
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            gc.enable()
