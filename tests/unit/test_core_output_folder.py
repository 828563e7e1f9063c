"""Publishing a folder: all of it or nothing, and never over what is not ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from netra_build.core import folders
from netra_build.core.errors import BadInput
from netra_build.core.folders import publish_folder
from netra_build.core.stamps import entries_below


def owned(name: str) -> bool:
    """Tell whether a name is of a former output."""
    return name.startswith(("a", "sub/", "empty"))


def tree(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_new_folder_holds_exactly_the_files(tmp_path):
    target = tmp_path / "deep" / "out"
    publish_folder(target, {"a.txt": b"1", "sub/b": b"2"}, ("empty",), owned)
    assert tree(target) == {"a.txt": b"1", "sub/b": b"2"}
    assert sorted(entries_below(str(target))) == ["a.txt", "empty/", "sub/b"]
    assert os.listdir(target.parent) == ["out"]
    assert (target.stat().st_mode & 0o777) == 0o755


def test_a_former_output_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "out"
    publish_folder(target, {"a.txt": b"1", "sub/old": b"2"}, ("empty",), owned)
    publish_folder(target, {"a.txt": b"3"}, (), owned)
    assert tree(target) == {"a.txt": b"3"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_foreign_file_is_refused_and_kept(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "notes").write_bytes(b"mine")
    with pytest.raises(BadInput) as caught:
        publish_folder(target, {"a": b""}, (), owned)
    assert str(caught.value) == (
        f'{target}: output folder holds the foreign file "notes"\n'
        "hint: choose another folder, or remove what is not a former output"
    )
    assert tree(target) == {"notes": b"mine"}


def test_a_file_in_the_way_is_refused(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(b"mine")
    with pytest.raises(BadInput) as caught:
        publish_folder(target, {"a": b""}, (), owned)
    assert str(caught.value) == f"{target}: output is not a folder"


def test_a_link_to_a_folder_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    publish_folder(tmp_path / "out", {"a": b"1"}, (), owned)
    assert (tmp_path / "out").is_symlink()
    assert tree(tmp_path / "real") == {"a": b"1"}


def test_a_name_that_leaves_the_folder_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r'path "../x" leaves its root'):
        publish_folder(tmp_path / "out", {"../x": b""}, (), owned)
    assert os.listdir(tmp_path) == []


def test_a_failure_leaves_the_former_output(tmp_path, monkeypatch):
    target = tmp_path / "out"
    publish_folder(target, {"a": b"1"}, (), owned)
    rename, calls = os.rename, []

    def failing(source, destination):
        calls.append(source)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        rename(source, destination)

    monkeypatch.setattr(folders.os, "rename", failing)
    with pytest.raises(BadInput) as caught:
        publish_folder(target, {"a": b"2"}, (), owned)
    assert str(caught.value) == f"{target}: cannot write: no space left on device"
    assert tree(target) == {"a": b"1"}
    assert os.listdir(tmp_path) == ["out"]
