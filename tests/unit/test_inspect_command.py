"""What ``netra inspect`` and ``netra explain`` show to people and to machines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from netra_build.cli.main import main

HERE = Path(__file__).resolve().parents[1] / "data" / "conformance"
ENGINE = HERE / "expected" / "graph-vector__decode_rows1"
BUILT = HERE / "expected-built" / "graph-vector__decode_rows1"
STEM = "netra_clamp_7c5fc1bbe8523af6_gfx950"


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_an_engine_is_a_tree_and_a_table(capsys):
    lines = shown(capsys, "inspect", str(ENGINE)).splitlines()
    engine = json.loads((ENGINE / "engine.json").read_text())
    assert lines[:3] == [
        engine["engine_id"],
        "├── target: gfx950",
        "├── profile: decode_rows1",
    ]
    assert "├── operations: 20, 10 of them kernels" in lines
    assert "└── sealed: no" in lines
    rows = {line.split()[1]: line.split() for line in lines[lines.index("") + 2 :]}
    assert rows["clamp"][2:] == [
        "kernel",
        "gfx950.clamp_f32",
        "verified",
        "256x1x1",
        "64x1x1",
    ]
    assert set(rows) == {operation["name"] for operation in engine["operations"]}


def test_a_code_object_is_a_table_of_kernels(capsys):
    path = next(BUILT.glob(f"hsaco/{STEM}.hsaco"))
    record = json.loads((BUILT / f"metadata/{STEM}.json").read_text())
    lines = shown(capsys, "inspect", str(path)).splitlines()
    assert lines[1] == "├── target: amdgcn-amd-amdhsa--gfx950, code object version 6"
    assert lines[2].endswith(f"sha256 {record['text_sha256']}")
    row = next(line.split() for line in lines if line.startswith(STEM))
    found = record["resources"]
    assert row[1] == str(found["vgpr_count"])
    assert row[3] == str(found["sgpr_count"])
    assert row[5] == str(found["kernarg_size"])
    document = json.loads(shown(capsys, "inspect", str(path), "--json"))
    assert document["text_sha256"] == record["text_sha256"]
    assert document["kernels"][STEM]["vgpr_count"] == found["vgpr_count"]


def test_an_explanation_names_every_rejected_candidate(capsys):
    lines = shown(capsys, "explain", str(ENGINE)).splitlines()
    document = json.loads((ENGINE / "explain.json").read_text())
    start = lines.index("soft: gfx950.softcap_f32_a")
    assert lines[start + 1] == "├── gfx950.softcap_f32_a chosen"
    assert lines[start + 2] == "├── gfx950.softcap_f32_b rejected: fits too, ranked behind"
    near = 0
    for operation in document["operations"]:
        far = [c for c in operation["candidates"] if "operation mismatch" in c["reasons"]]
        near += len(operation["candidates"]) - len(far) + bool(far)
        if operation["name"] == "soft":
            assert f"└── {len(far)} more: for other operations" in lines
    assert sum(line.startswith(("├──", "└──")) for line in lines) == near


@pytest.mark.parametrize(
    ("word", "name"), [("inspect", "engine.json"), ("explain", "explain.json")]
)
def test_json_is_the_file_itself(word, name, capfdbinary):
    assert main([word, str(ENGINE), "--json"]) == 0
    assert capfdbinary.readouterr().out == (ENGINE / name).read_bytes()


@pytest.mark.parametrize("word", ["inspect", "explain"])
@pytest.mark.parametrize("given", [[], [str(ENGINE), "--engine", str(ENGINE)]])
def test_one_path_is_wanted(word, given, capsys):
    assert main([word, *given]) == 2
    assert capsys.readouterr().err == (
        f"netra: netra {word}: give one path\nhint: netra {word} -h shows the options\n"
    )


def test_a_damaged_engine_is_one_line(capsys, tmp_path):
    engine = Path(shutil.copytree(ENGINE, tmp_path / "engine"))
    path = engine / "engine.json"
    path.write_bytes(path.read_bytes().replace(b'"profiles":[', b'"profiles":{"a":[', 1))
    assert main(["inspect", str(engine)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"netra: {path}")
    assert error.count("\n") == 1
