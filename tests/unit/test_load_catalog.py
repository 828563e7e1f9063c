"""Tactic catalogs: every fault with its whole message, and what is derived."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.library import Library

SMALL = Path(__file__).resolve().parents[1] / "data/conformance/negative/library"
CATALOG = "manifests/gfx950/tactics/one.json"
TEMPLATE = "kernels/gfx950/templates/one.inc"
PART = "kernels/gfx950/templates/part.inc"
ENTRY = f"{CATALOG}#/tactics/0"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a copy of the small library."""
    return Path(shutil.copytree(SMALL, tmp_path / "lib"))


def change(root: Path, name: str, pointer: str, value: Any) -> None:
    """Set (or with None delete) one value of a JSON file."""
    path = root / name
    document = json.loads(path.read_text())
    *parents, last = [part for part in pointer.split("/") if part]
    node = document
    for part in parents:
        node = node[int(part)] if isinstance(node, list) else node[part]
    if value is None:
        del node[last]
    else:
        node[last] = value
    path.write_text(json.dumps(document))


def replace(root: Path, name: str, old: str, new: str) -> None:
    """Edit one text file of the library."""
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def fault(root: Path) -> str:
    """Return the line of the only fault, or of the error that loading raises."""
    try:
        catalog = load_catalog(Library(root, RealDisk()), derive_pins=True)
    except BadInput as error:
        return error.line().replace(f"{root}/", "")
    assert catalog.tactics == ()
    (only,) = catalog.faults
    assert only.tactic == "gfx950.one"
    return only.error.line().replace(f"{root}/", "")


def test_the_small_library_has_one_tactic():
    catalog = load_catalog(Library(SMALL, RealDisk()))
    (tactic,) = catalog.tactics
    assert catalog.faults == ()
    assert tactic.is_pinned
    assert tactic.contract_constants == (("ONE_VALUE", (7,)),)
    assert tactic.compile_definitions == (("ONE_WAVES", (1, 2)),)
    assert [name for name, _ in tactic.closure] == [TEMPLATE, PART]
    assert (tactic.kernarg_size, tactic.lds_bytes, tactic.max_threads) == (8, 0, 256)


BAD_ENTRIES = [
    ("id", None, f'{ENTRY}: required key "id" is missing'),
    ("spare", 1, f'{ENTRY}: unknown key "spare"'),
    ("operation", "a/b", f'{ENTRY}/operation: name "a/b" holds a character that is not allowed'),
    ("maturity", "blessed", f'{ENTRY}/maturity: unknown word "blessed"'),
    (
        "template",
        "../one.inc",
        f'{ENTRY}/template: path "../one.inc" leaves its root',
    ),
    (
        "template",
        "kernels/gone.inc",
        f'{ENTRY}/template: included file "kernels/gone.inc" cannot be used: file'
        ' "kernels/gone.inc" is missing or not a file',
    ),
    (
        "instantiation_macro",
        "TWO_KERNEL",
        f'{ENTRY}/instantiation_macro: template defines no macro "TWO_KERNEL"',
    ),
    (
        "kernarg_size",
        10,
        f"{ENTRY}/kernarg_size: kernarg size is not a positive number of double words;"
        " expected a positive multiple of 4, got 10",
    ),
    ("kernarg_size", 16, f"{ENTRY}/kernarg_size: kernarg size is not in the template"),
    ("rank", True, f"{ENTRY}/rank: value has the wrong type; expected integer, got boolean"),
    ("rank", 1.5, f"{ENTRY}/rank: value has the wrong type; expected integer, got number"),
    ("rank", None, f'{ENTRY}: required key "rank" is missing'),
    ("evidence_set", "f", f'{ENTRY}/evidence_set: unknown evidence set "f"'),
    (
        "launch_block",
        2048,
        f"{ENTRY}/launch_block: number is out of range; expected 1 to 1024, got 2048",
    ),
    (
        "launch_block",
        {"constant": "ONE_WAVE", "multiplier": 64},
        f'{ENTRY}/launch_block/constant: "ONE_WAVE" is not among the compile definitions',
    ),
    (
        "contract_constants",
        {"ONE_VALUE": [1, 7]},
        f"{ENTRY}/contract_constants/ONE_VALUE: constant of a contract has several values;"
        " expected 1 value, got 2 values",
    ),
    (
        "compile_definitions",
        {"ONE_WAVES": []},
        f"{ENTRY}/compile_definitions/ONE_WAVES: constant has no value",
    ),
    (
        "compile_definitions",
        {"ONE_WAVES": True},
        f"{ENTRY}/compile_definitions/ONE_WAVES: value has the wrong type;"
        " expected integer, got boolean",
    ),
    (
        "compile_definitions",
        {"ONE_WAVES": 1, "ONE_VALUE": 7},
        f'{ENTRY}: constant "ONE_VALUE" is both fixed and selectable',
    ),
    (
        "compile_ranges",
        {"ONE_WAVES": {"min": 1, "max": 2}},
        f'{ENTRY}: constant "ONE_WAVES" is both listed and ranged',
    ),
    (
        "compile_ranges",
        {"ROWS": {"min": 3, "max": 2}},
        f"{ENTRY}/compile_ranges/ROWS: range is empty: its minimum 3 is above its maximum 2",
    ),
    (
        "compile_ranges",
        {"ROWS": {"min": 1, "max": 2, "step": 0}},
        f"{ENTRY}/compile_ranges/ROWS/step: number is out of range;"
        " expected 1 to 9223372036854775807, got 0",
    ),
    (
        "semantics",
        {"abi": "a"},
        f'{ENTRY}/semantics: required key "dtypes" is missing',
    ),
    (
        "workspace",
        {"bytes": 8, "alignment": 4096},
        f"{ENTRY}/workspace/alignment: number is out of range; expected 1 to 256, got 4096",
    ),
    (
        "workspace",
        {"bytes": 8, "alignment": 48},
        f"{ENTRY}/workspace/alignment: alignment is not a power of two;"
        " expected a power of two, got 48",
    ),
    (
        "metadata_contract",
        {
            "group_segment_fixed_size": 4,
            "kernarg_segment_size": 8,
            "max_flat_workgroup_size": 256,
        },
        f"{ENTRY}/metadata_contract/group_segment_fixed_size: 4 is not among the literal values"
        " of the template",
    ),
    (
        "metadata_contract",
        {
            "group_segment_fixed_size": 0,
            "kernarg_segment_size": 8,
            "max_flat_workgroup_size": 0,
        },
        f"{ENTRY}/metadata_contract/max_flat_workgroup_size: work-item limit is out of range;"
        " expected 1 to 1024, got 0",
    ),
]


