"""The whole synthetic library of the published vectors, built by SCons from outside our tree."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT, Run, tree_digests

HERE = ROOT / "tests" / "data" / "conformance"
CASES = json.loads((HERE / "cases.json").read_text())
TACTICS = json.loads((HERE / "expected" / "digests.json").read_text())["tactics"]
UNLOCKED = "0" * 64
SCONSTRUCT = """\
import json
from SCons.Script import Environment, PyPackageDir

env = Environment(tools=["netra"], toolpath=[PyPackageDir("netra_build.scons")],
                  NETRA_LIBRARY_ROOT="library")
cases = json.load(open("cases.json"))
for name in [*(case["name"] for case in cases["recipes"]), "all"]:
    env.Default(env.NetraRecipe(f"recipes/{name}.json", out=f"out/{name}", allow_unlocked=True))
for case in cases["compile"]:
    words = case.get("options", [])
    options = {"allow_experimental": "--allow-experimental" in words}
    if "--golden-artifact-root" in words:
        options["golden_root"] = "models/golden"
    env.Default(env.NetraEngine(case["model"], profile=case["profile"],
                                out="out/" + case["name"], **options))
"""


def scons(folder: Path, *words: str) -> Run:
    """Run SCons in the foreign folder."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-B", "-P", "-m", "SCons", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


def every_tactic() -> dict:
    """Return a deployment recipe of every specialization that the vectors know a digest of."""
    artifacts = []
    for tactic, facts in TACTICS.items():
        if facts["maturity"] == "rejected":
            continue
        is_free = facts["maturity"] == "experiment"
        for index, item in enumerate(facts["specializations"]):
            artifacts.append(
                {
                    "name": f"{tactic}-{index}",
                    "locked_text_sha256": UNLOCKED if is_free else item["text_sha256"],
                    "locked_hsaco_sha256": "f" * 64,
                    "members": [
                        {
                            "tactic": tactic,
                            "symbol": item["symbol"],
                            "definitions": item["specialization"],
                        }
                    ],
                }
            )
    known = json.loads((HERE / "recipes" / "synthetic.json").read_text())
    return {**known, "artifacts": artifacts}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the published library and a SConstruct, everything built."""
    folder = tmp_path_factory.mktemp("published")
    for name in ("library", "models", "recipes"):
        shutil.copytree(HERE / name, folder / name)
    shutil.copyfile(HERE / "cases.json", folder / "cases.json")
    (folder / "recipes" / "all.json").write_text(json.dumps(every_tactic()))
    (folder / "SConstruct").write_text(SCONSTRUCT)
    done = scons(folder, "-j2")
    assert done.status == 0, done.errors
    return folder


def test_a_second_build_does_nothing(folder):
    assert scons(folder).actions == []


def test_every_text_is_the_locked_one(folder):
    """The digests come from the vectors: none is computed by what is tested."""
    checked = set()
    for tactic, facts in TACTICS.items():
        for index, item in enumerate(facts["specializations"]):
            path = folder / "out" / "all" / f"{tactic}-{index}.text"
            if facts["maturity"] != "rejected":
                assert hashlib.sha256(path.read_bytes()).hexdigest() == item["text_sha256"]
                checked.add(tactic)
    assert len(checked) == sum(facts["maturity"] != "rejected" for facts in TACTICS.values())
    assert len(checked) >= 17


@pytest.mark.parametrize("case", CASES["recipes"], ids=[case["name"] for case in CASES["recipes"]])
def test_a_recipe_gives_the_published_files(case, folder, tmp_path):
    """The two ways to a recipe's product agree in every byte, the result with the vectors'."""
    out = folder / "out" / case["name"]
    expected = HERE / "expected" / "recipes" / case["name"]
    lines = [
        [line for line in path.read_text().splitlines() if "hsaco" not in line]
        for path in (expected / "build-result.json", out / "build-result.json")
    ]
    assert lines[0] == lines[1]
    assert tree_digests(expected / "generated") == tree_digests(out / "generated")
    command = [sys.executable, "-B", "-P", "-m", "netra_build.cli.main", "recipe"]
    command += ["--repo-root", "library", "--deployment", f"../recipes/{case['name']}.json"]
    command += ["--output", str(tmp_path / "twin"), "--allow-unlocked-experiments"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    assert tree_digests(tmp_path / "twin") == tree_digests(out)


LATER = ("engine.json", "validation_plan.json")


@pytest.mark.parametrize("case", CASES["compile"], ids=[case["name"] for case in CASES["compile"]])
def test_an_engine_holds_the_published_files(case, folder):
    """A build adds to what ``netra compile`` writes: code objects, reports, their digests."""
    out, expected = folder / "out" / case["name"], HERE / "expected" / case["name"]
    wanted, made = tree_digests(expected), tree_digests(out)
    for name, digest in wanted.items():
        if name not in LATER and not name.endswith("generated"):
            assert made[name] == digest, name
    engine, published = (json.loads((f / LATER[0]).read_text()) for f in (out, expected))
    for document in (engine, published):
        del document["engine_id"], document["compiler"]
    checkpoint = {"checkpoint_hash"} if "--checkpoint-hash" in case.get("options", []) else set()
    for key in published.keys() - {"operations"} - checkpoint:
        assert engine[key] == published[key], key
    for ours, theirs in zip(engine["operations"], published["operations"], strict=True):
        assert {**ours, **theirs} == ours
        is_kernel = "hsaco" in theirs and "hsaco_sha256" not in theirs
        assert set(ours) - set(theirs) == ({"hsaco_sha256"} if is_kernel else set())


def test_a_text_that_differs_from_its_lock_is_refused(folder, tmp_path):
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    recipe = copy / "recipes" / "ranged.json"
    document = json.loads(recipe.read_text())
    lock = document["artifacts"][0]["locked_text_sha256"]
    document["artifacts"][0]["locked_text_sha256"] = "1" * 64
    recipe.write_text(json.dumps(document))
    done = scons(copy)
    assert done.status == 2
    name = document["artifacts"][0]["name"]
    assert (
        f'recipes/ranged.json#/artifacts/0/locked_text_sha256: text of "{name}" differs from its'
        f" lock; expected {'1' * 64}, got {lock}"
    ) in done.failure


def test_an_artifact_that_is_gone_takes_its_files_along(folder, tmp_path):
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    recipe = copy / "recipes" / "ranged.json"
    document = json.loads(recipe.read_text())
    gone = document["artifacts"].pop()["name"]
    recipe.write_text(json.dumps(document))
    assert scons(copy).status == 0
    assert [n for n in tree_digests(copy / "out/ranged") if gone in n] == []
