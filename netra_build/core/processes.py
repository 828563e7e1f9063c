"""Waiting for child processes, threads that cannot be had, and a pause of the collector."""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from netra_build.core.errors import EXIT_BAD_INPUT, EXIT_OUR_BUG

LESS_HINT = "hint: build with fewer jobs: -j1"


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


def end_group(process: int) -> None:
    """End a child process that leads a group, and all that it has started."""
    os.killpg(process, signal.SIGKILL)


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


def usable_threads(most: int) -> int:
    """Return how many threads can run at once, ``most`` of them at most."""
    is_counted, started = threading.Event(), 0
    with suppress(RuntimeError):
        for _ in range(most):
            threading.Thread(target=is_counted.wait, daemon=True).start()
            started += 1
    is_counted.set()
    return started


def end_if_a_thread_fails(package: str) -> None:
    """End this process, with a message, when an exception ends a thread of the package's own.

    The package may wait for that thread for ever, or take its work for done.
    """
    otherwise = threading.excepthook

    def end(failure: threading.ExceptHookArgs) -> None:
        if not type(failure.thread).__module__.startswith(f"{package}."):
            otherwise(failure)
            return
        if failure.exc_type is not RuntimeError:
            otherwise(failure)
        lines = f"netra: a thread of the build ended: {failure.exc_value}", LESS_HINT, ""
        with suppress(OSError, ValueError):
            sys.stderr.write("\n".join(lines))
            sys.stdout.flush()
        os._exit(EXIT_BAD_INPUT if failure.exc_type is RuntimeError else EXIT_OUR_BUG)

    threading.excepthook = end


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
