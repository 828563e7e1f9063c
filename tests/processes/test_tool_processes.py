"""Programs of a tool chain as processes: what they start ends with them, and none may be had."""

from __future__ import annotations

import errno
import os
import select

import pytest

from netra_build.asm.tools import programs
from netra_build.asm.tools.bounds import Bounds
from netra_build.asm.tools.programs import Program, run_tool
from netra_build.core.errors import ToolchainFailed


def test_what_a_program_has_started_ends_with_it(tmp_path):
    os.mkfifo(tmp_path / "open")
    reader = os.open(tmp_path / "open", os.O_RDONLY | os.O_NONBLOCK)
    tool = tmp_path / "tool"
    tool.write_text(f"#!/bin/sh\nexec 9>'{tmp_path}/open'\ntail -f /dev/null & wait\n")
    tool.chmod(0o755)
    with pytest.raises(ToolchainFailed) as caught:
        run_tool(Program("tool", tool), [], tmp_path, (), Bounds(1.0, is_fixed=True))
    assert str(caught.value) == f"{tool}: did not finish within 1 seconds"
    poll = select.poll()
    poll.register(reader, 0)
    assert poll.poll(10_000) == [(reader, select.POLLHUP)]
    os.close(reader)


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM])
def test_a_process_that_cannot_be_had_is_no_missing_program(tmp_path, monkeypatch, number):
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(programs.subprocess, "Popen", refused)
    with pytest.raises(ToolchainFailed) as caught:
        run_tool(Program("tool", tmp_path), [], tmp_path, (), Bounds(1.0, is_fixed=True))
    assert str(caught.value) == (
        f"{tmp_path}: cannot be started: {os.strerror(number).lower()}\n"
        "hint: build with fewer jobs (-j1), or raise the limits of processes and memory (ulimit -a)"
    )
