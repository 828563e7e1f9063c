"""Files: bounded reads, whole writes, names that cannot leave their root."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from netra_build.core.disk import (
    RealDisk,
    confined_path,
    relative_name,
    sealed_folder,
)
from netra_build.core.errors import BadInput
from netra_build.core.folders import ConfinedRoot

DISK = RealDisk()


def message(action, *arguments, **options) -> str:
    with pytest.raises(BadInput) as caught:
        action(*arguments, **options)
    return str(caught.value)


def test_a_file_is_read_up_to_the_limit(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert DISK.read_bytes(path, max_bytes=5) == b"12345"
    assert message(DISK.read_bytes, path, max_bytes=4) == (
        f"{path}: file is too large; expected at most 4 bytes, got more"
    )


def test_a_missing_file_is_named(tmp_path):
    path = tmp_path / "a"
    assert message(DISK.read_bytes, path) == f"{path}: file is missing"


def test_only_regular_files_are_read(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (tmp_path, fifo, Path("/dev/zero"), Path("/dev/null")):
        assert message(DISK.read_bytes, path) == f"{path}: not a regular file"


def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        assert message(DISK.read_bytes, Path("s")) == "s: no such device or address"


def test_links_that_lead_nowhere_are_refused(tmp_path):
    loop, dangling = tmp_path / "loop", tmp_path / "dangling"
    loop.symlink_to(loop)
    dangling.symlink_to(tmp_path / "gone")
    assert message(DISK.read_bytes, loop) == f"{loop}: too many levels of symbolic links"
    assert message(DISK.read_bytes, dangling) == f"{dangling}: file is missing"
    assert not DISK.is_file(loop)
    assert not DISK.is_folder(dangling)


def test_a_path_with_a_null_byte_is_refused(tmp_path):
    path, shown = tmp_path / "a\0b", rf"{tmp_path}/a\x00b"
    assert message(DISK.read_bytes, path) == f"{shown}: path cannot be used"
    assert message(DISK.write_bytes, path, b"") == f"{shown}: cannot write: path cannot be used"
    assert message(DISK.remove, path) == f"{shown}: cannot remove: path cannot be used"
    assert not DISK.is_file(path)
    assert not DISK.is_folder(path)


def test_reading_leaves_no_handle_open(tmp_path):
    def open_handles() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = open_handles()
    for _ in range(3):
        message(DISK.read_bytes, tmp_path)
    assert open_handles() == before


def test_a_write_makes_folders_and_replaces_the_whole_file(tmp_path):
    path = tmp_path / "x/y/a"
    DISK.write_bytes(path, b"long content")
    DISK.write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["a"]


def test_a_written_file_is_readable_by_all_under_any_umask(tmp_path):
    former = os.umask(0o077)
    try:
        DISK.write_bytes(tmp_path / "a", b"")
    finally:
        os.umask(former)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


def test_a_write_does_not_follow_a_link_at_its_target(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"kept")
    (tmp_path / "a").symlink_to(outside)
    (tmp_path / ".a.part").symlink_to(outside)
    DISK.write_bytes(tmp_path / "a", b"new")
    assert outside.read_bytes() == b"kept"
    assert not (tmp_path / "a").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["a", "outside"]


@pytest.mark.parametrize("call", ["fchmod", "replace"])
def test_a_failed_write_leaves_the_former_file_and_nothing_else(tmp_path, monkeypatch, call):
    path = tmp_path / "a"
    path.write_bytes(b"former")

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    assert message(DISK.write_bytes, path, b"new") == (
        f"{path}: cannot write: no space left on device"
    )
    assert path.read_bytes() == b"former"
    assert os.listdir(tmp_path) == ["a"]


def test_an_interrupted_write_leaves_the_former_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"former")

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        DISK.write_bytes(path, b"new")
    assert path.read_bytes() == b"former"
    assert os.listdir(tmp_path) == ["a"]


def test_what_a_killed_write_left_is_taken_away(tmp_path):
    (tmp_path / ".a.part").write_bytes(b"half of a very long conte")
    DISK.write_bytes(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == ["a"]


def test_a_target_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder/inner").mkdir(parents=True)
    below = tmp_path / "file/a"
    assert message(DISK.write_bytes, below, b"") == f"{below}: cannot write: file exists"
    folder = tmp_path / "folder"
    assert message(DISK.write_bytes, folder, b"") == f"{folder}: cannot write: is a directory"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_remove_forgives_what_is_gone_and_names_what_it_cannot(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    DISK.remove(tmp_path / "a")
    DISK.remove(tmp_path / "a")
    assert os.listdir(tmp_path) == []
    assert message(DISK.remove, tmp_path) == f"{tmp_path}: cannot remove: is a directory"


def test_files_are_listed_in_path_order_without_entering_links(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.s").write_bytes(b"")
    top = tmp_path / "top"
    for name in ("b/z.s", "b.s", "a/1.s", "a/1.inc"):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    (top / "loop").symlink_to(top)
    (top / "out").symlink_to(outside)
    (top / "gone.s").symlink_to(tmp_path / "gone")
    (top / "out.s").symlink_to(outside)
    os.mkfifo(top / "fifo.s")
    wanted = ("a/1.s", "b/z.s", "b.s", "fifo.s", "gone.s", "out.s")
    assert DISK.files_under(top, ".s") == tuple(top / name for name in wanted)
    assert DISK.files_under(top) == (
        top / "a/1.inc",
        top / "a/1.s",
        top / "b/z.s",
        top / "b.s",
    )
    assert DISK.files_under(tmp_path / "none") == ()


def test_a_sealed_folder_is_empty_private_and_gone_afterwards():
    with sealed_folder() as folder:
        assert os.listdir(folder) == []
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "x").mkdir()
        (folder / "x/a").write_bytes(b"")
    assert not folder.exists()


def test_a_sealed_folder_is_gone_after_an_error():
    def fail_inside() -> None:
        with sealed_folder() as folder:
            seen.append(folder)
            raise KeyError

    seen: list[Path] = []
    with pytest.raises(KeyError):
        fail_inside()
    assert not seen[0].exists()


@pytest.mark.parametrize(
    ("name", "clean"),
    [("a/b.s", "a/b.s"), ("./a//b/./c", "a/b/c"), ("a b/ü", "a b/ü"), ("a/", "a"), ("..a", "..a")],
)
def test_a_relative_name_is_made_plain(name, clean):
    assert relative_name(name, "m.json#/x") == clean


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("", 'path "" names no file'),
        ("./", 'path "./" names no file'),
        ("/a", 'path "/a" is absolute\nhint: write it relative to the library root'),
        ("//a", 'path "//a" is absolute\nhint: write it relative to the library root'),
        ("../a", 'path "../a" leaves its root\nhint: remove the ".." segment'),
        ("a/../b", 'path "a/../b" leaves its root\nhint: remove the ".." segment'),
        ("a\\b", 'path "a\\\\b" holds a character that is not allowed'),
        ("a\0b", 'path "a\\x00b" holds a character that is not allowed'),
        ("a\nb", 'path "a\\nb" holds a character that is not allowed'),
        ("a\x7f", 'path "a\\x7f" holds a character that is not allowed'),
        ("a\u202eb", 'path "a\\u202eb" holds a character that is not allowed'),
    ],
)
def test_a_name_that_leaves_its_root_is_refused(name, text):
    assert message(relative_name, name, "m.json#/x") == f"m.json#/x: {text}"


def confined_once(root, name, location):
    """Return a path as a reader of many files gets it, who has been in the folder before."""
    confined = ConfinedRoot(root)
    confined.path("a/x", location)
    confined.path("not/there", location)
    return Path(confined.path(name, location))


BOTH = pytest.mark.parametrize("confined_path", [confined_path, confined_once])


@BOTH
def test_a_confined_path_stays_below_its_root(tmp_path, confined_path):
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "inner").symlink_to(root / "a")
    assert confined_path(root, "a/./b", "m") == root / "a/b"
    assert confined_path(root, "inner/b", "m") == root / "inner/b"
    assert confined_path(root, "not/there", "m") == root / "not/there"


@pytest.mark.parametrize("target", ["..", "../root2", "/etc"])
@BOTH
def test_a_link_that_leads_out_is_refused(tmp_path, target, confined_path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "root2").mkdir()
    (root / "link").symlink_to(target)
    assert message(confined_path, root, "link/a", "m.json#/x") == (
        'm.json#/x: path "link/a" leaves its root through a symlink'
    )


@BOTH
def test_a_root_that_is_a_link_itself_is_followed(tmp_path, confined_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")
    assert confined_path(tmp_path / "root", "a", "m") == tmp_path / "root/a"


def test_a_file_that_tells_no_size_is_read_to_its_end():
    assert b"\nPid:\t" in DISK.read_bytes(Path("/proc/self/status"))
    assert message(DISK.read_bytes, Path("/proc/self/status"), max_bytes=5) == (
        "/proc/self/status: file is too large; expected at most 5 bytes, got more"
    )


def test_a_large_file_is_written_whole_when_the_system_takes_a_part_at_a_time(
    tmp_path, monkeypatch
):
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:3]))
    DISK.write_bytes(tmp_path / "a", b"12345678")
    assert (tmp_path / "a").read_bytes() == b"12345678"


def test_a_link_below_plain_folders_and_the_file_itself_are_looked_at(tmp_path):
    root = tmp_path / "root"
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/out").symlink_to(tmp_path)
    (root / "a/file").symlink_to("/etc/passwd")
    (root / "a/near").symlink_to(root / "a/b")
    confined = ConfinedRoot(root)
    assert confined.path("a/b/c", "m") == f"{root}/a/b/c"
    assert confined.path("a/near/c/d", "m") == f"{root}/a/near/c/d"
    for name in ("a/b/out/x", "a/b/out/x/y", "a/file", "a/near/out/x"):
        assert message(confined.path, name, "m") == (
            f'm: path "{name}" leaves its root through a symlink'
        )
    deep = "a/" * 2000 + "x"
    assert confined.path(deep, "m") == f"{root}/{deep}"


def test_the_path_of_a_root_is_written_as_paths_are():
    assert ConfinedRoot(Path(".")).path("a/./b", "m") == "a/b"
    assert ConfinedRoot(Path("/")).path("a/b", "m") == "/a/b"


def test_an_output_of_the_same_bytes_stays_as_it_is(tmp_path):
    path = tmp_path / "output"
    DISK.write_output(path, b"made")
    before = path.stat()
    DISK.write_output(path, b"made")
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    for other in (b"mad3", b"made more", b""):
        DISK.write_output(path, other)
        assert path.read_bytes() == other
    assert [entry.name for entry in tmp_path.iterdir()] == ["output"]


def test_an_output_with_other_permissions_is_written_again(tmp_path):
    path = tmp_path / "output"
    DISK.write_output(path, b"made")
    path.chmod(0o600)
    DISK.write_output(path, b"made")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_link_in_the_place_of_an_output_is_replaced(tmp_path):
    path, other = tmp_path / "output", tmp_path / "other"
    other.write_bytes(b"made")
    path.symlink_to(other)
    DISK.write_output(path, b"made")
    assert not path.is_symlink()
    DISK.write_output(path, b"again")
    assert other.read_bytes() == b"made"


@pytest.mark.parametrize("call", ["write", "fchmod", "open"])
def test_an_output_that_cannot_be_written_leaves_the_former_one(tmp_path, monkeypatch, call):
    path = tmp_path / "output"
    DISK.write_output(path, b"former")
    real = getattr(os, call)

    def fail(*arguments, **options):
        if call == "open" and not arguments[1] & os.O_CREAT:
            return real(*arguments, **options)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        text = message(DISK.write_output, path, b"latter")
    assert text == f"{path}: cannot write: no space left on device"
    assert path.read_bytes() == b"former"
    assert [entry.name for entry in tmp_path.iterdir()] == ["output"]
