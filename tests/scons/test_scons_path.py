"""Through how many modules one edit of a primitive passes, from the command to the seal."""

from __future__ import annotations

from pathlib import Path

from project import ENGINE, Project
from traced_modules import modules, traced

MOST = 115
PRIMITIVE = "kernels/gfx950/templates/common/addressing.inc"
SIMULATION = ("checkasm/model/", "checkasm/numerics/", "stages/check_numerics.py")


def test_an_edit_of_a_primitive_passes_through_few_modules(tmp_path: Path) -> None:
    project = Project.copy_to(tmp_path / "project")
    assert project.scons(f"engine={ENGINE}").status == 0
    (tmp_path / "trace").mkdir()
    text = project.path(PRIMITIVE).read_text()
    project.path(PRIMITIVE).write_text(text.replace("\tv_", "\ts_nop 0\n\tv_", 1))
    done = project.scons(f"engine={ENGINE}", **traced(tmp_path / "trace", project.environment()))
    assert "EQUIV" in done.actions, done.output
    ran = {name for name in modules(tmp_path / "trace") if not name.startswith(SIMULATION)}
    assert {"scons/netra.py", "pipeline.py"} <= ran
    assert len(ran) <= MOST, "\n".join(sorted(ran))