@pytest.mark.parametrize(("key", "value", "wanted"), BAD_ENTRIES)
def test_a_bad_entry_is_a_fault(root, key, value, wanted):
    change(root, CATALOG, f"/tactics/0/{key}", value)
    assert fault(root) == wanted


@pytest.mark.parametrize("word", ["qwen", "Gemma", "llama"])
def test_semantics_name_no_model(root, word):
    change(root, CATALOG, "/tactics/0/semantics/abi", f"x_{word}_v1")
    assert fault(root) == (
        f'{ENTRY}/semantics/abi: semantic identifier "x_{word}_v1" names the model "{word.lower()}"'
    )


BAD_CATALOGS = [
    ("/target", "gfx942", "#/target: catalog is for another target; expected gfx950, got gfx942"),
    ("/wave_size", 32, "#/wave_size: catalog is for another wave size; expected 64, got 32"),
    ("/spare", 1, ': unknown key "spare"'),
    ("/evidence_sets/e/lock_sha256", "AB", None),
]


@pytest.mark.parametrize(("pointer", "value", "tail"), BAD_CATALOGS)
def test_a_bad_catalog_is_refused(root, pointer, value, tail):
    change(root, CATALOG, pointer, value)
    wanted = tail or (
        "#/evidence_sets/e/lock_sha256: digest has the wrong form;"
        ' expected 64 lower-case hexadecimal digits, got "AB"'
    )
    assert fault(root) == f"{CATALOG}{wanted}"


