"""Warnings of a published library are shown by SCons, each time, and refused with ``strict=1``."""

from __future__ import annotations

from project import Project
from published_forms import DEPLOYMENT, FIRST_ERROR, WARNINGS, library_at


def test_warnings_are_shown_each_time_and_refused_when_strict(project: Project) -> None:
    library_at(project.path("forms"))
    words = ("library_root=forms", f"recipe=forms/{DEPLOYMENT}", "out=out")
    for is_again in (False, True):
        done = project.scons(*words)
        assert (done.status, done.errors) == (0, "")
        said = [line for line in done.output.splitlines() if line.startswith("netra: ")]
        assert said[:-1] == WARNINGS
        assert said[-1].startswith("netra: nothing to do: " if is_again else "netra: ran 121, ")
    checked = project.scons("check-kernels", *words[:2])
    assert (checked.status, checked.errors) == (0, "")
    assert [line for line in checked.output.splitlines() if "warning" in line] == WARNINGS
    assert project.path("build/checks/kinds.json").is_file()
    refused = project.scons("check-kernels", words[0])
    assert (refused.status, refused.errors.splitlines()[0]) == (
        3,
        'netra: golden/gfx950: "fill" has no golden source',
    )
    refused = project.scons(*words, "strict=1")
    assert refused.status == 1
    assert refused.failure.endswith(FIRST_ERROR)
