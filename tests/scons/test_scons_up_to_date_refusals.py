"""What is refused is refused after a finished build too: the check answers no such request."""

from __future__ import annotations

import os

import pytest
from project import ENGINE, Project

ASKED = f"engine={ENGINE}"
NOTHING = "netra: nothing to do: "


@pytest.fixture
def finished(built: Project) -> Project:
    """Return a built project whose manifest is that of its own folder."""
    assert NOTHING not in built.scons(ASKED).output
    assert NOTHING in built.scons(ASKED).output
    return built


REFUSED = {
    "verbose=garbage": "verbose= must be 0 or 1; expected 0 or 1, got garbage",
    "verify=garbage": "verify= must be 0 or 1; expected 0 or 1, got garbage",
    "verbose=": "verbose= has no value",
    "store=": "store= has no value",
}


@pytest.mark.parametrize("word", REFUSED)
def test_a_value_that_is_refused_is_refused_after_a_finished_build(
    finished: Project, word: str
) -> None:
    run = finished.scons(ASKED, word)
    assert (run.status, NOTHING in run.output) == (2, False)
    assert REFUSED[word] in (run.output + run.errors)


def test_a_lock_that_is_no_file_ends_the_run_with_one_line(finished: Project) -> None:
    lock = finished.path("build/.netra-lock")
    lock.unlink()
    os.mkfifo(lock)
    run = finished.scons("-Q", ASKED)
    assert (run.status, run.output) == (2, "")
    assert run.errors == (
        "netra: build/.netra-lock: the lock of this build folder is not a regular file\n"
        "hint: remove it and build again\n"
    )
    lock.unlink()
    assert NOTHING in finished.scons(ASKED).output
