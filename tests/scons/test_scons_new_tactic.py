"""A tactic as ``netra new-tactic`` lays it out, built and checked before anybody edits it."""

from __future__ import annotations

import json
import shutil
import sys

from project import ROOT, Project, tree_digests

NAME = "row_scale_f32"
SOURCES = (
    *("kernels", "manifests", "golden", "statements", "netra_build", "recipes", "schemas"),
    "evidence",
)


def sources(project: Project) -> dict[str, str]:
    """Return the digests of all sources of a project."""
    return {
        f"{part}/{name}": digest
        for part in SOURCES
        for name, digest in tree_digests(project.path(part)).items()
    }


def laid_out(project: Project, *words: str) -> dict[str, str]:
    """Lay the tactic out and return the sources as they were before."""
    before = sources(project)
    done = project.netra("new-tactic", "moe.row_scale", NAME, *words)
    assert (done.status, done.errors) == (0, "")
    return before


def report(project: Project, suffix: str) -> dict:
    """Return one report of the tactic."""
    path = project.path(f"build/tactics/{NAME}/metadata/netra_{NAME}_gfx950{suffix}")
    return json.loads(path.read_text())


def test_it_builds_is_identical_clean_and_exact(project: Project) -> None:
    before = laid_out(project)
    done = project.scons("-j2", f"tactic={NAME}", "product", "check-equivalence")
    assert done.status == 0, done.errors
    assert "1 compared, 0 differing" in done.output.splitlines()
    assert report(project, ".equivalence.json")["verdict"] == "identical"
    assert report(project, ".checks.json")["findings"] == []
    numerics = report(project, ".numerics.json")
    assert numerics["verdict"] == "passed"
    assert len(numerics["runs"]) == 9
    assert [run["differing"] for run in numerics["runs"]] == [0] * 9
    after = sources(project)
    assert {name: after[name] for name in before} == before
    assert project.scons(f"tactic={NAME}").actions == []


def test_it_is_pinned_and_brings_a_test_that_passes(project: Project) -> None:
    laid_out(project, "--arguments", "in:read", "rows:u32", "mask:read", "out:write", "seed:u32")
    done = project.scons(f"tactic={NAME}", "locked=1")
    assert done.status == 0, done.errors
    shutil.copyfile(ROOT / "tests/conftest.py", project.path("tests/conftest.py"))
    own = f"tests/sim/test_tactic_{NAME}.py"
    options = ("-q", "-p", "no:cacheprovider", "--import-mode=importlib")
    done = project.run(sys.executable, "-m", "pytest", *options, own)
    assert (done.status, done.output.splitlines()[-1].partition(" in ")[0]) == (0, "11 passed")


def test_an_edit_of_the_template_alone_is_a_difference(project: Project) -> None:
    laid_out(project)
    template = f"kernels/gfx950/templates/moe/{NAME}.inc"
    project.edit(template, "\tv_mul_f32 v[NETRA_V_VALUE]", "\tv_add_f32 v[NETRA_V_VALUE]")
    done = project.scons(f"tactic={NAME}")
    assert done.status == 1
    assert done.failure.splitlines()[-3:] == [
        "first differing instruction, number 20:",
        "  golden     0x0068 v_mul_f32_e32 v3, s8, v3",
        "  generated  0x0068 v_add_f32_e32 v3, s8, v3",
    ]
