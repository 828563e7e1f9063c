"""The store gives back exactly what was put in, or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from netra_build.build.cache.store import MOST_RECORDS, Store, open_store

ACTION = "a" * 64
OTHER = "b" * 64
EMPTY_BLAKE3 = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
OUTPUTS = {"object": b"\x7fELF one", "log": b""}
LARGE = b"\x7fELF" * 20_000
"""Lies in a blob of its own; small outputs lie in the entry."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


def again(store: Store) -> Store:
    """Return the same store as another process opens it."""
    return open_store(store.files.root)


def files_of(store: Store, folder: str) -> list[Path]:
    return sorted(path for path in (store.files.root / folder).rglob("*") if path.is_file())


def test_outputs_come_back_by_role(store: Store) -> None:
    store.put_outputs(ACTION, OUTPUTS)
    other = again(store)
    assert other.outputs(ACTION, ["log", "object"]) == OUTPUTS
    assert other.outputs(OTHER, ["log", "object"]) is None
    assert other.has_outputs(ACTION)
    assert not other.has_outputs(OTHER)


def test_small_outputs_take_no_file_of_their_own(store: Store) -> None:
    edge = {"b": b"x" * 65_536, "a": LARGE, "c": b"y" * 65_537, "d": b"", "e": b"\n"}
    store.put_outputs(ACTION, edge)
    assert len(files_of(store, "actions")) == 1
    assert sorted(path.read_bytes() for path in files_of(store, "blobs")) == [b"y" * 65_537, LARGE]
    assert again(store).outputs(ACTION, edge) == edge


def test_many_small_outputs_lie_in_the_entry_as_far_as_it_holds_them(store: Store) -> None:
    many = {f"{number:02}": bytes([number]) * 60_000 for number in range(20)}
    store.put_outputs(ACTION, many)
    assert len(files_of(store, "blobs")) == 3
    assert files_of(store, "actions")[0].stat().st_size < 2 * 1024 * 1024
    assert again(store).outputs(ACTION, many) == many


def test_an_action_of_too_many_outputs_is_not_kept(store: Store) -> None:
    store.put_outputs(ACTION, {f"{number:090}": b"" for number in range(8000)})
    assert store.trouble == ""
    assert files_of(store, "actions") == []


def test_outputs_come_back_in_the_order_of_their_roles(store: Store) -> None:
    store.put_outputs(ACTION, {"b": b"2", "c": LARGE, "a": b"1"})
    assert store.has_outputs(ACTION)
    found = again(store).all_outputs(ACTION)
    assert found is not None
    assert list(found.items()) == [("a", b"1"), ("b", b"2"), ("c", LARGE)]
    assert store.all_outputs(OTHER) is None
    for other in (OTHER, "", "../" + ACTION):
        assert not store.has_outputs(other)


def test_an_entry_of_other_roles_is_a_miss(store: Store) -> None:
    store.put_outputs(ACTION, OUTPUTS)
    assert store.outputs(ACTION, ["object"]) is None
    assert store.outputs(ACTION, ["log", "object", "more"]) is None


def test_a_later_result_replaces_an_earlier_one(store: Store) -> None:
    store.put_outputs(ACTION, {"object": b"one"})
    store.put_outputs(ACTION, {"object": b"two"})
    assert again(store).outputs(ACTION, ["object"]) == {"object": b"two"}


def test_blobs_come_back_by_their_blake3(store: Store) -> None:
    assert store.put_blob(b"") == EMPTY_BLAKE3
    digest = store.put_blob(b"something")
    assert again(store).get_blob(digest) == b"something"
    assert again(store).get_blob(EMPTY_BLAKE3) == b""
    assert store.get_blob(OTHER) is None
    assert store.get_blob("../../etc/passwd") is None
    assert store.get_blob(digest.upper()) is None


def test_equal_bytes_are_kept_once(store: Store) -> None:
    store.put_outputs(ACTION, {"one": b"same", "two": b"same"})
    store.put_outputs(OTHER, {"three": b"same"})
    store.put_blob(b"same")
    assert len(files_of(store, "blobs")) == 1


