"""``netra diff`` on engine directories and catalogs: kinds, exit codes, verdicts, bad input."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netra_build.asm.objects.code_object import read_code_object
from netra_build.cli.main import main
from netra_build.inspect.diff.engines import engine_difference

SAMPLES = Path(__file__).parent / "asm_samples"
OBJECT = base64.b64decode((SAMPLES / "two_kernels.hsaco.base64").read_bytes())
SEALED = base64.b64decode((SAMPLES / "two_kernels.sealed.base64").read_bytes())
LISTING = (SAMPLES / "two_kernels.dis").read_bytes()
OLD_ID, NEW_ID = "nk_" + "a" * 24, "nk_" + "b" * 24


def operation(name: str, symbol: str | None, contract: str | None, **more: Any) -> dict[str, Any]:
    record = {"name": name, "kernel_symbol": symbol, "contract_id": contract, **more}
    return record | ({"hsaco": "hsaco/two.hsaco"} if symbol else {})


def symbols() -> list[str]:
    """Return the kernels of the sample, in order."""
    lines = (SAMPLES / "two_kernels.s").read_text().splitlines()
    return [line.split()[1] for line in lines if line.strip().startswith(".amdhsa_kernel")]


def engine() -> dict[str, Any]:
    """Return the files of a small engine; JSON documents as values."""
    one, two = symbols()
    return {
        "engine.json": {
            "engine_id": "ne_" + "1" * 24,
            "operations": [
                operation("up", one, OLD_ID, tactic="t.up", launch={"grid": [4, 1, 1]}),
                operation("down", two, None, tactic="t.down", launch={"grid": [8, 1, 1]}),
                operation("host", None, None),
            ],
        },
        "contracts.json": {"contracts": [{"id": OLD_ID, "kernarg_size": 16}]},
        "explain.json": {"operations": [{"name": "up", "selected": "t.up"}]},
        "hsaco/two.hsaco": OBJECT,
        "metadata/two.dis": LISTING,
        "generated/two.s": b"text\n",
    }


def encoded(files: dict[str, Any]) -> dict[str, bytes]:
    return {
        name: item if isinstance(item, bytes) else json.dumps(item).encode()
        for name, item in files.items()
    }


def difference(change_new: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    old, new = engine(), copy.deepcopy(engine())
    change_new(new)
    return engine_difference(encoded(old), encoded(new), ("old", "new"))


def verdicts(found: dict[str, Any]) -> dict[str, str]:
    return {row["operation"]: row["verdict"] for row in found["kernels"]}


def test_equal_engines_have_no_difference():
    found = difference(lambda files: None)
    assert verdicts(found) == {"up": "unchanged", "down": "unchanged"}
    del found["kernels"]
    assert found == {
        "kind": "engine",
        "equal": True,
        "documents": {},
        "contracts": [],
        "files": [],
    }


def test_a_changed_launch_is_named_by_operation_and_pointer():
    def change(files: dict[str, Any]) -> None:
        files["engine.json"]["operations"][1]["launch"]["grid"][0] = 9

    found = difference(change)
    assert found["documents"] == {
        "engine.json": [
            {
                "subject": ["down"],
                "pointer": "/operations/1/launch/grid/0",
                "kind": "changed",
                "identity": False,
                "old": 8,
                "new": 9,
            }
        ]
    }
    assert [row["old"] for row in found["files"]] == ["engine.json"]
    assert not found["equal"]


def test_a_new_contract_is_compared_with_the_one_before_it():
    def change(files: dict[str, Any]) -> None:
        files["engine.json"]["operations"][0]["contract_id"] = NEW_ID
        files["contracts.json"]["contracts"] = [{"id": NEW_ID, "kernarg_size": 24}]

    found = difference(change)
    (row,) = found["contracts"]
    assert (row["operations"], row["old"], row["new"]) == (["up"], OLD_ID, NEW_ID)
    assert [(c["pointer"], c["identity"]) for c in row["changes"]] == [
        ("/id", True),
        ("/kernarg_size", False),
    ]
    assert [c["identity"] for c in found["documents"]["engine.json"]] == [True]


def test_a_contract_of_one_side_is_listed():
    def change(files: dict[str, Any]) -> None:
        files["contracts.json"]["contracts"].append({"id": NEW_ID})

    assert difference(change)["contracts"] == [
        {"operations": [], "new": NEW_ID, "old": None, "changes": []}
    ]


def test_kernels_of_another_file_are_unchanged():
    def change(files: dict[str, Any]) -> None:
        files["hsaco/two.hsaco"] = SEALED

    found = difference(change)
    assert verdicts(found) == {"up": "unchanged", "down": "unchanged"}
    assert [row["old"] for row in found["files"]] == ["hsaco/two.hsaco"]


def patched(at: int, byte: int) -> bytes:
    data = bytearray(OBJECT)
    assert data[at] != byte
    data[at] = byte
    return bytes(data)


def place_in_file(section: str, offset: int) -> int:
    """Return where a byte of a section lies in the sample."""
    found = read_code_object(OBJECT, "x").section(section)
    return found.offset + offset


def test_a_changed_instruction_changes_its_kernel_only():
    def change(files: dict[str, Any]) -> None:
        files["hsaco/two.hsaco"] = patched(place_in_file(".text", 0), 0x2A)

    found = difference(change)
    assert verdicts(found) == {"up": "text_differs", "down": "unchanged"}
    text = found["kernels"][0]["difference"]["text"]
    assert text["old_bytes"] == text["new_bytes"]
    assert text["old_sha256"] != text["new_sha256"]


def test_operations_and_kernels_of_one_side():
    def change(files: dict[str, Any]) -> None:
        operations = files["engine.json"]["operations"]
        one, _ = symbols()
        operations[2] |= {"kernel_symbol": one, "hsaco": "hsaco/two.hsaco"}
        del operations[1]
        operations[0]["hsaco"] = "hsaco/../../outside"

    assert verdicts(difference(change)) == {"up": "not_built", "down": "removed", "host": "added"}


def test_files_that_only_changed_their_hash_are_matched():
    old, new = encoded(engine()), encoded(engine())
    del old["generated/two.s"], new["generated/two.s"]
    old[f"generated/k_{'a' * 16}.s"], new[f"generated/k_{'b' * 16}.s"] = b"x", b"x"
    new["extra"] = b""
    rows = engine_difference(old, new, ("old", "new"))["files"]
    assert [(row["old"], row["new"]) for row in rows] == [
        (None, "extra"),
        (f"generated/k_{'a' * 16}.s", f"generated/k_{'b' * 16}.s"),
    ]
    assert rows[1]["old_sha256"] == rows[1]["new_sha256"]


class Folders:
    """Two folders, ``old`` and ``new``, and the command run beside them."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture) -> None:
        self.root, self.capsys = root, capsys

    def write(self, name: str, files: dict[str, Any]) -> None:
        for file, data in encoded(files).items():
            path = self.root / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def diff(self, *words: str) -> tuple[int, str, str]:
        status = main(["diff", *words])
        captured = self.capsys.readouterr()
        return status, captured.out, captured.err


