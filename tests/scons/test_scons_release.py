"""``scons release``: the same package everywhere, and none of what must not be released."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest
from project import ENGINE, Project

from netra_build.release.archive import read_archive

OBJECTS = "qwen36_moe_decode_objects"
WORDS = ("release", f"engine={ENGINE}", f"recipe={OBJECTS}", "version=1.2.0")
NAMES = (f"{OBJECTS}-1.2.0-gfx950.tar.zst", f"{ENGINE}-1.2.0-gfx950.tar.zst")
DESCRIBED = ["REPORT", "SBOM", "RECORD", "PROVEN", "ARCHIVE"]
TEMPLATE = "kernels/gfx950/templates/moe/silu_quant.inc"

# SCons in a Python that lists folders in another order each time, under another umask.
SHUFFLED = """
import os, random, runpy, sys
rng, listdir, scandir = random.Random(7), os.listdir, os.scandir

class Entries:
    def __init__(self, *words):
        with scandir(*words) as found:
            entries = list(found)
        rng.shuffle(entries)
        self.entries = iter(entries)
    def __enter__(self):
        return self
    def __exit__(self, *words):
        return None
    def close(self):
        return None
    def __iter__(self):
        return self
    def __next__(self):
        return next(self.entries)

def shuffled(*words):
    names = listdir(*words)
    rng.shuffle(names)
    return names

