"""Two builds of one folder: the second waits, names the first, and a dead one holds nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from netra_build.build.run.build_lock import LOCK, take_lock
from netra_build.core.errors import BadInput

HOLDER = """
import sys
from netra_build.build.run.build_lock import take_lock
take_lock(sys.argv[1], sys.argv[2], lambda line: print(line, flush=True))
print("mine", flush=True)
sys.stdin.read()
"""
ROOT = Path(__file__).resolve().parent.parent.parent


def hold(folder: Path, command: str = "scons engine=x") -> subprocess.Popen[str]:
    """Start a process that takes the lock and keeps it until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def line(process: subprocess.Popen[str]) -> str:
    """Return the next line that a holder prints."""
    return process.stdout.readline().rstrip("\n")


def end(*processes: subprocess.Popen[str]) -> None:
    """Let holders end."""
    for process in processes:
        process.communicate("")


def test_the_second_waits_and_names_the_first(tmp_path: Path) -> None:
    first = hold(tmp_path, "scons engine=x")
    assert line(first) == "mine"
    started = json.loads((tmp_path / LOCK).read_text())["started"]
    second = hold(tmp_path, "scons")
    assert line(second) == (
        f'waiting for "scons engine=x, process {first.pid}, started {started}" '
        f"to finish in {tmp_path}"
    )
    end(first)
    assert line(second) == "mine"
    assert json.loads((tmp_path / LOCK).read_text())["pid"] == second.pid
    end(second)


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    first = hold(tmp_path)
    assert line(first) == "mine"
    first.send_signal(signal.SIGKILL)
    first.wait()
    second = hold(tmp_path)
    assert line(second) == "mine"
    end(first, second)


def test_a_folder_that_is_removed_meanwhile_is_locked_anew(tmp_path: Path) -> None:
    folder = tmp_path / "build"
    first = hold(folder)
    assert line(first) == "mine"
    second = hold(folder)
    assert line(second).startswith("waiting for ")
    shutil.rmtree(folder)
    third = hold(folder)
    assert line(third) == "mine"
    end(first)
    assert line(second).startswith(f'waiting for "scons engine=x, process {third.pid}, ')
    end(third)
    assert line(second) == "mine"
    end(second)


@pytest.mark.parametrize(
    "note", ["", "{", "[]", '{"pid": "x"}', '{"pid": 1}', '{"pid": 1e999}', "\x00"]
)
def test_a_note_that_cannot_be_read_names_nobody(tmp_path: Path, note: str) -> None:
    first = hold(tmp_path)
    assert line(first) == "mine"
    (tmp_path / LOCK).write_text(note)
    second = hold(tmp_path)
    assert line(second) == f"waiting for another build to finish in {tmp_path}"
    end(first, second)


def test_of_a_holder_that_has_ended_something_is_left(tmp_path: Path) -> None:
    first, ended = hold(tmp_path), subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert line(first) == "mine"
    note = {"pid": ended.pid, "command": "scons", "started": "now"}
    (tmp_path / LOCK).write_text(json.dumps(note))
    second = hold(tmp_path)
    shown = f'"scons, process {ended.pid}, started now"'
    assert line(second) == f"waiting for what is left of {shown} to end in {tmp_path}"
    end(first, second)


def test_a_hostile_note_is_shown_short_and_printable(tmp_path: Path) -> None:
    first = hold(tmp_path)
    assert line(first) == "mine"
    note = {"pid": 1, "command": "\x1b[2J" + "x" * 1000, "started": "\n"}
    (tmp_path / LOCK).write_text(json.dumps(note))
    second = hold(tmp_path)
    shown = "?[2J" + "x" * 196
    assert line(second) == f'waiting for "{shown}" to finish in {tmp_path}'
    end(first, second)


def test_one_process_takes_it_as_often_as_it_likes(tmp_path: Path) -> None:
    said: list[str] = []
    for _ in range(3):
        take_lock(str(tmp_path / "build"), "scons", said.append)
    assert said == []


@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "dangling link"])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, kind: str) -> None:
    place, other = tmp_path / LOCK, tmp_path / "other"
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(other)
    if kind == "link":
        other.write_text("")
    with pytest.raises(BadInput) as caught:
        take_lock(str(tmp_path), "scons", lambda _: None)
    assert str(caught.value) == (
        f"{place}: the lock of this build folder is not a regular file\n"
        "hint: remove it and build again"
    )
    assert other.exists() == (kind == "link")


def test_a_folder_that_cannot_be_made_has_no_lock(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said: list[str] = []
    take_lock(str(tmp_path / "file/build"), "scons", said.append)
    assert said == []
    assert (tmp_path / "file").read_text() == ""


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "build").touch()
    with pytest.raises(BadInput) as caught:
        take_lock(str(tmp_path / "build"), "scons", print)
    assert str(caught.value) == (
        f"{tmp_path}/build: the build folder is no folder\nhint: move it away"
    )
