"""Forked processes work for this one: answers and failures come back, and none is left behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.build.run.workers import GATE, Begin, NoWorker, WorkerPool, most_workers
from netra_build.core.errors import BadInput, Refused, ToolchainFailed

PATIENCE_MS = 30_000


class Odd(Exception):
    """An exception that cannot be sent: it holds a lock."""

    def __init__(self) -> None:
        super().__init__("odd")
        self.lock = threading.Lock()


def work(task: Any, begin: Begin) -> Any:
    """Do what the task says, in whatever process this is."""
    match task:
        case "who":
            return os.getpid()
        case "begin":
            begin()
            return os.getpid()
        case "assembly":
            raise AssemblyFailed("no", location="x.s", diagnostics=(), raw="x.s:1: no")
        case "value":
            raise ValueError("a bug")
        case "odd":
            raise Odd
        case "end", int(code):
            os._exit(code)
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "meet", str(mine), str(other):
            Path(mine).touch()
            while not Path(other).exists():
                os.sched_yield()
            return os.getpid()
    raise AssertionError(task)


def nothing() -> None:
    """Begin nothing."""


@pytest.fixture
def workers() -> Iterator[WorkerPool]:
    made = WorkerPool(2, work, nothing)
    yield made
    made.close()


def has_ended(pid: int) -> bool:
    """Wait until a process has ended; False when it goes on for longer than it may."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        waiting = select.poll()
        waiting.register(handle, select.POLLIN)
        return bool(waiting.poll(PATIENCE_MS))
    finally:
        os.close(handle)


def test_another_process_does_it_and_the_same_one_again(workers: WorkerPool) -> None:
    first = workers.ask("who", nothing)
    assert first not in (os.getpid(), 0)
    assert workers.ask("who", nothing) == first


def test_two_threads_have_two_processes(workers: WorkerPool, tmp_path: Path) -> None:
    names = str(tmp_path / "a"), str(tmp_path / "b")
    found: list[int] = []
    other = threading.Thread(
        target=lambda: found.append(workers.ask(("meet", *reversed(names)), nothing))
    )
    other.start()
    found.append(workers.ask(("meet", *names), nothing))
    other.join()
    assert len(set(found)) == 2


def test_a_new_process_opens_anew_what_has_locks() -> None:
    state = {"lock": threading.Lock()}

    def start() -> None:
        state["lock"] = threading.Lock()

    def use(task: Any, begin: Begin) -> bool:
        return state["lock"].acquire(timeout=0)

    with state["lock"]:
        for opened, is_free in ((start, True), (nothing, False)):
            made = WorkerPool(1, use, opened)
            assert made.ask(None, nothing) is is_free
            made.close()


def test_what_is_asked_back_is_answered_by_the_process_that_asked(workers: WorkerPool) -> None:
    begun: list[int] = []
    assert workers.ask("begin", lambda: begun.append(os.getpid())) != os.getpid()
    assert begun == [os.getpid()]


def test_a_question_that_fails_fails_the_task(workers: WorkerPool) -> None:
    def begin() -> None:
        raise Refused("not now", location="folder", hint="later")

    with pytest.raises(Refused) as caught:
        workers.ask("begin", begin)
    assert str(caught.value) == "folder: not now\nhint: later"
    assert workers.ask("who", nothing) != os.getpid()


def test_an_error_of_ours_comes_back_whole(workers: WorkerPool) -> None:
    with pytest.raises(AssemblyFailed) as caught:
        workers.ask("assembly", nothing)
    assert (str(caught.value), caught.value.raw) == ("x.s: no", "x.s:1: no")
    assert isinstance(caught.value, BadInput)


def test_a_bug_comes_back_with_its_place(workers: WorkerPool) -> None:
    with pytest.raises(ValueError, match=r"^a bug") as caught:
        workers.ask("value", nothing)
    assert 'raise ValueError("a bug")' in "".join(caught.value.__notes__)


def test_an_exception_that_cannot_be_sent_comes_back_as_its_text(workers: WorkerPool) -> None:
    with pytest.raises(RuntimeError, match=r"raise Odd\n.*Odd: odd"):
        workers.ask("odd", nothing)


@pytest.mark.parametrize(
    ("task", "ended"), [("die", "was ended by SIGKILL"), (("end", 3), "ended with 3")]
)
def test_a_process_that_ends_costs_one_message(workers: WorkerPool, task: Any, ended: str) -> None:
    first = workers.ask("who", nothing)
    with pytest.raises(ToolchainFailed) as caught:
        workers.ask(task, nothing)
    assert str(caught.value) == f"the process that worked on it {ended}\nhint: build again"
    assert workers.ask("who", nothing) not in (first, os.getpid())


def test_a_signal_to_all_does_not_end_them(workers: WorkerPool) -> None:
    pid = workers.ask("who", nothing)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(pid, number)
    assert workers.ask("who", nothing) == pid


def test_closing_ends_them(workers: WorkerPool) -> None:
    pid = workers.ask("who", nothing)
    workers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_nothing_is_forked_while_something_is_done_here(workers: WorkerPool) -> None:
    found: list[int] = []
    asking = threading.Thread(target=lambda: found.append(workers.ask("who", nothing)))
    with GATE.inside():
        asking.start()
        asking.join(0.2)
        assert asking.is_alive()
    asking.join()
    assert found != [os.getpid()]


KILLED = """
import os, signal, sys
from netra_build.build.run.workers import WorkerPool
workers = WorkerPool(2, lambda task, begin: os.getpid(), lambda: None)
print(workers.ask(None, lambda: None), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_they_end_with_a_builder_that_is_killed() -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    assert has_ended(int(done.stdout))


def test_one_job_or_one_processor_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert [most_workers(jobs) for jobs in (1, 2, 3, 8)] == [0, 2, 3, 3]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5})
    assert most_workers(8) == 0


def test_a_system_that_makes_no_process_is_said(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "no more processes")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fork", refuse)
        with pytest.raises(NoWorker):
            workers.ask("who", nothing)
    assert workers.ask("who", nothing) != os.getpid()


def test_where_nobody_waits_for_children_they_end_all_the_same(workers: WorkerPool) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        pid = workers.ask("who", nothing)
        with pytest.raises(ToolchainFailed, match=r"^the process that worked on it has ended\n"):
            workers.ask("die", nothing)
        workers.close()
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert has_ended(pid)


def test_programs_that_they_start_end_on_an_interrupt() -> None:
    shown = "import signal; print([signal.getsignal(n) == signal.SIG_IGN for n in (2, 15, 1)])"

    def start(task: Any, begin: Begin) -> str:
        return subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True).stdout

    made = WorkerPool(1, start, nothing)
    assert made.ask(None, nothing) == "[False, False, False]\n"
    made.close()


def test_a_process_that_cannot_begin_ends_and_is_no_second_builder() -> None:
    def fail() -> None:
        raise ValueError("not begun")

    made = WorkerPool(1, work, fail)
    with pytest.raises(ToolchainFailed, match=r"^the process that worked on it ended with 1\n"):
        made.ask("who", nothing)
    made.close()
