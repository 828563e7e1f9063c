"""What the system denies - room, memory - is said in a line, or made do without; no traceback."""

from __future__ import annotations

import resource
import subprocess
import sys

from netra_build.asm.tools.bounds import Bounds
from netra_build.asm.tools.programs import Program, run_tool

NETRA = [sys.executable, "-P", "-m", "netra_build.cli.main"]


def test_a_full_standard_output_is_said_in_a_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run([*NETRA, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "netra: cannot write the output: no space left on device\n",
    )


def test_a_short_answer_of_a_tool_takes_little_memory(tmp_path):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho answer\n")
    tool.chmod(0o755)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with open("/proc/self/status") as status:
        data = next(int(line.split()[1]) for line in status if line.startswith("VmData:"))
    resource.setrlimit(resource.RLIMIT_DATA, (data * 1024 + 100 * 1024**2, hard))
    try:
        assert run_tool(Program("tool", tool), [], tmp_path, (), Bounds(60.0)).output == b"answer\n"
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
