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
