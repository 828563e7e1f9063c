"""A product folder is whole exactly when its seal is there, whatever was in it before."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from netra_build.build.graph.product import JOURNAL, Product
from netra_build.build.run.build_lock import LOCK
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, DamagedStore


def product(folder: Path, *names: str) -> Product:
    """Return a product with these files and the seal ``seal.json``."""
    return Product(folder, "seal.json", [*names, "seal.json"], RealDisk())


def write(folder: Path, **contents: str) -> None:
    """Write small files; ``__`` in a name stands for a folder."""
    for name, text in contents.items():
        path = folder / name.replace("__", "/").replace("_json", ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def files(folder: Path) -> list[str]:
    """Return every file and empty folder below ``folder``."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() or not any(path.iterdir())
    )


def test_begin_withdraws_the_seal_and_leaves_a_journal(tmp_path: Path) -> None:
    write(tmp_path, a="1", seal_json='{"files": {"a": 0}}')
    product(tmp_path, "a").begin()
    assert files(tmp_path) == [JOURNAL, "a"]
    assert json.loads((tmp_path / JOURNAL).read_text())["files"] == ["a", "seal.json"]


def test_begin_removes_what_only_the_former_product_had_and_empty_folders(tmp_path: Path) -> None:
    write(tmp_path, a="1", old__deep__b="2", seal_json='{"files": {"a": 0, "old/deep/b": 0}}')
    write(tmp_path, mine="kept")
    product(tmp_path, "a").begin()
    assert files(tmp_path) == [JOURNAL, "a", "mine"]


def test_a_killed_build_is_known_from_its_journal(tmp_path: Path) -> None:
    product(tmp_path, "a", "b").begin()
    write(tmp_path, a="1", b="2")
    product(tmp_path, "a").begin()
    assert files(tmp_path) == [JOURNAL, "a"]


def test_begin_acts_once_a_build(tmp_path: Path) -> None:
    made = product(tmp_path, "a")
    made.begin()
    write(tmp_path, seal_json='{"files": {}}')
    made.begin()
    assert (tmp_path / "seal.json").exists()


def test_finish_removes_the_journal_only(tmp_path: Path) -> None:
    made = product(tmp_path, "a")
    made.begin()
    write(tmp_path, a="1")
    made.finish()
    assert files(tmp_path) == ["a"]


def test_a_folder_with_foreign_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path, notes="mine")
    with pytest.raises(BadInput) as caught:
        product(tmp_path, "a").refuse_foreign()
    assert str(caught.value) == (
        f'{tmp_path}: folder holds "notes", which no build of ours has made\n'
        "hint: name a new folder or an engine directory"
    )


@pytest.mark.parametrize("content", ['{"files": {"notes": 0}}', '{"files": ["notes"]}'])
def test_a_folder_with_a_seal_is_ours(tmp_path: Path, content: str) -> None:
    write(tmp_path, notes="1", seal_json=content)
    product(tmp_path, "a").refuse_foreign()
    assert files(tmp_path) == ["notes", "seal.json"]


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ("{", "not valid JSON: expecting property name enclosed in double quotes"),
        ('{"files": 3}', "names no files"),
        ('{"files": [1]}', "names no files"),
        ("{}", "names no files"),
    ],
)
def test_a_damaged_seal_says_what_to_remove(tmp_path: Path, content: str, fact: str) -> None:
    write(tmp_path, seal_json=content)
    with pytest.raises(DamagedStore) as caught:
        product(tmp_path, "a").begin()
    path = tmp_path / "seal.json"
    hint = f"hint: remove the folder {tmp_path} and build again"
    assert str(caught.value) == f"{path}: {fact}\n{hint}"


def test_a_seal_that_was_replaced_since_it_was_read_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, old="1", older="2", seal_json='{"files": ["old", "seal.json"]}')
    made = product(tmp_path, "a")
    made.refuse_foreign()
    write(tmp_path, seal_json='{"files": ["older", "seal.json"]}')
    made.begin()
    assert files(tmp_path) == [JOURNAL, "old"]


