"""``netra build``: an engine directory as published, a recipe from nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from netra_build.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "data" / "conformance"
CASE = "graph-vector__decode_rows1"


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    return Path(shutil.copytree(HERE / "expected" / CASE, tmp_path / "engine"))


def test_an_engine_directory_gets_its_published_code_objects(engine, capsys):
    assert main(["build", str(engine), "--library-root", str(HERE / "library")]) == 0
    listed = json.loads((HERE / "expected" / "validate.json").read_text())[CASE]
    assert json.loads(capsys.readouterr().out) == listed["validate_build"]["stdout"]
    built = HERE / "expected-built" / CASE
    for path in sorted(built.rglob("*.text")):
        assert (engine / path.relative_to(built)).read_bytes() == path.read_bytes()


def test_an_engine_directory_takes_no_option_of_a_recipe(engine, capsys):
    words = ["build", str(engine), "--library-root", str(HERE / "library"), "--profile", "x"]
    assert main(words) == 2
    assert capsys.readouterr().err == (
        f"netra: {engine}: --profile is for recipes, not for an engine directory\n"
    )


def test_a_recipe_gives_a_whole_engine(tmp_path, capsys):
    library = tmp_path / "library"
    shutil.copytree(ROOT / "tests/data/plugin/library", library)
    shutil.copytree(ROOT / "schemas", library / "schemas")
    words = ["build", "pair", "--library-root", str(library), "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("pair: ")
    assert len(list((tmp_path / "out/hsaco").iterdir())) == 2
    assert (tmp_path / "out/netra.json").exists()
    words = ["build", str(tmp_path / "out"), "--library-root", str(library)]
    assert main(words) == 2
    assert capsys.readouterr().err == (
        f"netra: {tmp_path}/out: engine is sealed: its code objects are built already\n"
        "hint: netra rebuild or scons engine= makes it anew\n"
    )


def test_a_text_that_differs_from_its_lock_is_named_by_the_line_of_the_recipe(tmp_path, capsys):
    library = tmp_path / "library"
    shutil.copytree(ROOT / "tests/data/plugin/library", library)
    shutil.copytree(ROOT / "schemas", library / "schemas")
    recipe = library / "recipes/objects.yaml"
    locked = f"  - name: both\n    locked_text_sha256: '{'1' * 64}'"
    recipe.write_text(recipe.read_text().replace("  - name: both", locked))
    words = ["rebuild", "objects", "--library-root", str(library), "--out", str(tmp_path / "out")]
    assert main(words) == 1
    assert capsys.readouterr().err.startswith(
        'netra: recipes/objects.yaml:6: text of "both" differs from its lock; expected 1111'
    )


def test_what_is_neither_is_an_unknown_recipe(tmp_path, capsys):
    library = tmp_path / "library"
    shutil.copytree(ROOT / "tests/data/plugin/library", library)
    shutil.copytree(ROOT / "schemas", library / "schemas")
    assert main(["build", "pear", "--library-root", str(library)]) == 2
    assert capsys.readouterr().err == (
        'netra: recipes: unknown recipe "pear"\nhint: did you mean "pair"?\n'
    )
