"""The builders of the tool in a SConstruct: their arguments, and what may lie in one folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from foreign import edit_kernel, scons, with_nodes
from project import ROOT

SECOND = """Environment(tools=["netra"], toolpath=[PyPackageDir("netra_build.scons")],
    NETRA_LIBRARY_ROOT="library", NETRA_BUILD="second")"""
MIXED = (
    ('env.NetraRecipe("other", out="out/objects")', "out/objects"),
    ('env.NetraEngine("pair", out="./out/objects")', "out/objects"),
    ('env.NetraChecks(deployment="deployed.json", out="out/objects")', "out/objects"),
    ('env.NetraEngine("pair", profile="other", out="out/engine")', "out/engine/"),
    (f'{SECOND}.NetraEngine("pair", out="out/objects")', "out/objects"),
)


@pytest.mark.parametrize(("asked", "path"), MIXED)
def test_two_products_are_not_mixed_in_one_folder(
    repository: Path, installed: Path, asked: str, path: str
) -> None:
    add_another_of_each(repository)
    with_nodes(repository, f"{asked}\n")
    done = scons(repository, installed)
    assert done.status == 2
    [line] = [line for line in done.errors.splitlines() if " is made in two ways" in line]
    assert line.startswith(f"scons: *** SConstruct: {path}")
    assert "is made in two ways\nhint: name another folder with out=" in done.errors
    assert "Traceback" not in done.errors
    assert not (repository / "out").exists()


def add_another_of_each(repository: Path) -> None:
    """Add recipes of the first kernel alone, and a profile with another name than the first."""
    member = {"tactic": "fill_a", "symbol": "k", "definitions": {}}
    locks = {f"locked_{what}_sha256": "1" * 64 for what in ("text", "hsaco")}
    evidence = {"lock": "lock.json", "lock_sha256": "1" * 64}
    deployed = {"format": "netra-compatibility-build-1", "target": "gfx950", "wave_size": 64}
    deployed |= {"deployment": "d", "evidence": evidence}
    deployed["artifacts"] = [{"name": "k", "members": [member], **locks}]
    (repository / "deployed.json").write_text(json.dumps(deployed))
    recipe = repository / "library/recipes/objects.yaml"
    head, _, _ = recipe.read_text().partition("      - tactic: fill_b")
    recipe.with_name("other.yaml").write_text(head)
    [profile] = (repository / "library/manifests/gfx950/profiles").iterdir()
    document = json.loads(profile.read_text())
    profile.with_name("other.json").write_text(json.dumps({**document, "name": "other"}))


def test_work_files_are_not_made_in_two_ways(repository: Path, installed: Path) -> None:
    """Two recipes of one name in different files, both with the code object ``both``."""
    add_another_of_each(repository)
    (repository / "elsewhere").mkdir()
    other = repository / "elsewhere/objects.yaml"
    shutil.move(repository / "library/recipes/other.yaml", other)
    asked = 'NetraRecipe("elsewhere/objects.yaml", out="out/second")\n'
    with_nodes(repository, f"env.{asked}")
    done = scons(repository, installed)
    assert done.status == 2
    fact = "SConstruct: build/work/recipes/objects/"
    hint = "is made in two ways\nhint: ask in an Environment with another NETRA_BUILD"
    assert fact in done.errors
    assert hint in done.errors
    with_nodes(repository, f"{SECOND}.{asked}")
    done = scons(repository, installed, "out")
    assert done.status == 0, done.errors
    assert (repository / "out/second/build-result.json").is_file()


PACKAGES = """
env.NetraRelease("pair")
env.NetraRelease("objects", kind="code_objects")
env.NetraReport("pair", out="dist")
env.NetraRecipe("objects", debug=True, out="out/objects")
env.NetraChecks(deployment="deployed.json")
"""


def test_packages_pages_and_the_same_again_share_a_folder(
    repository: Path, installed: Path
) -> None:
    shutil.copyfile(ROOT / "LICENSE", repository / "library/LICENSE")
    add_another_of_each(repository)
    with_nodes(repository, PACKAGES)
    done = scons(repository, installed, "-n")
    assert done.status == 0, done.errors


NO_ARGUMENTS = (
    ('NetraRecipe("objects", asked="other")', 'option "asked"', 'did you mean "locked"?'),
    ('NetraTactic("fill_a", asked="fill_b")', 'option "asked"', 'did you mean "locked"?'),
    (
        'NetraRecipe("objects", given=1)',
        'option "given"',
        "known names: allow_unlocked, debug, library_root, locked, out, strict",
    ),
    ('NetraReport("pair", kind="engines")', 'kind "engines"', 'did you mean "engine"?'),
    ('NetraRelease("pair", kind=3)', 'kind "3"', "known names: code_objects, engine"),
)


@pytest.mark.parametrize(("call", "what", "hint"), NO_ARGUMENTS)
def test_what_is_no_argument_is_refused(
    repository: Path, installed: Path, call: str, what: str, hint: str
) -> None:
    with_nodes(repository, f"env.{call}\n")
    done = scons(repository, installed)
    assert done.status == 2
    assert f"scons: *** SConstruct: unknown {what}\nhint: {hint}" in done.errors
    assert "Traceback" not in done.errors


def test_what_is_not_pinned_is_not_released(repository: Path, installed: Path) -> None:
    shutil.copyfile(ROOT / "LICENSE", repository / "library/LICENSE")
    with_nodes(repository, 'env.NetraRelease("pair")\n')
    edit_kernel(repository)
    done = scons(repository, installed)
    assert done.status == 2
    hint = "hint: run netra pin\n"
    assert f'"fill_b" is not pinned to its template and closure\n{hint}' in done.errors