@pytest.mark.parametrize(("mine", "other"), [("o", "o/sub"), ("o/sub", "o")])
def test_products_lie_in_a_build_folder_beside_what_is_made_in_itself(
    tmp_path: Path, mine: str, other: str
) -> None:
    write(tmp_path / "o", seal_json='{"files": []}')
    (tmp_path / "o" / LOCK).write_text("")
    write(tmp_path / other, seal_json='{"files": []}')
    made = product(tmp_path / mine, "a")
    made.refuse_foreign()
    made.begin()
    assert JOURNAL in files(tmp_path / mine)


@pytest.mark.parametrize("mark", [JOURNAL, "seal.json"])
@pytest.mark.parametrize(("mine", "other"), [("o", "o/sub"), ("o/sub", "o"), ("o/a/b", "o")])
def test_one_product_lies_in_no_other(tmp_path: Path, mark: str, mine: str, other: str) -> None:
    write(tmp_path / "o", seal_json='{"files": []}')
    if other == "o" and mark == JOURNAL:
        (tmp_path / "o/seal.json").unlink()
    write(tmp_path / other, x="")
    (tmp_path / other / mark).write_text('{"files": []}')
    made, there = product(tmp_path / mine, "a"), files(tmp_path)
    for step in (made.refuse_foreign, made.begin):
        with pytest.raises(BadInput) as caught:
            step()
        assert str(caught.value) == (
            f'{tmp_path / mine}: one of two products lies in the other, "{tmp_path / other}"\n'
            "hint: name another folder with out="
        )
    assert set(files(tmp_path)) - set(there) <= {f"{mine}/{JOURNAL}", mine}


def test_a_link_for_a_folder_of_a_product_is_removed_and_not_written_through(
    tmp_path: Path,
) -> None:
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path / "o", notes="mine", seal_json='{"files": ["sub/a"]}')
    (tmp_path / "o/sub").symlink_to("../elsewhere")
    (tmp_path / "o/own").symlink_to("../elsewhere")
    made = product(tmp_path / "o", "sub/a")
    assert made.extra_names() == ("sub",)
    made.begin()
    assert files(tmp_path) == ["elsewhere", f"o/{JOURNAL}", "o/notes", "o/own"]


def test_a_folder_that_another_process_writes_into_is_refused(tmp_path: Path) -> None:
    """A copy of the process that has it has it too, until the seal is written."""
    first, ours = product(tmp_path, "a"), product(tmp_path, "a")
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            first.begin()
            (tmp_path / "ready").write_text("")
            signal.pause()
        os._exit(0)
    while not (tmp_path / "ready").exists():
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
    with pytest.raises(BadInput) as caught:
        ours.begin()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert str(caught.value) == (
        f"{tmp_path}: another build is writing into this folder\n"
        "hint: wait for it to end, or name another folder with out="
    )
    ours.begin()
    ours.finish()
    assert files(tmp_path) == ["ready"]


def test_the_same_bytes_say_other_things_as_seal_and_as_journal(tmp_path: Path) -> None:
    text = '{"files": ["one"], "members": ["two"]}'
    write(tmp_path, one="1", two="2", seal_json=text)
    (tmp_path / JOURNAL).write_text(text)
    names = ("a", "seal.json")
    Product(tmp_path, "seal.json", names, RealDisk(), lambda seal: seal["members"]).begin()
    assert files(tmp_path) == [JOURNAL]


def test_a_hostile_seal_cannot_remove_files_elsewhere(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    folder = tmp_path / "out"
    write(folder, seal_json='{"files": {"../victim": 0}}')
    with pytest.raises(BadInput) as caught:
        product(folder, "a").begin()
    assert caught.value.fact == 'path "../victim" leaves its root'
    assert victim.read_text() == "kept"


def test_begin_leaves_the_folders_that_the_product_is_about_to_fill(tmp_path: Path) -> None:
    """SCons makes them in another thread; what is in their place and no folder goes."""
    for name in ("a/b", "old/deep"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "c").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "seal.json").write_text('{"files": {"a/b/stale": {}}}')
    (tmp_path / "a/b/stale").write_text("")
    names = ("a/b/new", "c/new", "seal.json")
    Product(tmp_path, "seal.json", names, RealDisk(), is_alone=True).begin()
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert left == [".netra-unfinished.json", "a", "a/b"]