os.listdir, os.scandir = shuffled, Entries
os.umask(0o077)
runpy.run_module("SCons", run_name="__main__", alter_sys=True)
"""


def packages(project: Project, folder: str = "dist") -> dict[str, str]:
    """Return the SHA-256 of every package of a project."""
    found = sorted(project.path(folder).iterdir())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def test_two_builds_in_other_surroundings_give_the_same_packages(
    built_once: Project, tmp_path: Path
) -> None:
    here = Project.copy_to(tmp_path / "a", built_once.folder)
    there = Project.copy_to(tmp_path / "a longer name, with blanks" / "b", built_once.folder)
    done = here.scons("-j2", *WORDS, TZ="UTC", LANG="C", USER="one", HOME="/nonexistent")
    assert done.status == 0, done.errors
    surroundings = {"TZ": "Asia/Tokyo", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"}
    surroundings |= {"USER": "two", "PYTHONHASHSEED": "17", "SOURCE_DATE_EPOCH": "12345"}
    done = there.run(sys.executable, "-P", "-c", SHUFFLED, "-j1", *WORDS, **surroundings)
    assert done.status == 0, done.errors
    assert packages(here) == packages(there)
    assert tuple(packages(here)) == NAMES
    for name in NAMES:
        package = read_archive(here.path(f"dist/{name}").read_bytes(), name)
        for file, data in package.files.items():
            assert str(tmp_path).encode() not in data, file
            assert b"/tmp/" not in data, file


def test_a_second_release_makes_what_is_new(built: Project) -> None:
    words = ("-j2", "release", f"engine={ENGINE}")
    first = built.scons(*words, "version=1.2.0")
    assert first.status == 0, first.errors
    assert first.actions == DESCRIBED
    assert built.scons(*words, "version=1.2.0").actions == []
    assert built.scons(*words, "version=1.2.1").actions == DESCRIBED
    assert built.scons(*words, "version=1.2.1", "out=elsewhere").actions == ["ARCHIVE"]
    assert packages(built, "elsewhere").items() < packages(built).items()
    record = json.loads(
        read_archive(built.path(f"dist/{NAMES[1]}").read_bytes(), "x").files["RELEASE.json"]
    )
    assert record["verdicts"]["hardware"] == "not_run"
    assert record["verdicts"]["numerics"]["scope"] == "simulated"
    assert record["engine_ids"] == [built.seal()["engine_id"]]


def test_the_builder_is_what_the_recipe_says(built: Project) -> None:
    before = (built.engine() / "netra.json").read_bytes()
    recipe = built.path(f"recipes/{ENGINE}.yaml")
    recipe.write_text(recipe.read_text() + "builder: https://example.org/builders/7\n")
    done = built.scons("-j2", "release", f"engine={ENGINE}", "version=1.2.0")
    assert done.status == 0, done.errors
    assert (built.engine() / "netra.json").read_bytes() == before
    package = read_archive(built.path(f"dist/{NAMES[1]}").read_bytes(), "x")
    statement = json.loads(package.files["provenance.json"])
    builder = {"id": "https://example.org/builders/7"}
    assert statement["predicate"]["runDetails"] == {"builder": builder}


def test_what_is_not_pinned_is_not_released(built: Project) -> None:
    path = built.path(TEMPLATE)
    path.write_text(path.read_text() + "// a comment\n")
    done = built.scons("release", f"engine={ENGINE}")
    assert done.status == 1
    assert done.errors == (
        "netra: manifests/gfx950/tactics/moe_decode.json#/tactics/1:"
        ' "moe_silu_quant_decode_m1" is not pinned to its template and closure\n'
        "hint: run netra pin\n"
    )
    assert not built.path("dist").exists()


def test_what_is_not_equivalent_is_not_released(built: Project) -> None:
    """Pinned again, but the golden source says otherwise."""
    built.edit(
        TEMPLATE,
        "v_lshrrev_b32 v[NETRA_V_SCALE_OFFSET], NETRA_LOG2",
        "v_lshlrev_b32 v[NETRA_V_SCALE_OFFSET], NETRA_LOG2",
    )
    assert built.netra("pin").status == 0
    done = built.scons("release", f"engine={ENGINE}")
    assert done.status == 1
    assert "is not equivalent to its golden source" in done.failure
    assert not built.path("dist").exists()


REFUSED = [
    (["release"], "netra: scons: release needs engine= or recipe="),
    (
        ["release", "tactic=moe_silu_quant_decode_m1"],
        "netra: scons: tactic= is not used with release",
    ),
    (["release", f"engine={ENGINE}", "locked=0"], "netra: scons: locked= is not used with release"),
    ([f"engine={ENGINE}", "version=1.2.0"], "netra: scons: version= is used with release only"),
    ([f"engine={ENGINE}", "key=k"], "netra: scons: key= is used with release only"),
    (
        ["release", f"engine={ENGINE}", "version=1.2"],
        'netra: version: version is not usable; expected X.Y.Z or X.Y.Z-WORD, got "1.2"',
    ),
    (["release", f"engine={ENGINE}", "key=no/key"], "netra: no/key: key is not a file"),
    (
        ["release", f"engine=recipes/{ENGINE}.yaml"],
        f"netra: recipes/{ENGINE}.yaml: a release is of a recipe of the library, asked for by its"
        " name\nhint: put the recipe into recipes/ of the library",
    ),
    (
        ["release", f"engine={OBJECTS}"],
        f"netra: recipes/{OBJECTS}.yaml: recipe is not of an engine\nhint: ask with recipe=",
    ),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_a_release_that_cannot_be_asked_for(words, message, reported: Project) -> None:
    done = reported.scons(*words)
    assert (done.status, done.errors) == (2, message + "\n")


def test_a_library_without_a_licence_is_not_released(built: Project) -> None:
    built.path("LICENSE").unlink()
    done = built.scons("release", f"engine={ENGINE}")
    assert (done.status, done.errors) == (
        2,
        "netra: LICENSE: library has no licence to release under\n",
    )


def test_a_key_that_is_none_stops_the_archive(built: Project) -> None:
    built.path("key.pem").write_text("no key")
    done = built.scons("release", f"engine={ENGINE}", "key=key.pem", "version=1.2.0")
    assert done.status == 2
    assert done.failure.endswith(
        "key.pem: file is no private key without a password\n"
        "hint: openssl genpkey -algorithm ed25519 -out KEY makes one"
    )
    assert not built.path("dist").exists()
