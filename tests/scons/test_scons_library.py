"""The engines and code objects of the whole library."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from project import Project, tree_digests

DENSE = "qwen36_dense_m1"
SERVING = "qwen36_35b_serving"
CURRENT = "qwen36_35b_current_best"


@pytest.fixture(scope="module")
def library(built_whole: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a copy of the whole project, every specialization built and compared."""
    folder = tmp_path_factory.mktemp("library") / "project"
    shutil.copytree(built_whole.folder, folder, copy_function=shutil.copy2, symlinks=True)
    return Project(folder)


def test_dense_candidates_are_built_and_proven_but_never_selected(library: Project) -> None:
    done = library.scons("-j2", f"engine={DENSE}")
    assert done.status == 0, done.errors
    folder = library.engine(DENSE)
    engine = json.loads((folder / "engine.json").read_text())
    assert len(engine["operations"]) == 10
    found = {(o["execution"], o["contract_id"], o["kernel_symbol"]) for o in engine["operations"]}
    assert found == {("framework_fallback", "nk_3a24f6a2f52b980108c27a5f", None)}
    symbols = json.loads((folder / "symbols.json").read_text())
    assert symbols["selected"] == []
    assert len(symbols["candidates"]) == 2
    plan = json.loads((folder / "validation_plan.json").read_text())
    assert [c["maturity"] for c in plan["candidates"]] == ["rejected"] * 2
    assert [c["selected"] for c in plan["candidates"]] == [False] * 2
    for symbol in symbols["candidates"]:
        report = json.loads((folder / f"metadata/{symbol}.equivalence.json").read_text())
        assert report["verdict"] == "identical"
        assert (folder / f"generated/golden/{symbol}.s").is_file()


def test_the_serving_engine_mixes_kernels_and_named_fallbacks(library: Project) -> None:
    done = library.scons("-j2", f"engine={SERVING}")
    assert done.status == 0, done.errors
    engine = json.loads((library.engine(SERVING) / "engine.json").read_text())
    kernels = [o["name"] for o in engine["operations"] if o["execution"] == "kernel"]
    assert kernels == [
        "gdn.causal_conv",
        "gdn.verify_precompute",
        "gdn.verify",
        "gdn.state_replay",
    ]
    others = [o for o in engine["operations"] if o["execution"] != "kernel"]
    assert all(o["kind"] == "server_fallback" and o["external_contract"] for o in others)
    assert len(others) == 7


def test_every_specialization_equals_its_golden_source(library: Project) -> None:
    done = library.scons("-j2", "check-equivalence", "check-kernels")
    assert done.status == 0, done.output + done.errors
    report = json.loads(library.path("build/equivalence-report.json").read_text())
    verdicts = {row["tactic"]: row["verdict"] for row in report["tactics"]}
    assert len(verdicts) >= 21
    assert set(verdicts.values()) == {"identical"}


def test_the_code_objects_of_the_deployment(
    library: Project, is_full: bool, tmp_path: Path
) -> None:
    """All 18 in two folders with other job counts are the same bytes; sampled: the plan alone."""
    if not is_full:
        done = library.scons("-n", f"recipe={CURRENT}")
        assert done.status == 0, done.errors
        sealed = [line for line in done.action_lines if " -> hsaco/" in line]
        assert len(sealed) == 18
        return
    assert library.scons("-j1", f"recipe={CURRENT}").status == 0
    first = library.path(f"build/recipes/{CURRENT}")
    result = json.loads((first / "build-result.json").read_text())
    assert [a["equivalence"] for a in result["artifacts"]] == ["identical"] * 18
    assert {m["numerics"] for a in result["artifacts"] for m in a["members"]} == {"passed"}
    other = Project.copy_to(tmp_path / "other folder", library.folder, whole=True)
    assert other.scons("-j8", f"recipe={CURRENT}").status == 0
    assert tree_digests(other.path(f"build/recipes/{CURRENT}")) == tree_digests(first)
