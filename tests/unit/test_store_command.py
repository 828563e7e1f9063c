"""``netra store``: what it says, what it removes, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from blake3 import blake3

from netra_build.build.cache.contents import blob_name
from netra_build.build.cache.store import Store, open_store
from netra_build.cli.main import main

ACTION = "a" * 64


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return the store of a user who has kept one output and one record."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NETRA_STORE_BYTES", raising=False)
    made = open_store(tmp_path / "netra")
    made.put_outputs(ACTION, {"made": b"x" * 70_000})
    made.put_record("trace", "key", {})
    return made


def blob_of(store: Store) -> Path:
    return next(path for path in (store.files.root / "blobs").rglob("*") if path.is_file())


def test_stat_in_words(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "stat"]) == 0
    assert capsys.readouterr().out == (
        "what                files  bytes\n"
        "outputs of actions  1      4096\n"
        "contents            1      73728\n"
        "records             1      4096\n"
        "being written       0      0\n"
        f"{store.files.root}: 81920 of 2147483648 bytes in use\n"
    )


def test_stat_in_json(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "stat", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "root": str(store.files.root),
        "max_bytes": 2147483648,
        "used_bytes": 81920,
        "folders": {
            "actions": {"files": 1, "occupied_bytes": 4096},
            "blobs": {"files": 1, "occupied_bytes": 73728},
            "records": {"files": 1, "occupied_bytes": 4096},
            "parts": {"files": 0, "occupied_bytes": 0},
        },
    }


def test_a_store_that_is_not_there_is_empty_and_stays_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "none"
    assert main(["store", "stat", "--store", str(root)]) == 0
    assert main(["store", "verify", "--store", str(root)]) == 0
    assert capsys.readouterr().out.endswith(f"{root}: 0 files verified\n")
    assert main(["store", "gc", "--store", str(root)]) == 2
    assert capsys.readouterr().err == f"netra: {root}: there is no store\n"
    assert not root.exists()


def test_verify_finds_nothing_wrong(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "verify"]) == 0
    assert capsys.readouterr().out == f"{store.files.root}: 3 files verified\n"


def damage_everything(store: Store) -> dict[str, str]:
    """Damage each kind of file; return what is to be said of each, by name."""
    root = store.files.root
    said = {}
    for folder, reason in (
        ("actions", "is a damaged entry"),
        ("blobs", "holds other bytes than its name says"),
        ("records", "is a damaged record"),
    ):
        path = next(path for path in (root / folder).rglob("*") if path.is_file())
        path.write_bytes(path.read_bytes()[:-1])
        said[path.relative_to(root).as_posix()] = reason
    (root / "blobs" / "note.txt").write_text("x")
    said["blobs/note.txt"] = "is no file of the store"
    (root / "stray").write_text("x")
    said["stray"] = "is no file of the store"
    (root / "blobs" / "link").symlink_to("/etc/passwd")
    said["blobs/link"] = "is no regular file of this user"
    misplaced = root / "blobs" / "00" / ("f" * 64)
    misplaced.parent.mkdir(exist_ok=True)
    misplaced.write_bytes(b"")
    said["blobs/00/" + "f" * 64] = "is no file of the store"
    return said


def test_verify_lists_damage_and_removes_it_when_asked(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    said, root = damage_everything(store), store.files.root
    assert main(["store", "verify"]) == 5
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"netra: {root}: files that do not verify: 7 of 7"
    assert lines[-1] == (
        "hint: netra store verify --repair removes them, and builds make them again"
    )
    assert dict(line.split(" ", 1) for line in lines[1:-1]) == said
    assert main(["store", "verify", "--json"]) == 5
    document = json.loads(capsys.readouterr().out)
    assert (document["checked"], document["removed"]) == (7, 0)
    assert {row["name"]: row["reason"] for row in document["damaged"]} == said
    assert main(["store", "verify", "--repair"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{root}: files removed: 7"
    assert main(["store", "verify"]) == 0
    assert open_store(root).outputs(ACTION, ["made"]) is None


OTHER = "b" * 64
FORMERLY = {"format": "netra-store-entry-1", "action": OTHER, "outputs": {}}
LATER = {"format": "netra-store-entry-3", "action": ACTION[:-1] + "b", "made_of": 7}
"""What another version may keep: only the digest line and the first line are of one form."""


def plant_entry(store: Store, document: dict[str, object], more: bytes = b"") -> Path:
    """Write an entry's file as any version begins it."""
    line = json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    action = str(document["action"])
    path = store.files.root / "actions" / action[:2] / action
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(blake3(line).hexdigest().encode() + b"\n" + line + more)
    return path


def plant_record(store: Store, text: bytes) -> Path:
    """Write a record's file under a name that ends with the digest of its bytes."""
    path = store.files.root / "records" / "own" / "ab" / f"{'ab' * 32}.{blake3(text).hexdigest()}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    return path


