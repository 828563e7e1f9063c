"""Work in a process of its own: its answer, its errors, and every way to end without either."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from netra_build.core import confined
from netra_build.core.confined import MEMORY_BYTES, SECONDS, answer_of
from netra_build.core.errors import BadInput, NetraError, Refused


def asked(work, most: int = 10_000) -> bytes:
    """Return the answer of a piece of work about the file ``a.py``."""
    return answer_of(work, "check", "a.py", most)


def refused(work, kind: type[NetraError] = BadInput) -> str:
    """Return the message about work that gives no answer."""
    with pytest.raises(kind) as caught:
        asked(work)
    return str(caught.value)


def test_an_answer_comes_back_whole() -> None:
    data = os.urandom(300_000)
    assert asked(lambda: data, len(data)) == data


def test_an_error_comes_back_as_it_was_raised() -> None:
    def fail() -> bytes:
        raise Refused("no", location="k", expected=1, got="2", detail="x", hint="h")

    assert refused(fail, Refused) == "k: no; expected 1, got 2\nx\nhint: h"


def exits() -> bytes:
    os._exit(0)


def kills() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def hides() -> bytes:
    os.closerange(0, 100)
    return b"passed"


def divides() -> bytes:
    raise ZeroDivisionError


def leaves() -> bytes:
    raise KeyboardInterrupt


def begins_to_answer() -> bytes:
    for handle in range(3, 100):
        try:
            os.write(handle, b"D\0\0\0")
        except OSError:
            continue
    os._exit(0)


NONE = "a.py: check ends its process before there is a verdict"
ENDS = [
    (exits, NONE),
    (kills, "a.py: check ends by SIGKILL before there is a verdict"),
    (hides, NONE),
    (begins_to_answer, NONE),
    (lambda: bytes(100_000), "a.py: check gives a longer answer than it may"),
    (divides, "a.py: check raises ZeroDivisionError in test_confined.py:57"),
    (leaves, "a.py: check raises KeyboardInterrupt in test_confined.py:61"),
]


@pytest.mark.parametrize(("work", "message"), ENDS)
def test_an_end_without_an_answer_is_one_line(work, message: str) -> None:
    assert refused(work) == message


def loop() -> bytes:
    while True:
        pass


def test_time_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined.LIMITS, "words", {SECONDS: "1"})
    assert refused(loop) == "a.py: check takes more than 1 s of processor time"


def test_memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined.LIMITS, "words", {MEMORY_BYTES: str(4 << 30)})
    said = refused(lambda: bytes(5 << 30))
    assert said.startswith("a.py: check raises MemoryError in test_confined.py:")


@pytest.mark.parametrize("word", ["0", "-1", "x", "\u0663", "9" * 30])
def test_a_limit_is_a_number(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setattr(confined.LIMITS, "words", {SECONDS: word})
    assert refused(exits).startswith(f"{SECONDS}: limit is no number; expected >= 1, got ")


def test_it_writes_no_file_and_has_none_of_ours(tmp_path, capfd) -> None:
    ours = os.open(tmp_path, os.O_RDONLY)

    def work() -> bytes:
        print("unseen", flush=True)
        os.write(2, b"unseen")
        try:
            os.fstat(ours)
        except OSError:
            (tmp_path / "made").write_bytes(b"x")
        return b"wrote"

    assert refused(work) == "a.py: check raises OSError in pathlib.py:1067" or not (
        (tmp_path / "made").exists() and (tmp_path / "made").stat().st_size
    )
    os.close(ours)
    assert capfd.readouterr() == ("", "")


SIGNALLED = """
import os, signal, sys, threading
from netra_build.core.confined import answer_of, prepare
from netra_build.core.errors import BadInput
signal.signal(signal.SIGTERM, lambda *_: None)
signal.signal(signal.SIGINT, lambda *_: None)
prepare({})
def loop():
    os.kill(os.getppid(), signal.%s)
    while True:
        pass
def ask():
    try:
        answer_of(loop, "check", "a.py", 10)
    except BadInput as error:
        print(error)
thread = threading.Thread(target=ask)
thread.start()
thread.join()
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_an_interrupt_of_the_build_ends_it(name: str) -> None:
    command = [sys.executable, "-c", SIGNALLED % name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "a.py: check was interrupted\n"), done.stderr


def test_threads_ask_side_by_side() -> None:
    found: list[bytes] = []
    ask = [threading.Thread(target=lambda: found.append(asked(lambda: b"x"))) for _ in range(4)]
    for one in ask:
        one.start()
    for one in ask:
        one.join()
    assert found == [b"x"] * 4
