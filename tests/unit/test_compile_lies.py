"""Seeded lies: every document of an engine directory is derived again, and the first is named."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from planned import plan_file

from netra_build.core.canonical_json import canonical_bytes
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.formats.library import open_library
from netra_build.inspect.validate.engine import verify_engine
from netra_build.plan.documents import engine_files, with_engine_id

HERE = Path(__file__).resolve().parents[1] / "data" / "conformance"
ENGINE = "graph-vector__decode_rows1"
CLAMP = "netra_clamp_7c5fc1bbe8523af6_gfx950"
DERIVED = "content differs from what the graph and the library give"


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """Return a copy of a published engine directory."""
    return Path(shutil.copytree(HERE / "expected" / ENGINE, tmp_path / "engine"))


def message(engine: Path, **options: bool) -> str:
    """Validate and return the error's line with the engine's folder cut off."""
    library = open_library(RealDisk(), HERE / "library", ())
    with pytest.raises(BadInput) as caught:
        verify_engine(engine, RealDisk(), library, **options)
    return caught.value.line().replace(f"{engine}/", "")


def edit(engine: Path, name: str, pointer: str, value: object) -> None:
    """Set one value of a document and write it canonically again, ids adjusted."""
    path = engine / name
    document = json.loads(path.read_bytes())
    *parents, last = [part for part in pointer.split("/") if part]
    node = document
    for part in parents:
        node = node[int(part)] if isinstance(node, list) else node[part]
    if value is None:
        del node[int(last) if isinstance(node, list) else last]
    elif isinstance(node, list):
        node[int(last)] = value
    else:
        node[last] = value
    if name == "engine.json":
        document = with_engine_id(document)
    path.write_bytes(canonical_bytes(document))


EDITS = [
    ("engine.json", "/operations/1/launch/grid/0", 2, "expected 1, got 2"),
    ("engine.json", "/operations/1/kernel_symbol", "x", None),
    ("engine.json", "/operations/1/hsaco", "hsaco/x.hsaco", None),
    ("engine.json", "/operations/1/kernarg_size", 40, "expected 32, got 40"),
    ("engine.json", "/operations/1/arguments/3/value", 255, "expected 256, got 255"),
    ("engine.json", "/operations/6/workspace_offset", 0, "expected 2176, got 0"),
    ("engine.json", "/operations/0/fallback", "x", 'expected "framework.norm", got "x"'),
    ("engine.json", "/operations/0/bindings/inputs/0", "y", 'expected "x", got "y"'),
    ("engine.json", "/fallbacks/norm", None, 'expected "framework.norm", got nothing'),
    ("engine.json", "/selected_tactics/0", None, None),
    ("engine.json", "/kernel_symbols/0", None, None),
    ("engine.json", "/workspace_bytes", 0, "expected 6400, got 0"),
    ("engine.json", "/required_rocm/minimum", "6.0", 'expected "7.0", got "6.0"'),
    ("engine.json", "/profiles/0/guards/m/max", 2, "expected 1, got 2"),
    ("engine.json", "/validation_status", "fine", None),
    ("graph_recipe.json", "/operations/1/depends_on", [], None),
    ("graph_recipe.json", "/operations/1/launch/block/0", 64, "expected 256, got 64"),
    ("memory_plan.json", "/buffers/0/offset", 0, "expected 3328, got 0"),
    ("layout_plan.json", "/bindings/0/kernel_layout", "row", None),
    ("symbols.json", "/selected/0", None, None),
    ("explain.json", "/operations/1/candidates/0/selected", False, "expected true, got false"),
    ("explain.json", "/profile/priority", 31, "expected 30, got 31"),
    ("validation_plan.json", "/candidates/0/maturity", "accepted", None),
    ("validation_plan.json", "/candidates/0/tactic_id", "0" * 64, None),
    ("validation_plan.json", "/promotion_eligible", True, "expected false, got true"),
    ("validation_plan.json", "/hardware", "passed", 'expected "not_run", got "passed"'),
]


@pytest.mark.parametrize(("name", "pointer", "value", "tail"), EDITS)
def test_an_edited_value_is_named_by_its_pointer(engine, name, pointer, value, tail):
    edit(engine, name, pointer, value)
    found = message(engine)
    assert found.startswith(f"{name}#{pointer}"), found
    assert f": {DERIVED}; expected " in found
    assert tail is None or found.endswith(tail)


def test_the_true_engine_is_valid(engine):
    library = open_library(RealDisk(), HERE / "library", ())
    assert verify_engine(engine, RealDisk(), library).summary["kernel_operations"] == 10


OTHERS = [
    (
        "contracts.json",
        "/contracts/0/constants/NETRA_TILE",
        64,
        "contracts.json#/contracts/0/id: contract id differs from the contract; expected ",
    ),
    (
        "validation_plan.json",
        "/static",
        "proven",
        'validation_plan.json#/static: unknown word "proven"',
    ),
    (
        "validation_plan.json",
        "/candidates/0/equivalence_report",
        "metadata/none.json",
        'validation_plan.json#/candidates/0/equivalence_report: report "metadata/none.json"'
        " is missing",
    ),
    (
        "engine.json",
        "/operations/0/execution",
        "magic",
        'engine.json#/operations/0/execution: unknown word "magic"',
    ),
    (
        "engine.json",
        "/operations/2/index",
        7,
        "engine.json#/operations/2/index: operation is out of order; expected 2, got 7",
    ),
    ("engine.json", "/surprise", 1, 'engine.json: unknown key "surprise"'),
    (
        "engine.json",
        "/checkpoint_hash",
        "none",
        "--checkpoint-hash: checkpoint hash has the wrong form;"
        ' expected 64 lower-case hexadecimal digits, got "none"',
    ),
]


@pytest.mark.parametrize(("name", "pointer", "value", "wanted"), OTHERS)
def test_an_impossible_value_is_named(engine, name, pointer, value, wanted):
    edit(engine, name, pointer, value)
    assert message(engine).startswith(wanted)


def test_an_edited_source_is_named(engine):
    path = engine / f"generated/{CLAMP}.s"
    path.write_text(path.read_text().replace("NETRA_LIMIT_LOG2, 8", "NETRA_LIMIT_LOG2, 3"))
    found = message(engine)
    assert f'file "generated/{CLAMP}.s" has another digest' in found


def test_an_edited_source_with_an_adjusted_digest_is_named(engine):
    path = engine / f"generated/{CLAMP}.s"
    path.write_text(path.read_text().replace("NETRA_LIMIT_LOG2, 8", "NETRA_LIMIT_LOG2, 3"))
    plan = json.loads((engine / "validation_plan.json").read_bytes())
    number = [item["symbol"] for item in plan["candidates"]].index(CLAMP)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    edit(engine, "validation_plan.json", f"/candidates/{number}/source_sha256", digest)
    assert message(engine) == (
        f"generated/{CLAMP}.s: {DERIVED}; expected other bytes, got sha256 {digest}"
    )


def test_a_document_with_other_blanks_is_refused(engine):
    path = engine / "symbols.json"
    path.write_bytes(path.read_bytes().replace(b":", b": ", 1))
    assert message(engine) == "symbols.json: document is not canonical JSON"


@pytest.mark.parametrize(
    "name", ["notes.txt", "hsaco/other.hsaco", "generated/includes/x.inc", "metadata/x.json"]
)
def test_an_unnamed_file_is_refused(engine, name):
    (engine / name).parent.mkdir(parents=True, exist_ok=True)
    (engine / name).write_text("x")
    assert message(engine) == f"{name}: file is named by no document of the engine"


def test_a_link_is_refused(engine):
    path = engine / f"generated/{CLAMP}.s"
    path.rename(engine.parent / "moved.s")
    path.symlink_to(engine.parent / "moved.s")
    assert message(engine) == f"generated/{CLAMP}.s: file is a link"


def test_a_report_without_its_code_object_is_refused(engine):
    (engine / "metadata").mkdir()
    (engine / f"metadata/{CLAMP}.text").write_bytes(b"")
    assert message(engine) == (
        f'metadata/{CLAMP}.text: report is about the missing code object "hsaco/{CLAMP}.hsaco"'
    )


def test_an_edited_graph_breaks_the_source_hash(tmp_path):
    """Names of unused tensors decide nothing else: only the digest of all files notices."""
    plan = plan_file(HERE / "models/graph-vector.json", "decode_rows1", HERE / "library")
    for name, data in engine_files(plan).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    graph = json.loads((tmp_path / "graph.json").read_bytes())
    index = [tensor["name"] for tensor in graph["tensors"]].index("unused")
    edit(tmp_path, "graph.json", f"/tensors/{index}/layout", "other")
    assert message(tmp_path).startswith(
        "engine.json#/compiler/source_hash: compiled files differ from those that the engine"
        " was made with; expected "
    )


def test_the_engine_id_is_derived(engine):
    path = engine / "engine.json"
    path.write_bytes(path.read_bytes().replace(b'"engine_id":"ne_3', b'"engine_id":"ne_4'))
    assert message(engine) == (
        "engine.json#/engine_id: engine id differs from the manifest;"
        " expected ne_3f118cbf58a49b4b2d5b8f07, got ne_4f118cbf58a49b4b2d5b8f07"
    )


def test_without_the_library_ids_and_digests_still_count(engine):
    edit(engine, "explain.json", "/profile/priority", 31)
    library = open_library(RealDisk(), HERE / "library", ())
    assert verify_engine(engine, RealDisk(), library, self_contained=True).summary["valid"]
    path = engine / f"generated/{CLAMP}.s"
    path.write_bytes(path.read_bytes() + b"\n")
    assert "has another digest" in message(engine, self_contained=True)