def plant_other_versions(store: Store) -> list[Path]:
    """Keep two entries, a record and a trace of other versions; return their files."""
    entries = [plant_entry(store, FORMERLY), plant_entry(store, LATER, b"whatever")]
    record = plant_record(store, b'{"format":"netra-store-record-2"}\n')
    before = {path for path in (store.files.root / "records").rglob("*") if path.is_file()}
    store.put_record("request", "key", {"format": "netra-trace-3", "code": "c"})
    after = {path for path in (store.files.root / "records").rglob("*") if path.is_file()}
    return [*entries, record, *(after - before)]


def test_what_another_version_keeps_is_no_damage(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    others, root = plant_other_versions(store), store.files.root
    assert len(others) == 4
    for words in ([], ["--repair"]):
        assert main(["store", "verify", *words]) == 0
        assert capsys.readouterr().out == f"{root}: 3 files verified, of another version: 4\n"
    assert all(path.exists() for path in others)
    assert main(["store", "verify", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == {"checked": 7, "damaged": [], "of_another_version": 4, "removed": 0}


def test_damage_beside_other_versions_is_damage(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    others, root = plant_other_versions(store), store.files.root
    stray = root / "stray"
    stray.write_text("x")
    assert main(["store", "verify"]) == 5
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"netra: {root}: files that do not verify: 1 of 8"
    assert lines[1:3] == ["stray is no file of the store", "of another version: 4"]
    assert main(["store", "verify", "--repair"]) == 0
    assert not stray.exists()
    assert all(path.exists() for path in others)


@pytest.mark.parametrize(
    "document",
    [
        {**FORMERLY, "action": 3},
        {**FORMERLY, "action": "c" * 64},
        {**FORMERLY, "format": "netra-store-entry-2"},
        {**FORMERLY, "format": "netra-store-entry-1\n"},
        {**FORMERLY, "format": "netra-store-entry-"},
        {**FORMERLY, "format": "netra-trace-1"},
        {**FORMERLY, "format": None},
    ],
)
def test_an_entry_that_only_resembles_another_version_is_damaged(
    store: Store, capsys: pytest.CaptureFixture[str], document: dict[str, object]
) -> None:
    path = plant_entry(store, FORMERLY)
    line = json.dumps(document).encode() + b"\n"
    path.write_bytes(blake3(line).hexdigest().encode() + b"\n" + line + b"x")
    assert main(["store", "verify"]) == 5
    assert f"{OTHER} is a damaged entry" in capsys.readouterr().err


def test_what_is_damaged_of_another_version_is_damage(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    others = plant_other_versions(store)
    others[0].write_bytes(others[0].read_bytes() + b"x")
    others[1].write_bytes(others[1].read_bytes().replace(b"made_of", b"made_if"))
    others[2].write_bytes(others[2].read_bytes() + b" ")
    others[3].write_bytes(others[3].read_bytes().replace(b"netra-trace-3", b"netra-trace-2"))
    assert main(["store", "verify", "--repair"]) == 0
    assert capsys.readouterr().out.endswith(f"{store.files.root}: files removed: 4\n")
    assert not any(path.exists() for path in others)


def test_much_damage_is_said_shortly(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(50):
        (store.files.root / f"stray{number:02}").write_text("x")
    assert main(["store", "verify"]) == 5
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 23
    assert lines[-2] == "... and 30 more"


def test_an_evicted_blob_is_no_damage(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    blob_of(store).unlink()
    assert main(["store", "verify"]) == 0
    assert main(["store", "gc"]) == 0
    out = capsys.readouterr().out
    assert out.endswith(f"{store.files.root}: 0 files of 0 bytes evicted, 1 incomplete\n")
    assert [path for path in (store.files.root / "actions").rglob("*") if path.is_file()] == []


def test_gc_makes_room(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "gc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "evicted_files": 0,
        "evicted_bytes": 0,
        "incomplete": 0,
    }
    assert main(["store", "gc", "--bytes", "0"]) == 0
    assert capsys.readouterr().out == (
        f"{store.files.root}: 3 files of 81920 bytes evicted, 0 incomplete\n"
    )
    assert main(["store", "stat", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["used_bytes"] == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["gc", "--repair"], "netra store: --repair is for verify"),
        (["stat", "--bytes", "1"], "netra store: --bytes is for gc, and not negative"),
        (["gc", "--bytes", "-1"], "netra store: --bytes is for gc, and not negative"),
    ],
)
def test_options_of_other_actions_are_refused(
    store: Store, capsys: pytest.CaptureFixture[str], words: list[str], line: str
) -> None:
    assert main(["store", *words]) == 2
    assert capsys.readouterr().err == f"netra: {line}\n"


def test_no_home_and_no_store_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert main(["store", "stat"]) == 2
    assert capsys.readouterr().err == (
        "netra: netra store: there is no store\nhint: name one with --store, or set HOME\n"
    )


def test_a_store_of_everybody_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "open"
    root.mkdir()
    root.chmod(0o777)
    for action in ("stat", "verify", "gc"):
        assert main(["store", action, "--store", str(root)]) == 2
        assert capsys.readouterr().err == (
            f"netra: {root}: store can be written by other users\nhint: chmod go-w {root}\n"
        )


def test_blob_names_are_spread_over_folders() -> None:
    assert blob_name("ab" + "0" * 62) == "blobs/ab/ab" + "0" * 62
