"""Deployment recipes: every refusal, and how members are instantiated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.deployment import read_deployment
from netra_build.formats.library import Library
from netra_build.plan.deployment import deployment_units

DATA = Path(__file__).resolve().parents[1] / "data/conformance"
ZEROS = "0" * 64


def recipe(name: str = "synthetic", **changes: Any) -> dict[str, Any]:
    """Return one of the recipes of the vectors with top-level changes."""
    found: dict[str, Any] = json.loads((DATA / "recipes" / f"{name}.json").read_text())
    return {**found, **changes}


def with_artifact(**changes: Any) -> dict[str, Any]:
    """Return a recipe whose only artifact is changed."""
    found = recipe()
    found["artifacts"] = [{**found["artifacts"][0], **changes}]
    return found


def with_member(**changes: Any) -> dict[str, Any]:
    """Return a recipe whose only member is changed."""
    member = {**recipe()["artifacts"][0]["members"][0], **changes}
    return with_artifact(members=[{k: v for k, v in member.items() if v is not None}])


def read_and_plan(document: dict[str, Any], *, allow_unlocked: bool = False) -> None:
    """Read a recipe and plan it in the vectors' library."""
    deployment = read_deployment(json.dumps(document).encode(), "r.json")
    catalog = load_catalog(Library(DATA / "library", RealDisk()))
    deployment_units("r", deployment, catalog, allow_unlocked=allow_unlocked)


def refusal(document: dict[str, Any], **options: bool) -> str:
    """Return the line that refuses a recipe."""
    with pytest.raises(BadInput) as caught:
        read_and_plan(document, **options)
    return caught.value.line()


MEMBER = "r.json#/artifacts/0/members/0"
TWICE = recipe()["artifacts"][:1] * 2
CASES = [
    (
        recipe(format="x"),
        'r.json#/format: deployment recipe has another "format";'
        " expected netra-compatibility-build-1, got x",
    ),
    (
        recipe(wave_size=32),
        'r.json#/wave_size: deployment recipe has another "wave_size"; expected 64, got 32',
    ),
    (recipe(spare=1), 'r.json: unknown key "spare"'),
    (recipe(artifacts=[]), "r.json#/artifacts: deployment recipe names no artifact"),
    (recipe(artifacts=TWICE), 'r.json#/artifacts: two artifacts are named "conf_vector_add"'),
    (
        with_artifact(name="a/b"),
        'r.json#/artifacts/0/name: "a/b" is not a plain file name',
    ),
    (with_artifact(members=[]), "r.json#/artifacts/0/members: artifact has no member"),
    (
        with_artifact(locked_text_sha256="A" * 64),
        "r.json#/artifacts/0/locked_text_sha256: digest has the wrong form;"
        f' expected 64 lower-case hexadecimal digits, got "{"A" * 64}"',
    ),
    (with_member(symbol="a b"), f'{MEMBER}: "a b" is not an assembler symbol'),
    (with_member(tactic="vector_sub"), f'{MEMBER}/tactic: unknown tactic "vector_sub"'),
    (
        with_member(definitions={"NETRA_BLOCK_X": 256}),
        f'{MEMBER}/definitions/NETRA_BLOCK_X: constant "NETRA_BLOCK_X" is fixed by the tactic',
    ),
    (
        with_member(definitions={"TYPO": 1}),
        f'{MEMBER}: cannot instantiate "gfx950.vector_add_f32":'
        " undeclared compile-time constant TYPO",
    ),
    (
        with_member(tactic="row_scale_f32"),
        f'{MEMBER}: cannot instantiate "gfx950.row_scale_f32": NETRA_WAVES_PER_WORKGROUP missing',
    ),
    (
        with_member(tactic="row_scale_f32_old", definitions={"NETRA_WAVES_PER_WORKGROUP": 1}),
        f'{MEMBER}: cannot instantiate "gfx950.row_scale_f32_old": maturity is rejected',
    ),
    (
        with_member(macro_symbols=["a", "b"]),
        f'{MEMBER}: macro of "gfx950.vector_add_f32" takes another number of symbols;'
        " expected 1, got 2",
    ),
]


@pytest.mark.parametrize(("document", "wanted"), CASES, ids=[line for _, line in CASES])
def test_a_bad_recipe_is_refused(document, wanted):
    assert refusal(document) == wanted


@pytest.mark.parametrize(
    ("lock", "flag", "is_built"),
    [(ZEROS, True, True), (ZEROS, False, False), ("1" * 64, True, False)],
)
def test_an_experiment_needs_the_flag_and_no_lock(lock, flag, is_built):
    document = with_member(tactic="vector_add_f32_late_mask")
    document["artifacts"][0]["locked_text_sha256"] = lock
    if not is_built:
        assert refusal(document, allow_unlocked=flag).endswith("experimental tactics are disabled")
        return
    deployment = read_deployment(json.dumps(document).encode(), "r.json")
    catalog = load_catalog(Library(DATA / "library", RealDisk()))
    (unit,) = deployment_units("r", deployment, catalog, allow_unlocked=flag)
    assert unit.locked_text_sha256 is None


def test_members_are_named_by_their_place():
    data = (DATA / "recipes/synthetic.json").read_bytes()
    catalog = load_catalog(Library(DATA / "library", RealDisk()))
    deployment = read_deployment(data, "r.json")
    units = deployment_units("r", deployment, catalog, allow_unlocked=False)
    stems = {unit.name: [unit.stem(i) for i in range(len(unit.members))] for unit in units}
    assert stems["conf_vector_add"] == ["conf_vector_add"]
    assert stems["conf_row_scale_pair"] == ["conf_row_scale_pair.0", "conf_row_scale_pair.1"]
