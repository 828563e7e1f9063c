"""A few worker processes: started when first needed, replaced when they end, closed at exit."""

from __future__ import annotations

import queue
import subprocess
import time
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from netra_build.asm.native.protocol import receive, send
from netra_build.asm.tools.bounds import Bounds
from netra_build.asm.tools.programs import (
    MAX_OUTPUT_BYTES,
    MAX_REPORT_BYTES,
    Outcome,
    start_worker,
)
from netra_build.core.disk import sealed_folder
from netra_build.core.streams import scratch_stream

MAX_WORKERS = 2
START_SECONDS = 30.0
ENDING_SECONDS = 5.0
MAX_REQUESTS = 20000
"""After so many a worker is replaced, whatever LLVM may hold on to from one call to the next."""


@dataclass(frozen=True)
class Launch:
    """What a worker is started with: libraries, where shared ones are, and bounds of a request."""

    library: Path
    llvm_library: Path
    library_path: tuple[Path, ...]
    bounds: Bounds

    def arguments(self) -> list[str]:
        """Return the command line of the worker module."""
        bounds = (int(self.bounds.seconds), self.bounds.memory_bytes, MAX_OUTPUT_BYTES)
        return [str(self.llvm_library), str(self.library), *map(str, bounds)]


class WorkerEnded(Exception):
    """A worker ended before it had answered; carries its exit code and its last report."""

    def __init__(self, code: int, report: str) -> None:
        super().__init__(code, report)
        self.code = code
        self.report = report


class WorkerHung(Exception):
    """A worker did not answer in time, and was killed."""


class WorkerUnusable(Exception):
    """A worker could not be started; the text says why."""


class Worker:
    """One process with its channel, its folder and the file it reports to."""

    def __init__(self, launch: Launch) -> None:
        """Start the process and wait for its greeting; ``WorkerUnusable`` when that fails."""
        self._resources = ExitStack()
        self._timeout_seconds = launch.bounds.seconds
        self._answered = 0
        try:
            self._report = self._resources.enter_context(scratch_stream())
            self._process, self._channel = start_worker(
                launch.arguments(),
                folder=self._resources.enter_context(sealed_folder()),
                report=self._report,
                library_path=launch.library_path,
            )
        except (OSError, ValueError) as error:
            self._resources.close()
            raise WorkerUnusable(f"cannot be started: {error}") from None
        self._resources.callback(self._channel.close)
        try:
            self._exchange([], START_SECONDS)
        except WorkerEnded as ended:
            lines = ended.report.strip().split("\n")
            raise WorkerUnusable(f"does not load: {lines[-1]}") from None
        except WorkerHung:
            raise WorkerUnusable("does not start") from None

    @property
    def is_usable(self) -> bool:
        """Tell whether the process still runs and has not answered as much as one should."""
        return self._process.poll() is None and self._answered < MAX_REQUESTS

    def ask(self, parts: Sequence[bytes]) -> Outcome:
        """Send one request and return its answer; ``WorkerEnded`` or ``WorkerHung``."""
        status, data, report = self._exchange(parts, self._timeout_seconds)
        self._answered += 1
        return Outcome(int(status), data, report.decode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """End the process at once; it holds nothing that is worth waiting for."""
        try:
            self._process.kill()
            self._process.wait()
        finally:
            self._resources.close()

    def _exchange(self, parts: Sequence[bytes], seconds: float) -> list[bytes]:
        deadline = time.monotonic() + seconds
        try:
            if parts:
                send(self._channel, parts, deadline)
            return receive(self._channel, deadline)
        except TimeoutError:
            self.close()
            raise WorkerHung from None
        except (EOFError, OSError, ValueError):
            raise self._ended() from None
        except BaseException:
            # Interrupted halfway: the next answer on this channel would be the wrong one.
            self.close()
            raise

    def _ended(self) -> WorkerEnded:
        try:
            code = self._exit_code()
            self._report.seek(0)
            text = self._report.read(MAX_REPORT_BYTES).decode("utf-8", "backslashreplace")
        finally:
            self._resources.close()
        return WorkerEnded(code, text)

    def _exit_code(self) -> int:
        """Return the exit code of a worker that is ending; it is killed when that takes long."""
        try:
            return self._process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


class WorkerPool:
    """At most ``most`` workers for any number of threads; the last one used is used next."""

    def __init__(self, launch: Launch, most: int = MAX_WORKERS) -> None:
        """Start nothing yet."""
        self._launch, self._most = launch, most
        self._slots: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(most):
            self._slots.put(None)
        self._former: WorkerPool | None = None
        # Runs at the latest when the interpreter ends, before its threads and files are gone.
        self._finalizer = weakref.finalize(self, _close_idle, self._slots)

    def ask(self, parts: Sequence[bytes]) -> Outcome:
        """Have one worker answer; waits while all are busy.

        Raises ``WorkerUnusable``, ``WorkerEnded`` and ``WorkerHung``. A worker that is found dead
        before it was asked is replaced silently.
        """
        worker = self._slots.get()
        try:
            worker = _usable(worker) or Worker(self._launch)
            answer = worker.ask(parts)
            worker = _usable(worker)
            return answer
        except BaseException:
            worker = None
            raise
        finally:
            self._slots.put(worker)

    def close(self) -> None:
        """End the workers that do nothing now; a later request starts new ones."""
        _close_idle(self._slots)

    def of_a_copy(self) -> WorkerPool:
        """Return a pool for a copy of the process that has started these workers.

        They stay that process's: this pool is held for good, so that nothing of it is ended here.
        """
        self._finalizer.detach()
        pool = WorkerPool(self._launch, self._most)
        pool._former = self
        return pool


def _usable(worker: Worker | None) -> Worker | None:
    """Return a worker that can go on; another one is closed."""
    if worker is None or worker.is_usable:
        return worker
    worker.close()
    return None


def _close_idle(slots: queue.LifoQueue[Worker | None]) -> None:
    taken = 0
    try:
        while True:
            worker = slots.get_nowait()
            taken += 1
            if worker is not None:
                worker.close()
    except queue.Empty:
        for _ in range(taken):
            slots.put(None)