def test_records_come_newest_first_and_only_so_many(store: Store) -> None:
    for number in range(MOST_RECORDS + 3):
        store.put_record("trace", "key", {"number": number})
    store.put_record("trace", "other key", {"number": -1})
    store.put_record("note", "key", {"number": -2})
    found = [record["number"] for record in again(store).get_records("trace", "key")]
    assert found == list(range(MOST_RECORDS + 2, 2, -1))
    assert tuple(store.get_records("trace", "other key")) == ({"number": -1},)
    assert tuple(store.get_records("trace", "no such key")) == ()
    assert len(files_of(store, "records/trace")) == MOST_RECORDS + 1


def test_a_record_that_is_put_again_is_the_newest(store: Store) -> None:
    for number in (1, 2, 1):
        store.put_record("trace", "key", number)
    assert tuple(store.get_records("trace", "key")) == (1, 2)


@pytest.mark.parametrize("kind", ["", "../x", "A", "a/b", "x" * 33])
def test_only_plain_kinds_of_records_are_taken(store: Store, kind: str) -> None:
    with pytest.raises(ValueError, match="not a kind of records"):
        store.put_record(kind, "key", {})


def test_only_digests_name_actions(store: Store) -> None:
    with pytest.raises(ValueError, match="not an action digest"):
        store.outputs("../" + ACTION, ["object"])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def replace_by_link(path: Path) -> None:
    original = path.with_name("original")
    path.rename(original)
    path.symlink_to(original)


def replace_by_folder(path: Path) -> None:
    path.unlink()
    (path / "inner").mkdir(parents=True)


def replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGES = [
    flip,
    truncate,
    empty,
    lengthen,
    replace_by_link,
    replace_by_folder,
    replace_by_pipe,
]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("folder", ["blobs", "actions"])
def test_damage_is_a_miss_and_the_next_writer_heals_it(
    store: Store, folder: str, damage: Callable[[Path], None]
) -> None:
    outputs = {"object": LARGE, "log": b"some bytes" * 50}
    store.put_outputs(ACTION, outputs)
    damaged = files_of(store, folder)[0]
    damage(damaged)
    reader = again(store)
    assert reader.outputs(ACTION, outputs) is None
    assert not os.path.lexists(damaged)
    reader.put_outputs(ACTION, outputs)
    assert reader.trouble == ""
    assert again(store).outputs(ACTION, outputs) == outputs


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_writer_replaces_damage_that_nobody_has_read(
    store: Store, damage: Callable[[Path], None]
) -> None:
    outputs = {"object": LARGE, "log": b"some bytes"}
    store.put_outputs(ACTION, outputs)
    for folder in ("blobs", "actions"):
        damage(files_of(store, folder)[0])
    again(store).put_outputs(ACTION, outputs)
    assert again(store).outputs(ACTION, outputs) == outputs


def test_a_record_under_a_foreign_name_is_left_out(store: Store) -> None:
    """The digest in a name vouches for the bytes, the bytes for the key that they belong to."""
    store.put_record("trace", "key", 1)
    store.put_record("trace", "other", 2)
    one, other = files_of(store, "records")
    foreign = one.with_name(f"{one.name.split('.')[0]}.{other.name.split('.')[1]}")
    foreign.write_bytes(other.read_bytes())
    assert sorted([*store.get_records("trace", "key"), *store.get_records("trace", "other")]) == [
        1,
        2,
    ]
    assert not foreign.exists()


@pytest.mark.parametrize("damage", [d for d in DAMAGES if d is not replace_by_folder])
def test_a_damaged_record_is_left_out_and_removed(
    store: Store, damage: Callable[[Path], None]
) -> None:
    store.put_record("trace", "key", {"is": "old"})
    old = files_of(store, "records")[0]
    store.put_record("trace", "key", {"is": "new"})
    damage(old)
    assert tuple(store.get_records("trace", "key")) == ({"is": "new"},)
    assert not os.path.lexists(old)


def test_a_missing_blob_is_a_miss(store: Store) -> None:
    store.put_outputs(ACTION, {"object": LARGE})
    files_of(store, "blobs")[0].unlink()
    assert store.outputs(ACTION, ["object"]) is None
    assert store.has_outputs(ACTION)


def test_a_store_that_is_removed_in_use_is_made_again(store: Store) -> None:
    store.put_outputs(ACTION, OUTPUTS)
    for path in sorted(store.files.root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert store.outputs(ACTION, OUTPUTS) is None
    store.put_outputs(ACTION, OUTPUTS)
    assert store.trouble == ""
    assert again(store).outputs(ACTION, OUTPUTS) == OUTPUTS
