"""Work in a process of its own that can answer and little else: for code that others wrote.

The process is a copy of this one, so that it costs milliseconds. It has no files but a pipe, makes
none, and ends with its time, its memory, the process that asked or an interrupt of the build.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import struct
import termios
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from netra_build.core import errors
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.processes import status_of

SECONDS, MEMORY_BYTES = "NETRA_STATEMENT_SECONDS", "NETRA_STATEMENT_BYTES"
DEFAULTS = {SECONDS: 300, MEMORY_BYTES: 8 << 30}
SPARE_SECONDS = 5
"""How much longer a process lives that does not heed the end of its time."""

_DONE, _FAILED = b"D", b"F"
_HEAD_BYTES = 9
_TICK_SECONDS = 0.2
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


@dataclass
class Limits:
    """What one piece of work may take, in the words of the environment."""

    words: Mapping[str, str] = field(default_factory=dict)
    interrupts: int = -1
    """A pipe that holds one byte for each signal that this process has got and handles."""

    def number(self, name: str) -> int:
        """Return processor time (twice that by the clock) or memory; ``BadInput`` for no number."""
        word = self.words.get(name, "")
        if not word:
            return DEFAULTS[name]
        if not (word.isascii() and word.isdecimal() and len(word) < 16 and int(word)):
            raise BadInput("limit is no number", location=name, expected=">= 1", got=f'"{word}"')
        return int(word)


LIMITS = Limits()


def prepare(environment: Mapping[str, str]) -> None:
    """Take the limits from the environment, and notice from now on when the build is to end."""
    LIMITS.words = environment
    if LIMITS.interrupts < 0 and threading.current_thread() is threading.main_thread():
        LIMITS.interrupts, written = os.pipe()
        os.set_blocking(written, False)
        signal.set_wakeup_fd(written, warn_on_full_buffer=False)


def answer_of(work: Callable[[], bytes], what: str, location: str, most_bytes: int) -> bytes:
    """Return what ``work`` returns in a process of its own; raise the ``NetraError`` it raises.

    ``BadInput`` at ``location`` whenever it ends without a whole answer of at most that size.
    """
    for name in DEFAULTS:
        LIMITS.number(name)
    reading, writing = os.pipe()
    parent = os.getpid()
    process = os.fork()
    if process == 0:
        _work(work, what, location, parent, writing)
    os.close(writing)
    try:
        fact, data = _received(reading, most_bytes + _HEAD_BYTES)
        is_whole = int.from_bytes(data[1:_HEAD_BYTES], "big") == len(data) - _HEAD_BYTES
        if not fact and not is_whole:
            _wait_for_end(process)
    finally:
        os.close(reading)
        with suppress(OSError):
            os.killpg(process, signal.SIGKILL)
        status = status_of(process, is_killed=True)
    if not fact and is_whole:
        if data[:1] == _DONE:
            return data[_HEAD_BYTES:]
        if data[:1] == _FAILED:
            raise _error_of(data[_HEAD_BYTES:])
    raise BadInput(f"{what} {fact or _ending(status)}", location=location)


def _received(reading: int, most_bytes: int) -> tuple[str, bytes]:
    """Return why there is no answer, or nothing and the answer."""
    data, poll, before = bytearray(), select.poll(), _interrupts()
    poll.register(reading, select.POLLIN)
    seconds = 2 * LIMITS.number(SECONDS) + SPARE_SECONDS
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ready = poll.poll(_TICK_SECONDS * 1000)
        if _interrupts() != before:
            return "was interrupted", b""
        if not ready:
            continue
        piece = os.read(reading, 1 << 20)
        data += piece
        if not piece:
            return "", bytes(data)
        if len(data) > most_bytes:
            return "gives a longer answer than it may", b""
    return f"takes longer than {seconds} s", b""


def _wait_for_end(process: int) -> None:
    """Let a process that answers no more end by itself, so that it is known how; a second at most.

    It is waited for again by whoever wants its status.
    """
    for _ in range(100):
        if os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
            return
        time.sleep(0.01)


def _interrupts() -> int:
    if LIMITS.interrupts < 0:
        return 0
    count: int = struct.unpack("i", fcntl.ioctl(LIMITS.interrupts, termios.FIONREAD, b"\0" * 4))[0]
    return count


def _ending(status: int | None) -> str:
    code = None if status is None else os.waitstatus_to_exitcode(status)
    if code is None or code >= 0:
        return "ends its process before there is a verdict"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"ends by {name} before there is a verdict"


def _work(
    work: Callable[[], bytes], what: str, location: str, parent: int, writing: int
) -> NoReturn:
    """Be the process: work and answer; never returns, whatever is raised."""
    try:
        _confine(what, parent, writing)
        try:
            kind, data = _DONE, work()
        except NetraError as error:
            error.location = error.location or location
            kind, data = _FAILED, _described(error)
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{os.path.basename(last.filename)}:{last.lineno}"
            fact = f"{what} raises {type(error).__name__} in {place}"
            kind, data = _FAILED, _described(BadInput(fact, location=location))
        left = memoryview(kind + len(data).to_bytes(_HEAD_BYTES - 1, "big") + data)
        while left:
            left = left[os.write(writing, left) :]
    finally:
        os._exit(1)


def _confine(what: str, parent: int, writing: int) -> None:
    import ctypes
    import resource

    os.setsid()  # so that what it starts, if anything, can be ended with it
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.closerange(3, writing)
    os.closerange(writing + 1, os.sysconf("SC_OPEN_MAX"))
    seconds, memory_bytes = LIMITS.number(SECONDS), LIMITS.number(MEMORY_BYTES)

    def out_of_time(*_: Any) -> NoReturn:
        raise BadInput(f"{what} takes more than {seconds} s of processor time")

    signal.signal(signal.SIGXCPU, out_of_time)
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, seconds, seconds + SPARE_SECONDS),
        (resource.RLIMIT_AS, memory_bytes, memory_bytes),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(kind, (soft, hard))


def _described(error: NetraError) -> bytes:
    kind = next(one for one in type(error).__mro__ if vars(errors).get(one.__name__) is one)
    shown = {name: None if value is None else str(value) for name, value in vars(error).items()}
    return json.dumps({"kind": kind.__name__, **shown}).encode()


def _error_of(data: bytes) -> NetraError:
    said: dict[str, Any] = json.loads(data)
    kind: type[NetraError] = vars(errors)[said.pop("kind")]
    fact = said.pop("fact")
    names = ("location", "expected", "got", "hint", "detail")
    return kind(fact, **{name: said[name] for name in names})
