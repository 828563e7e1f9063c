"""Profiles and library roots: every refusal with its whole message, and what is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.formats.library import Library, missing_markers, open_library
from netra_build.formats.profiles import choose_profile, load_profiles

SMALL = Path(__file__).resolve().parents[1] / "data/conformance/negative/library"
PROFILE = "manifests/gfx950/profiles/p1.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a copy of the small library."""
    return Path(shutil.copytree(SMALL, tmp_path / "lib"))


def change(root: Path, pointer: str, value: Any) -> None:
    """Set (or with None delete) one value of the profile."""
    document = json.loads((root / PROFILE).read_text())
    *parents, last = [part for part in pointer.split("/") if part]
    node = document
    for part in parents:
        node = node[part]
    node[last] = value
    if value is None:
        del node[last]
    (root / PROFILE).write_text(json.dumps(document))


BAD_PROFILES = [
    ("/name", None, ': required key "name" is missing'),
    ("/name", "", "#/name: string is empty"),
    ("/guards", {}, "#/guards: profile guards no dimension"),
    ("/guards/m/min", 2, "#/guards/m: guard is empty: its minimum 2 is above its maximum 1"),
    (
        "/guards/m/min",
        1.0,
        "#/guards/m/min: value has the wrong type; expected integer, got number",
    ),
    (
        "/guards/m/max",
        2**64,
        "#/guards/m/max: number is out of range; expected 0 to 18446744073709551615,"
        " got 18446744073709551616",
    ),
    (
        "/tensor_parallel",
        0,
        "#/tensor_parallel: number is out of range; expected 1 to 2147483647, got 0",
    ),
    (
        "/format",
        "netra-profile-2",
        "#/format: profile has an unknown format;"
        ' expected "netra-profile-1", got "netra-profile-2"',
    ),
    ("/spare", 1, ': unknown key "spare"'),
]


@pytest.mark.parametrize(("pointer", "value", "tail"), BAD_PROFILES)
def test_a_bad_profile_is_refused(root, pointer, value, tail):
    change(root, pointer, value)
    with pytest.raises(BadInput) as caught:
        load_profiles(Library(root, RealDisk()), 1)
    assert caught.value.line() == f"{root}/{PROFILE}{tail}"


def test_profiles_are_unique_and_there_is_one(root):
    shutil.copy(root / PROFILE, root / "manifests/gfx950/profiles/p2.json")
    with pytest.raises(BadInput, match=r'p2.json: profile "p1" is defined twice\n'):
        load_profiles(Library(root, RealDisk()), 1)
    shutil.rmtree(root / "manifests/gfx950/profiles")
    (root / "manifests/gfx950/profiles").mkdir()
    with pytest.raises(BadInput, match=r"profiles: no profile is defined$"):
        load_profiles(Library(root, RealDisk()), 1)


def test_a_profile_is_chosen_by_name():
    profiles = load_profiles(Library(SMALL.parent.parent / "library", RealDisk()), 1)
    names = [profile.name for profile in profiles]
    assert names == sorted(names)
    assert choose_profile(profiles, "verify_rows8", "here").exact_by_dimension == {"m": 8}
    with pytest.raises(BadInput) as caught:
        choose_profile(profiles, "verify_row8", "here")
    assert str(caught.value) == (
        'here: unknown profile "verify_row8"\nhint: did you mean "verify_rows8"?'
    )


def test_our_profiles_are_the_published_ones():
    root = Path(__file__).resolve().parents[2]
    profiles = load_profiles(Library(root, RealDisk()), 3)
    assert len(profiles) == 13
    assert {profile.tensor_parallel for profile in profiles} == {3}
    routes = choose_profile(profiles, "verify_m12_b64_routes768", "here")
    assert routes.exact_by_dimension == {"m": 12, "batch": 64, "route_rows": 768}
    assert routes.priority == 40


def test_a_library_is_found_around_an_anchor(root):
    inside = root / "kernels/gfx950/templates/one.inc"
    assert open_library(RealDisk(), None, (inside,)).root == root
    (root / "schemas/netra-model.schema.json").unlink()
    assert missing_markers(root, RealDisk()) == ["schemas/netra-model.schema.json"]
    with pytest.raises(BadInput) as caught:
        open_library(RealDisk(), root, ())
    assert caught.value.line() == (
        f'{root}: not a kernel library root: it lacks "schemas/netra-model.schema.json"'
    )
    with pytest.raises(BadInput) as caught:
        open_library(RealDisk(), None, (inside,))
    assert caught.value.line() == ".: no kernel library root found"


def test_a_profile_link_out_of_the_root_is_refused(root, tmp_path):
    outside = tmp_path / "p9.json"
    shutil.copy(root / PROFILE, outside)
    (root / "manifests/gfx950/profiles/p9.json").symlink_to(outside)
    with pytest.raises(BadInput, match=r'path ".*p9.json" leaves its root through a symlink$'):
        load_profiles(Library(root, RealDisk()), 1)
