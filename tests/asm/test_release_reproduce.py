"""A release made again from sources: to the byte, or every difference named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from release_attacks import PROVENANCE, as_bytes, resealed
from release_making import ROOT, netra

from netra_build.core.errors import EXIT_REFUSED
from netra_build.release.archive import Package, write_archive


def test_a_release_is_made_again_to_the_byte(engine_release, objects_release, capsys):
    for made, count in (
        (engine_release, len(engine_release.files)),
        (objects_release, len(objects_release.files)),
    ):
        status, out, err = netra(capsys, "reproduce", made.path, "--source", ROOT)
        name = made.package.top
        assert (status, err) == (0, "")
        assert out == f"{name}: identical, {count} files and the archive\n"


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library in which one instruction of one template is another."""
    folder = tmp_path_factory.mktemp("changed") / "library"
    for part in ("schemas", "manifests", "kernels", "golden", "evidence", "statements", "recipes"):
        shutil.copytree(ROOT / part, folder / part)
    shutil.copy(ROOT / "LICENSE", folder)
    path = folder / "kernels/gfx950/templates/moe/silu_quant.inc"
    text = path.read_text()
    before = "v_lshrrev_b32 v[NETRA_V_SCALE_OFFSET], NETRA_LOG2"
    assert text.count(before) == 1
    path.write_text(text.replace(before, before.replace("lshr", "lshl")))
    return folder


def test_one_changed_instruction_is_named(objects_release, engine_release, changed, capsys):
    for made, folder, symbol in (
        (objects_release, "objects", "qwen36_moe_silu_mul_quant_fp8_gfx950"),
        (engine_release, "engine", "netra_moe_silu_quant_"),
    ):
        status, out, err = netra(capsys, "reproduce", made.path, "--source", changed)
        assert (status, err) == (EXIT_REFUSED, "")
        blocks = out.rstrip().split("\n\n")
        assert blocks[0].splitlines()[-1].split() == [
            "changed",
            "kernels/gfx950/templates/moe/silu_quant.inc",
        ]
        code = next(block for block in blocks if block.startswith(f"{folder}/hsaco/"))
        lines = code.splitlines()
        assert lines[1].startswith(f"kernel: {symbol}")
        assert lines[1].endswith(": text_differs")
        assert lines[2:] == [
            "instructions: 124 -> 124, 1 removed, 1 added",
            "  @@",
            "  - 0x0020  v_lshrrev_b32_e32 v3, 4, v0",
            "  + 0x0020  v_lshlrev_b32_e32 v3, 4, v0",
        ]
        sections = next(block for block in blocks if block.startswith("sections that differ"))
        assert ".text    " in sections
        refused = [block for block in blocks if block.startswith("the rebuild refused: EQUIV: ")]
        assert len(refused) == 1
        assert blocks[-1].startswith(f"{made.package.top}: different, ")


def test_a_rebuild_says_what_else_is_not_the_recorded(engine_release, tmp_path, capsys):
    """The statement of another library version, with every digest right."""
    files = engine_release.files
    statement = json.loads(files[PROVENANCE])
    rows = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    row = next(row for row in rows if row["name"] == "blake3")
    before = row["annotations"]["version"]
    row["annotations"]["version"], row["uri"] = "0.0.1", "pkg:pypi/blake3@0.0.1"
    files[PROVENANCE] = as_bytes(statement)
    path = tmp_path / "p.tar.zst"
    path.write_bytes(write_archive(Package(engine_release.package.top, resealed(files))))
    status, out, _ = netra(capsys, "reproduce", path, "--source", ROOT)
    assert status == EXIT_REFUSED
    assert out.startswith("Python and its libraries\n")
    assert f'/packages/blake3  "0.0.1"  "{before}"' in out
    assert out.rstrip().endswith(
        f"{engine_release.package.top}: different, 1 of {len(engine_release.files) - 1} files"
    )


def test_another_tool_chain_does_not_reproduce(engine_release, tmp_path, capsys):
    files = engine_release.files
    statement = json.loads(files[PROVENANCE])
    rows = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    row = next(row for row in rows if row["name"] == "ld.lld")
    row["annotations"]["version"], row["uri"] = "9.9.9", "pkg:generic/ld.lld@9.9.9"
    files[PROVENANCE] = as_bytes(statement)
    path = tmp_path / "p.tar.zst"
    path.write_bytes(write_archive(Package(engine_release.package.top, resealed(files))))
    status, _, err = netra(capsys, "reproduce", path, "--source", ROOT)
    assert status == 4
    assert err == (
        "netra: --toolchain: linker is not the recorded one; expected ld.lld 9.9.9,"
        " got ld.lld 22.1.8\n"
        "hint: name a folder that holds the recorded one with --toolchain DIR\n"
    )
