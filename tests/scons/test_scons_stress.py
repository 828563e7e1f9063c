"""No wrong byte is sealed, stored or restored, whatever is edited, flipped or paused meanwhile.

Each run is a seeded accident in one of two checkouts that share a store, and perhaps a product's
folder. What is sealed then is what an undisturbed build seals, and so is what another checkout of
the same code restores.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from project import ENGINE, Project

CODE, TOLD = "netra_build/stages/engine_documents.py", "netra-engine-seal-"
"""Code of a stage, and what it writes into a seal: it tells which edit of the code ran."""
RUNS, ALL_RUNS = 2, 500
REFUSALS = (
    "file has changed while the build ran",
    "another build is writing into this folder",
    "which has come while the build ran",
)


class Checkouts:
    """Two copies of the project and their store, none of which has anything built."""

    def __init__(self, folder: Path, origin: Path, rng: random.Random) -> None:
        self.rng, self.store, self.shared = rng, folder / "store", folder / "shared"
        self.ours, self.other = (Project.copy_to(folder / name, origin) for name in "ab")
        self.number = 0

    def edit(self, project: Project) -> None:
        """Change the code without a change of its size, as a git checkout within a second does."""
        self.number += 1
        text = f'"{TOLD}{self.number:04d}"'
        project.path(CODE).write_text(
            re.sub(f'"{TOLD}[0-9]+"', text, project.path(CODE).read_text())
        )

    def start(self, project: Project, *words: str) -> subprocess.Popen[str]:
        """Begin a build."""
        command = [sys.executable, "-P", "-m", "SCons", "-s", "-j2", f"engine={ENGINE}"]
        return subprocess.Popen(
            [*command, f"store={self.store}", *words],
            cwd=project.folder,
            env=project.environment(PYTHONDONTWRITEBYTECODE=""),
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait(self, seconds: float, running: subprocess.Popen[str]) -> None:
        """Let a build go on for some time, if it does."""
        end = time.monotonic() + self.rng.random() * seconds
        while time.monotonic() < end and running.poll() is None:
            time.sleep(0.005)

    def flip(self, project: Project) -> None:
        """Alter a byte of something that was built."""
        found = [p for p in project.path("build").rglob("*") if p.is_file() and p.suffix]
        found = sorted(p for p in found if p.name != "netra.json" and "finished" not in str(p))
        if found:
            path = self.rng.choice(found)
            data = bytearray(path.read_bytes() or b" ")
            data[self.rng.randrange(len(data))] ^= 1
            path.write_bytes(data)


def edit(made: Checkouts, seconds: float) -> None:
    """Edit the code that runs."""
    running = made.start(made.ours)
    made.wait(seconds, running)
    made.edit(made.ours)
    end(running)


def flip(made: Checkouts, seconds: float) -> None:
    """Alter outputs until the build ends."""
    running = made.start(made.ours)
    while running.poll() is None:
        made.wait(seconds / 4, running)
        try:
            made.flip(made.ours)
        except FileNotFoundError:  # it was just made anew
            continue
    end(running)


def pause(made: Checkouts, seconds: float) -> None:
    """Stop a build, edit its code and build elsewhere, and let it go on."""
    running = made.start(made.ours)
    made.wait(seconds, running)
    running.send_signal(signal.SIGSTOP)
    made.edit(made.ours)
    shutil.copyfile(made.ours.path(CODE), made.other.path(CODE))
    end(made.start(made.other))
    running.send_signal(signal.SIGCONT)
    end(running)


def share(made: Checkouts, seconds: float) -> None:
    """Let two checkouts of different code build into one folder, the first of them with a pause."""
    made.edit(made.other)
    running = made.start(made.ours, f"out={made.shared}")
    made.wait(seconds, running)
    running.send_signal(signal.SIGSTOP)
    end(made.start(made.other, f"out={made.shared}"))
    running.send_signal(signal.SIGCONT)
    end(running)


ACCIDENTS = (edit, flip, pause, share)


def end(running: subprocess.Popen[str]) -> None:
    """Wait for a build, which may succeed or refuse with a line of its own."""
    errors = running.communicate()[1]
    assert running.returncode in (0, 2), errors
    assert "Traceback" not in errors
    assert (running.returncode == 2) is any(text in errors for text in REFUSALS), errors


def sealed(folder: Path) -> dict:
    """Return the seal of a product, empty if nothing vouches for it."""
    path = folder / "netra.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def told(project: Project) -> str:
    """Return what the code of a project tells now."""
    return TOLD + project.path(CODE).read_text().partition(f'"{TOLD}')[2].partition('"')[0]


def disturb(
    made: Checkouts, accident: Callable[[Checkouts, float], None], seconds: float, right: dict
) -> None:
    """Let one accident happen, and hold what came of it against what is right."""
    for project in (made.ours, made.other):
        shutil.rmtree(project.path("build"), ignore_errors=True)
    if accident is flip:  # nothing is restored, everything made
        shutil.rmtree(made.store, ignore_errors=True)
    made.edit(made.ours)
    accident(made, seconds)
    for folder in (made.ours.engine(), made.other.engine(), made.shared):
        found = sealed(folder)
        assert not found or found["files"] == right["files"]
    shutil.copyfile(made.ours.path(CODE), made.other.path(CODE))
    for project in (made.other, made.ours):
        running = made.start(project)
        assert (running.communicate()[1], running.returncode) == ("", 0)
        found = sealed(project.engine())
        assert (found["format"], found["files"]) == (told(project), right["files"])


def test_nothing_wrong_is_vouched_for(
    built_once: Project, tmp_path: Path, seed: int, is_full: bool
) -> None:
    made = Checkouts(tmp_path, built_once.folder, random.Random(seed))
    right = built_once.seal()
    begin = time.monotonic()
    end(made.start(made.ours))
    seconds = time.monotonic() - begin
    runs = made.rng.sample(ACCIDENTS, RUNS)
    if is_full:
        runs = [*ACCIDENTS] * (ALL_RUNS // len(ACCIDENTS))
    for accident in runs:
        disturb(made, accident, seconds, right)
