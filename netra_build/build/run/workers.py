"""Processes that carry out work for this one, each a copy of it as it was when they were needed.

One interpreter runs Python on one processor at a time. A worker is forked, so it has everything
that this process has read and planned, and runs the very code that this process has loaded; what
it is told and answers goes over a pipe. It writes files like any of our threads, and ends when this
process is gone.

A copy has one thread. A lock that another thread held when it was made stays locked in it, so no
process is forked while work is done here (``GATE``), and a worker opens anew what has locks of its
own.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from netra_build.core.errors import NetraError, ToolchainFailed
from netra_build.core.processes import status_of, waited_for

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Begin = Callable[[], None]
Work = Callable[[Any, Begin], Any]
"""Does a task in a worker; may call ``begin``, which the process that asked answers."""

ENDING_SECONDS = 5.0
BEGIN, DONE, FAILED = range(3)
"""What a worker says: a question, an answer, an exception."""


class NoWorker(Exception):
    """No further process can be made; what was asked has to be done here."""


class Gate:
    """Keeps apart what is done in this process and the moments in which it is copied."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside = 0

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Do something in this process, which is not copied meanwhile."""
        with self._condition:
            self._inside += 1
        try:
            yield
        finally:
            with self._condition:
                self._inside -= 1
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until nothing is done in this process, and let nothing begin."""
        with self._condition:
            while self._inside:
                self._condition.wait()
            yield


GATE = Gate()
"""The gate of this process, whichever environment works in it."""


class Worker:
    """One forked process. To be asked by one thread at a time."""

    def __init__(self, work: Work, start: Callable[[], None], others: list[Worker]) -> None:
        """Fork; raises ``OSError`` where that is not possible.

        ``others`` are those whose pipes the new process must not keep open.
        """
        from multiprocessing import Pipe

        self.pipe, theirs = Pipe()
        try:
            with GATE.alone():
                self._process = os.fork()
        except OSError:
            self.pipe.close()
            theirs.close()
            raise
        if self._process == 0:
            _serve(theirs, work, start, [worker.pipe for worker in (self, *others)])
        theirs.close()

    def ask(self, task: Any, begin: Begin) -> Any:
        """Return what ``work`` returns for a task; raise what it raises, or ``EOFError``."""
        try:
            self.pipe.send(task)
            while True:
                kind, answer = self.pipe.recv()
                if kind != BEGIN:
                    break
                self.pipe.send(_outcome(begin))
        except OSError:
            raise EOFError from None
        if kind == FAILED:
            raise answer
        return answer

    def ended(self) -> int | None:
        """Let the process end and wait for it; return its exit code, None if nobody knows it."""
        self.pipe.close()
        waited_for(self._process, ENDING_SECONDS)
        status = status_of(self._process, is_killed=True)
        return None if status is None else os.waitstatus_to_exitcode(status)


class WorkerPool:
    """At most so many workers for any number of threads, forked one by one when all are busy."""

    def __init__(self, most: int, work: Work, start: Callable[[], None]) -> None:
        """Fork nothing yet. ``start`` is called first in each worker, to open what has locks."""
        self._work, self._start = work, start
        self._lock = threading.Lock()
        self._workers: list[Worker] = []
        self._slots: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(most):
            self._slots.put(None)

    def ask(self, task: Any, begin: Begin) -> Any:
        """Have one worker do a task; wait while all are busy.

        Raises what ``work`` raises, ``ToolchainFailed`` when the process ends over it, and
        ``NoWorker`` when there can be none.
        """
        worker = self._slots.get()
        try:
            if worker is None:
                worker = self._new()
            return worker.ask(task, begin)
        except EOFError:
            assert worker is not None
            ended, worker = worker, None
            raise self._failure(ended) from None
        finally:
            self._slots.put(worker)

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.pipe.close()
        for worker in workers:
            worker.ended()

    def _new(self) -> Worker:
        with self._lock:
            try:
                worker = Worker(self._work, self._start, self._workers)
            except OSError as error:
                raise NoWorker from error
            self._workers.append(worker)
            return worker

    def _failure(self, worker: Worker) -> NetraError:
        with self._lock:
            self._workers.remove(worker)
        ended = _ending(worker.ended())
        return ToolchainFailed(f"the process that worked on it {ended}", hint="build again")


def _ending(code: int | None) -> str:
    if code is None:
        return "has ended"
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"


def most_workers(jobs: int) -> int:
    """Return how many workers are of use: none where there is one processor, or one job."""
    usable = min(jobs, len(os.sched_getaffinity(0)))
    return usable if usable > 1 else 0


def _serve(
    pipe: Connection, work: Work, start: Callable[[], None], others: list[Connection]
) -> None:
    """Be a worker, until the other side is gone; never returns, whatever is raised."""
    status = 1
    with suppress(BaseException):
        for other in others:
            other.close()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # The builder ends in order, and we with it; programs get the system's handling again.
            signal.signal(number, lambda *_: None)
        gc.freeze()
        start()

        def begin() -> None:
            pipe.send((BEGIN, None))
            kind, answer = pipe.recv()
            if kind == FAILED:
                raise answer

        with suppress(EOFError):
            while True:
                pipe.send(_outcome(partial(work, pipe.recv(), begin)))
        status = 0
    os._exit(status)  # nothing of the builder's is to be ended or written by a copy


def _outcome(question: Callable[[], Any]) -> tuple[int, Any]:
    try:
        return DONE, question()
    except NetraError as error:
        return FAILED, error
    except Exception as error:
        return FAILED, _sendable(error)


def _sendable(error: Exception) -> Exception:
    """Return an exception that the other side can read, with the place where it was raised."""
    error.add_note(traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(traceback.format_exc())
    return error
