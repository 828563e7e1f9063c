"""The store keeps its bound, never throws out what was just used, and never fails a build."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from netra_build.build.cache.contents import blob_name
from netra_build.build.cache.files import FOLDER_MODE, FoundFile, StoreFiles
from netra_build.build.cache.store import Store, open_store
from netra_build.core.errors import BadInput

BLOCK = 4096
BOUND = 100 * BLOCK
HOUR_NS = 3600 * 10**9


def action(number: int) -> str:
    return f"{number:064x}"


def content(number: int, blocks: int = 1) -> bytes:
    """Return bytes that take so many blocks and are no other number's."""
    return number.to_bytes(8, "big") * (blocks * BLOCK // 8)


def used(root: Path) -> int:
    """Return what the files of a store take, counted on the disk in whole blocks."""
    folders = [root / name for name in ("blobs", "actions", "records")]
    sizes = [p.stat().st_size for f in folders for p in f.rglob("*") if p.is_file()]
    return sum(max(1, -(-size // BLOCK)) * BLOCK for size in sizes)


def age(root: Path, hours: int) -> None:
    """Make every use so far look so much older than it is."""
    for path in root.rglob("*"):
        if path.is_file():
            before = path.stat().st_mtime_ns
            os.utime(path, ns=(before, before - hours * HOUR_NS))


def test_the_bound_is_kept_and_the_newest_stays(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store", BOUND)
    for number in range(120):
        store.put_outputs(action(number), {"made": content(number)})
        assert used(tmp_path / "store") <= BOUND
        assert store.outputs(action(number), ["made"]) == {"made": content(number)}
    assert used(tmp_path / "store") > BOUND // 2
    assert store.outputs(action(0), ["made"]) is None


def test_what_was_just_used_is_never_thrown_out(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store", BOUND)
    for number in range(40):
        store.put_outputs(action(number), {"made": content(number)})
    age(tmp_path / "store", 5)
    for number in range(40, 110):
        assert store.outputs(action(7), ["made"]) == {"made": content(7)}
        store.put_outputs(action(number), {"made": content(number)})
    assert store.outputs(action(8), ["made"]) is None
    assert store.outputs(action(7), ["made"]) == {"made": content(7)}


def test_a_use_leaves_the_bytes_alone(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    store.put_outputs(action(1), {"made": b"bytes"})
    paths = [p for p in (tmp_path / "store").rglob("*") if p.is_file() and p.parent.name != "store"]
    age(tmp_path / "store", 2)
    before = {path: path.stat() for path in paths}
    assert store.outputs(action(1), ["made"]) == {"made": b"bytes"}
    for path in paths:
        assert path.stat().st_ino == before[path].st_ino
        assert path.stat().st_mtime_ns > before[path].st_mtime_ns + HOUR_NS


def test_records_and_bare_blobs_count_and_go_like_outputs(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store", BOUND)
    store.put_record("trace", "key", "old")
    age(tmp_path / "store", 5)
    for number in range(110):
        store.put_blob(content(number))
        assert used(tmp_path / "store") <= BOUND
    assert tuple(store.get_records("trace", "key")) == ()


def test_what_takes_more_than_half_of_the_bound_is_not_kept(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store", BOUND)
    store.put_outputs(action(1), {"made": content(1)})
    store.put_outputs(action(2), {"made": content(2, blocks=51)})
    assert store.outputs(action(2), ["made"]) is None
    assert store.outputs(action(1), ["made"]) == {"made": content(1)}
    assert store.trouble == ""


def test_a_use_in_the_future_does_not_last_for_ever(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store", BOUND)
    store.put_outputs(action(0), {"made": content(0)})
    age(tmp_path / "store", -48)
    for number in range(1, 80):
        store.put_outputs(action(number), {"made": content(number)})
    assert store.outputs(action(0), ["made"]) is None


@pytest.mark.parametrize("text", [b"", b"x\n", b"-999999999\n", b"\xff\x00"])
def test_a_damaged_ledger_is_counted_anew_or_soon_corrected(tmp_path: Path, text: bytes) -> None:
    store = open_store(tmp_path / "store", BOUND)
    for number in range(30):
        store.put_outputs(action(number), {"made": content(number)})
    (tmp_path / "store" / "ledger").write_bytes(text)
    store.ledger.evict(BOUND)
    again = open_store(tmp_path / "store", BOUND)
    for number in range(30, 90):
        again.put_outputs(action(number), {"made": content(number)})
        assert used(tmp_path / "store") <= BOUND
    assert again.outputs(action(89), ["made"]) == {"made": content(89)}


def test_two_processes_share_one_bound(tmp_path: Path) -> None:
    one, other = (open_store(tmp_path / "store", BOUND) for _ in range(2))
    for number in range(50):
        one.put_outputs(action(2 * number), {"made": content(2 * number)})
        other.put_outputs(action(2 * number + 1), {"made": content(2 * number + 1)})
        assert used(tmp_path / "store") <= BOUND


def test_what_a_killed_writer_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store", BOUND)
    store.put_blob(b"x")
    old, young = (tmp_path / "store" / "parts" / name for name in ("old", "young"))
    old.write_bytes(b"half")
    age(tmp_path / "store", 2)
    young.write_bytes(b"half")
    store.ledger.evict(BOUND)
    assert not old.exists()
    assert young.exists()


def link_away(path: Path) -> None:
    path.symlink_to("/etc/hostname")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("name", ["ledger", "lock"])
@pytest.mark.parametrize("replace", [link_away, make_pipe, Path.mkdir])
def test_a_ledger_or_lock_that_is_no_file_is_replaced(
    tmp_path: Path, name: str, replace: Callable[[Path], None]
) -> None:
    store = open_store(tmp_path / "store", BOUND)
    store.ledger.evict(BOUND)
    (tmp_path / "store" / name).unlink()
    replace(tmp_path / "store" / name)
    for number in range(55):
        store.put_outputs(action(number), {"made": content(number)})
        assert used(tmp_path / "store") <= BOUND
    assert store.trouble == ""
    assert store.outputs(action(54), ["made"]) == {"made": content(54)}


class FullFiles(StoreFiles):
    """A disk that is full after so many writes."""

    def __init__(self, root: Path, writes: int, error: int = errno.ENOSPC) -> None:
        super().__init__(root)
        self.writes = writes
        self.error = error

    def write(self, name: str, data: bytes) -> None:
        if self.writes <= 0:
            raise OSError(self.error, os.strerror(self.error))
        self.writes -= 1
        super().write(name, data)


@pytest.mark.parametrize("writes", [0, 1, 2, 3, 4])
def test_a_full_disk_is_said_once_and_loses_nothing(tmp_path: Path, writes: int) -> None:
    """The ledger, the blob of 1, its entry, the blob of 2: the disk is full at each of them."""
    store = Store(FullFiles(tmp_path / "store", writes))
    store.files.prepare(create=True)
    for number in (1, 2):
        store.put_outputs(action(number), {"made": content(number, 17)})
    store.put_record("trace", "key", {})
    assert store.put_blob(b"") == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    assert store.trouble == f"store {tmp_path}/store takes nothing more: no space left on device"
    stored = 1 if writes >= 3 else 0
    for number in (1, 2):
        assert store.has_outputs(action(number)) is (number <= stored)
        expected = {"made": content(number, 17)} if number <= stored else None
        assert store.outputs(action(number), ["made"]) == expected


class ReadOnlyFiles(FullFiles):
    """A file system that takes no change at all."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, 0, errno.EROFS)

    def remove(self, name: str) -> None:
        raise OSError(self.error, os.strerror(self.error))

    def make_folder(self, folder: str) -> None:
        raise OSError(self.error, os.strerror(self.error))

    def touch(self, name: str) -> None:
        return None


def test_a_read_only_store_still_gives(tmp_path: Path) -> None:
    made = {"made": content(1, 17), "log": b"x"}
    open_store(tmp_path / "store").put_outputs(action(1), made)
    store = Store(ReadOnlyFiles(tmp_path / "store"))
    assert store.outputs(action(1), made) == made
    assert store.trouble == ""
    store.put_outputs(action(2), {"made": b"y"})
    assert store.trouble == f"store {tmp_path}/store takes nothing more: read-only file system"
    next((tmp_path / "store" / "blobs").rglob("*/*")).write_bytes(b"damaged")
    assert store.outputs(action(1), made) is None


def fact(root: Path) -> str:
    with pytest.raises(BadInput) as caught:
        open_store(root)
    return str(caught.value)


REMEDY = "hint: name another folder with store=DIR, or none with store=0"


def test_a_root_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    assert fact(link) == f"{link}: store is a symlink\n{REMEDY}"
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "nowhere")
    assert fact(dangling) == f"{dangling}: store is a symlink\n{REMEDY}"


def test_a_root_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert fact(tmp_path / "file") == f"{tmp_path}/file: store is not a folder\n{REMEDY}"
    below = tmp_path / "file" / "below"
    assert fact(below) == f"{below}: store cannot be used: file exists\n{REMEDY}"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702])
def test_a_root_that_others_may_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    root = tmp_path / "store"
    root.mkdir()
    root.chmod(mode)
    assert fact(root) == f"{root}: store can be written by other users\nhint: chmod go-w {root}"


def test_a_root_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "store"
    root.mkdir(mode=FOLDER_MODE)
    somebody_else = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody_else)
    assert fact(root) == f"{root}: store belongs to another user\n{REMEDY}"


def test_a_new_root_is_nobody_else_s(tmp_path: Path) -> None:
    open_store(tmp_path / "new" / "store").put_blob(b"x")
    for path in [tmp_path / "new" / "store", *(tmp_path / "new" / "store").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


class BusyFiles(StoreFiles):
    """A store in which somebody uses a file right after an eviction has listed it."""

    used = ""

    def scan(self, folder: str) -> Iterator[FoundFile]:
        yield from super().scan(folder)
        if self.used and folder == "records":  # the last one that is listed
            self.touch(self.used)


def test_what_is_used_while_room_is_made_stays(tmp_path: Path) -> None:
    files = BusyFiles(tmp_path / "store")
    files.prepare(create=True)
    store = Store(files, BOUND)
    digests = [store.put_blob(content(number)) for number in range(3)]
    age(tmp_path / "store", 5)
    files.used = blob_name(digests[0])
    assert store.ledger.evict(0) == (2, 2 * BLOCK)
    assert store.get_blob(digests[0]) == content(0)
    assert store.get_blob(digests[1]) is None
