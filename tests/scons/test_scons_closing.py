"""The last line of a build says what was done, and what was not."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys

from project import ENGINE, Project, Run

COMMON = "kernels/gfx950/templates/common"


def closing(run: Run) -> str:
    """Return the last line without its seconds."""
    found = re.fullmatch(r"(netra: ran .*) in \d+\.\d s", run.output.splitlines()[-1])
    assert found is not None, run.output
    return found[1]


def test_a_build_is_summed_up(built: Project) -> None:
    nothing = built.scons(f"engine={ENGINE}")
    assert closing(nothing) == "netra: ran 0, cut off 0, restored 0, up to date 74"
    guards = built.path(f"{COMMON}/guards.inc")
    guards.write_text(guards.read_text() + "// a remark\n")
    remark = built.scons("-j2", f"engine={ENGINE}")
    assert len(remark.actions) == 7
    # Golden chains (15), documents and instances do not hang on what ran; the rest was spared.
    assert closing(remark) == "netra: ran 7, cut off 27, restored 0, up to date 40"


def test_what_fails_and_what_is_not_reached_is_not_counted(built: Project) -> None:
    old = "\tv_max_f32_dpp v[\\value], v[\\value], v[\\value] row_ror"
    built.edit(f"{COMMON}/reductions.inc", old, old.replace("v_max", "v_maximal"))
    failed = built.scons(f"engine={ENGINE}")
    assert failed.status == 2
    assert failed.actions[-1] == "ASM"
    assert "SEALED" not in failed.actions
    ran = len(failed.actions) - 1
    assert closing(failed).startswith(f"netra: ran {ran}, cut off 0, restored 0, up to date ")


def test_what_builds_nothing_or_silently_has_no_closing_line(built: Project) -> None:
    guards = built.path(f"{COMMON}/guards.inc")
    guards.write_text(guards.read_text() + "// a remark\n")
    before = built.seal()
    for words in (["-n"], ["-s"], ["-c"], ["-h"]):
        done = built.scons(f"engine={ENGINE}", *words)
        assert done.status == 0
        assert "netra: ran" not in done.output
        if words == ["-s"]:
            assert built.seal() != before


def on_a_terminal(project: Project, *words: str) -> str:
    """Return what SCons shows on a terminal of 80 columns."""
    master, slave = pty.openpty()
    command = [sys.executable, "-P", "-m", "SCons", *words]
    environment = project.environment(TERM="xterm", COLUMNS="80")
    shown = bytearray()
    with subprocess.Popen(
        command, cwd=project.folder, env=environment, stdin=slave, stdout=slave, stderr=slave
    ) as process:
        os.close(slave)
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while data := os.read(master, 65536):
                shown += data
    os.close(master)
    assert process.returncode == 0, shown
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_shows_one_live_line_in_place_of_the_build_lines(built: Project) -> None:
    hsaco = next((built.engine() / "hsaco").iterdir())
    numerics = built.engine() / f"metadata/{hsaco.stem}.numerics.json"
    numerics.unlink()  # takes long enough for the line to be drawn
    shown = on_a_terminal(built, f"engine={ENGINE}")
    last = shown.rstrip("\n").splitlines()[-1]
    assert re.search(r"\r\x1b\[K\[\d+/74\]  NUMER moe_\w+", shown), shown
    assert "NUMER    " not in shown
    assert "\r\x1b[Kscons: done building targets.\n" in shown
    assert last.startswith("netra: ran 2, cut off 0, restored 0, up to date 72 in ")
    numerics.unlink()
    plain = on_a_terminal(built, f"engine={ENGINE}", "verbose=1")
    assert "NUMER    " in plain
    assert "\x1b" not in plain
