"""The published vectors that need a tool chain: build, deployment recipes, their bad inputs."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from conformance_vectors import CASES, COMPARE, HERE, NEGATIVE, NO_TOOLS, RUN, judge, run_command

BUILT = [case for case in CASES if case.get("build")]
RECIPES = json.loads((HERE / "cases.json").read_text())["recipes"]
WITH_TOOLS = [case for case in NEGATIVE if case not in NO_TOOLS]
SMALL = ["--target", "gfx950", "--profile", "p1", "--library-root", "negative/library"]


def run(*words: str) -> tuple[int, str, str]:
    """Run one command line in the vectors' folder."""
    return run_command("", list(words))


@pytest.mark.parametrize("case", BUILT, ids=[case["name"] for case in BUILT])
def test_a_build_adds_the_published_bytes(case, tmp_path):
    out = tmp_path / "engine"
    assert run_command("", RUN.compile_arguments(case, str(out)))[0] == 0
    words = ("validate", "--engine", str(out), "--library-root", "library")
    code, output, error = run(*words, "--build")
    assert (code, error) == (0, "")
    both = tmp_path / "both"
    shutil.copytree(HERE / "expected" / case["name"], both)
    shutil.copytree(HERE / "expected-built" / case["name"], both, dirs_exist_ok=True)
    assert COMPARE.compare(str(both), str(out)) == []
    listed = json.loads((HERE / "expected" / "validate.json").read_text())[case["name"]]
    assert json.loads(output) == listed["validate_build"]["stdout"]
    assert run(*words)[0] == 0


@pytest.mark.parametrize("name", ["built twice", "published"])
def test_a_built_engine_stays_valid(name, tmp_path):
    case = CASES[0]
    out = tmp_path / "engine"
    shutil.copytree(HERE / "expected" / case["name"], out)
    shutil.copytree(HERE / "expected-built" / case["name"], out, dirs_exist_ok=True)
    words = ("validate", "--engine", str(out), "--library-root", "library")
    if name == "built twice":
        before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        assert run(*words, "--build")[0] == 0
        after = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        assert before == after
    assert run(*words)[::2] == (0, "")


STEM = "netra_clamp_7c5fc1bbe8523af6_gfx950"
LIES = [
    (f"hsaco/{STEM}.hsaco", b"\0", "", "another code object"),
    (f"metadata/{STEM}.text", b"\0", "", "content differs from the code object"),
    (f"metadata/{STEM}.metadata.txt", b"\n", "", "content differs from the code object"),
    (f"metadata/{STEM}.json", b"", '"vgpr_count":4', "record differs from the code object"),
    (f"metadata/{STEM}.json", b"", '"text_sha256":"c', "record differs from the code object"),
]


@pytest.mark.parametrize(("name", "added", "edited", "fact"), LIES)
def test_an_edited_build_result_is_named(name, added, edited, fact, tmp_path):
    out = tmp_path / "engine"
    shutil.copytree(HERE / "expected" / CASES[0]["name"], out)
    shutil.copytree(HERE / "expected-built" / CASES[0]["name"], out, dirs_exist_ok=True)
    path = out / name
    data = path.read_bytes()
    if edited:
        assert edited.encode() in data
        other = "5" if edited[-1] != "5" else "6"
        data = data.replace(edited.encode(), (edited[:-1] + other).encode())
    path.write_bytes(data + added)
    code, _, error = run("validate", "--engine", str(out), "--library-root", "library")
    assert code == 2
    named = f"metadata/{STEM}.json" if name.startswith("hsaco/") else name
    assert error.startswith(f"netra: {out}/{named}")
    assert (fact in error) == (not name.startswith("hsaco/"))


@pytest.mark.parametrize("case", RECIPES, ids=[case["name"] for case in RECIPES])
def test_a_deployment_recipe_builds_the_published_bytes(case, tmp_path):
    out = tmp_path / "out"
    recipe = f"../recipes/{case['name']}.json"
    words = ("recipe", "--repo-root", "library", "--deployment", recipe, "--output", str(out))
    code, _, error = run(*words, *case["options"])
    assert (code, error) == (0, "")
    expected = HERE / "expected" / "recipes" / case["name"]
    for path in sorted(expected.rglob("*")):
        if path.is_file():
            made = out / path.relative_to(expected)
            assert RUN.lines(path) == RUN.lines(made), path.name
    assert run(*words, *case["options"])[0] == 0


@pytest.mark.parametrize("index", [0, 3])
def test_a_text_that_differs_from_its_lock_is_named_by_the_recipe(index, tmp_path):
    document = json.loads((HERE / "recipes" / "synthetic.json").read_text())
    artifact = document["artifacts"][index]
    lock, artifact["locked_text_sha256"] = artifact["locked_text_sha256"], "1" * 64
    recipe, out = tmp_path / "recipe.json", tmp_path / "out"
    recipe.write_text(json.dumps(document))
    words = ("recipe", "--repo-root", "library", "--deployment", str(recipe), "--output", str(out))
    assert run(*words) == (
        1,
        "",
        f"netra: {recipe}#/artifacts/{index}/locked_text_sha256: text of "
        f'"{artifact["name"]}" differs from its lock; expected {"1" * 64}, got {lock}\n',
    )
    assert not out.exists()


@pytest.mark.parametrize("case", WITH_TOOLS, ids=[case["id"] for case in WITH_TOOLS])
def test_a_bad_input_is_answered_as_it_should_be(case):
    arguments = ["--cli", "", "--recipe", "recipe", "--prefix", "netra: "]
    assert judge(arguments, case["id"]) == {"DIFFERENT": 0, "open holes": 0}


def test_a_second_model_that_replaces_the_first_can_be_built(tmp_path):
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    one, two = "negative/one-model.json", "negative/fixed-constant-negative.json"
    for model, target, *more in ((one, out), (two, out, "--replace"), (two, fresh)):
        words = ("compile", "--model", model, *SMALL, "--output", str(target), *more)
        assert run(*words)[::2] == (0, "")
    left = sorted(os.path.relpath(path, out) for path in out.rglob("*"))
    assert left == sorted(os.path.relpath(path, fresh) for path in fresh.rglob("*"))
    words = ("validate", "--engine", str(out), "--library-root", "negative/library", "--build")
    assert run(*words)[0] == 0
