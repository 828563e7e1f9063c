"""A question that a copy of this process answers while this one goes on with something else."""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from netra_build.core.errors import NetraError
from netra_build.core.processes import status_of

Answer = TypeVar("Answer")

STANDARD_STREAMS = 3


class Future(Generic[Answer]):
    """One forked process that answers one question, which must not print, and ends."""

    def __init__(self, question: Callable[[], Answer]) -> None:
        """Fork; raises ``OSError`` where that is not possible."""
        self._pipe, theirs = os.pipe()
        # An interrupt between two lines must not have the copy go on as if it were this process.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = os.fork()
            if self._process == 0:
                _answer(question, theirs)
        except OSError:
            os.close(self._pipe)
            raise
        finally:
            os.close(theirs)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        atexit.register(self._give_up)

    def answer(self) -> Answer | None:
        """Wait for the answer, once; raise the ``NetraError`` that the question raised.

        None when it raised anything else, or its process was ended.
        """
        atexit.unregister(self._give_up)
        with open(self._pipe, "rb") as stream:
            data = stream.read()
        status_of(self._process)
        if not data:
            return None
        is_answer, found = pickle.loads(data)
        if not is_answer:
            raise found
        answer: Answer = found
        return answer

    def _give_up(self) -> None:
        """Interrupt the other process: it puts away what it has made, and nobody wants the rest."""
        with suppress(OSError):
            os.close(self._pipe)
            os.kill(self._process, signal.SIGINT)
            status_of(self._process)


def begin(question: Callable[[], Answer]) -> Future[Answer] | None:
    """Begin to answer a question elsewhere; None where it has to be answered here.

    That is so on a single processor, and with further threads: one of them may hold a lock that a
    copy of this process would wait for.
    """
    if threading.active_count() > 1 or len(os.sched_getaffinity(0)) < 2:
        return None
    try:
        return Future(question)
    except OSError:
        return None


def _outcome(question: Callable[[], object]) -> tuple[bool, object]:
    try:
        return True, question()
    except NetraError as error:
        return False, error


def _answer(question: Callable[[], object], pipe: int) -> None:
    """Answer, and end without ending or writing anything of the process that was copied."""
    status = 1
    with suppress(BaseException):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        # Nothing that is locked or waited for by its open file is to be kept by a copy.
        os.closerange(STANDARD_STREAMS, pipe)
        os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))
        data = pickle.dumps(_outcome(question))
        with open(pipe, "wb") as stream:
            stream.write(data)
        status = 0
    os._exit(status)
