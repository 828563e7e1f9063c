"""Waiting for the end of a process, with and without the system's help."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from netra_build.core.processes import waited_for


def test_a_process_that_ends_is_waited_for():
    process = subprocess.Popen([sys.executable, "-S", "-c", "raise SystemExit(3)"])
    assert waited_for(process.pid, 60)
    assert process.poll() == 3


def test_a_process_that_goes_on_is_waited_for_no_longer_than_asked():
    with subprocess.Popen(
        [sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE
    ) as process:
        assert waited_for(process.pid, 0.001)
        assert process.poll() is None
        process.kill()
        assert waited_for(process.pid, 60)
        assert process.poll() == -9


@pytest.mark.parametrize("error", [AttributeError, OSError, PermissionError])
def test_where_the_system_cannot_wait_nothing_is_waited_for(monkeypatch, error):
    def refused(number: int) -> int:
        raise error

    monkeypatch.setattr(os, "pidfd_open", refused)
    assert not waited_for(os.getpid(), 60)


FEW_THREADS = """
import os, sys, threading
from netra_build.core.processes import usable_threads
name = "_start_joinable_thread"
name = name if hasattr(threading, name) else "_start_new_thread"
real, left = getattr(threading, name), [int(sys.argv.pop(1))]
def start(*given, **named):
    if not left[0]:
        raise RuntimeError("can't start new thread")
    left[0] -= 1
    return real(*given, **named)
setattr(threading, name, start)
"""
HOOKED = """
from netra_build.core.processes import end_if_a_thread_fails
end_if_a_thread_fails("SCons")
for name in "ab":
    Command(name, [], lambda target, source, env: open(str(target[0]), "w").close())
"""


@pytest.mark.parametrize("most", [0, 3])
def test_threads_that_cannot_be_had_are_not_counted(most):
    script = f"{FEW_THREADS}print(usable_threads(4))"
    command = [sys.executable, "-P", "-c", script, str(most)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"{most}\n", "")


def test_a_build_whose_threads_cannot_be_had_does_not_end_well(tmp_path):
    """SCons takes a thread that ended for one that is done, or waits for it for ever."""
    (tmp_path / "SConstruct").write_text(HOOKED)
    script = f"{FEW_THREADS}import SCons.Script\nSCons.Script.main()"
    command = [sys.executable, "-P", "-c", script, "1", "-Q", "-j3", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "netra: a thread of the build ended: can't start new thread\n"
        "hint: build with fewer jobs: -j1\n",
    )
