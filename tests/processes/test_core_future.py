"""A question is answered by a copy of the process, which leaves nothing and ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netra_build.build.workers import future as module
from netra_build.build.workers.future import Future, begin
from netra_build.core.errors import ToolchainFailed

ROOT = Path(__file__).parent.parent.parent

HELD = """\
import fcntl, os, signal, sys
from netra_build.build.workers.future import begin

lock = os.open("lock", os.O_CREAT | os.O_RDWR)
fcntl.flock(lock, fcntl.LOCK_EX)
if sys.argv[1] == "ignored":
    signal.signal(signal.SIGINT, signal.SIG_IGN)

def question():
    try:
        open("asked", "w").close()
        signal.pause()
    finally:
        open("put away", "w").close()

future = begin(question)
while not os.path.exists("asked"):
    os.sched_yield()
print("unasked")
"""


def ended(future: Future[Any]) -> bool:
    """Tell whether the other process is gone, and waited for."""
    try:
        os.kill(future._process, 0)
    except ProcessLookupError:
        return True
    return False


def started(question: Callable[[], Any]) -> Future[Any]:
    future = begin(question)
    assert future is not None
    return future


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have two processors and no other thread, whoever runs the tests."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(threading, "active_count", lambda: 1)


def test_the_answer_comes_from_another_process() -> None:
    future = started(lambda: (os.getpid(), os.getppid(), b"x" * 1_000_000))
    process, parent, data = future.answer() or (0, 0, b"")
    assert process not in (0, os.getpid())
    assert parent == os.getpid()
    assert len(data) == 1_000_000, "more than a pipe holds"
    assert ended(future)


def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leaves() -> None:
    raise SystemExit(0)


@pytest.mark.parametrize(
    "question",
    [lambda: 1 // 0, leaves, dies, lambda: os._exit(3), lambda: threading.Lock()],
    ids=["raises", "leaves", "dies", "ends", "not sendable"],
)
def test_without_an_answer_there_is_none(question: Callable[[], Any], capfd: Any) -> None:
    future = started(question)
    assert future.answer() is None
    assert ended(future)
    assert capfd.readouterr() == ("", "")


def test_a_copy_keeps_no_file_open(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w") as stream:
        handle = stream.fileno()

        def question() -> str:
            try:
                os.fstat(handle)
            except OSError:
                return "closed"
            return "open"

        assert started(question).answer() == "closed"


@pytest.mark.parametrize("interrupts", ["usual", "ignored"])
def test_who_is_not_asked_puts_away_what_he_made(tmp_path: Path, interrupts: str) -> None:
    command = [sys.executable, "-c", HELD, interrupts]
    environment = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "unasked\n", "")
    assert (tmp_path / "put away").exists()


def test_beside_a_thread_nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert begin(os.getpid) is None


def test_on_one_processor_nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert begin(os.getpid) is None


def test_where_nothing_can_be_forked_nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(module.os, "fork", refused)
    assert begin(os.getpid) is None
    assert len(os.listdir("/proc/self/fd")) == before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_an_error_of_ours_is_raised_where_the_answer_is_asked_for() -> None:
    def question() -> None:
        raise ToolchainFailed("none here", location="tools", hint="get one")

    future = begin(question)
    assert future is not None
    with pytest.raises(ToolchainFailed) as caught:
        future.answer()
    assert str(caught.value) == "tools: none here\nhint: get one"


def test_where_nobody_waits_for_children_the_answer_comes_all_the_same() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        future = begin(os.getpid)
        assert future is not None
        assert future.answer() not in (None, os.getpid())
    finally:
        signal.signal(signal.SIGCHLD, before)
