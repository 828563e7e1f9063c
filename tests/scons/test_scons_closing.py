"""The last line of a build says what was done, and what was not."""

from __future__ import annotations

import re

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


def test_what_builds_nothing_has_no_closing_line(built: Project) -> None:
    for words in (["-n"], ["-c"], ["-s"], ["-h"]):
        done = built.scons(f"engine={ENGINE}", *words)
        assert done.status == 0
        assert "netra: ran" not in done.output