@pytest.fixture
def folders(tmp_path, monkeypatch, capsys) -> Folders:
    monkeypatch.chdir(tmp_path)
    return Folders(tmp_path, capsys)


def test_the_command_on_equal_engines(folders):
    folders.write("old", engine())
    folders.write("new", engine())
    status, printed, errors = folders.diff("old", "new")
    assert (status, errors) == (0, "")
    assert printed.splitlines()[0] == "kernels: 2 unchanged"
    assert printed.splitlines()[-1] == "equal"


def test_the_command_on_different_engines(folders):
    changed = engine()
    changed["engine.json"]["operations"][0]["tactic"] = "t.other"
    changed["explain.json"]["operations"][0]["selected"] = "t.other"
    folders.write("old", engine())
    folders.write("new", changed)
    status, printed, _ = folders.diff("old", "new")
    assert status == 1
    assert printed.splitlines() == [
        "kernels: 2 unchanged",
        "",
        "engine.json",
        "what  pointer               old     new",
        'up    /operations/0/tactic  "t.up"  "t.other"',
        "",
        "documents that follow; --all shows them",
        "file          changes",
        "explain.json  1",
        "",
        "different",
    ]
    assert "/operations/0/selected" in folders.diff("old", "new", "--all")[1]
    report = json.loads(folders.diff("old", "new", "--json")[1])
    assert report["format"] == "netra-difference-1"
    assert sorted(report["documents"]) == ["engine.json", "explain.json"]


