"""A folder as a mapping of names to bytes."""

from __future__ import annotations

import pytest

from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.folders import FolderFiles


def test_files_are_read_by_their_relative_names(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x").write_bytes(b"1")
    (tmp_path / "a").write_bytes(b"2")
    (tmp_path / "empty").mkdir()
    files = FolderFiles(tmp_path, RealDisk())
    assert dict(files) == {"a": b"2", "b/x": b"1"}
    assert list(files) == ["a", "b/x"]
    assert len(files) == 2
    assert "b/x" in files
    assert "b" not in files


@pytest.mark.parametrize("name", ["none", "../a", "empty"])
def test_a_name_that_is_no_file_of_it_is_no_key(tmp_path, name):
    (tmp_path / "root" / "empty").mkdir(parents=True)
    (tmp_path / "a").write_bytes(b"2")
    with pytest.raises(KeyError):
        FolderFiles(tmp_path / "root", RealDisk())[name]


def test_a_link_that_leads_out_is_refused(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").write_bytes(b"2")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "secret")
    files = FolderFiles(tmp_path / "root", RealDisk())
    with pytest.raises(BadInput) as caught:
        files["link"]
    assert str(caught.value) == f'{tmp_path}/root: path "link" leaves its root through a symlink'