BAD_TEXTS = [
    (
        TEMPLATE,
        'part.inc"',
        'part.inc" // note',
        f'{TEMPLATE}:3: line is not seen by the published reader: .include "{PART}" // note',
    ),
    (
        TEMPLATE,
        "ONE_VALUE, 7",
        "ONE_VALUE, 0x7",
        f"{TEMPLATE}:6: line is not seen by the published reader: NETRA_REQUIRE_EQ ONE_VALUE, 0x7",
    ),
    (
        TEMPLATE,
        ".macro ONE_KERNEL symbol",
        ".macro ONE_KERNEL name",
        f'{ENTRY}/instantiation_macro: first parameter of macro "ONE_KERNEL" is not "symbol";'
        ' expected "symbol", got "name"',
    ),
    (
        TEMPLATE,
        "    NETRA_REQUIRE_EQ ONE_VALUE, 7\n",
        "    NETRA_REQUIRE_EQ ONE_VALUE, 7\n    NETRA_REQUIRE_EQ ONE_VALUE, 8\n",
        f'{ENTRY}/template: guards fix "ONE_VALUE" to 7 and to 8',
    ),
    (
        TEMPLATE,
        ".max_flat_workgroup_size: 256",
        ".max_flat_workgroup_size: 256 # .max_flat_workgroup_size: 64",
        f'{ENTRY}/template: template states "max_flat_workgroup_size" 2 times with different'
        " values",
    ),
    (
        PART,
        ".macro",
        f'.include "{TEMPLATE}"\n.macro',
        f'{TEMPLATE}: file includes itself through "{PART}"',
    ),
]


@pytest.mark.parametrize(("name", "old", "new", "wanted"), BAD_TEXTS)
def test_a_bad_template_is_a_fault(root, name, old, new, wanted):
    replace(root, name, old, new)
    assert fault(root) == wanted


def test_a_changed_template_is_not_pinned(root):
    replace(root, TEMPLATE, "s_endpgm", "s_nop 0\n    s_endpgm")
    library = Library(root, RealDisk())
    (tactic,) = load_catalog(library, derive_pins=True).tactics
    assert not tactic.is_pinned
    catalog = load_catalog(Library(root, RealDisk()))
    assert catalog.tactics == ()
    with pytest.raises(BadInput) as caught:
        catalog.require_sound()
    assert caught.value.line().replace(f"{root}/", "") == (
        f"{ENTRY}/template_sha256: digest of the template is not pinned;"
        f" expected {tactic.template_sha256},"
        " got cecde295f8466632ddcb859fc65f105f04c40d6d76e33612eb5ff9598a4e5de6"
    )


SHARED_FAULTS = [
    (
        "NETRA_REQUIRE_EQ TWO_VALUE, 0x7\n",
        f"{PART}:1: line is not seen by the published reader: NETRA_REQUIRE_EQ TWO_VALUE, 0x7",
    ),
    (f'.include "{PART}"\n', f'{PART}: file includes itself through "{PART}"'),
]


@pytest.mark.parametrize(("line", "wanted"), SHARED_FAULTS)
def test_a_bad_file_is_a_fault_of_every_tactic_that_includes_it(root, line, wanted):
    document = json.loads((root / CATALOG).read_text())
    (entry,) = document["tactics"]
    other = TEMPLATE.replace("one", "two")
    shutil.copy(root / TEMPLATE, root / other)
    document["tactics"].append({**entry, "id": "two", "template": other})
    (root / CATALOG).write_text(json.dumps(document))
    assert len(load_catalog(Library(root, RealDisk()), derive_pins=True).tactics) == 2
    (root / PART).write_text(line + (root / PART).read_text())
    catalog = load_catalog(Library(root, RealDisk()), derive_pins=True)
    lines = {f.tactic: f.error.line().replace(f"{root}/", "") for f in catalog.faults}
    assert lines == {"gfx950.one": wanted, "gfx950.two": wanted}


def test_what_a_library_has_let_go_is_read_again(root):
    library = Library(root, RealDisk())
    before = library.read(TEMPLATE)
    library.read(PART)
    (root / TEMPLATE).write_text("new")
    assert library.read(TEMPLATE) == before
    library.let_go()
    assert library.names_read == {TEMPLATE, PART}
    assert library.read(TEMPLATE) == b"new"


def test_an_id_is_defined_once(root):
    document = json.loads((root / CATALOG).read_text())
    (root / "manifests/gfx950/tactics/two.json").write_text(json.dumps(document))
    assert fault(root) == (
        'manifests/gfx950/tactics/two.json#/tactics/0/id: tactic "gfx950.one" is defined twice'
    )


def test_files_of_another_format_are_skipped(root):
    (root / "manifests/gfx950/tactics/a.json").write_text('{"format": "notes"}')
    (root / "manifests/gfx950/tactics/b.json").write_text('{"text": "no catalog"}')
    assert len(load_catalog(Library(root, RealDisk())).tactics) == 1


def test_a_catalog_that_lost_all_it_held_is_refused(root):
    (root / CATALOG).write_text("{}")
    assert fault(root) == f"{CATALOG}: catalog is empty"