def test_kernels_that_were_not_built_are_counted_and_listed_when_renamed(folders):
    old, new = engine(), engine()
    for files in (old, new):
        del files["hsaco/two.hsaco"], files["metadata/two.dis"]
    new["engine.json"]["operations"][1]["kernel_symbol"] = "other"
    folders.write("old", old)
    folders.write("new", new)
    lines = folders.diff("old", "new")[1].splitlines()
    assert lines[0] == "kernels: 2 not_built"
    assert [line.split() for line in lines[2:4]] == [
        ["down", "not_built", symbols()[1], "other"],
        [],
    ]


CATALOG = {"format": "netra-fixed-tactic-catalog-1", "tactics": [{"id": "one", "rank": 1}]}


def test_the_command_on_catalogs(folders):
    changed = copy.deepcopy(CATALOG)
    changed["tactics"][0]["rank"] = 2
    folders.write(".", {"a.json": CATALOG, "b.json": changed})
    assert folders.diff("a.json", "a.json") == (0, "equal\n", "")
    assert folders.diff("a.json", "b.json") == (
        1,
        "tactics\nwhat  pointer          old  new\none   /tactics/0/rank  1    2\n\ndifferent\n",
        "",
    )


def test_the_command_on_objects_with_equal_text_needs_no_tool_chain(folders):
    folders.write(".", {"a.hsaco": OBJECT, "b.hsaco": SEALED})
    status, printed, _ = folders.diff("a.hsaco", "b.hsaco", "--toolchain", "nowhere")
    assert status == 1
    assert [line for line in printed.splitlines() if "kernel: " in line] == [
        f"kernel: {symbol}: identical" for symbol in symbols()
    ]


HINT = (
    "\nhint: netra diff takes an engine directory, a release package, a code object or a tactic "
    "catalog"
)
UNUSABLE = [
    ("engine", "a.hsaco", "", ""),
    ("missing", "a.hsaco", "missing: file is missing", ""),
    ("empty", "a.hsaco", 'empty: folder holds no "engine.json"', ""),
    ("text", "a.hsaco", "text: file is neither a code object nor JSON", HINT),
    ("broken.json", "a.hsaco", "broken.json:1:2: not valid JSON: expecting property name "
     "enclosed in double quotes", ""),
    (
        "model.json",
        "a.hsaco",
        "model.json#/format: JSON file is no tactic catalog; "
        'expected "netra-fixed-tactic-catalog-1", got "netra-model-1"',
        HINT,
    ),
    ("cut.hsaco", "a.hsaco", "cut.hsaco: code object is damaged", ""),
    ("engine", "lost", "lost/contracts.json: file is missing", ""),
    (
        "engine",
        "nameless",
        "nameless/engine.json#/operations/0: object has no name of its own",
        "",
    ),
    (
        "engine",
        "listless",
        "listless/engine.json#/operations: value is no array",
        "",
    ),
    ("engine", "damaged", "damaged/hsaco/two.hsaco: code object is damaged", ""),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "line", "hint"), UNUSABLE)
def test_what_cannot_be_compared_is_one_line(folders, one, other, line, hint):
    folders.write("engine", engine())
    folders.write("empty", {"x": b""})
    files = {"a.hsaco": OBJECT, "cut.hsaco": OBJECT[:200], "text": b"hello"}
    files |= {"broken.json": b"{broken", "model.json": {"format": "netra-model-1"}}
    folders.write(".", files)
    lost = engine()
    del lost["contracts.json"]
    folders.write("lost", lost)
    operations = engine()["engine.json"]["operations"]
    for name, wrong in (("nameless", [{}, *operations]), ("listless", None)):
        folders.write(name, engine() | {"engine.json": {"operations": wrong}})
    folders.write("damaged", engine() | {"hsaco/two.hsaco": OBJECT[:200]})
    if not line:
        line = (
            "netra diff: the two things are of different kinds; "
            'expected an engine directory, as "engine" is, got a code object'
        )
    assert folders.diff(one, other) == (2, "", f"netra: {line}{hint}\n")
