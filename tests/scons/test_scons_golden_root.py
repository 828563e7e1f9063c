"""Golden code objects that a user brings: taken only as the ones that were measured."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from project import MadeOnce, Project, tree_digests

GOLDEN_MODEL = "manifests/gfx950/models/qwen36_moe_m1_golden.json"
GOLDEN_ENGINE = "qwen36_moe_m1_golden"


@pytest.fixture(scope="module")
def objects_once(built_once: Project, made_once: MadeOnce) -> Path:
    """Return a folder with objects of ours under the deployed names; to be read only."""
    recipe = "qwen36_moe_decode_objects"

    def make(folder: Path) -> None:
        project = Project.copy_to(folder / "project", built_once.folder)
        assert project.scons("-j2", f"recipe={recipe}").status == 0

    return made_once("golden objects", make) / f"project/build/recipes/{recipe}/hsaco"


@pytest.fixture
def golden_root(built: Project, objects_once: Path) -> Path:
    """Return a folder with objects of ours under the deployed names, which the model then names."""
    folder = built.folder.parent / "objects"
    folder.mkdir()
    path = built.path(GOLDEN_MODEL)
    model = json.loads(path.read_text())
    for operation in model["golden_operations"]:
        artifact = operation["golden_artifact"]
        data = (objects_once / artifact["hsaco_name"]).read_bytes()
        (folder / artifact["hsaco_name"]).write_bytes(data)
        artifact["hsaco_sha256"] = hashlib.sha256(data).hexdigest()
    path.write_text(json.dumps(model))
    return folder


def test_without_a_root_the_identities_are_recorded(built: Project) -> None:
    assert built.scons(f"engine={GOLDEN_ENGINE}").status == 0
    engine = json.loads((built.engine(GOLDEN_ENGINE) / "engine.json").read_text())
    digests = [artifact["sha256"] for artifact in engine["golden_artifacts"]]
    assert sorted(digests) == [
        "6d87114b3bcc5028d9bad3e219c584be7e34bd79baa9010b76a1466c38fecd91",
        "ae8adf9d49d05d40fc396ea11db6bbde95ebc299a82085a335cab040939ccce7",
        "f7d083273843b0a751f7e16b95f1e6e1d646272a56f1221104c7a1c748e661b7",
    ]
    assert not [artifact for artifact in engine["golden_artifacts"] if artifact["materialized"]]
    assert not (built.engine(GOLDEN_ENGINE) / "hsaco").exists()


def test_with_a_root_the_objects_are_copied(built: Project, golden_root: Path) -> None:
    done = built.scons(f"engine={GOLDEN_ENGINE}", f"golden_root={golden_root}")
    assert done.status == 0, done.errors
    assert tree_digests(built.engine(GOLDEN_ENGINE) / "hsaco") == tree_digests(golden_root)


def refused_golden(project: Project, root: Path, status: int) -> str:
    """Return the refusal; nothing of the engine may have been written."""
    done = project.scons(f"engine={GOLDEN_ENGINE}", f"golden_root={root}")
    assert done.status == status, done.errors
    assert not project.engine(GOLDEN_ENGINE).exists()
    return done.errors


def test_a_wrong_byte_names_both_digests(built: Project, golden_root: Path) -> None:
    path = sorted(golden_root.iterdir())[0]
    data = bytearray(path.read_bytes())
    expected = hashlib.sha256(data).hexdigest()
    data[-1] ^= 1
    path.write_bytes(data)
    got = hashlib.sha256(data).hexdigest()
    assert refused_golden(built, golden_root, 1) == (
        f"netra: {path}: digest of the golden code object differs; expected {expected}, got {got}\n"
    )


def test_a_missing_object(built: Project, golden_root: Path) -> None:
    path = sorted(golden_root.iterdir())[0]
    path.unlink()
    assert refused_golden(built, golden_root, 2) == f"netra: {path}: file is missing\n"


def test_a_symlink_out_of_the_root(built: Project, golden_root: Path) -> None:
    path = sorted(golden_root.iterdir())[0]
    elsewhere = golden_root.parent / "elsewhere.hsaco"
    os.rename(path, elsewhere)
    path.symlink_to(elsewhere)
    assert refused_golden(built, golden_root, 2) == (
        f'netra: {path}: path "{path.name}" leaves its root through a symlink\n'
    )


def test_a_name_that_leaves_the_root(built: Project, golden_root: Path) -> None:
    path = built.path(GOLDEN_MODEL)
    model = json.loads(path.read_text())
    artifact = model["golden_operations"][0]["golden_artifact"]
    artifact["hsaco_name"] = f"../{artifact['hsaco_name']}"
    path.write_text(json.dumps(model))
    text = refused_golden(built, golden_root, 2)
    assert text.startswith(f"netra: {GOLDEN_MODEL}: ")
    assert "does not match the pattern" in text


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("symbol", "netra_other", 'code object has no kernel "netra_other"'),
        ("block", 65536, None),
        ("lds_bytes", 4096, "fixed LDS of {symbol} differs; expected 4096, got {lds}"),
    ],
)
def test_an_object_of_another_contract(
    built: Project, golden_root: Path, key: str, value: object, message: str | None
) -> None:
    path = built.path(GOLDEN_MODEL)
    model = json.loads(path.read_text())
    artifact = model["golden_operations"][0]["golden_artifact"]
    symbol, lds = artifact["symbol"], artifact["launch"]["lds_bytes"]
    if key == "symbol":
        artifact["symbol"] = value
    elif key == "lds_bytes":
        artifact["launch"]["lds_bytes"] = value
    else:
        artifact["launch"]["block"] = [512, 1, 1]
        message = "launch block of {symbol} differs; expected at most 64, got 512"
    path.write_text(json.dumps(model))
    done = built.scons(f"engine={GOLDEN_ENGINE}", f"golden_root={golden_root}")
    assert done.status in (1, 2)
    assert message is not None
    assert message.format(symbol=symbol, lds=lds) in done.errors
    assert not built.engine(GOLDEN_ENGINE).exists()
