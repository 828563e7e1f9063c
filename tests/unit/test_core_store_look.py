"""A look at many names at once tells what looking at each would."""

from __future__ import annotations

from pathlib import Path

import pytest

from netra_build.build.cache.files import StoreFiles
from netra_build.build.cache.look import MANY, held


@pytest.mark.parametrize("count", [1, MANY - 1, MANY, 3 * MANY])
def test_what_stands_there_is_found_however_much_is_asked_for(tmp_path: Path, count: int) -> None:
    files = StoreFiles(tmp_path)
    names = [f"{folder}/{number}" for folder in ("a/x", "a/y", "b") for number in range(count)]
    there = set(names[::2])
    for name in there:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "b" / "other").mkdir(parents=True)
    assert held(files, [*names, "c/none", *(f"d/{number}" for number in range(count))]) == there
    assert {name for name in names if files.has(name)} == there


def test_links_and_folders_stand_there_too(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    names = [f"a/{number}" for number in range(MANY)]
    (tmp_path / names[0]).symlink_to("nothing")
    (tmp_path / names[1]).mkdir()
    assert held(StoreFiles(tmp_path), names) == {*names[:2]}
    assert held(StoreFiles(tmp_path), names[:2]) == {*names[:2]}


def test_a_folder_that_is_none_has_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    assert held(StoreFiles(tmp_path), [f"a/{number}" for number in range(MANY)]) == set()
