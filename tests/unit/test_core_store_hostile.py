"""Whatever lies in a store, reading it is bounded and leads to no file outside of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netra_build.build.cache.contents import MAX_ENTRY_BYTES, blob_name, entry_name
from netra_build.build.cache.store import Store, open_store
from netra_build.core.digests import blake3_hex

ACTION = "c" * 64
SECRET = b"not for the store"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


def plant(store: Store, name: str, data: bytes) -> Path:
    path = store.files.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def plant_entry(store: Store, document: object, *, text: str = "", inner: bytes = b"") -> Path:
    """Write an entry with a right head line, whatever its body says."""
    body = (text or json.dumps(document)).encode() + b"\n"
    return plant(store, entry_name(ACTION), blake3_hex(body).encode() + b"\n" + body + inner)


ROW = {"blake3": blake3_hex(SECRET), "size_bytes": len(SECRET), "is_inner": False}
INNER = {**ROW, "is_inner": True}


def entry(**changes: object) -> dict:
    good = {"format": "netra-store-entry-2", "action": ACTION, "outputs": {"made": ROW}}
    return {**good, **changes}


def test_a_planted_entry_that_is_right_is_read(store: Store) -> None:
    """The other tests here change one thing of this one."""
    plant_entry(store, entry())
    plant(store, blob_name(blake3_hex(SECRET)), SECRET)
    assert store.outputs(ACTION, ["made"]) == {"made": SECRET}


def test_a_planted_entry_that_holds_its_output_is_read(store: Store) -> None:
    """The tests of inner outputs change one thing of this one."""
    plant_entry(store, entry(outputs={"made": INNER}), inner=SECRET)
    assert store.outputs(ACTION, ["made"]) == {"made": SECRET}


@pytest.mark.parametrize(
    ("row", "inner"),
    [
        (INNER, b""),
        (INNER, SECRET[:-1]),
        (INNER, SECRET[:-1] + b"!"),
        (INNER, SECRET + b"x"),
        (ROW, SECRET),
        ({**INNER, "size_bytes": len(SECRET) - 1}, SECRET),
        ({**INNER, "size_bytes": len(SECRET) + 1}, SECRET),
        ({**INNER, "blake3": "0" * 64}, SECRET),
        ({**INNER, "is_inner": 1}, SECRET),
        ({**INNER, "is_inner": None}, SECRET),
    ],
)
def test_an_entry_of_other_inner_bytes_is_a_miss_and_removed(
    store: Store, row: dict, inner: bytes
) -> None:
    path = plant_entry(store, entry(outputs={"made": row}), inner=inner)
    plant(store, blob_name(blake3_hex(SECRET)), SECRET)
    assert store.outputs(ACTION, ["made"]) is None
    assert not path.exists()


BAD_ENTRIES = {
    "other action": entry(action="d" * 64),
    "other format": entry(format="netra-store-entry-1"),
    "no outputs": entry(outputs=None),
    "list": entry(outputs=["made"]),
    "path": entry(outputs={"made": {**ROW, "blake3": "../../../secret"}}),
    "path of right length": entry(outputs={"made": {**ROW, "blake3": ("../" * 22)[:64]}}),
    "newline": entry(outputs={"made": {**ROW, "blake3": blake3_hex(SECRET) + "\n"}}),
    "upper case": entry(outputs={"made": {**ROW, "blake3": blake3_hex(SECRET).upper()}}),
    "number": entry(outputs={"made": {**ROW, "blake3": 7}}),
    "negative size": entry(outputs={"made": {**ROW, "size_bytes": -1}}),
    "huge size": entry(outputs={"made": {**ROW, "size_bytes": 2**60}}),
    "no size": entry(outputs={"made": {"blake3": blake3_hex(SECRET), "is_inner": False}}),
    "neither in nor out": entry(
        outputs={"made": {"blake3": blake3_hex(SECRET), "size_bytes": len(SECRET)}}
    ),
    "not an object": [entry()],
}


@pytest.mark.parametrize("name", BAD_ENTRIES)
def test_an_entry_that_is_not_ours_is_a_miss_and_removed(store: Store, name: str) -> None:
    path = plant_entry(store, BAD_ENTRIES[name])
    plant(store, "../secret", SECRET)
    plant(store, blob_name(blake3_hex(SECRET)), SECRET)
    assert store.outputs(ACTION, ["made"]) is None
    assert not path.exists()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000 + "]" * 5000,
        '{"format": NaN}',
        '{"a": 1, "a": 2}',
        '{"a": ' + "9" * 5000 + "}",
        "\ufeff{}",
    ],
)
def test_json_that_could_hurt_is_a_miss(store: Store, text: str) -> None:
    path = plant_entry(store, None, text=text)
    assert store.outputs(ACTION, ["made"]) is None
    assert not path.exists()


def test_a_huge_entry_is_not_read(store: Store) -> None:
    path = plant(store, entry_name(ACTION), b"")
    with path.open("wb") as stream:
        stream.truncate(2**40)
    assert path.stat().st_size > MAX_ENTRY_BYTES
    assert store.outputs(ACTION, ["made"]) is None
    assert not path.exists()


def test_a_huge_blob_is_not_read(store: Store) -> None:
    digest = blake3_hex(SECRET)
    path = plant(store, blob_name(digest), b"")
    with path.open("wb") as stream:
        stream.truncate(2**40)
    assert store.get_blob(digest) is None
    assert not path.exists()


@pytest.mark.parametrize("folder", ["blobs", "blobs/XX"])
def test_folders_that_are_links_are_not_followed(store: Store, tmp_path: Path, folder: str) -> None:
    """A blob of the right bytes lies behind the link; it is neither read nor touched."""
    digest = blake3_hex(SECRET)
    name = blob_name(digest)
    outside = tmp_path / "outside"
    behind = outside / (name.removeprefix("blobs/") if folder == "blobs" else digest)
    behind.parent.mkdir(parents=True, exist_ok=True)
    behind.write_bytes(SECRET)
    link = store.files.root / folder.replace("XX", digest[:2])
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    assert store.get_blob(digest) is None
    store.put_blob(SECRET)
    assert not link.is_symlink()
    assert open_store(store.files.root).get_blob(digest) == SECRET
    store.ledger.evict(0)
    assert behind.read_bytes() == SECRET


def test_records_behind_a_link_are_not_listed(store: Store, tmp_path: Path) -> None:
    store.put_record("trace", "key", 1)
    (store.files.root / "records").rename(tmp_path / "outside")
    (store.files.root / "records").symlink_to(tmp_path / "outside")
    assert list(open_store(store.files.root).get_records("trace", "key")) == []
