"""``netra new-tactic``: all files or none, and never those of others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from netra_build.cli.main import main
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput

PARTS = ("kernels", "manifests", "golden", "schemas")


@pytest.fixture
def library(root: Path, tmp_path: Path) -> Path:
    """Return a kernel library of its own with room for statements."""
    folder = tmp_path / "library"
    for part in PARTS:
        shutil.copytree(root / part, folder / part)
    (folder / "statements/gfx950").mkdir(parents=True)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def lay_out(library: Path, *words: str) -> int:
    return main(["new-tactic", *words, "--library-root", str(library)])


def test_a_family_of_its_own_gets_a_catalog(library, capsys):
    before = files(library)
    assert lay_out(library, "norm.row_scale", "row_scale_f32", "--operation", "row_scale") == 0
    after = files(library)
    assert {name: after[name] for name in before} == before
    made = sorted(set(after) - set(before))
    assert sorted(capsys.readouterr().out.split("\n\n")[0].split("\n")) == made
    assert made == [
        "golden/gfx950/row_scale_f32/expect.json",
        "golden/gfx950/row_scale_f32/kernel.s",
        "kernels/gfx950/templates/norm/row_scale_f32.inc",
        "manifests/gfx950/contracts/row_scale_f32.json",
        "manifests/gfx950/tactics/norm.json",
        "statements/gfx950/row_scale_f32.py",
        "tests/sim/test_tactic_row_scale_f32.py",
    ]


def test_the_catalog_of_a_family_is_added_to_and_pinned(library, capsys):
    name = "manifests/gfx950/tactics/gdn.json"
    before = json.loads((library / name).read_text())
    assert lay_out(library, "gdn.row_scale", "gdn_row_scale") == 0
    after = json.loads((library / name).read_text())
    assert after["tactics"][:-1] == before["tactics"]
    assert after["tactics"][-1]["id"] == "gdn_row_scale"
    assert {k: v for k, v in after.items() if k not in ("tactics", "evidence_sets")} == {
        k: v for k, v in before.items() if k not in ("tactics", "evidence_sets")
    }
    assert main(["pin", "--check", "--library-root", str(library)]) == 0
    assert capsys.readouterr().out.endswith("0 stale pins\n")


def test_nothing_is_left_when_a_file_cannot_be_written(library, capsys, monkeypatch):
    before = files(library)
    whole = RealDisk.write_bytes

    def write(self, path, data):
        if path.name == "gdn.json":
            raise BadInput("cannot write: no space left on device", location=str(path))
        whole(self, path, data)

    monkeypatch.setattr(RealDisk, "write_bytes", write)
    assert lay_out(library, "gdn.row_scale", "gdn_row_scale") == 2
    message = f"{library}/manifests/gfx950/tactics/gdn.json: cannot write: no space left on device"
    assert capsys.readouterr().err == f"netra: {message}\n"
    assert files(library) == before
    assert not (library / "golden/gfx950/gdn_row_scale").exists()


def test_a_known_tactic_is_refused(library, capsys):
    before = files(library)
    assert lay_out(library, "moe.silu_quant", "moe_silu_quant_decode_m1") == 2
    place = f"{library}/manifests/gfx950/tactics/moe_decode.json"
    fact = 'tactic "moe_silu_quant_decode_m1" exists'
    assert capsys.readouterr().err == f"netra: {place}: {fact}\n"
    assert files(library) == before


def test_a_file_that_exists_is_refused(library, capsys):
    template = library / "kernels/gfx950/templates/moe/mine.inc"
    template.write_text("// mine\n")
    before = files(library)
    assert lay_out(library, "moe.mine", "mine") == 2
    assert capsys.readouterr().err == f"netra: {template}: file exists\n"
    assert files(library) == before


def test_a_library_without_statements_is_refused(library, capsys):
    statements = library / "statements/gfx950"
    statements.rmdir()
    assert lay_out(library, "moe.mine", "mine") == 2
    hint = "hint: a tactic is laid out in a checkout of the project"
    fact = "library keeps no numeric statements"
    assert capsys.readouterr().err == f"netra: {statements}: {fact}\n{hint}\n"


def test_a_link_that_leads_out_is_not_followed(library, tmp_path, capsys):
    (tmp_path / "elsewhere").mkdir()
    (library / "kernels/gfx950/templates/out").symlink_to(tmp_path / "elsewhere")
    assert lay_out(library, "out.mine", "mine") == 2
    name = "kernels/gfx950/templates/out/mine.inc"
    fact = f'path "{name}" leaves its root through a symlink'
    assert capsys.readouterr().err == f"netra: {library}/{name}: {fact}\n"
    assert list((tmp_path / "elsewhere").iterdir()) == []
